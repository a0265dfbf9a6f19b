/// The operations of a recording and the lines between them.
struct DependencyGraph {
  struct Edge {
    enum Kind {
      case dependency, parent
    }

    let source: Int
    let target: Int
    let kind: Kind
    /// Whether the critical path goes from the source to the target.
    let isCritical: Bool
  }

  let recording: TraceRecording
  let edges: [Edge]
  /// The operations of the critical path.
  let criticalOperations: Set<Int>

  init(_ recording: TraceRecording) {
    self.recording = recording
    let path = recording.criticalPath()?.steps.map(\.operation) ?? []
    let next = Dictionary(zip(path, path.dropFirst()), uniquingKeysWith: { first, _ in first })
    criticalOperations = Set(path)
    edges = recording.operations.indices.flatMap { position in
      var edges = recording.dependencies(of: position).map { dependency in
        Edge(source: dependency, target: position, kind: .dependency, isCritical: next[dependency] == position)
      }
      if let parent = recording.parent(of: position) {
        edges.append(Edge(source: parent, target: position, kind: .parent, isCritical: next[parent] == position))
      }
      return edges
    }
  }

  /// The lines of a node's label: the name, and how long the operation ran.
  func label(_ position: Int) -> [String] {
    let operation = recording.operations[position]
    var lines = operation.name.split(separator: /\r\n|\n|\r/, omittingEmptySubsequences: false).map {
      String($0).onOneLine
    }
    let isEnded = operation.runs.allSatisfy { $0.end != nil }
    let length = operation.runs.reduce(into: Int64(0)) { sum, run in
      let length = Period(from: run.start, to: run.end ?? run.start).length
      sum = length > .max - sum ? .max : sum + length
    }
    switch operation.result {
    case .failure: lines.append("failed after \(timeText(length))")
    case .cancelled: lines.append("cancelled")
    case .success, nil:
      lines.append(operation.runs.isEmpty ? "not started" : isEnded ? timeText(length) : "unfinished")
    }
    return lines
  }
}
