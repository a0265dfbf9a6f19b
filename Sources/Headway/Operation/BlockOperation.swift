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
  /// The operation holds the block until it has run, or has been skipped. After a cancellation, the block is ignored.
  ///
  /// - Parameter block: What to run.
  /// - Precondition: The operation is not executing and has not finished, unless it was cancelled.
  open func addExecutionBlock(_ block: @escaping ExecutionBlock) {
    let isAdded = links.withLock { links in
      // The blocks are taken, under this lock, after the operation has begun.
      let word = state.current
      guard !word.isCancelled else { return true }
      guard word.phase == .pending || word.phase == .starting else { return false }
      if hasBlock {
        links.madeDetails.otherBlocks.append(block)
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

  // Released after the lock: freeing a block may run code of its owner's.
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
