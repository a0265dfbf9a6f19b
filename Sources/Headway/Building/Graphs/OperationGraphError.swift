/// The reason why a graph could not be built, or why its run failed.
public struct OperationGraphError: Error {
  /// The kinds of failure.
  ///
  /// Later versions might add codes, so include a default case when you compare.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Value: Hashable { case cycle, nodeFailed }

    private let value: Value

    /// Nodes wait for each other in a cycle, so the graph could never finish.
    public static var cycle: Code { Code(value: .cycle) }

    /// The block of a node has thrown an error.
    public static var nodeFailed: Code { Code(value: .nodeFailed) }

    /// The kind of failure, as a noun phrase.
    public var description: String {
      switch value {
      case .cycle: "cycle of nodes"
      case .nodeFailed: "failed node"
      }
    }
  }

  /// The kind of failure, for code that handles the error.
  public let code: Code

  /// The nodes concerned.
  ///
  /// For a cycle, these are all its nodes. Each node is followed by the node that waits for it. The first node waits
  /// for the last. Otherwise, this is the node that failed.
  public let nodes: [OperationGraph.Node]

  /// The names of these nodes.
  public let nodeNames: [String]

  /// The error that the node threw; nil for a cycle.
  public let underlyingError: (any Error)?
}

extension OperationGraphError: CustomStringConvertible {
  /// A sentence that names the nodes.
  public var description: String {
    guard let underlyingError else {
      let cycle = (nodeNames + nodeNames.prefix(1)).map { "“\($0)”" }.joined(separator: " → ")
      return "The nodes wait for each other in a cycle: \(cycle)."
    }
    return "The node “\(nodeNames.first ?? "")” failed: \(underlyingError)"
  }
}
