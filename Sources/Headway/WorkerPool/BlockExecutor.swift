import Dispatch

/// Runs work in blocks of something else, such as a dispatch queue.
///
/// A block that is enqueued can't be withdrawn. So a block serves whatever work waits when the block is called, and the
/// blocks of withdrawn work serve later work. There are never more blocks than requests that waited at the same time.
package final class BlockExecutor: WorkExecutor {
  private struct State {
    var work = WaitingWork()
    /// Blocks that were given away, and have not been called.
    var blocks = 0
  }

  // Protected by its lock. No other lock is taken under it, and nothing is called.
  private let state = Guarded(State())
  private let enqueue: @Sendable (_ block: @escaping @Sendable () -> Void) -> Void

  /// - Parameter enqueue: Gives a block away, to be called once on another thread.
  package init(enqueue: @escaping @Sendable (_ block: @escaping @Sendable () -> Void) -> Void) {
    self.enqueue = enqueue
  }

  /// On the threads of a dispatch queue.
  convenience init(queue: DispatchQueue) { self.init { queue.async(execute: $0) } }

  package func submit(_ work: any PoolWork, count: Int, on workerClass: WorkerClass) {
    change { $0.append(work, count: count) }
  }

  package func summon(_ count: Int, for work: any HelpedWork, on workerClass: WorkerClass) {
    change { $0.append(helpersFor: work, count: count) }
  }

  package func withdraw(_ work: any HelpedWork, on workerClass: WorkerClass) -> Int {
    state.withLock { $0.work.withdraw(work) }
  }

  /// Changes what waits; then gives away as many blocks as are missing.
  private func change(_ change: (inout WaitingWork) -> Void) {
    let missing = state.withLock { state in
      change(&state.work)
      let missing = max(0, state.work.count - state.blocks)
      state.blocks += missing
      return missing
    }
    for _ in 0..<missing { enqueue { self.runNext() } }
  }

  private func runNext() {
    let work = state.withLock { state in
      state.blocks -= 1
      return state.work.popFirst()
    }
    work?.runOnWorker(of: nil, atMost: 1)
  }
}
