#if PostgreSQL
import Headway
import HeadwayJobs

extension JobTransaction {
  // The shared algorithms are mutating functions. This class is a reference, so it calls them on a copy of the
  // reference.

  /// Adds all jobs of a batch or none.
  func addAll(_ jobs: [NewJob], beforeDependentsOf parent: JobID? = nil) throws -> [Enqueued] {
    var rows = self
    try lockDependencies(of: jobs)
    return try rows.addBatch(jobs, beforeDependentsOf: parent)
  }

  /// Locks the jobs that new ones wait for, in the order of their numbers.
  private func lockDependencies(of jobs: [NewJob]) throws {
    let ids = Set(
      jobs.flatMap(\.dependencies).compactMap { dependency -> Int64? in
        if case .job(let id) = dependency.target { id.rawValue } else { nil }
      })
    guard !ids.isEmpty else { return }
    var lock = statement("SELECT id FROM headway.job WHERE id = ANY($1) ORDER BY id FOR UPDATE")
    lock.add(array: ids.sorted())
    runLater(lock)
  }

  /// Settles the edges of all jobs that have ended in this transaction.
  func settleAll() throws {
    guard !ended.isEmpty else { return }
    if ended.allSatisfy({ $0.state == .succeeded }) {
      let ends = ended
      ended = []
      return try meet(ends)
    }
    // A failure cancels dependents, and no other transaction may add some in the meantime.
    try requireAlone()
    var rows = self
    try rows.settle()
  }

  /// Continues to cancel the dependents of failed jobs.
  func continueAllCascades() throws {
    var rows = self
    try rows.continueCascades()
  }

  func restartAll(_ retries: JobRetries) throws {
    var rows = self
    try rows.restart(retries)
  }

  /// Makes the same changes as `JobGraph.status` and `JobGraph.meet`, for several ends.
  private func meet(_ ends: [JobGraph.Standing]) throws {
    var lock = statement(SchemaVersion1.lockDependents)
    lock.add(array: ends.map(\.id.rawValue))
    runLater(lock)
    var meet = statement(SchemaVersion1.meetEdges)
    meet.add(array: ends.map(\.id.rawValue))
    meet.add(array: ends.map { $0.state == .succeeded })
    meet.add(now)
    for row in try run(meet).rows {
      switch JobState(rawValue: row.int(0)) {
      case .scheduled: hints.hasScheduled = true
      case .waiting: hints.claimableQueues.insert(row.text(1))
      default: break
      }
    }
  }
}

extension JobTransaction: JobGraphRows {
  /// Returns the state of a job, and locks its row, so that the state remains until the end of the transaction.
  func standing(of id: JobID) throws -> JobGraph.Standing? {
    // A job that ends or is run again in between moves from one table to the other.
    for _ in 0..<2 {
      for sql in [
        "SELECT state, NULL::bigint FROM headway.job WHERE id = $1 FOR UPDATE",
        "SELECT state, culprit FROM headway.done WHERE id = $1 FOR KEY SHARE",
      ] {
        guard let row = try run(sql, id.rawValue).first else { continue }
        guard let state = JobState(rawValue: row.int(0)) else {
          throw JobError(.storeFailed, "Job \(id) has the unknown state \(row.int(0)). Update this program.")
        }
        return JobGraph.Standing(id: id, state: state, culprit: row.optional(1, row.id))
      }
    }
    return nil
  }

  func noteDependents(of id: JobID) throws {
    runLater("UPDATE headway.job SET flags = flags | \(JobRow.hasDependents) WHERE id = $1", id.rawValue)
  }

  func addUnmet(_ count: Int, to id: JobID) throws {
    runLater("UPDATE headway.job SET unmet = unmet + $2 WHERE id = $1", id.rawValue, count)
  }

  func unmetEdges(from id: JobID, limit: Int) throws -> [JobEdge] {
    try run(
      """
      SELECT \(JobRow.edgeColumns) FROM headway.edge WHERE dependency = $1 AND status = 0 ORDER BY dependent LIMIT $2
      """, id.rawValue, limit
    ).rows.map(JobRow.readEdge)
  }

  func edges(to id: JobID) throws -> [JobEdge] {
    try run(
      "SELECT \(JobRow.edgeColumns) FROM headway.edge WHERE dependent = $1 ORDER BY dependency", id.rawValue
    ).rows.map(JobRow.readEdge)
  }

  func insert(_ edge: JobEdge) throws {
    runLater(
      "INSERT INTO headway.edge (dependency, dependent, success, status) VALUES ($1, $2, $3, $4)",
      edge.dependency.rawValue, edge.dependent.rawValue, edge.requirement == .success, edge.status.rawValue)
  }

  func setStatus(_ status: JobEdge.Status, of edge: JobEdge) throws {
    runLater(
      "UPDATE headway.edge SET status = $3 WHERE dependency = $1 AND dependent = $2", edge.dependency.rawValue,
      edge.dependent.rawValue, status.rawValue)
  }

  func meetEdges(of end: JobGraph.Standing) throws { try meet([end]) }

  func cascades() throws -> [JobGraph.Standing] {
    try run(
      "SELECT job, culprit FROM headway.cascade ORDER BY job LIMIT \(JobGraph.maxCascadeCount) FOR UPDATE"
    ).rows.map { JobGraph.Standing(id: $0.id(0), state: .failed, culprit: $0.id(1)) }
  }

  func setCascade(_ culprit: JobID?, of id: JobID) throws {
    guard let culprit else { return runLater("DELETE FROM headway.cascade WHERE job = $1", id.rawValue) }
    runLater(
      """
      INSERT INTO headway.cascade (job, culprit) VALUES ($1, $2)
      ON CONFLICT (job) DO UPDATE SET culprit = excluded.culprit
      """, id.rawValue, culprit.rawValue)
    hints.hasScheduled = true
  }
}
#endif
