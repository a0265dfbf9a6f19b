#if PostgreSQL
import Headway
@_spi(JobStore) import HeadwayJobs

extension JobTransaction {
  func addAll(_ jobs: [NewJob], beforeDependentsOf parent: JobID?) throws -> [Enqueued] {
    defer { newRows.numbers = [] }
    return try addBatch(jobs, beforeDependentsOf: parent)
  }

  func willSettle(_ ends: [JobGraph.Standing]) throws {
    // A failure cancels dependents, and no other transaction may add some in the meantime.
    if !ends.allSatisfy({ $0.state == .succeeded }) { try requireAlone() }
  }

  /// Returns the state of a job, and locks its row, so that the state remains until the end of the transaction.
  func standing(of id: JobID) throws -> JobGraph.Standing? { try standings(of: [id])[id] }

  /// Returns the states of jobs, and locks their rows in the order of their numbers.
  func standings(of ids: [JobID]) throws -> [JobID: JobGraph.Standing] {
    guard !ids.isEmpty else { return [:] }
    var (standings, missing) = ([JobID: JobGraph.Standing](), Set(ids))
    // A job that ends or is run again in between moves from one table to the other.
    for _ in 0..<2 where !missing.isEmpty {
      for sql in [
        "SELECT id, state, NULL::bigint FROM headway.job WHERE id = ANY($1) ORDER BY id FOR UPDATE",
        "SELECT id, state, culprit FROM headway.done WHERE id = ANY($1) ORDER BY id FOR KEY SHARE",
      ] where !missing.isEmpty {
        var lock = statement(sql)
        lock.add(array: missing.map(\.rawValue))
        for row in try run(lock).rows {
          let id = row.id(0)
          standings[id] = try Self.standing(of: id, row.int(1), row.optional(2, row.id))
          missing.remove(id)
        }
      }
    }
    return standings
  }

  private static func standing(of id: JobID, _ state: Int, _ culprit: JobID?) throws -> JobGraph.Standing {
    guard let state = JobState(rawValue: state) else {
      throw JobError(.storeFailed, "Job \(id) has the unknown state \(state). Update this program.")
    }
    return JobGraph.Standing(id: id, state: state, culprit: culprit)
  }

  func noteDependents(of ids: [JobID]) throws {
    newRows.dependencies.formUnion(ids)
  }

  func addUnmet(_ count: Int, to ids: [JobID]) throws {
    var update = statement("UPDATE headway.job SET unmet = unmet + $2 WHERE id = ANY($1)")
    update.add(array: ids.map(\.rawValue))
    update.add(count)
    runLater(update)
  }

  func unmetEdges(from ids: [JobID], limit: Int) throws -> [JobEdge] {
    var select = statement(
      """
      SELECT \(JobRow.edge) FROM unnest($1::bigint[]) AS x(id) CROSS JOIN LATERAL (
        SELECT * FROM headway.edge WHERE dependency = x.id AND status = 0 ORDER BY dependent LIMIT $2) e
      LIMIT $2
      """)
    select.add(array: ids.map(\.rawValue))
    select.add(limit)
    return try run(select).rows.map { try JobRow.readEdge($0) }
  }

  func jobsWithUnmetEdges(_ ids: [JobID]) throws -> Set<JobID> {
    var select = statement(
      """
      SELECT id FROM unnest($1::bigint[]) AS x(id)
      WHERE EXISTS (SELECT FROM headway.edge WHERE dependency = x.id AND status = 0)
      """)
    select.add(array: ids.map(\.rawValue))
    return Set(try run(select).rows.map { $0.id(0) })
  }

  func edges(to ids: [JobID]) throws -> [JobEdge] {
    var select = statement(
      "SELECT \(JobRow.edge) FROM headway.edge WHERE dependent = ANY($1) ORDER BY dependent, dependency")
    select.add(array: ids.map(\.rawValue))
    return try run(select).rows.map { try JobRow.readEdge($0) }
  }

  func insert(_ edges: [JobEdge]) throws {
    newRows.edges += edges
    try writeNewRowsIfFull()
  }

  func setStatus(_ status: JobEdge.Status, of edges: [JobEdge]) throws {
    guard !edges.isEmpty else { return }
    var update = statement(
      """
      UPDATE headway.edge e SET status = $3 FROM unnest($1::bigint[], $2::bigint[]) AS x(dependency, dependent)
      WHERE e.dependency = x.dependency AND e.dependent = x.dependent
      """)
    update.add(array: edges.map(\.dependency.rawValue))
    update.add(array: edges.map(\.dependent.rawValue))
    update.add(status.rawValue)
    runLater(update)
  }

  /// Makes the same changes as `JobGraph.status` and `JobGraph.meet`, in SQL.
  func meetEdges(of ends: [JobGraph.Standing], limit: Int) throws -> Int {
    guard limit > 0 else { return 0 }
    func statement(_ sql: String) -> Statement {
      var statement = self.statement(sql)
      statement.add(array: ends.map(\.id.rawValue))
      statement.add(array: ends.map { $0.state == .succeeded })
      statement.add(limit)
      return statement
    }
    runLater(statement(SchemaVersion1.lockDependents))
    var meet = statement(SchemaVersion1.meetEdges)
    meet.add(now)
    var count = 0
    for row in try run(meet).rows {
      guard !row.isNull(1) else {
        count = row.int(0)
        continue
      }
      switch JobState(rawValue: row.int(0)) {
      case .scheduled: hints.hasScheduled = true
      case .waiting: hints.claimableQueues.insert(row.text(1))
      default: break
      }
    }
    return count
  }

  func cascades() throws -> [JobGraph.Standing] {
    try run(
      """
      SELECT job, c.culprit, state FROM headway.cascade c LEFT JOIN headway.done ON id = job ORDER BY job
      LIMIT \(JobGraph.maxCascadeCount) FOR UPDATE OF c
      """
    ).rows.map {
      JobGraph.Standing(id: $0.id(0), state: JobState(rawValue: $0.int(2)) ?? .failed, culprit: $0.id(1))
    }
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
