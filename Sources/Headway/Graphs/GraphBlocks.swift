import Synchronization

/// What a node does.
///
/// Not copyable: a copy would count references, which costs more than all else that a run does for a node.
enum GraphBlock: ~Copyable {
  case plain(@Sendable () throws -> Void)
  case contextual(@Sendable (OperationGraph.Context) throws -> Void)

  /// Calls the block.
  @inline(__always)
  borrowing func callAsFunction(_ context: @autoclosure () -> OperationGraph.Context) throws {
    switch self {
    case .plain(let block): try block()
    case .contextual(let block): try block(context())
    }
  }
}

/// The blocks of a graph, by the numbers of their nodes.
final class GraphBlocks: @unchecked Sendable {
  // The builder, which one thread uses, appends; after that nothing changes.

  private var blocks: UnsafeMutablePointer<GraphBlock>
  private var capacity = 16
  private(set) var count = 0

  /// The number of the graph in the process.
  ///
  /// Not an address: nodes do not keep their graph, and a later one may get the same memory.
  let graph = GraphBlocks.graphCount.add(1, ordering: .relaxed).newValue

  private static let graphCount = Atomic<UInt64>(0)

  /// The node with a number.
  func node(_ number: Int) -> OperationGraph.Node { OperationGraph.Node(number: number, graph: graph) }

  /// Whether a node is one of these.
  func has(_ node: OperationGraph.Node) -> Bool { node.graph == graph }

  init() { blocks = .allocate(capacity: capacity) }

  deinit { ReleasedChain.release(Memory(blocks, count)) }

  private final class Memory {
    private let blocks: UnsafeMutablePointer<GraphBlock>
    private let count: Int

    init(_ blocks: UnsafeMutablePointer<GraphBlock>, _ count: Int) { (self.blocks, self.count) = (blocks, count) }

    deinit {
      blocks.deinitialize(count: count)
      blocks.deallocate()
    }
  }

  func append(_ block: consuming GraphBlock) {
    if count == capacity { reserveCapacity(2 * capacity) }
    (blocks + count).initialize(to: block)
    count += 1
  }

  func reserveCapacity(_ wanted: Int) {
    guard wanted > capacity else { return }
    let larger = UnsafeMutablePointer<GraphBlock>.allocate(capacity: wanted)
    larger.moveInitialize(from: blocks, count: count)
    blocks.deallocate()
    (blocks, capacity) = (larger, wanted)
  }

  /// The first block; there are ``count``, which live as long as this.
  var start: UnsafePointer<GraphBlock> { UnsafePointer(blocks) }
}
