extension TraceRecording {
  /// Renders the format ``TraceFormat/mermaid``.
  func mermaid() -> String {
    let graph = DependencyGraph(self)
    var lines = ["flowchart LR"]
    for (position, operation) in operations.enumerated() {
      let label = graph.label(position).map(\.escapedForMermaid).joined(separator: "<br/>")
      let (open, close) = operation.result == .failure ? ("{{", "}}") : ("[", "]")
      lines.append("  n\(position)\(open)\"\(label)\"\(close)")
    }
    for edge in graph.edges {
      lines.append("  n\(edge.source) \(edge.kind == .parent ? "-.->" : "-->") n\(edge.target)")
    }
    let critical = graph.criticalOperations.sorted().map { "n\($0)" }.joined(separator: ",")
    if !critical.isEmpty { lines += ["  classDef critical stroke-width:4px", "  class \(critical) critical"] }
    let cancelled = operations.indices.filter { operations[$0].result == .cancelled }.map { "n\($0)" }
    if !cancelled.isEmpty {
      lines += ["  classDef cancelled stroke-dasharray:4 3", "  class \(cancelled.joined(separator: ",")) cancelled"]
    }
    let links = graph.edges.indices.filter { graph.edges[$0].isCritical }.map(String.init).joined(separator: ",")
    if !links.isEmpty { lines.append("  linkStyle \(links) stroke-width:4px") }
    return (lines + [""]).joined(separator: "\n")
  }
}

extension String {
  /// The text for a quoted label of Mermaid: all characters with a meaning in Mermaid, Markdown, or HTML are entities.
  fileprivate var escapedForMermaid: String {
    var escaped = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"", "&", "<", ">", "#", ";", "`", "*", "_", "\\", "[", "]", "{", "}": escaped += "#\(scalar.value);"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
