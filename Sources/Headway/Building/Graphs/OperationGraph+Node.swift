extension OperationGraph {
  /// A node of a graph.
  ///
  /// ``Builder`` creates nodes, and edges connect them.
  ///
  /// A node belongs to its graph. Using it with another graph is a precondition failure, and nodes of two graphs are
  /// never equal.
  public struct Node: Hashable, Sendable {
    /// The index of the node: how many nodes were added before it.
    public let index: Int
    /// The unique number of its graph in the process.
    let graph: UInt64
  }

  /// The access of a node's block to its run.
  public struct Context: Sendable {
    /// The operation that runs the graph.
    public let operation: GraphOperation

    /// The node that the block belongs to.
    public let node: Node

    /// The name of the node, or `node` and its index.
    ///
    /// - Complexity: O(log *n*) in the number of nodes with names.
    public var nodeName: String { operation.graph.name(of: node) }

    /// Whether the run must end early, because the operation was cancelled or another node has failed.
    ///
    /// In this case, nodes that have not begun are not run. A block that takes a long time should check this regularly
    /// and return early. The check costs one atomic load.
    public var isCancelled: Bool { operation.state.current.endsGraphRun }

    /// Throws if the run must end early.
    ///
    /// - Throws: `CancellationError` if ``isCancelled`` is true. This does not count as a failure of the node.
    public func checkCancellation() throws {
      if isCancelled { throw CancellationError() }
    }
  }
}

extension OperationWord {
  /// Whether nodes of a graph that have not begun must not run.
  var endsGraphRun: Bool { rawValue & (Self.cancelled | Self.failed) != 0 }
}
