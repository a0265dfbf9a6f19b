import Headway

/// The dependencies between the jobs of a ``MemoryJobStore``.
struct MemoryGraph {
  private var dependents: [JobID: [JobID: JobEdge]] = [:]
  private var dependencies: [JobID: Set<JobID>] = [:]
  /// The jobs that have ended and still have unmet edges, each with the job that failed or was cancelled first.
  var cascades: [JobID: JobID] = [:]

  func edges(from id: JobID) -> [JobEdge] {
    dependents[id, default: [:]].values.sorted { $0.dependent < $1.dependent }
  }

  func edges(to id: JobID) -> [JobEdge] {
    dependencies[id, default: []].sorted().compactMap { dependents[$0]?[id] }
  }

  mutating func put(_ edge: JobEdge) {
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

extension MemoryJobs: JobGraphRows {
  func standing(of id: JobID) -> JobGraph.Standing? { jobs[id].map { JobGraph.Standing($0) } }

  func holder(of unique: UniqueKey) -> JobID? { holder(of: unique, at: now) }

  func standings(of ids: [JobID]) -> [JobID: JobGraph.Standing] {
    Dictionary(ids.compactMap { id in standing(of: id).map { (id, $0) } }, uniquingKeysWith: { first, _ in first })
  }

  private func findUnfinished(_ id: JobID) -> JobRecord? { jobs[id].flatMap { $0.state.isFinished ? nil : $0 } }

  func findUnfinished(_ ids: [JobID]) -> [JobRecord] { ids.compactMap(findUnfinished) }

  mutating func add(
    _ new: NewJob, _ dependencies: [JobGraph.Requirement], hasDependents: Bool
  ) throws -> Enqueued {
    try add(new, dependencies, hasDependents: hasDependents, at: now)
  }

  mutating func put(_ job: JobRecord) { put(job, at: now) }

  mutating func noteDependents(of ids: [JobID]) { for id in ids { change(id) { $0.hasDependents = true } } }

  mutating func addUnmet(_ count: Int, to ids: [JobID]) { for id in ids { change(id) { $0.unmetCount += count } } }

  func unmetEdges(from ids: [JobID], limit: Int) -> [JobEdge] {
    var found: [JobEdge] = []
    for id in ids where found.count < limit {
      found += graph.edges(from: id).lazy.filter { $0.status == .unmet }.prefix(limit - found.count)
    }
    return found
  }

  func jobsWithUnmetEdges(_ ids: [JobID]) -> Set<JobID> {
    Set(ids.filter { id in graph.edges(from: id).contains { $0.status == .unmet } })
  }

  func edges(to ids: [JobID]) -> [JobEdge] { ids.flatMap { graph.edges(to: $0) } }

  mutating func nextPositions(_ count: Int) -> [Int64] { (0..<count).map { _ in nextPosition() } }

  mutating func insert(_ edges: [JobEdge]) { for edge in edges { graph.put(edge) } }

  mutating func setStatus(_ status: JobEdge.Status, of edges: [JobEdge]) {
    for var edge in edges {
      edge.status = status
      graph.put(edge)
    }
  }

  mutating func meetEdges(of ends: [JobGraph.Standing], limit: Int) -> Int {
    var edges: [JobEdge] = []
    for end in ends where edges.count < limit {
      let met = graph.edges(from: end.id).lazy.filter {
        $0.status == .unmet && JobGraph.status(of: $0.requirement, in: end.state) == .met
      }
      edges += met.prefix(limit - edges.count)
    }
    setStatus(.met, of: edges)
    for edge in edges {
      guard var job = jobs[edge.dependent], job.state == .held else { continue }
      if JobGraph.meet(&job, at: now) { place(&job, at: now) }
      put(job)
    }
    return edges.count
  }

  func cascades() -> [JobGraph.Standing] {
    graph.cascades.sorted { $0.key < $1.key }.map {
      JobGraph.Standing(id: $0.key, state: jobs[$0.key]?.state ?? .failed, culprit: $0.value)
    }
  }

  mutating func setCascade(_ culprit: JobID?, of id: JobID) {
    graph.cascades[id] = culprit
    if culprit != nil { hints.hasScheduled = true }
  }

  /// Settles the edges of the jobs that have ended.
  mutating func settleAll() {
    do { try settle() } catch { misuse("Rows in memory throw no errors: \(error)") }
  }

  /// Continues to cancel the dependents of failed jobs.
  mutating func continueAllCascades() {
    do { try continueCascades() } catch { misuse("Rows in memory throw no errors: \(error)") }
  }

  /// Returns whether unfinished jobs depend on a job, so that they might read its result.
  func isNeeded(_ id: JobID) -> Bool {
    graph.edges(from: id).contains { findUnfinished($0.dependent) != nil }
  }
}
