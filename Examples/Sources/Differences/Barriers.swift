// Barriers.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

func cancelledBehindBarrier() -> String {
  let returned = returns {
    let queue = OperationQueue()
    queue.isSuspended = true
    queue.addOperation {}
    queue.addBarrierBlock {}
    let operation = BlockOperation {}
    operation.cancel()
    queue.addOperation(operation)
  }
  return returned ? "addOperation returned" : "addOperation hung"
}

func barrierSuspended() -> String {
  let queue = OperationQueue()
  queue.isSuspended = true
  let ran = Shared(false)
  queue.addBarrierBlock { ran.change { $0 = true } }
  return becomesTrue(within: 1) { ran.value } ? "ran in a suspended, empty queue" : "waited"
}

func barrierUnderlyingQueue() -> String {
  let key = DispatchSpecificKey<Bool>()
  let underlying = DispatchQueue(label: "underlying", attributes: .concurrent)
  underlying.setSpecific(key: key, value: true)
  let queue = OperationQueue()
  queue.underlyingQueue = underlying
  let onIt = Shared<[Bool]>([])
  queue.addBarrierBlock { onIt.change { $0.append(DispatchQueue.getSpecific(key: key) == true) } }
  _ = becomesTrue { onIt.value.count == 1 }
  return "empty queue: the barrier ran on the underlying queue \(onIt.value)"
}

func barrierMainQueue() -> String {
  let onMain = Shared<Bool?>(nil)
  OperationQueue.main.addBarrierBlock { onMain.change { $0 = Thread.isMainThread } }
  _ = becomesTrue { onMain.value != nil }
  return "empty main queue: the barrier ran on the main thread \(onMain.value.map(String.init) ?? "never")"
}

func barrierWaiting() -> String {
  let queue = OperationQueue()
  let ended = Shared(false)
  queue.addBarrierBlock {
    usleep(300_000)
    ended.change { $0 = true }
  }
  queue.waitUntilAllOperationsAreFinished()
  return "empty queue: when waitUntilAllOperationsAreFinished() returned, the barrier had ended \(ended.value)"
}

func barrierGlobalQueue() -> String {
  let queue = OperationQueue()
  queue.underlyingQueue = .global()
  let inBarrier = Shared(false)
  let overlapped = Shared(false)
  queue.addOperation { usleep(100_000) }
  queue.addBarrierBlock {
    inBarrier.change { $0 = true }
    usleep(500_000)
    inBarrier.change { $0 = false }
  }
  _ = becomesTrue { inBarrier.value }
  queue.addOperation { overlapped.change { $0 = inBarrier.value } }
  queue.waitUntilAllOperationsAreFinished()
  return overlapped.value ? "an operation added while the barrier ran overlapped it" : "held"
}

func barrierOwnQueue() -> String {
  let queue = OperationQueue()
  let inBarrier = Shared(false)
  let overlapped = Shared(false)
  queue.addOperation { usleep(100_000) }
  queue.addBarrierBlock {
    inBarrier.change { $0 = true }
    usleep(500_000)
    inBarrier.change { $0 = false }
  }
  _ = becomesTrue { inBarrier.value }
  queue.addOperation { overlapped.change { $0 = inBarrier.value } }
  queue.waitUntilAllOperationsAreFinished()
  return overlapped.value ? "an operation added while the barrier ran overlapped it" : "held"
}

func barrierCounted() -> String {
  let queue = OperationQueue()
  queue.isSuspended = true
  queue.addOperation {}
  queue.addBarrierBlock {}
  return "one operation and one barrier: operationCount \(queue.operationCount), operations \(queue.operations.count)"
}
