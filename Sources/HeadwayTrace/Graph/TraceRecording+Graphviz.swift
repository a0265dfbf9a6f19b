extension TraceRecording {
  /// Renders the format ``TraceFormat/graphviz``.
  func graphviz() -> String {
    let graph = DependencyGraph(self)
    var lines = ["digraph trace {", "  rankdir=LR;", "  node [shape=box, fontname=\"sans-serif\"];"]
    for (position, operation) in operations.enumerated() {
      var attributes = ["label=\"\(graph.label(position).map(\.escapedForGraphviz).joined(separator: "\\n"))\""]
      if graph.criticalOperations.contains(position) { attributes.append("penwidth=3") }
      if operation.result == .failure { attributes.append("peripheries=2") }
      if operation.result == .cancelled { attributes.append("style=dashed") }
      lines.append("  n\(position) [\(attributes.joined(separator: ", "))];")
    }
    for edge in graph.edges {
      var attributes: [String] = []
      if edge.kind == .parent { attributes.append("style=dashed") }
      if edge.isCritical { attributes.append("penwidth=3") }
      let suffix = attributes.isEmpty ? "" : " [\(attributes.joined(separator: ", "))]"
      lines.append("  n\(edge.source) -> n\(edge.target)\(suffix);")
    }
    return (lines + ["}", ""]).joined(separator: "\n")
  }
}

extension String {
  /// The text for a quoted string of Graphviz, which interprets backslashes and entities of HTML.
  fileprivate var escapedForGraphviz: String {
    var escaped = ""
    for character in self {
      switch character {
      case "\"": escaped += "\\\""
      case "\\": escaped += "\\\\"
      case "&": escaped += "&amp;"
      default: escaped.append(character)
      }
    }
    return escaped
  }
}
