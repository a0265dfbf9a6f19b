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
  // The first block stands by itself, since nearly all operations have just one; others are among the details. It is no
  // optional, and is handed on in this structure: generic code, as that of optionals is, would wrap it in another block
  // at each step.
  private struct Blocks {
    let first: ThrowingBlock
    let hasFirst: Bool
    let others: [ThrowingBlock]

    var all: [ThrowingBlock] { hasFirst ? [first] + others : [] }
  }

  /// The first block, if ``Operation/hasBlock`` says that there is one.
  ///
  /// Protected by the lock of the links, under which nothing is called; but the thread that runs an operation of no
  /// subclass takes it without that lock, unless the operation says that its blocks were seen. Any other thread sets
  /// that under the lock, and looks at the block only if the operation had not begun by then. So either it sees that
  /// the operation has begun, or the thread that runs it sees that the lock is to be taken (`Models/block.pml`).
  @exclusivity(unchecked) private final var block: ThrowingBlock

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
  public override init() { block = {} }

  deinit { if hasBlock { ReleasedChain.release(takeBlock()) } }

  /// Takes the first block out, where nobody else is at it.
  private final func takeBlock() -> ThrowingBlock {
    defer {
      block = {}
      hasBlock = false
    }
    return block
  }

  private final func addFirst(_ block: consuming @escaping ThrowingBlock) {
    // An `init()` of a subclass's may have added one.
    guard isPlainBlock else { return add(block) }
    self.block = block
    hasBlock = true
  }

  /// Creates an operation that no other thread knows yet.
  static func make(_ block: @escaping ThrowingBlock) -> BlockOperation {
    let operation = BlockOperation()
    operation.block = block
    operation.hasBlock = true
    return operation
  }

  /// Makes a new one of an operation that nobody else knows.
  final func renew(_ block: @escaping ThrowingBlock) {
    self.block = block
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
      let isBeforeMain = state.announceSightOfBlocks().phase.isBeforeMain
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
      guard word.phase.isBeforeMain else { return false }
      if hasBlock {
        links.madeDetails.madeRarer.otherBlocks.append(block)
      } else {
        self.block = block
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
    let blocks = takeBlocks()
    guard blocks.hasFirst else { return }
    guard blocks.others.isEmpty else { return runConcurrently(blocks.all) }
    do { try blocks.first() } catch { recordError(error) }
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
  override func releaseWork() { _ = takeBlocks() }

  private final func takeBlocks() -> Blocks {
    let word = state.current
    if !word.blocksWereSeen, !word.phase.isBeforeMain, isPlainBlock {
      let blocks = Blocks(first: block, hasFirst: hasBlock, others: [])
      block = {}
      hasBlock = false
      return blocks
    }
    return links.withLock { links in
      let blocks = blocks(in: links)
      block = {}
      hasBlock = false
      links.details?.rarer?.otherBlocks = []
      return blocks
    }
  }

  private final func blocks(in links: Links) -> Blocks {
    Blocks(first: block, hasFirst: hasBlock, others: links.details?.rarer?.otherBlocks ?? [])
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
