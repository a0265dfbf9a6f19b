extension OperationGraph {
  /// Returns the graph in DOT, the language of Graphviz: `dot -Tsvg` draws it.
  ///
  /// ```text
  /// digraph {
  ///   0 [label="load"]
  ///   1 [label="render\nthread 0, 0.0015 seconds"]
  ///   0 -> 1
  /// }
  /// ```
  ///
  /// - Parameter timings: The timings of nodes, from ``GraphOperation/nodeTimings``, to include in their labels.
  /// - Returns: The description, one line per node and one per edge.
  /// - Precondition: The nodes in `timings` are nodes of this graph.
  /// - Complexity: O(*n*) in the number of nodes and edges.
  public func graphvizDescription(timings: [NodeTiming] = []) -> String {
    var lines = ["digraph {"]
    for timing in timings { requireOwn(timing.node, "graphvizDescription(timings:)") }
    let notes = Dictionary(timings.map { ($0.node.index, $0) }) { first, _ in first }
    for number in 0..<nodeCount {
      var label = quoted(name(of: layout.blocks.node(number)))
      if let timing = notes[number] { label += "\\nthread \(timing.threadIndex), \(timing.duration)" }
      lines.append("  \(number) [label=\"\(label)\"]")
    }
    for number in 0..<nodeCount {
      for successor in layout.successors(of: number) { lines.append("  \(number) -> \(successor)") }
    }
    return (lines + ["}"]).joined(separator: "\n") + "\n"
  }

  private func quoted(_ name: String) -> String {
    var text = ""
    for character in name {
      switch character {
      case "\"", "\\": text += "\\\(character)"
      case "\n": text += "\\n"
      default: text.append(character)
      }
    }
    return text
  }
}

extension OperationGraph: CustomStringConvertible {
  /// The number of nodes and edges: `graph of 4 nodes and 4 edges`.
  public var description: String { "graph of \(nodeCount) nodes and \(edgeCount) edges" }
}
