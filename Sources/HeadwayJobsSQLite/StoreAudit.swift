#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

extension SQLiteJobStore {
  /// Checks that the tables of the store agree with each other, and that the database is intact.
  ///
  /// The check takes O(*n*) in the size of the database. Other programs can use the store in the meantime, because the
  /// check reads the state at one moment.
  ///
  /// - Returns: Descriptions of the defects; empty if there are none.
  /// - Throws: `JobError` if the store can't be read.
  public func audit() async throws -> [String] { try await read { try StoreAudit($0).defects() } }

  /// Returns whether a file is a database with the tables of a store.
  ///
  /// - Parameter path: The path of the file.
  /// - Returns: Whether ``init(path:maxPayloadSize:maxResultSize:clock:)`` would open an existing store instead of
  ///   creating one.
  /// - Throws: `JobError` with the code `unusableStore` if the file is not a database, or can't be read.
  public static func hasStore(at path: String) throws -> Bool {
    do {
      let table = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'headway_meta'"
      let queue = try DatabaseQueue(path: path, configuration: .readingOnly)
      defer { try? queue.close() }
      return try queue.read { try Int.fetchOne($0, sql: table) == 1 }
    } catch {
      throw JobError(opening: path, error)
    }
  }
}

extension Configuration {
  fileprivate static var readingOnly: Configuration {
    var configuration = Configuration()
    configuration.readonly = true
    return configuration
  }
}

/// Compares the tables of a store with each other.
private struct StoreAudit {
  private let database: Database

  init(_ database: Database) { self.database = database }

  /// A query that must return no rows, and a description of the rows that it returns.
  private struct Rule {
    /// A description of the returned rows, in the plural.
    let what: String
    /// A query that returns the numbers of jobs.
    let sql: String
  }

  private static let rules = [
    Rule(
      what: "jobs wait for a signal or sleep, but not for a time",
      sql: "SELECT id FROM headway_job WHERE state <> 1 AND awaits NOT NULL"),
    Rule(
      what: "jobs are unfinished and finished at the same time",
      sql: "SELECT id FROM headway_job JOIN headway_done USING (id)"),
    Rule(
      what: "jobs have a number that was not assigned",
      sql: """
        SELECT id FROM (SELECT id FROM headway_job UNION ALL SELECT id FROM headway_done)
        WHERE id < 1 OR id > (SELECT value FROM headway_meta WHERE name = 'job')
        """),
    Rule(what: "unfinished jobs have the state of a finished one", sql: unfinished("state NOT BETWEEN 0 AND 3")),
    Rule(
      what: "finished jobs have the state of an unfinished one",
      sql: "SELECT id FROM headway_done WHERE state NOT BETWEEN 4 AND 6"),
    Rule(
      what: "jobs are running although their worker is not registered",
      sql: unfinished("state = 3 AND (owner IS NULL OR owner NOT IN (SELECT id FROM headway_worker))")),
    Rule(
      what: "jobs are running although they were never claimed",
      sql: unfinished("state = 3 AND (attempt < 1 OR epoch < 1)")),
    Rule(what: "scheduled jobs have no time", sql: unfinished("state = 1 AND due IS NULL")),
    Rule(
      what: "jobs have a position that was not assigned",
      sql: unfinished("position > (SELECT value FROM headway_meta WHERE name = 'position')")),
    Rule(
      what: "jobs that are not running have a request to cancel them",
      sql: unfinished("state <> 3 AND (flags & 1) <> 0")),
    Rule(
      what: "jobs are running and hold a key that they have released",
      sql: unfinished("state = 3 AND (flags & 2) <> 0 AND unique_key NOT NULL")),
    Rule(
      what: "checkpoints belong to jobs that do not exist or have succeeded",
      sql: """
        SELECT DISTINCT job FROM headway_checkpoint WHERE job NOT IN (
          SELECT id FROM headway_job UNION ALL SELECT id FROM headway_done WHERE state <> 4)
        """),
    Rule(
      what: "held jobs have a wrong number of unmet dependencies",
      sql: unfinished(
        "state = 0 AND unmet <> (SELECT count(*) FROM headway_edge WHERE dependent = headway_job.id AND status = 0)")),
    Rule(
      what: "dependencies belong to jobs that do not exist",
      sql: """
        SELECT DISTINCT dependent FROM headway_edge WHERE dependent NOT IN (
          SELECT id FROM headway_job UNION ALL SELECT id FROM headway_done)
        """),
    Rule(
      what: "held jobs wait for a job that has ended or was deleted, and whose dependents are not being updated",
      sql: """
        SELECT DISTINCT dependent FROM headway_edge JOIN headway_job ON headway_job.id = dependent
        WHERE headway_edge.status = 0 AND dependency NOT IN (
          SELECT id FROM headway_job UNION ALL SELECT job FROM headway_cascade)
        """),
    Rule(
      what: "keys that are held for a time belong to jobs with a number that was not assigned",
      sql: "SELECT job FROM headway_key WHERE job > (SELECT value FROM headway_meta WHERE name = 'job')"),
  ]

  private static func unfinished(_ condition: String) -> String { "SELECT id FROM headway_job WHERE \(condition)" }

  func defects() throws -> [String] {
    var defects = try integrityDefects()
    // In a damaged database, the other queries can fail.
    guard defects.isEmpty else { return defects }
    for rule in Self.rules {
      let ids = try Int64.fetchAll(database, sql: "\(rule.sql) ORDER BY 1")
      guard !ids.isEmpty else { continue }
      let examples = ids.prefix(5).map(String.init).joined(separator: ", ")
      defects.append("\(ids.count) \(rule.what): \(examples)\(ids.count > 5 ? ", …" : "")")
    }
    return try defects + sumDefects() + unreadableJobs()
  }

  /// Checks that each job that was assigned a number is unfinished, finished, or deleted.
  private func sumDefects() throws -> [String] {
    let row = try Row.fetchOne(
      database,
      sql: """
        SELECT (SELECT value FROM headway_meta WHERE name = 'job') AS given,
          (SELECT count(*) FROM headway_job) AS unfinished, (SELECT count(*) FROM headway_done) AS finished,
          (SELECT value FROM headway_meta WHERE name = 'deleted') AS deleted
        """)
    guard let row else { return [] }
    let (given, unfinished, finished, deleted): (Int, Int, Int, Int) = (
      row["given"] ?? 0, row["unfinished"], row["finished"], row["deleted"] ?? 0
    )
    let sum = unfinished + finished + deleted
    return given == sum
      ? []
      : [
        "\(given) jobs were stored, but \(sum) are accounted for: \(unfinished) unfinished, \(finished) finished and "
          + "\(deleted) deleted ones"
      ]
  }

  private func integrityDefects() throws -> [String] {
    try String.fetchAll(database, sql: "PRAGMA integrity_check").filter { $0 != "ok" }.map { "the database: \($0)" }
  }

  /// Finds jobs whose settings or history can't be decoded, or that hold a wrong key.
  private func unreadableJobs() throws -> [String] {
    var defects: [String] = []
    for sql in [
      "SELECT \(JobSQL.unfinishedColumns) FROM headway_job", "SELECT \(JobSQL.finishedColumns) FROM headway_done",
    ] {
      try SQLStatement(sql, database).forEachRow { row in
        let id = row.int64(0)
        let job = JobRow.read(row)
        if let damage = job.damage {
          defects.append("job \(id) can't be read: \(damage)")
          return
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
