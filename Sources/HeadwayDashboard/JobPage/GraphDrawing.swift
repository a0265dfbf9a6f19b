#if Dashboard
@_spi(JobStore) import HeadwayJobs

/// A drawing of jobs and their dependencies: each job is to the right of those that it waits for.
struct GraphDrawing {
  private static let width = 176
  private static let height = 40
  private static let gap = (x: 44, y: 12)
  private static let margin = 4

  /// Returns the values of the drawing.
  ///
  /// - Parameters:
  ///   - neighbors: The jobs to draw, with the edges between them.
  ///   - id: The job that is emphasized.
  ///   - url: Returns the URL of a job.
  /// - Returns: The values for the template.
  static func view(_ neighbors: JobNeighbors, around id: JobID, url: (JobID) -> String) -> View {
    let ranks = ranks(neighbors)
    var (places, rows) = ([JobID: (x: Int, y: Int)](), [Int: Int]())
    for job in neighbors.jobs {
      let rank = ranks[job.id] ?? 0
      let row = rows[rank, default: 0]
      rows[rank] = row + 1
      places[job.id] = (margin + rank * (width + gap.x), margin + row * (height + gap.y))
    }
    let nodes = neighbors.jobs.map { job -> View in
      let place = places[job.id] ?? (0, 0)
      let name = Readable.line(job.settings.label ?? job.kind.rawValue, length: 22)
      return [
        "x": place.x, "y": place.y, "textX": place.x + 10, "nameY": place.y + 17, "stateY": place.y + 32,
        "width": width, "height": height, "name": name, "id": "\(job.id)", "state": job.state.name,
        "url": url(job.id), "isSelf": job.id == id,
      ]
    }
    let edges = neighbors.edges.compactMap { edge -> View? in
      guard let start = places[edge.dependency], let end = places[edge.dependent] else { return nil }
      let (x, y) = (start.x + width, start.y + height / 2)
      let (endX, endY) = (end.x, end.y + height / 2)
      let middle = (x + endX) / 2
      return [
        "path": "M\(x) \(y)C\(middle) \(y) \(middle) \(endY) \(endX) \(endY)",
        "style": edge.status == .met ? "met" : edge.status == .failed ? "failed" : "unmet",
      ]
    }
    let columns = (ranks.values.max() ?? 0) + 1
    return [
      "nodes": nodes, "edges": edges, "isPartial": neighbors.isPartial,
      "width": 2 * margin + columns * (width + gap.x) - gap.x,
      "height": 2 * margin + (rows.values.max() ?? 1) * (height + gap.y) - gap.y,
    ]
  }

  /// Returns the length of the longest path to each job.
  private static func ranks(_ neighbors: JobNeighbors) -> [JobID: Int] {
    var ranks = Dictionary(uniqueKeysWithValues: neighbors.jobs.map { ($0.id, 0) })
    // A graph has no cycle, so the ranks stop changing after as many rounds as there are jobs.
    for _ in neighbors.jobs {
      var isChanged = false
      for edge in neighbors.edges {
        let rank = (ranks[edge.dependency] ?? 0) + 1
        guard rank > ranks[edge.dependent] ?? 0 else { continue }
        ranks[edge.dependent] = rank
        isChanged = true
      }
      if !isChanged { break }
    }
    return ranks
  }
}
#endif
