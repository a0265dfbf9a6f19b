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
///
/// What takes a block is there twice: for blocks that do not throw, which a subclass may override, and for those that
/// do.
open class BlockOperation: Operation, @unchecked Sendable {
  // The first block stands by itself, since nearly all operations have just one; others are among the details.
  private struct Blocks {
    let first: FirstBlock
    let hasFirst: Bool
    let others: [ThrowingBlock]

    var all: [ThrowingBlock] { hasFirst ? [first.run] + others : [] }
  }

  /// The first block, if ``Operation/hasBlock`` says that there is one.
  ///
  /// It stays here while it runs and until ``releaseWork()``, so that what it captures is released after the end.
  ///
  /// Protected by the lock of the links, under which nothing is called; but the thread that runs an operation of no
  /// subclass uses it without that lock, unless the operation says that its blocks were seen. Any other thread sets
  /// that under the lock, and looks at the block only if the operation had not begun by then. So either it sees that
  /// the operation has begun, or the thread that runs it sees that the lock is to be taken (`Models/block.pml`).
  @exclusivity(unchecked) private final var first = FirstBlock()

  /// A block in a structure, which can be exchanged: generic code, as that of `swap` and of optionals is, would wrap a
  /// function in another one at each step.
  private struct FirstBlock { var run: ThrowingBlock = {} }

  /// Creates an operation that runs `block`.
  ///
  /// A subclass that overrides ``init()`` alone inherits this.
  ///
  /// - Parameter block: What to run.
  public convenience init(block: @escaping @Sendable () -> Void) {
    self.init()
    addFirst(block)
  }

  /// Creates an operation that runs a block that may throw.
  ///
  /// - Parameter block: What to run. What it throws becomes the error of the operation.
  public convenience init(block: @escaping @Sendable () throws -> Void) {
    self.init()
    addFirst(block)
  }

  /// Creates an operation without blocks; add them with ``addExecutionBlock(_:)``.
  public override init() {}

  deinit { if hasBlock { ReleasedChain.release(takeBlock()) } }

  /// Takes the first block out of an operation that is being freed.
  private final func takeBlock() -> FirstBlock {
    var taken = FirstBlock()
    swap(&taken, &first)
    hasBlock = false
    return taken
  }

  private final func addFirst(_ block: consuming @escaping ThrowingBlock) {
    // An `init()` of a subclass's may have added one.
    guard isPlainBlock else { return add(block) }
    first.run = block
    hasBlock = true
  }

  /// Creates an operation that no other thread knows yet.
  static func make(_ block: @escaping ThrowingBlock) -> BlockOperation {
    let operation = BlockOperation()
    operation.first.run = block
    operation.hasBlock = true
    return operation
  }

  /// Makes a new one of an operation that nobody else knows.
  final func renew(_ block: @escaping ThrowingBlock) {
    first.run = block
    hasBlock = true
    admission = AdmissionRecord()
    queueLinks = QueueLinks()
  }

  /// The blocks, in the order in which they were added; none once ``main()`` has begun.
  ///
  /// What one throws when you call it is recorded with ``Operation/recordError(_:)``, as when the operation calls it.
  ///
  /// - Complexity: O(*n*) in their number.
  open var executionBlocks: [@Sendable () -> Void] {
    let blocks = links.withLock { links -> [ThrowingBlock] in
      // The `main()` of a subclass may ask for them.
      let isBeforeMain = state.announceSightOfBlocks().isBeforeMain
      return isBeforeMain || !isPlainBlock ? self.blocks(in: links).all : []
    }
    return blocks.map { block in
      { [weak self] in
        do { try block() } catch { self?.recordError(error) }
      }
    }
  }

  /// Adds a block to run beside the others.
  ///
  /// The operation holds the block until it has run, or has been skipped. After a cancellation, the block is ignored.
  ///
  /// - Parameter block: What to run.
  /// - Precondition: The operation is not executing and has not finished, unless it was cancelled.
  open func addExecutionBlock(_ block: @escaping @Sendable () -> Void) { add(block) }

  /// What ``addExecutionBlock(_:)`` does.
  fileprivate final func add(_ block: @escaping ThrowingBlock) {
    let isAdded = links.withLock { links in
      let word = state.announceSightOfBlocks()
      guard !word.isCancelled else { return true }
      guard word.isBeforeMain else { return false }
      if hasBlock {
        links.detailsCreatedIfNeeded.rareDetailsCreatedIfNeeded.otherBlocks.append(block)
      } else {
        first.run = block
        hasBlock = true
      }
      return true
    }
    require(isAdded, "addExecutionBlock(_:) on \(self): add blocks before the operation starts.")
  }

  /// Runs the blocks, on the calling thread and others of the pool, and returns when all have run or been skipped.
  ///
  /// Called once, by ``Operation/start()``. The first error that a block throws is recorded with
  /// ``Operation/recordError(_:)``.
  open override func main() {
    if isUsedByOneThread { return runFirst() }
    let blocks = takeBlocks()
    guard blocks.hasFirst else { return }
    if blocks.others.isEmpty {
      do { try blocks.first.run() } catch { recordError(error) }
    } else {
      runConcurrently(blocks.all)
    }
    keepUntilEnd(blocks)
  }

  /// Runs the one block of an operation that only the calling thread uses, and leaves it in its place.
  private final func runFirst() {
    guard hasBlock else { return }
    hasBlock = false
    // Exchanged, so that no reference is counted.
    var running = FirstBlock()
    swap(&running, &first)
    do { try running.run() } catch { recordError(error) }
    if isUsedByOneThread { swap(&running, &first) } else { links.withLock { _ in swap(&running, &first) } }
  }

  private final func runConcurrently(_ blocks: [ThrowingBlock]) {
    let iterations = ConcurrentIterations(
      blocks.count, in: self, on: ThreadContext.queue?.executor ?? WorkerPool.shared,
      of: Worker.current?.pool.workerClass ?? .normal, atMost: ConcurrentIterations.mostThreads
    ) { number in
      if self.isCancelled { return }
      do { try blocks[number]() } catch { self.recordError(error) }
    }
    iterations.run()
  }

  // Released after the lock: freeing a block may run code of its owner's.
  override func releaseWork() {
    guard isUsedByOneThread else {
      _ = takeBlocks()
      return
    }
    hasBlock = false
    first = FirstBlock()
  }

  /// Takes out the blocks, whether or not they have run.
  private final func takeBlocks() -> Blocks {
    links.withLock { links in
      let blocks = Blocks(first: first, hasFirst: hasBlock, others: links.details?.rareDetails?.takeBlocks() ?? [])
      first = FirstBlock()
      hasBlock = false
      return blocks
    }
  }

  /// Keeps blocks that have run, which none sees any more, for ``releaseWork()``.
  private final func keepUntilEnd(_ blocks: consuming Blocks) {
    links.withLock { links in
      // Another thread may have ended an operation of a subclass, and released its work.
      guard state.current.phase != .finished else { return }
      first = blocks.first
      links.details?.rareDetails?.finishedBlocks = blocks.others
    }
  }

  /// Whether only the thread that runs the operation, or has ended it, uses the blocks.
  @inline(__always) private final var isUsedByOneThread: Bool {
    let word = state.current
    return !word.blocksWereSeen && !word.isBeforeMain && isPlainBlock
  }

  private final func blocks(in links: Links) -> Blocks {
    Blocks(first: first, hasFirst: hasBlock, others: links.details?.rareDetails?.otherBlocks ?? [])
  }
}

/// A block of an operation.
typealias ThrowingBlock = @Sendable () throws -> Void

extension OperationExtensions where Self: BlockOperation {
  /// Adds a block that may throw, to run beside the others.
  ///
  /// The operation holds the block until it has run, or has been skipped. A subclass that overrides the method for
  /// blocks that do not throw is not asked.
  ///
  /// - Parameter block: What to run. The first error that a block throws becomes the error of the operation.
  /// - Precondition: The operation is not executing and has not finished, unless it was cancelled.
  public func addExecutionBlock(_ block: @escaping @Sendable () throws -> Void) { add(block) }
}
