#if Dashboard
@_spi(JobStore) import HeadwayJobs

/// The jobs that a job depends on, and those that depend on it, over several edges.
struct JobNeighbors {
  /// The jobs, ordered by ID.
  private(set) var jobs: [JobRecord] = []
  /// The edges between them.
  private(set) var edges: [JobEdge] = []
  /// Whether some jobs were omitted.
  private(set) var isPartial = false

  static let maxJobCount = 40
  private static let maxDistance = 4

  /// Reads the neighbors of a job.
  static func read(of id: JobID, from jobs: Jobs) async throws -> JobNeighbors {
    var neighbors = JobNeighbors()
    var (known, frontier, found) = (Set([id]), [id], Set<JobEdge>())
    for _ in 0..<maxDistance where !frontier.isEmpty {
      let edges = try await jobs.backend.edges(of: frontier)
      var next: [JobID] = []
      for edge in edges {
        for id in [edge.dependency, edge.dependent] where !known.contains(id) {
          guard known.count < maxJobCount else {
            neighbors.isPartial = true
            continue
          }
          known.insert(id)
          next.append(id)
        }
        found.insert(edge)
      }
      frontier = next
    }
    guard known.count > 1 else { return neighbors }
    neighbors.jobs = try await jobs.jobs(JobFilter(ids: known.sorted()), limit: known.count)
    let shown = Set(neighbors.jobs.map(\.id))
    neighbors.edges = found.filter { shown.contains($0.dependency) && shown.contains($0.dependent) }
      .sorted { ($0.dependency, $0.dependent) < ($1.dependency, $1.dependent) }
    return neighbors
  }

  /// Returns the jobs that a job directly waits for or has waited for.
  func dependencies(of id: JobID) -> [JobRecord] {
    let ids = Set(edges.filter { $0.dependent == id }.map(\.dependency))
    return jobs.filter { ids.contains($0.id) }
  }

  /// Returns the jobs that directly wait for a job or have waited for it.
  func dependents(of id: JobID) -> [JobRecord] {
    let ids = Set(edges.filter { $0.dependency == id }.map(\.dependent))
    return jobs.filter { ids.contains($0.id) }
  }

  /// Returns the jobs that a job waits for, directly or indirectly, and that wait for no other job.
  func causes(of id: JobID) -> [JobRecord] {
    var (found, rest) = (Set<JobID>(), [id])
    while let next = rest.popLast() {
      for edge in edges where edge.dependent == next && edge.status == .unmet {
        if found.insert(edge.dependency).inserted { rest.append(edge.dependency) }
      }
    }
    return jobs.filter { found.contains($0.id) && $0.state != .held }
  }
}
#endif
