// Operations that are cancelled before they are in a queue, are given a completion block, and are then added to a
// queue.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

/// Records the calls of its methods.
private class Watched: Operation, @unchecked Sendable {
  let log: Log

  init(_ log: Log) { self.log = log }

  override func main() { log.note("main") }
}

/// Overrides `start()`, and has its own state.
private final class WatchedState: Watched, @unchecked Sendable {
  private let lock = NSLock()
  private var isDone = false

  override var isFinished: Bool { lock.withLock { isDone } }

  override func start() {
    log.note("start, cancelled \(isCancelled)")
    guard !isCancelled else { return end() }
    main()
    end()
  }

  private func end() {
    willChangeValue(for: \.isFinished)
    lock.withLock { isDone = true }
    didChangeValue(for: \.isFinished)
  }
}

/// Overrides only `start()`.
///
/// A cancelled operation of this class has work to do before it ends.
private final class WatchedStart: Watched, @unchecked Sendable {
  override func start() {
    log.note("start, cancelled \(isCancelled)")
    super.start()
  }
}

let cancelledInNoQueue: Program = [
  ("a block operation", { addCancelled(BlockOperation { [log = $0] in log.note("ran") }, $0) }),
  ("overrides main", { addCancelled(Watched($0), $0) }),
  ("overrides start and isFinished", { addCancelled(WatchedState($0), $0) }),
  ("nothing runs before it is added", cancelledNothingRuns),
  ("completion block set before", cancelledCompletionBefore),
  ("depended on", cancelledDependedOn), ("depends on another", cancelledDepends),
  ("added to a suspended queue", cancelledSuspended), ("added with others", cancelledBatch),
  ("started manually", cancelledByHand),
]

/// Cancels an operation, gives it a completion block, and adds it: the block runs once, and none of the operation's
/// work runs.
@Sendable private func addCancelled(_ operation: Operation, _ log: Log) {
  let (completed, completions) = (Gate(), Log())
  operation.cancel()
  operation.completionBlock = {
    completions.note("\(operation.outcomeFlags)")
    completed.open()
  }
  letOthersRun()
  log.note("cancelled \(operation.isCancelled), executing \(operation.isExecuting)")
  let queue = makeQueue()
  queue.addOperation(operation)
  completed.wait()
  queue.waitUntilAllOperationsAreFinished()
  letOthersRun()
  log.note("completed: \(completions.lines), in the queue: \(queue.operationCount)")
}

@Sendable private func cancelledNothingRuns(_ log: Log) {
  let (state, start) = (WatchedState(log), WatchedStart(log))
  for operation in [state, start] {
    operation.cancel()
    letOthersRun()
    log.note("cancelled")
  }
  log.note("with its own state: \(state.outcomeFlags)")
}

@Sendable private func cancelledCompletionBefore(_ log: Log) {
  let (completed, completions) = (Gate(), Log())
  for operation in [BlockOperation {}, WatchedState(log)] {
    operation.completionBlock = {
      completions.note("once")
      completed.open()
    }
    operation.cancel()
    operation.cancel()
    let queue = makeQueue()
    queue.addOperations([operation], waitUntilFinished: true)
    completed.wait()
    queue.waitUntilAllOperationsAreFinished()
  }
  letOthersRun()
  log.note("completed: \(completions.lines)")
}

@Sendable private func cancelledDependedOn(_ log: Log) {
  let first = WatchedState(log)
  let second = BlockOperation { log.note("second, when first is: \(first.outcomeFlags)") }
  second.addDependency(first)
  first.cancel()
  log.note("second ready: \(second.isReady)")
  let queue = makeQueue(limit: 1)
  queue.addOperation(second)
  letOthersRun()
  queue.addOperation(first)
  queue.waitUntilAllOperationsAreFinished()
}

@Sendable private func cancelledDepends(_ log: Log) {
  let never = Operation()
  for operation in [BlockOperation { log.note("ran") }, WatchedState(log)] {
    operation.addDependency(never)
    operation.cancel()
    log.note("cancelled: ready \(operation.isReady)")
    let queue = makeQueue()
    queue.addOperations([operation], waitUntilFinished: true)
    queue.waitUntilAllOperationsAreFinished()
    log.note("added: \(operation.outcomeFlags)")
  }
}

@Sendable private func cancelledSuspended(_ log: Log) {
  let operation = WatchedState(log)
  operation.cancel()
  let queue = makeQueue(isSuspended: true)
  queue.addOperation(operation)
  letOthersRun()
  log.note("suspended: \(operation.outcomeFlags), in the queue: \(queue.operationCount)")
  queue.isSuspended = false
  queue.waitUntilAllOperationsAreFinished()
  log.note("resumed: \(operation.outcomeFlags), in the queue: \(queue.operationCount)")
}

@Sendable private func cancelledBatch(_ log: Log) {
  let operations: [Operation] = [WatchedState(log), Watched(log), BlockOperation { log.note("block") }, Watched(log)]
  for operation in operations[1...2] { operation.cancel() }
  let queue = makeQueue(limit: 1)
  queue.addOperations(operations, waitUntilFinished: true)
  queue.waitUntilAllOperationsAreFinished()
  log.note("finished: \(operations.filter(\.isFinished).count), cancelled: \(operations.map(\.isCancelled))")
}

@Sendable private func cancelledByHand(_ log: Log) {
  for operation in [Watched(log), WatchedState(log)] {
    let completed = Gate()
    operation.cancel()
    operation.completionBlock = { completed.open() }
    operation.start()
    completed.wait()
    log.note("started manually: \(operation.outcomeFlags)")
  }
}
