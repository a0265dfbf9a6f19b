/// Blocks that wait for each other, laid out once and run as often as you like.
///
/// Build the graph from nodes, which are blocks, and edges, each from a node to one that waits for it. Then run it:
/// each ``operation(maxConcurrentNodeCount:recordsTimes:)`` runs every node once, in any queue.
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
///   queue.addOperations([graph.operation()], waitUntilFinished: true)
/// }
/// ```
///
/// A node costs some tens of nanoseconds, where an ``Operation`` costs hundreds; a run allocates the operation, and
/// counters that the next run uses again. What one node can't have is what makes an operation: an observer, a priority,
/// a dependency that is added later, a cancellation of its own.
///
/// A graph doesn't change. It may be run by several operations at once, each with counters of its own; then its blocks
/// run at the same time as themselves.
public final class OperationGraph: Sendable {
  let layout: GraphLayout

  /// Counters of runs that have ended, for others.
  let recycledRuns = RecycledGraphRuns()

  /// Creates a graph.
  ///
  /// - Parameter build: Adds the nodes and the edges. Called once, on the calling thread.
  /// - Throws: ``OperationGraphError`` with the code ``OperationGraphError/Code/cycle``, if nodes wait for each other
  ///   in a cycle; and what `build` throws.
  /// - Complexity: O(*n*) in the number of nodes and edges.
  public init(_ build: (inout Builder) throws -> Void) throws {
    var builder = Builder()
    try build(&builder)
    layout = try GraphLayout(builder)
  }

  /// How many nodes there are.
  public var nodeCount: Int { layout.nodeCount }

  /// How many edges there are; one that was added twice counts twice.
  public var edgeCount: Int { layout.successors.count }

  /// What a node is called: the name that it was given, or `node` and its number.
  ///
  /// - Parameter node: The node.
  /// - Returns: The name.
  /// - Precondition: It is a node of this graph.
  /// - Complexity: O(log *n*) in the number of nodes with names.
  public func name(of node: Node) -> String {
    requireOwn(node, "name(of:)")
    return layout.name(of: node)
  }

  /// Stops if a node is not one of this graph.
  func requireOwn(_ node: Node, _ function: StaticString) {
    require(
      layout.blocks.has(node),
      "\(function) with node \(node.number) of another graph: ask the graph whose builder has returned it.")
  }

  /// Creates an operation that runs the graph once.
  ///
  /// - Parameters:
  ///   - maxConcurrentNodeCount: How many nodes may run at once; nil for as many as there are processors. With 1, all
  ///     nodes run on the thread that starts the operation, one after the other.
  ///   - recordsTimes: The operation keeps when each node ran, and where (``GraphRunOperation/nodeTimes``). That costs
  ///     a node two looks at the clock, and 24 bytes.
  /// - Returns: The operation, in no queue. It holds the graph.
  /// - Precondition: `maxConcurrentNodeCount` is positive.
  /// - Complexity: O(1).
  public func operation(maxConcurrentNodeCount: Int? = nil, recordsTimes: Bool = false) -> GraphRunOperation {
    require(
      maxConcurrentNodeCount ?? 1 > 0,
      "operation(maxConcurrentNodeCount: \(maxConcurrentNodeCount ?? 0)) of a graph: allow for 1 node at least.")
    return GraphRunOperation(
      of: self, limit: maxConcurrentNodeCount ?? ProcessorCount.usable, recordsTimes: recordsTimes)
  }
}
