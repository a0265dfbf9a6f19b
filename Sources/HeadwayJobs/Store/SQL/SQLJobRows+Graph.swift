import Headway

@_spi(JobStore) extension SQLJobRows {
  /// Notes that unfinished jobs have dependents.
  public func noteDependents(of ids: [JobID]) throws { try run(Graph.noteDependents, for: ids) }

  /// Makes held jobs wait for more jobs.
  public func addUnmet(_ count: Int, to ids: [JobID]) throws {
    try run(Graph.addUnmet, for: ids, { $1.add($0.rawValue) }, constants: { $0.add(count) })
  }

  /// Returns the jobs among several jobs that have unmet edges.
  public func jobsWithUnmetEdges(_ ids: [JobID]) throws -> Set<JobID> {
    Set(try rows(Graph.withUnmetEdges, for: ids) { $0.id(0) })
  }

  /// Returns the edges to dependents, ordered by the dependency's ID for each dependent.
  public func edges(to ids: [JobID]) throws -> [JobEdge] {
    try rows(Graph.edgesTo, for: ids) { try JobRow.readEdge($0) }
  }

  /// Inserts the edges of new jobs.
  public func insert(_ edges: [JobEdge]) throws {
    try run(Graph.insertEdges, for: edges) { edge, values in
      values.add(edge.dependency.rawValue)
      values.add(edge.dependent.rawValue)
      values.add(edge.requirement == .success)
      values.add(edge.status.rawValue)
    }
  }

  /// Changes the status of edges that exist and does not change their dependents.
  public func setStatus(_ status: JobEdge.Status, of edges: [JobEdge]) throws {
    try run(
      Graph.setStatus, for: edges,
      { edge, values in
        values.add(edge.dependency.rawValue)
        values.add(edge.dependent.rawValue)
      }, constants: { $0.add(status.rawValue) })
  }

  /// Reads the state of a job from `id, state, culprit`.
  ///
  /// - Throws: ``JobError`` if a newer release has stored an unknown state.
  public func readStanding(_ row: Row) throws -> JobGraph.Standing {
    guard let state = JobState(rawValue: row.int(1)) else {
      throw JobError(.storeFailed, "Job \(row.id(0)) has the unknown state \(row.int(1)). Update this program.")
    }
    return JobGraph.Standing(id: row.id(0), state: state, culprit: row.optional(2, row.id))
  }

  /// Notes what observers have to know about a dependent, from `state, queue` after its dependency has ended.
  public func noteMet(_ row: Row) {
    switch JobState(rawValue: row.int(0)) {
    case .scheduled: hints.hasScheduled = true
    case .waiting: hints.claimableQueues.insert(row.text(1))
    default: break
    }
  }

  /// Returns the jobs that have ended and still have unmet edges.
  public func cascades() throws -> [JobGraph.Standing] {
    try rows(Graph.cascades, { $0.add(JobGraph.maxCascadeCount) }) { row in
      JobGraph.Standing(id: row.id(0), state: JobState(rawValue: row.int(2)) ?? .failed, culprit: row.id(1))
    }
  }

  /// Notes that jobs that have ended still have unmet edges.
  public func noteCascades(_ ends: [JobGraph.Standing]) throws {
    try run(Graph.putCascades, for: ends) { end, values in
      values.add(end.id.rawValue)
      values.add(end.culprit.rawValue)
    }
    hints.hasScheduled = true
  }

  /// Notes that jobs no longer have unmet edges.
  public func removeCascades(of ids: [JobID]) throws { try run(Graph.deleteCascades, for: ids) }
}
