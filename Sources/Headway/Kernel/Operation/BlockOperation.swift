import Synchronization

/// An operation that runs one or more blocks concurrently and finishes after the last block has returned.
///
/// ```swift
/// let operation = BlockOperation { try draw("left half") }
/// operation.addExecutionBlock { try draw("right half") }
/// queue.addOperation(operation)
/// ```
///
/// Each block runs once, on a thread of the pool. The first error that a block throws becomes the operation's
/// ``Operation/error``; the other blocks continue. Cancelling the operation skips the blocks that have not begun.
///
/// Each method that takes a block has two overloads: a nonthrowing one, which subclasses can override, and a throwing
/// one.
open class BlockOperation: Operation, @unchecked Sendable {
  // The first block is stored separately, because nearly all operations have only one. Others are in the details.
  private struct Blocks {
    let first: FirstBlock
    let hasFirst: Bool
    let others: [ThrowingBlock]

    var all: [ThrowingBlock] { hasFirst ? [first.run] + others : [] }
  }

  /// The first block, if ``Operation/hasBlock`` is true.
  ///
  /// The block stays here until ``releaseWork()``, even while it runs, so that the objects that it captures are
  /// released after the operation has ended.
  ///
  /// Protected by the lock of the links. No function is called under that lock. There is one exception: if the
  /// operation is not an instance of a subclass, the thread that runs it uses the block without the lock, unless the
  /// flag ``OperationWord/blocksWereRead`` is set. Any other thread sets that flag under the lock and reads the block
  /// only if the operation had not begun by then. As a result, either the other thread sees that the operation has
  /// begun, or the running thread sees that it must take the lock (`Models/block.pml`).
  @exclusivity(unchecked) private final var first = FirstBlock()

  /// A structure that contains a block and can be exchanged.
  ///
  /// Generic code (of `swap` and of optionals) would wrap a function in another function at each step.
  struct FirstBlock { var run: ThrowingBlock = {} }

  /// Creates an operation that runs `block`.
  ///
  /// A subclass that overrides only ``init()`` inherits this initializer.
  ///
  /// - Parameter block: The block to run.
  public convenience init(block: @escaping @Sendable () -> Void) {
    self.init()
    var new = FirstBlock(run: block)
    addFirst(&new)
  }

  /// Creates an operation that runs a block that can throw.
  ///
  /// - Parameter block: The block to run. The error that it throws becomes the error of the operation.
  public convenience init(block: @escaping @Sendable () throws -> Void) {
    self.init()
    var new = FirstBlock(run: block)
    addFirst(&new)
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

  @inline(__always) private final func addFirst(_ new: inout FirstBlock) {
    // The `init()` of a subclass may have added a block.
    if isPlainBlock { exchangeFirst(with: &new) } else { add(new.run) }
  }

  /// Creates an operation that no other thread has a reference to.
  static func make(_ block: @escaping ThrowingBlock) -> BlockOperation {
    let operation = BlockOperation()
    operation.first.run = block
    operation.hasBlock = true
    return operation
  }

  /// Sets the block of an operation that has none, and that no other thread has a reference to.
  ///
  /// - Parameter block: The block, which is exchanged for an empty one.
  @inline(__always) final func exchangeFirst(with block: inout FirstBlock) {
    // Changes no reference count.
    swap(&block, &first)
    hasBlock = true
  }

  /// The blocks, in insertion order; none after ``main()`` has begun.
  ///
  /// An error that a block throws when you call it is recorded with ``Operation/recordError(_:)``, as when the
  /// operation calls the block.
  ///
  /// - Complexity: O(*n*) in the number of blocks.
  open var executionBlocks: [@Sendable () -> Void] {
    let blocks = links.withLock { links -> [ThrowingBlock] in
      // The `main()` of a subclass can read the blocks.
      let isBeforeMain = state.announceReadOfBlocks().isBeforeMain
      return isBeforeMain || !isPlainBlock ? self.blocks(in: links).all : []
    }
    return blocks.map { block in
      { [weak self] in
        do { try block() } catch { self?.recordError(error) }
      }
    }
  }

  /// Adds a block that runs concurrently with the operation's other blocks.
  ///
  /// The operation holds the block until it has run or has been skipped. After a cancellation, the block is ignored.
  ///
  /// - Parameter block: The block to run.
  /// - Precondition: The operation is not executing and has not finished, unless it was cancelled.
  open func addExecutionBlock(_ block: @escaping @Sendable () -> Void) { add(block) }

  /// Implements ``addExecutionBlock(_:)``.
  fileprivate final func add(_ block: @escaping ThrowingBlock) {
    let isAdded = links.withLock { links in
      let word = state.announceReadOfBlocks()
      guard !word.isCancelled else { return true }
      guard word.isBeforeMain else { return false }
      if hasBlock {
        links.detailsCreatedIfNeeded.pointee.rareDetailsCreatedIfNeeded.otherBlocks.append(block)
      } else {
        first.run = block
        hasBlock = true
      }
      return true
    }
    require(isAdded, "addExecutionBlock(_:) on \(self): add blocks before the operation starts.")
  }

  /// Runs the blocks on the calling thread and other threads of the pool, then returns when all blocks have run or been
  /// skipped.
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

  /// Runs the one block of an operation that only the calling thread uses.
  ///
  /// Leaves the block in its place.
  private final func runFirst() {
    guard hasBlock else { return }
    hasBlock = false
    // Exchanged, which changes no reference count.
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

  // Released after the lock, because freeing a block can run user code.
  override func releaseWork() {
    guard isUsedByOneThread else {
      _ = takeBlocks()
      return
    }
    hasBlock = false
    first = FirstBlock()
  }

  /// Removes and returns the blocks, whether or not they have run.
  private final func takeBlocks() -> Blocks {
    links.withLock { links in
      let others = links.details?.pointee.rareDetails?.takeBlocks() ?? []
      let blocks = Blocks(first: first, hasFirst: hasBlock, others: others)
      first = FirstBlock()
      hasBlock = false
      return blocks
    }
  }

  /// Keeps the blocks, which have run and are no longer visible, for ``releaseWork()``.
  private final func keepUntilEnd(_ blocks: consuming Blocks) {
    links.withLock { links in
      // Another thread may have finished an operation of a subclass and released its work.
      guard state.current.phase != .finished else { return }
      first = blocks.first
      links.details?.pointee.rareDetails?.finishedBlocks = blocks.others
    }
  }

  /// Whether only the thread that runs the operation, or that has ended it, uses the blocks.
  @inline(__always) private final var isUsedByOneThread: Bool {
    let word = state.current
    return !word.blocksWereRead && !word.isBeforeMain && isPlainBlock
  }

  private final func blocks(in links: borrowing Links) -> Blocks {
    Blocks(first: first, hasFirst: hasBlock, others: links.details?.pointee.rareDetails?.otherBlocks ?? [])
  }
}

/// A block of an operation.
typealias ThrowingBlock = @Sendable () throws -> Void

extension OperationProtocol where Self: BlockOperation {
  /// Adds a throwing block that runs concurrently with the operation's other blocks.
  ///
  /// The operation holds the block until it has run or has been skipped. If a subclass overrides the method for
  /// nonthrowing blocks, the override is not called.
  ///
  /// - Parameter block: The block to run. The first error that a block throws becomes the error of the operation.
  /// - Precondition: The operation is not executing and has not finished, unless it was cancelled.
  public func addExecutionBlock(_ block: @escaping @Sendable () throws -> Void) { add(block) }
}
