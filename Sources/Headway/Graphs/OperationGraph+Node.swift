extension OperationGraph {
  /// A node of a graph: what ``Builder`` makes, and edges join.
  ///
  /// It belongs to that graph. Its use with another graph is a precondition failure, and nodes of two graphs are never
  /// equal.
  public struct Node: Hashable, Sendable {
    /// The number of the node: how many were added before it.
    public let number: Int
    /// The number of its graph in the process.
    let graph: UInt64
  }

  /// What a node's block sees of the run that it is a part of.
  public struct Context: Sendable {
    /// The operation that runs the graph.
    public let operation: GraphRunOperation

    /// The node.
    public let node: Node

    /// The name of the node, or `node` and its number.
    ///
    /// - Complexity: O(log *n*) in the number of nodes with names.
    public var nodeName: String { operation.graph.name(of: node) }

    /// Whether the run is to end early: the operation was cancelled, or another node has failed.
    ///
    /// Nodes that have not begun are not run then; a block that takes long should look now and then, and return. Costs
    /// one atomic load.
    public var isCancelled: Bool { operation.state.current.endsGraphRun }

    /// Throws if the run is to end early.
    ///
    /// - Throws: `CancellationError` if ``isCancelled``, which is no failure of the node.
    public func checkCancellation() throws {
      if isCancelled { throw CancellationError() }
    }
  }
}

extension OperationWord {
  /// The nodes of a graph that have not begun are not run.
  var endsGraphRun: Bool { rawValue & (Self.cancelled | Self.failed) != 0 }
}
