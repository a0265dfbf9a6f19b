// The starting order of operations.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

func priorityChangedWithQualityOfService() -> String {
  let queue = serialQueue()
  queue.isSuspended = true
  let order = Shared<[String]>([])
  let first = BlockOperation { order.change { $0.append("first") } }
  let second = BlockOperation { order.change { $0.append("second") } }
  second.qualityOfService = .utility
  queue.addOperations([first, second], waitUntilFinished: false)
  second.queuePriority = .veryHigh
  queue.isSuspended = false
  _ = becomesTrue { order.value.count == 2 }
  return "the second was raised to veryHigh; order: \(order.value)"
}

func qualityOfServiceOrders() -> String {
  let queue = OperationQueue()
  queue.maxConcurrentOperationCount = 2
  let end = DispatchSemaphore(value: 0)
  queue.addOperation { end.wait() }
  usleep(50_000)
  queue.isSuspended = true
  let order = Shared<[String]>([])
  for (name, quality) in [("utility", QualityOfService.utility), ("userInteractive", .userInteractive)] {
    let operation = BlockOperation { order.change { $0.append(name) } }
    operation.qualityOfService = quality
    queue.addOperation(operation)
  }
  queue.isSuspended = false
  _ = becomesTrue { order.value.count == 2 }
  end.signal()
  return "utility, then userInteractive, same priority, limit 2: order \(order.value)"
}

func notReadyFirstSerial() -> String {
  let queue = serialQueue()
  queue.isSuspended = true
  let ran = Shared<[Int]>([])
  let blocked = BlockOperation {}
  let gate = Operation()
  blocked.addDependency(gate)
  queue.addOperation(blocked)
  for number in 1...5 { queue.addOperation { ran.change { $0.append(number) } } }
  queue.isSuspended = false
  let all = becomesTrue { ran.value.count == 5 }
  return "limit 1, one that is not ready, then five that are: ran \(ran.value)\(all ? "" : ", the others never")"
}

func notReadyFirstListed() -> String {
  let queue = OperationQueue()
  let blocked = BlockOperation {}
  let gate = Operation()
  blocked.addDependency(gate)
  queue.addOperation(blocked)
  let end = DispatchSemaphore(value: 0)
  queue.addOperation { end.wait() }
  usleep(100_000)
  let count = queue.operationCount
  end.signal()
  return "one that waits, then one that runs: operationCount \(count)"
}

func notReadyFirstCancelled() -> String {
  let queue = OperationQueue()
  let blocked = BlockOperation {}
  blocked.addDependency(Operation())
  queue.addOperation(blocked)
  let end = DispatchSemaphore(value: 0)
  let running = BlockOperation { end.wait() }
  queue.addOperation(running)
  usleep(100_000)
  queue.cancelAllOperations()
  let observed = "one that waits, then one that runs: cancelled \([blocked, running].map(\.isCancelled))"
  end.signal()
  return observed
}

func notReadyFirstWaited() -> String {
  let queue = OperationQueue()
  let blocked = BlockOperation {}
  let gate = Operation()
  blocked.addDependency(gate)
  queue.addOperation(blocked)
  let ended = Shared(false)
  queue.addOperation {
    usleep(500_000)
    ended.change { $0 = true }
  }
  usleep(100_000)
  gate.start()
  let returned = returns { queue.waitUntilAllOperationsAreFinished() }
  return "waitUntilAllOperationsAreFinished() returned \(returned), when the second had ended \(ended.value)"
}
