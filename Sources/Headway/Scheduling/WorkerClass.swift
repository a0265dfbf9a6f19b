/// The kinds of threads that the library has: what a thread of one kind does never holds up one of a higher kind for
/// long, because the system shares the processors out by nice value.
package enum WorkerClass: Sendable, CaseIterable {
  case normal, utility, background

  /// What is added to the nice value of the process.
  ///
  /// The shares that Linux gives go down by about a quarter with each step (sched(7)): at 10 a thread gets a tenth of
  /// what one at 0 does, at 19 one part in 68.
  var niceValue: Int32 {
    switch self {
    case .normal: 0
    case .utility: 10
    case .background: 19
    }
  }
}

/// Something for which a worker can come.
package protocol PoolWork: AnyObject, Sendable {
  /// Does what there is to do, on the worker's thread; of something that has many parts, at most so many.
  ///
  /// - Returns: Whether there was anything to do.
  @discardableResult
  func runOnWorker(atMost count: Int) -> Bool

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
}

extension WorkExecutor {
  /// Runs `work` so many times on normal threads.
  package func submit(_ work: any PoolWork, count: Int) { submit(work, count: count, on: .normal) }
}

/// A block as a piece of work.
final class PoolBlock: PoolWork {
  private let block: @Sendable () -> Void

  init(_ block: @escaping @Sendable () -> Void) { self.block = block }

  func runOnWorker(atMost count: Int) -> Bool {
    block()
    return true
  }
}
