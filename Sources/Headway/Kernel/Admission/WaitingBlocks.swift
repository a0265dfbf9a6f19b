/// The blocks of a queue that have no operations yet, in insertion order.
///
/// Most blocks wait behind many others, and no other code asks for their operations. Such a block takes 24 bytes, and
/// an operation takes 192. A thread that takes many blocks finds them next to each other. The thread that is about to
/// run a block makes the operation, in memory that it has just used for others.
///
/// Protected by the queue's lock.
///
/// See `Docs/decisions/0042-blocks-without-operations.md`.
struct WaitingBlocks: ~Copyable {
  private struct WaitingBlock {
    let sequence: UInt64
    var block: BlockOperation.FirstBlock
  }

  /// Memory for some of the blocks.
  private struct Chunk {
    static let capacity = 32

    let blocks = UnsafeMutablePointer<WaitingBlock>.allocate(capacity: capacity)
    var next: UnsafeMutablePointer<Chunk>?

    static func make() -> UnsafeMutablePointer<Chunk> {
      let made = UnsafeMutablePointer<Chunk>.allocate(capacity: 1)
      made.initialize(to: Chunk())
      return made
    }

    static func free(_ chunk: UnsafeMutablePointer<Chunk>) {
      chunk.pointee.blocks.deallocate()
      chunk.deallocate()
    }
  }

  private var firstChunk: UnsafeMutablePointer<Chunk>?
  private var lastChunk: UnsafeMutablePointer<Chunk>?
  /// An empty chunk, for the next blocks.
  private var spareChunk: UnsafeMutablePointer<Chunk>?
  /// The position of the first block in the first chunk, and the position after the last block in the last chunk.
  private var (start, end) = (0, Chunk.capacity)
  private var home: Unmanaged<OperationQueue>?
  private(set) var count = 0
  /// The class that the first blocks have been raised to, because a caller waits until the queue is empty or holds
  /// fewer operations.
  private var raisedClass = WorkerClass.background
  /// The number behind the last of these blocks.
  private var raisedEnd: UInt64 = 0

  deinit {
    assert(isEmpty, "a queue with blocks owns itself")
    if let firstChunk { Chunk.free(firstChunk) }
    if let spareChunk { Chunk.free(spareChunk) }
  }

  var isEmpty: Bool { count == 0 }

  /// The number of the first block.
  var firstSequence: UInt64? { count == 0 ? nil : firstChunk.map { $0.pointee.blocks[start].sequence } }

  /// Takes over the ownership of a block that was added after all others.
  mutating func append(_ added: UnsafeMutablePointer<AddedBlock>, sequence: UInt64) {
    if end == Chunk.capacity { appendChunk() }
    home = added.pointee.home
    let place = lastChunk!.pointee.blocks + end
    place.initialize(to: WaitingBlock(sequence: sequence, block: BlockOperation.FirstBlock()))
    // Changes no reference count.
    swap(&place.pointee.block, &added.pointee.block)
    AddedBlock.free(added)
    end += 1
    count += 1
  }

  private mutating func appendChunk() {
    let chunk = spareChunk.take() ?? Chunk.make()
    if let lastChunk { lastChunk.pointee.next = chunk } else { (firstChunk, start) = (chunk, 0) }
    (lastChunk, end) = (chunk, 0)
  }

  /// Removes the first block, and makes its operation.
  ///
  /// - Returns: The operation, which is not in the queue's lists, and which the caller owns.
  @inline(__always)
  mutating func popFirst() -> OperationReference {
    let place = firstChunk!.pointee.blocks + start
    let operation = BlockOperation.make(&place.pointee.block, home: home!, sequence: place.pointee.sequence)
    operation._withUnsafeGuaranteedRef { $0.state.listUnshared() }
    noteTaken()
    return operation
  }

  /// Removes the first block without creating its operation.
  mutating func popFirstBlock() -> BlockOperation.FirstBlock {
    let place = firstChunk!.pointee.blocks + start
    var block = BlockOperation.FirstBlock()
    swap(&block, &place.pointee.block)
    noteTaken()
    return block
  }

  /// Notes that the first block was exchanged for an empty one, which owns nothing.
  @inline(__always)
  private mutating func noteTaken() {
    start += 1
    count -= 1
    if start == Chunk.capacity || count == 0 { removeFirstChunk() }
  }

  private mutating func removeFirstChunk() {
    guard let chunk = firstChunk else { return }
    firstChunk = chunk.pointee.next
    start = 0
    if firstChunk == nil { (lastChunk, end) = (nil, Chunk.capacity) }
    chunk.pointee.next = nil
    if spareChunk == nil { spareChunk = chunk } else { Chunk.free(chunk) }
  }

  /// Raises all blocks that wait now.
  ///
  /// - Parameters:
  ///   - workerClass: The class to raise them to.
  ///   - end: A number that is greater than the number of the last block.
  mutating func raise(to workerClass: WorkerClass, before end: UInt64) {
    raisedClass = isRaised ? .moreUrgent(raisedClass, workerClass) : workerClass
    raisedEnd = end
  }

  /// Whether the first block has been raised.
  var isRaised: Bool { firstSequence.map { $0 < raisedEnd } ?? false }

  /// The class that a block with this number has been raised to, or the lowest class.
  func raisedClass(of sequence: UInt64) -> WorkerClass { sequence < raisedEnd ? raisedClass : .background }
}

/// Blocks that were cancelled before they had operations and have left their queue.
final class CancelledBlocks: @unchecked Sendable {  // Used by one thread at a time.
  let count: Int
  @exclusivity(unchecked) private var blocks = WaitingBlocks()

  /// Takes all blocks.
  init(taking blocks: inout WaitingBlocks) {
    count = blocks.count
    swap(&self.blocks, &blocks)
  }

  /// Releases the blocks, which can run user code.
  func release() { while !blocks.isEmpty { _ = blocks.popFirstBlock() } }
}
