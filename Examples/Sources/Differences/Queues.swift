// Queues, threads, waiting and progress.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

func blockedOperations() -> String {
  let queue = OperationQueue()
  let seconds = secondsTaken {
    for _ in 0..<50 { queue.addOperation { usleep(500_000) } }
    queue.waitUntilAllOperationsAreFinished()
  }
  return "50 × sleep 0.5 s took \(rounded(seconds)) on \(ProcessInfo.processInfo.activeProcessorCount) processors"
}

func blockedOperationsMany() -> String {
  let queue = OperationQueue()
  let seconds = secondsTaken {
    for _ in 0..<200 { queue.addOperation { usleep(500_000) } }
    queue.waitUntilAllOperationsAreFinished()
  }
  return "200 × sleep 0.5 s took \(rounded(seconds))"
}

func blockedBySleepers() -> String {
  let sleepers = OperationQueue()
  for _ in 0..<200 { sleepers.addOperation { usleep(500_000) } }
  let seconds = secondsTaken {
    let operation = BlockOperation {}
    OperationQueue().addOperations([operation], waitUntilFinished: true)
  }
  return "an empty operation in a second queue, behind 200 sleepers in the first, took \(rounded(seconds, digits: 2))"
}

func waitOnItself() -> String {
  let operation = Shared<Operation?>(nil)
  let made = BlockOperation { operation.value?.waitUntilFinished() }
  operation.change { $0 = made }
  OperationQueue().addOperation(made)
  return becomesTrue { made.isFinished } ? "returned" : "waitUntilFinished() on itself hung"
}

func waitForOwnQueue() -> String {
  let queue = OperationQueue()
  let operation = BlockOperation { queue.waitUntilAllOperationsAreFinished() }
  queue.addOperation(operation)
  return becomesTrue { operation.isFinished } ? "returned" : "waiting for all from inside one of them hung"
}

func mainQueueSuspended() -> String {
  OperationQueue.main.isSuspended = true
  let ran = Shared(false)
  OperationQueue.main.addOperation { ran.change { $0 = true } }
  let didRun = becomesTrue(within: 1) { ran.value }
  return "isSuspended reads \(OperationQueue.main.isSuspended) after true was set; the operation ran \(didRun)"
}

func underlyingMainQueue() -> String {
  let queue = OperationQueue()
  queue.underlyingQueue = .main
  let onMain = Shared<Bool?>(nil)
  queue.addOperation { onMain.change { $0 = Thread.isMainThread } }
  _ = becomesTrue { onMain.value != nil }
  return "accepted; the operation ran on the main thread \(onMain.value.map(String.init) ?? "never")"
}

func niceValues() -> String {
  func nice(_ quality: QualityOfService, ofQueue: Bool) -> Int {
    let value = Shared(0)
    let queue = OperationQueue()
    let operation = BlockOperation {
      // On Linux, 0 means the calling thread.
      value.change { $0 = Int(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)) }
    }
    if ofQueue { queue.qualityOfService = quality } else { operation.qualityOfService = quality }
    queue.addOperations([operation], waitUntilFinished: true)
    return value.value
  }
  let qualities: [QualityOfService] = [.userInteractive, .utility, .background]
  return "nice value at userInteractive, utility, background: of the operation "
    + "\(qualities.map { nice($0, ofQueue: false) }), of the queue \(qualities.map { nice($0, ofQueue: true) })"
}

func progressCounts() -> String {
  let queue = serialQueue()
  queue.isSuspended = true
  queue.progress.totalUnitCount = 3
  let operations = (0..<3).map { _ in BlockOperation {} }
  queue.addOperations(operations, waitUntilFinished: false)
  operations[2].cancel()
  queue.isSuspended = false
  queue.waitUntilAllOperationsAreFinished()
  usleep(100_000)
  return "3 operations, one cancelled before the start: completedUnitCount \(queue.progress.completedUnitCount)"
}

func progressOfAsynchronous() -> String {
  final class Asynchronous: Operation, @unchecked Sendable {
    private let state = Shared(0)
    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state.value == 1 }
    override var isFinished: Bool { state.value == 2 }
    override func start() {
      state.change { $0 = 2 }
      didChangeValue(for: \.isFinished)
    }
  }
  let queue = OperationQueue()
  queue.progress.totalUnitCount = 2
  queue.addOperations([Asynchronous(), BlockOperation {}], waitUntilFinished: true)
  usleep(100_000)
  return "one that overrides start() and one that does not: completedUnitCount \(queue.progress.completedUnitCount)"
}

func leftWhenWaited() -> String {
  let queue = OperationQueue()
  var stillThere = 0
  for _ in 0..<5_000 {
    let operation = BlockOperation {}
    queue.addOperation(operation)
    operation.waitUntilFinished()
    if queue.operations.contains(where: { $0 === operation }) { stillThere += 1 }
  }
  return "still in queue.operations after waitUntilFinished() in \(stillThere > 0 ? "some" : "none") of 5,000"
}

func queueFreed() -> String {
  weak var weakQueue: OperationQueue?
  let ran = Shared(0)
  do {
    let queue = OperationQueue()
    weakQueue = queue
    for _ in 0..<100 { queue.addOperation { ran.change { $0 += 1 } } }
  }
  _ = becomesTrue { ran.value == 100 }
  let freed = becomesTrue(within: 1) { weakQueue == nil }
  return "released with 100 operations: \(ran.value) ran, then the queue was freed \(freed)"
}

func progressCancels() -> String {
  let queue = OperationQueue()
  queue.isSuspended = true
  let operation = BlockOperation {}
  queue.addOperation(operation)
  queue.progress.cancel()
  return "queue.progress.cancel(): the operation is cancelled \(operation.isCancelled)"
}

func names() -> String {
  let queue = OperationQueue()
  let name = queue.name.map { $0.hasPrefix("NSOperationQueue 0x") ? "NSOperationQueue 0x…" : $0 } ?? "nil"
  return "queue without a name: \(name); the main queue: \(OperationQueue.main.name ?? "nil")"
}

func descriptions() -> String {
  let operation = BlockOperation {}
  operation.name = "parse"
  let queue = OperationQueue()
  queue.name = "import"
  func withoutAddress(_ text: String) -> String {
    text.replacingOccurrences(of: "0x[0-9a-f]+", with: "0x…", options: .regularExpression)
  }
  return "an operation named parse: \(withoutAddress(operation.description)); "
    + "a queue named import: \(withoutAddress(queue.description))"
}

func rawPriorities() -> String {
  let numbers = [-100, -8, -5, -3, 3, 5, 10_000]
  return numbers.map { "\($0): \(Operation.QueuePriority(rawValue: $0).map { "\($0)" } ?? "nil")" }
    .joined(separator: ", ")
}
