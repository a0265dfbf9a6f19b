/// Why a graph could not be built, or why its run failed.
public struct OperationGraphError: Error {
  /// The kinds of failure.
  ///
  /// A later version may add some: keep a default case when you compare.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Value: Hashable { case cycle, nodeFailed }

    private let value: Value

    /// Nodes wait for each other in a cycle, so the graph could never run to its end.
    public static var cycle: Code { Code(value: .cycle) }

    /// The block of a node has thrown an error.
    public static var nodeFailed: Code { Code(value: .nodeFailed) }

    /// The kind of failure in words.
    public var description: String {
      switch value {
      case .cycle: "nodes wait for each other in a cycle"
      case .nodeFailed: "a node has failed"
      }
    }
  }

  /// What went wrong, for a program to decide on.
  public let code: Code

  /// The nodes concerned: of a cycle all of them, each before the one that waits for it, and the last before the first;
  /// or the one that failed.
  public let nodes: [OperationGraph.Node]

  /// What these nodes are called.
  public let nodeNames: [String]

  /// What the node threw; nil for a cycle.
  public let underlyingError: (any Error)?
}

extension OperationGraphError: CustomStringConvertible {
  /// A sentence that names the nodes.
  public var description: String {
    guard let underlyingError else {
      return "\(code): " + (nodeNames + nodeNames.prefix(1)).map { "‘\($0)’" }.joined(separator: " → ")
    }
    return "node ‘\(nodeNames.first ?? "")’ has failed: \(underlyingError)"
  }
}
