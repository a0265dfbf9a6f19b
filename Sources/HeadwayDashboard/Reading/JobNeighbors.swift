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
}
#endif
