/// Something for which a worker can come.
package protocol PoolWork: AnyObject, Sendable {
  /// Does what there is to do, on the worker's thread; of something that has many parts, at most so many.
  ///
  /// - Parameters:
  ///   - workerClass: The class of the worker; nil on the threads of another executor.
  ///   - count: How many parts at most.
  /// - Returns: Whether there was anything to do.
  @discardableResult
  func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool

  /// It waits for a thread, and no more may be made.
  ///
  /// - Parameter limit: How many threads there may be.
  func threadLimitWasReached(_ limit: Int)
}

extension PoolWork {
  package func threadLimitWasReached(_ limit: Int) {}
}

/// That which runs work: the pool of threads, or a stand-in for it.
package protocol WorkExecutor: AnyObject, Sendable {
  /// Runs `work` so many times, on threads of a class.
  func submit(_ work: any PoolWork, count: Int, on workerClass: WorkerClass)

  /// Whether it runs nothing by itself, but when a test takes the next step.
  var isStepwise: Bool { get }
}

extension WorkExecutor {
  package var isStepwise: Bool { false }

  /// Runs `work` so many times on normal threads.
  package func submit(_ work: any PoolWork, count: Int) { submit(work, count: count, on: .normal) }
}

/// A block as a piece of work.
final class PoolBlock: PoolWork {
  private let block: @Sendable () -> Void

  init(_ block: @escaping @Sendable () -> Void) { self.block = block }

  func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool {
    block()
    return true
  }
}
