import Dispatch

/// Runs work in the blocks of another executor, such as a dispatch queue.
///
/// A block that has been enqueued can't be withdrawn. Therefore, a block runs any work that waits when the block is
/// called, and the blocks of withdrawn work run later work. There are never more blocks than requests that waited at
/// the same time.
package final class BlockExecutor: WorkExecutor {
  private struct State {
    var work = WaitingWork()
    /// The number of blocks that were enqueued and have not been called.
    var blocks = 0
  }

  // Protected by its lock. No other lock is acquired and nothing is called under it.
  private let state = Guarded(State())
  private let enqueue: @Sendable (_ block: @escaping @Sendable () -> Void) -> Void

  /// - Parameter enqueue: Enqueues a block, to be called once on another thread.
  package init(enqueue: @escaping @Sendable (_ block: @escaping @Sendable () -> Void) -> Void) {
    self.enqueue = enqueue
  }

  /// Creates an executor that uses the threads of a dispatch queue.
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

  /// Changes the waiting work, then enqueues the missing blocks.
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
