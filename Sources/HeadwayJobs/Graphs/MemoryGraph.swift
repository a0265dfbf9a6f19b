/// The dependencies between the jobs of a ``MemoryJobs``.
@_spi(JobStore) public struct MemoryGraph: Sendable {
  private var dependents: [JobID: [JobID: JobEdge]] = [:]
  private var dependencies: [JobID: Set<JobID>] = [:]
  /// The jobs that have ended and still have unmet edges, each with the job that failed or was cancelled first.
  public var cascades: [JobID: JobID] = [:]

  /// Returns the edges from a job to its dependents, ordered by ID.
  public func edges(from id: JobID) -> [JobEdge] {
    dependents[id, default: [:]].values.sorted { $0.dependent < $1.dependent }
  }

  /// Returns the edges to a job from its dependencies, ordered by ID.
  public func edges(to id: JobID) -> [JobEdge] {
    dependencies[id, default: []].sorted().compactMap { dependents[$0]?[id] }
  }

  /// Adds an edge, or changes its status.
  public mutating func put(_ edge: JobEdge) {
    dependents[edge.dependency, default: [:]][edge.dependent] = edge
    dependencies[edge.dependent, default: []].insert(edge.dependency)
  }

  /// Removes the edges to a deleted job.
  mutating func remove(_ id: JobID) {
    for dependency in dependencies.removeValue(forKey: id) ?? [] {
      dependents[dependency]?[id] = nil
      if dependents[dependency]?.isEmpty == true { dependents[dependency] = nil }
    }
  }
}
