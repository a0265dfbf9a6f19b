#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

extension PostgresJobStore {
  /// Checks that the tables of the store agree with each other.
  ///
  /// The check takes O(*n*) in the size of the tables. Other programs can use the store in the meantime, because the
  /// check reads the state at one moment.
  ///
  /// - Returns: Descriptions of the defects; empty if there are none.
  /// - Throws: `JobError` if the store can't be read.
  public func audit() async throws -> [String] { try await read { try StoreAudit(reader: $0).defects() } }
}

/// Compares the tables of a store with each other.
private struct StoreAudit {
  let reader: JobReader

  /// A query that must return no rows, and a description of the rows that it returns.
  private struct Rule {
    /// A description of the returned rows, in the plural.
    let what: String
    /// A query that returns the numbers of jobs.
    let sql: String
  }

  private static let rules = [
    Rule(
      what: "jobs are unfinished and finished at the same time",
      sql: "SELECT id FROM headway.job JOIN headway.done USING (id)"),
    Rule(what: "unfinished jobs have the state of a finished one", sql: unfinished("state NOT BETWEEN 0 AND 3")),
    Rule(
      what: "finished jobs have the state of an unfinished one",
      sql: "SELECT id FROM headway.done WHERE state NOT BETWEEN 4 AND 6"),
    Rule(
      what: "jobs are running although their worker is not registered",
      sql: unfinished("state = 3 AND (owner IS NULL OR owner NOT IN (SELECT id FROM headway.worker))")),
    Rule(
      what: "jobs are running although they were never claimed",
      sql: unfinished("state = 3 AND (attempt < 1 OR epoch < 1)")),
    Rule(what: "scheduled jobs have no time", sql: unfinished("state = 1 AND due IS NULL")),
    Rule(
      what: "jobs wait for a signal or sleep, but not for a time",
      sql: unfinished("state <> 1 AND awaits IS NOT NULL")),
    Rule(
      what: "jobs that are not running have a request to cancel them",
      sql: unfinished("state <> 3 AND (flags & 1) <> 0")),
    Rule(
      what: "jobs are running and hold a key that they have released",
      sql: unfinished("state = 3 AND (flags & 2) <> 0 AND unique_key IS NOT NULL")),
    Rule(
      what: "checkpoints belong to jobs that do not exist or have succeeded",
      sql: """
        SELECT DISTINCT job FROM headway.checkpoint c WHERE NOT EXISTS (SELECT FROM headway.job WHERE id = c.job)
        AND NOT EXISTS (SELECT FROM headway.done WHERE id = c.job AND state <> 4)
        """),
    Rule(
      what: "held jobs have a wrong number of unmet dependencies",
      sql: unfinished(
        "state = 0 AND unmet <> (SELECT count(*) FROM headway.edge WHERE dependent = job.id AND status = 0)")),
    Rule(
      what: "dependencies belong to jobs that do not exist",
      sql: """
        SELECT DISTINCT dependent FROM headway.edge e WHERE NOT EXISTS (SELECT FROM headway.job WHERE id = e.dependent)
        AND NOT EXISTS (SELECT FROM headway.done WHERE id = e.dependent)
        """),
    Rule(
      what: "held jobs wait for a job that has ended or was deleted, and whose dependents are not being updated",
      sql: """
        SELECT DISTINCT dependent FROM headway.edge e JOIN headway.job ON job.id = e.dependent
        WHERE status = 0 AND NOT EXISTS (SELECT FROM headway.job WHERE id = e.dependency)
        AND NOT EXISTS (SELECT FROM headway.cascade WHERE job = e.dependency)
        """),
  ]

  private static func unfinished(_ condition: String) -> String { "SELECT id FROM headway.job WHERE \(condition)" }

  func defects() throws -> [String] {
    var defects: [String] = []
    for rule in Self.rules {
      let ids = try reader.run(Statement("\(rule.sql) ORDER BY 1")).rows.map { $0.int64(0) }
      guard !ids.isEmpty else { continue }
      let examples = ids.prefix(5).map(String.init).joined(separator: ", ")
      defects.append("\(ids.count) \(rule.what): \(examples)\(ids.count > 5 ? ", …" : "")")
    }
    return try defects + unreadableJobs()
  }

  /// Finds jobs whose settings or history can't be decoded, or that hold a wrong key.
  private func unreadableJobs() throws -> [String] {
    var defects: [String] = []
    for sql in [
      "SELECT \(JobSQL.unfinishedColumns) FROM headway.job", "SELECT \(JobSQL.finishedColumns) FROM headway.done",
    ] {
      for row in try reader.run(Statement(sql)).rows {
        let (id, job) = (row.int64(0), JobRow.read(row))
        if let damage = job.damage {
          defects.append("job \(id) can't be read: \(damage)")
          continue
        }
        let key = JobRow.uniqueKey(row)
        if let key, key != job.settings.unique?.key {
          defects.append("job \(id) holds a key that is not its own: \(key)")
        }
        if job.needsKey { defects.append("job \(id) has lost its key \(job.settings.unique?.key ?? "")") }
      }
    }
    return defects
  }
}
#endif
