import Synchronization

/// An operation that runs one or several blocks, concurrently, and finishes when all have.
///
/// ```swift
/// let operation = BlockOperation { try draw("left half") }
/// operation.addExecutionBlock { try draw("right half") }
/// queue.addOperation(operation)
/// ```
///
/// Each block runs once, on some thread of the pool. The first error that a block throws becomes the operation's
/// ``Operation/error``; the others go on. Cancelling skips the blocks that have not begun.
open class BlockOperation: Operation, @unchecked Sendable {
  /// A block of a block operation.
  public typealias ExecutionBlock = @Sendable () throws -> Void

  // The first block stands by itself, since nearly all operations have just one; others are among the details. It is no
  // optional, and is handed on in this structure: generic code, as that of optionals is, would wrap it in another block
  // at each step.
  private struct Blocks {
    let first: ExecutionBlock
    let hasFirst: Bool
    let others: [ExecutionBlock]

    var all: [ExecutionBlock] { hasFirst ? [first] + others : [] }
  }

  /// The first block, if ``Operation/hasBlock`` says that there is one.
  ///
  /// Protected by the lock of the links, under which nothing is called.
  @exclusivity(unchecked) private final var block: ExecutionBlock

  /// Creates an operation that runs `block`.
  ///
  /// - Parameter block: What to run. It may throw; the error becomes that of the operation.
  public init(block: @escaping ExecutionBlock) {
    self.block = block
    super.init()
    hasBlock = true
  }

  /// Creates an operation without blocks; add them with ``addExecutionBlock(_:)``.
  public override init() { block = {} }

  /// The blocks, in the order in which they were added; none once the operation has started.
  ///
  /// - Complexity: O(*n*) in their number.
  open var executionBlocks: [ExecutionBlock] {
    links.withLock { blocks(in: $0).all }
  }

  /// Adds a block to run beside the others.
  ///
  /// The operation holds the block until it has run, or has been skipped.
  ///
  /// - Parameter block: What to run.
  /// - Precondition: The operation is not executing and has not finished.
  open func addExecutionBlock(_ block: @escaping ExecutionBlock) {
    let phase = state.current.phase
    require(
      phase == .pending || phase == .starting,
      "addExecutionBlock(_:) on \(self): add blocks before the operation starts.")
    links.withLock { links in
      if hasBlock { return links.madeDetails.otherBlocks.append(block) }
      self.block = block
      hasBlock = true
    }
  }

  /// Runs the blocks, on the calling thread and others of the pool, and returns when all have run or been skipped.
  ///
  /// Called once, by ``Operation/start()``.
  ///
  /// - Throws: What the block throws, if there is only one. Of several blocks, the first error is recorded with
  ///   ``Operation/fail(_:)``.
  open override func main() throws {
    let blocks = takeBlocks()
    guard blocks.hasFirst else { return }
    guard !blocks.others.isEmpty else { return try blocks.first() }
    ConcurrentBlocks(blocks.all, of: self).run()
  }

  // Let go of after the lock is released: freeing a block may run code of its owner's.
  override func releaseWork() { _ = takeBlocks() }

  private func takeBlocks() -> Blocks {
    links.withLock { links in
      let blocks = blocks(in: links)
      block = {}
      hasBlock = false
      links.details?.otherBlocks = []
      return blocks
    }
  }

  private func blocks(in links: Links) -> Blocks {
    Blocks(first: block, hasFirst: hasBlock, others: links.details?.otherBlocks ?? [])
  }
}

/// The blocks of one operation while they run: the operation's thread and others from the pool take them one by one.
private final class ConcurrentBlocks: PoolWork {
  /// Workers are sent for so many blocks at most; those that come take more than one.
  private static let mostWorkers = 64

  private let blocks: [BlockOperation.ExecutionBlock]
  private let operation: BlockOperation
  private let queue = ThreadContext.queue
  private let begun = Atomic<Int>(0)
  private let unfinished: Mutex<(count: Int, waiters: WaiterList)>

  init(_ blocks: [BlockOperation.ExecutionBlock], of operation: BlockOperation) {
    self.blocks = blocks
    self.operation = operation
    unfinished = Mutex((blocks.count, WaiterList()))
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
  func runOnWorker(atMost count: Int) -> Bool {
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
        do { try blocks[position]() } catch { operation.fail(error) }
      }
      let waiters = unfinished.withLock { unfinished in
        unfinished.count -= 1
        return unfinished.count == 0 ? unfinished.waiters.removeAll() : []
      }
      for waiter in waiters { waiter.wake() }
    }
  }
}
