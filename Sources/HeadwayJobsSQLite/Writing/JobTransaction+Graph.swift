#if Jobs
import GRDB
import Headway
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  func addAll(_ jobs: [NewJob], beforeDependentsOf parent: JobID?) throws -> [Enqueued] {
    guard parent == nil, jobs.count >= JobSQL.batchSize,
      jobs.allSatisfy({ $0.settings.unique == nil && $0.dependencies.isEmpty })
    else { return try addBatch(jobs, beforeDependentsOf: parent) }
    let rest = jobs.count % JobSQL.batchSize
    var answers = try stride(from: 0, to: jobs.count - rest, by: JobSQL.batchSize).flatMap { first in
      try addPlain(jobs[first..<first + JobSQL.batchSize])
    }
    answers += try addBatch(jobs.suffix(rest))
    return answers
  }

  func standing(of id: JobID) throws -> JobGraph.Standing? {
    for sql in [
      "SELECT state, NULL FROM headway_job WHERE id = ?1", "SELECT state, culprit FROM headway_done WHERE id = ?1",
    ] {
      let row = try statement(sql)
      defer { row.reset() }
      row.bind(id.rawValue, at: 1)
      guard try row.step() else { continue }
      guard let state = JobState(rawValue: row.int(0)) else {
        throw JobError(.storeFailed, "Job \(id) has the unknown state \(row.int(0)). Update this program.")
      }
      return JobGraph.Standing(id: id, state: state, culprit: row.isNull(1) ? nil : JobID(rawValue: row.int64(1)))
    }
    return nil
  }

  func standings(of ids: [JobID]) throws -> [JobID: JobGraph.Standing] {
    let standings = try Set(ids).compactMap { id in try standing(of: id).map { (id, $0) } }
    return Dictionary(uniqueKeysWithValues: standings)
  }

  func noteDependents(of ids: [JobID]) throws {
    let update = try statement(
      "UPDATE headway_job SET flags = flags | \(JobRow.hasDependents) WHERE id = ?1")
    for id in ids {
      update.bind(id.rawValue, at: 1)
      try update.run()
    }
  }

  func addUnmet(_ count: Int, to ids: [JobID]) throws {
    let update = try statement("UPDATE headway_job SET unmet = unmet + ?2 WHERE id = ?1")
    for id in ids {
      update.bind(id.rawValue, at: 1)
      update.bind(count, at: 2)
      try update.run()
    }
  }

  func unmetEdges(from ids: [JobID], limit: Int) throws -> [JobEdge] {
    var found: [JobEdge] = []
    for id in ids where found.count < limit {
      found += try edges(
        """
        SELECT \(JobRow.edge) FROM headway_edge WHERE dependency = ?1 AND status = 0 ORDER BY dependent
        LIMIT ?2
        """, id, limit: limit - found.count)
    }
    return found
  }

  func jobsWithUnmetEdges(_ ids: [JobID]) throws -> Set<JobID> {
    Set(try ids.filter { try !unmetEdges(from: [$0], limit: 1).isEmpty })
  }

  func edges(to ids: [JobID]) throws -> [JobEdge] {
    try ids.flatMap { id in
      try edges(
        "SELECT \(JobRow.edge) FROM headway_edge WHERE dependent = ?1 ORDER BY dependency LIMIT ?2", id,
        limit: .max)
    }
  }

  private func edges(_ sql: String, _ id: JobID, limit: Int) throws -> [JobEdge] {
    let rows = try statement(sql)
    rows.bind(id.rawValue, at: 1)
    rows.bind(limit, at: 2)
    var edges: [JobEdge] = []
    try rows.forEachRow { edges.append(try JobRow.readEdge($0)) }
    return edges
  }

  func insert(_ edges: [JobEdge]) throws {
    let insert = try statement(
      "INSERT INTO headway_edge (dependency, dependent, success, status) VALUES (?1, ?2, ?3, ?4)")
    for edge in edges {
      insert.bind(edge.dependency.rawValue, at: 1)
      insert.bind(edge.dependent.rawValue, at: 2)
      insert.bind(edge.requirement == .success ? 1 : 0, at: 3)
      insert.bind(edge.status.rawValue, at: 4)
      try insert.run()
    }
  }

  func setStatus(_ status: JobEdge.Status, of edges: [JobEdge]) throws {
    let update = try statement("UPDATE headway_edge SET status = ?3 WHERE dependency = ?1 AND dependent = ?2")
    for edge in edges {
      update.bind(edge.dependency.rawValue, at: 1)
      update.bind(edge.dependent.rawValue, at: 2)
      update.bind(status.rawValue, at: 3)
      try update.run()
    }
  }

  func meetEdges(of ends: [JobGraph.Standing], limit: Int) throws -> Int {
    var count = 0
    for end in ends where count < limit { count += try meetEdges(of: end, limit: limit - count) }
    return count
  }

  /// Makes the same changes as `JobGraph.status` and `JobGraph.meet`, in SQL.
  private func meetEdges(of end: JobGraph.Standing, limit: Int) throws -> Int {
    let unmet = try statement(
      """
      SELECT dependent FROM headway_edge WHERE dependency = ?1 AND status = 0 AND (success = 0 OR ?2) ORDER BY dependent
      LIMIT ?3
      """)
    unmet.bind(end.id.rawValue, at: 1)
    unmet.bind(end.state == .succeeded ? 1 : 0, at: 2)
    unmet.bind(limit, at: 3)
    var dependents: [Int64] = []
    try unmet.forEachRow { dependents.append($0.int64(0)) }
    let met = try statement("UPDATE headway_edge SET status = 1 WHERE dependency = ?1 AND dependent = ?2")
    let meet = try statement(
      """
      UPDATE headway_job SET unmet = unmet - 1, position = iif(unmet = 1 AND slots IS NOT 0, ?2, position),
      ready = iif(unmet = 1 AND slots IS NOT 0, ?3, ready), due = iif(unmet = 1 AND due <= ?3, NULL, due),
      state = CASE WHEN unmet > 1 THEN 0 WHEN due > ?3 THEN 1 ELSE 2 END
      WHERE id = ?1 AND state = 0 RETURNING state, queue
      """)
    for dependent in dependents {
      met.bind(end.id.rawValue, at: 1)
      met.bind(dependent, at: 2)
      try met.run()
      meet.bind(dependent, at: 1)
      meet.bind(try nextPositions(1)[0], at: 2)
      meet.bind(now.microseconds, at: 3)
      try meet.forEachRow { row in
        switch JobState(rawValue: row.int(0)) {
        case .scheduled: hints.hasScheduled = true
        case .waiting: hints.claimableQueues.insert(row.text(1))
        default: break
        }
      }
    }
    return dependents.count
  }

  func cascades() throws -> [JobGraph.Standing] {
    var cascades: [JobGraph.Standing] = []
    let rows = try statement(
      """
      SELECT job, c.culprit, state FROM headway_cascade c LEFT JOIN headway_done ON id = job ORDER BY job
      LIMIT \(JobGraph.maxCascadeCount)
      """)
    try rows.forEachRow {
      let (id, culprit) = (JobID(rawValue: $0.int64(0)), JobID(rawValue: $0.int64(1)))
      cascades.append(JobGraph.Standing(id: id, state: JobState(rawValue: $0.int(2)) ?? .failed, culprit: culprit))
    }
    return cascades
  }

  func setCascade(_ culprit: JobID?, of id: JobID) throws {
    let statement = try statement(
      culprit == nil
        ? "DELETE FROM headway_cascade WHERE job = ?1"
        : "INSERT OR REPLACE INTO headway_cascade (job, culprit) VALUES (?1, ?2)")
    statement.bind(id.rawValue, at: 1)
    if let culprit {
      statement.bind(culprit.rawValue, at: 2)
      hints.hasScheduled = true
    }
    try statement.run()
  }
}
#endif
