/// Blocks that wait for each other, laid out once and run as often as you like.
///
/// Build the graph from nodes, which are blocks, and edges. An edge leads from a node to a node that waits for it. Then
/// run the graph: each ``makeOperation(maxConcurrentNodeCount:recordingTimes:)`` runs every node once, in any queue.
///
/// ```swift
/// let queue = OperationQueue()
/// let graph = try OperationGraph { graph in
///   let load = graph.addNode("load") { try draw("frame") }
///   let left = graph.addNode("left", after: [load]) { try draw("left half") }
///   let right = graph.addNode("right", after: [load]) { try draw("right half") }
///   graph.addNode("save", after: [left, right]) { try draw("file") }
/// }
/// for _ in 0..<1_000 {
///   queue.addOperations([graph.makeOperation()], waitUntilFinished: true)
/// }
/// ```
///
/// A node costs 6 to 26 ns in each run, whereas an ``Operation`` costs hundreds. A run allocates the operation, and
/// counters that the next run reuses. In return, a node has no observers, no priority, and no separate cancellation,
/// and you can't add dependencies later.
///
/// A graph does not change. Several operations can run it at the same time, each with its own counters. A block can
/// then run several times simultaneously.
public final class OperationGraph: Sendable {
  let layout: GraphLayout

  /// The counters of runs that have ended, for reuse.
  let recycledRuns = RecycledGraphRuns()

  /// Creates a graph.
  ///
  /// - Parameter build: Adds the nodes and the edges. Called once, on the calling thread.
  /// - Throws: ``OperationGraphError`` with the code ``OperationGraphError/Code/cycle`` if nodes wait for each other in
  ///   a cycle. Rethrows the errors of `build`.
  /// - Complexity: O(*n*) in the number of nodes and edges.
  public init(_ build: (inout Builder) throws -> Void) throws {
    var builder = Builder()
    try build(&builder)
    layout = try GraphLayout(builder)
  }

  /// The number of nodes.
  public var nodeCount: Int { layout.nodeCount }

  /// The number of edges.
  ///
  /// An edge that was added twice counts twice.
  public var edgeCount: Int { layout.successors.count }

  /// Returns the name of a node: the name that it was given, or `node` and its index.
  ///
  /// - Parameter node: A node of this graph.
  /// - Returns: The name of the node.
  /// - Precondition: `node` belongs to this graph.
  /// - Complexity: O(log *n*) in the number of nodes with names.
  public func name(of node: Node) -> String {
    requireOwn(node, "name(of:)")
    return layout.name(of: node)
  }

  /// Stops the process if a node does not belong to this graph.
  func requireOwn(_ node: Node, _ function: StaticString) {
    require(
      layout.blocks.has(node),
      "\(function) with node \(node.index) of another graph: use the graph that its builder returned.")
  }

  /// Creates an operation that runs the graph once.
  ///
  /// - Parameters:
  ///   - maxConcurrentNodeCount: The maximum number of nodes that run at the same time; nil for the number of
  ///     processors. With 1, all nodes run on the thread that starts the operation, one after the other.
  ///   - recordingTimes: Whether the operation records the time and the thread of each node
  ///     (``GraphOperation/nodeTimings``). This costs two reads of the clock and 24 bytes per node.
  /// - Returns: The operation, which is not in a queue. It retains the graph.
  /// - Precondition: `maxConcurrentNodeCount` is positive.
  /// - Complexity: O(1).
  public func makeOperation(maxConcurrentNodeCount: Int? = nil, recordingTimes: Bool = false) -> GraphOperation {
    require(
      maxConcurrentNodeCount ?? 1 > 0,
      "makeOperation(maxConcurrentNodeCount: \(maxConcurrentNodeCount ?? 0)) of a graph: use 1 or more.")
    return GraphOperation(
      of: self, limit: maxConcurrentNodeCount ?? ProcessorCount.usable, recordingTimes: recordingTimes)
  }
}
