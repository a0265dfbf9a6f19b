import Synchronization

/// The blocks of one operation while they run: the operation's thread and others from the pool take them one by one.
final class ConcurrentBlocks: PoolWork {
  /// Workers are sent for so many blocks at most; those that come take more than one.
  private static let mostWorkers = 64

  private let blocks: [ThrowingBlock]
  private let operation: BlockOperation
  private let queue = ThreadContext.queue
  private let begun = Atomic<Int>(0)
  private let unfinished: Guarded<(count: Int, waiters: WaiterList)>

  init(_ blocks: [ThrowingBlock], of operation: BlockOperation) {
    self.blocks = blocks
    self.operation = operation
    unfinished = Guarded((blocks.count, WaiterList()))
  }

  /// Returns when every block has run or, after a cancellation, been skipped.
  func run() {
    let executor: any WorkExecutor = queue?.executor ?? WorkerPool.shared
    executor.submit(
      self, count: min(blocks.count - 1, Self.mostWorkers), on: Worker.current?.pool.workerClass ?? .normal
    )
    takeBlocks()
    WaiterList.block { waiter in
      unfinished.withLock { unfinished in
        guard unfinished.count > 0 else { return false }
        unfinished.waiters.append(waiter)
        return true
      }
    }
  }

  /// Takes blocks until none is left.
  func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool {
    // Others may have taken them all.
    guard begun.load(ordering: .relaxed) < blocks.count else { return false }
    ThreadContext.run(operation, in: queue) { takeBlocks() }
    return true
  }

  private func takeBlocks() {
    while true {
      // Relaxed: the number only shares out the blocks, which the pool's lock has made visible.
      let position = begun.add(1, ordering: .relaxed).oldValue
      guard position < blocks.count else { return }
      if !operation.isCancelled {
        do { try blocks[position]() } catch { operation.recordError(error) }
      }
      let waiters = unfinished.withLock { unfinished in
        unfinished.count -= 1
        return unfinished.count == 0 ? unfinished.waiters.removeAll() : []
      }
      for waiter in waiters { waiter.wake() }
    }
  }
}
