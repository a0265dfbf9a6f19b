import Synchronization

/// The work of a node.
///
/// Not copyable, because a copy would count references, which costs more than everything else that a run does for a
/// node.
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

/// The blocks of a graph, indexed by the numbers of their nodes.
final class GraphBlocks: @unchecked Sendable {
  // The builder, which only one thread uses, appends blocks. After that, nothing changes.

  private var blocks: UnsafeMutablePointer<GraphBlock>
  private var capacity = 16
  private(set) var count = 0

  /// The unique number of the graph in the process.
  ///
  /// Not an address: nodes do not retain their graph, and a later graph might get the same memory.
  let graph = GraphBlocks.graphCount.add(1, ordering: .relaxed).newValue

  private static let graphCount = Atomic<UInt64>(0)

  /// Returns the node with the given number.
  func node(_ number: Int) -> OperationGraph.Node { OperationGraph.Node(index: number, graph: graph) }

  /// Whether a node belongs to this graph.
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

  /// The first of ``count`` blocks.
  ///
  /// They live as long as this object.
  var start: UnsafePointer<GraphBlock> { UnsafePointer(blocks) }
}
