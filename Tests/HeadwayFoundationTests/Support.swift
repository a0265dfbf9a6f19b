import HeadwayFoundation
import HeadwayTestKit

/// A queue that opens a gate when it is freed.
final class WatchedQueue: OperationQueue, @unchecked Sendable {
  private let freed: Gate

  init(freed: Gate) {
    self.freed = freed
    super.init()
  }

  deinit { freed.open() }
}

/// An asynchronous operation with its own flags, which it posts by name; the test ends it.
final class FlaggedOperation: Operation, @unchecked Sendable {
  private let lock = NSLock()
  private var (isRunning, isDone) = (false, false)
  let started = Gate()

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { lock.withLock { isRunning } }
  override var isFinished: Bool { lock.withLock { isDone } }

  override func start() {
    guard !isCancelled else { return set("isFinished", { $0.isDone = true }) }
    set("isExecuting") { $0.isRunning = true }
    started.open()
  }

  func complete() {
    set("isExecuting") { $0.isRunning = false }
    set("isFinished") { $0.isDone = true }
  }

  private func set(_ key: String, _ change: (FlaggedOperation) -> Void) {
    willChangeValue(forKey: key)
    lock.withLock { change(self) }
    didChangeValue(forKey: key)
  }
}

extension OperationQueue {
  /// A queue that runs the given number of operations at the same time.
  convenience init(limit: Int, isSuspended: Bool = false) {
    self.init()
    maxConcurrentOperationCount = limit
    self.isSuspended = isSuspended
  }

  /// Occupies one concurrency slot of the queue until the gate that it returns is opened.
  func occupy() -> Gate {
    let (started, end) = (Gate(), Gate())
    addOperation {
      started.open()
      end.wait()
    }
    started.wait()
    return end
  }
}

/// Gives other threads enough time to do anything that they must not do: runs operations one after another in a
/// separate queue.
func letOthersRun() {
  let queue = OperationQueue()
  for _ in 0..<100 { queue.addOperations([BlockOperation {}], waitUntilFinished: true) }
}
