#if Jobs
import GRDB
import GRDBSQLite
@_spi(JobStore) import HeadwayJobs

/// The jobs of a store, inside a transaction that writes.
///
/// `JobTransitions` and `JobGraph` determine all changes of a job's state. The most frequent ones, claims and
/// successes, write only the columns that change.
final class JobTransaction: JobRows {
  let database: Database
  let now: StoreTime
  /// The hints for observers, which are called after the commit.
  var hints = JobHints()
  /// The queues that are paused or have settings, or nil if they have not been read.
  var knownQueues: [String: JobQueueRecord]?
  var ended: [JobGraph.Standing] = []
  var meetBudget = JobGraph.maxMetCount
  var cascadeBudget = JobGraph.maxCascadeCount
  var awaited: Set<JobID> = []
  /// The definitions of due schedules.
  var knownDefinitions: ScheduleRow.KnownDefinitions = [:]
  /// The jobs whose retention has expired, for a command that prunes the store.
  var expired: [JobID] = []
  /// The state of the connection without changes by code of the application, or nil if it has not been read.
  ///
  /// It is read once per transaction, because reading it compiles more than 30 statements.
  var session: SessionState?
  /// The state of the connection to restore after the transaction; nil if that is not necessary.
  var leftovers: SessionState?
  /// The last assigned numbers, or nil if they have not been read.
  private var counters: Counters?

  fileprivate struct Counters: Equatable {
    var stored: [Int64]
    var job: Int64
    var position: Int64
    var worker: Int64
    /// The number of deleted jobs, which makes it possible to detect lost jobs.
    var deleted: Int64

    init(_ values: [Int64]) {
      stored = values
      (job, position, worker, deleted) = (values[0], values[1], values[2], values[3])
    }

    var current: [Int64] { [job, position, worker, deleted] }
    static let names = ["job", "position", "worker", "deleted"]
  }

  /// The state to restore if a request fails.
  struct Mark {
    fileprivate let hints: JobHints
    fileprivate let counters: Counters?
  }

  init(_ database: Database, at now: StoreTime) {
    self.database = database
    self.now = now
  }

  func statement(_ sql: String) throws -> SQLStatement { try SQLStatement(sql, database) }

  var mark: Mark { Mark(hints: hints, counters: counters) }

  /// Restores the state at a mark, after the request has changed nothing or its savepoint was rolled back.
  func restore(_ mark: Mark) { (hints, counters, knownQueues, ended) = (mark.hints, mark.counters, nil, []) }

  // MARK: Numbers

  private func withCounters<Result>(_ body: (inout Counters) -> Result) throws -> Result {
    var counters = try counters ?? readCounters()
    defer { self.counters = counters }
    return body(&counters)
  }

  private func readCounters() throws -> Counters {
    let statement = try statement("SELECT value FROM headway_meta WHERE name = ?1")
    return Counters(
      try Counters.names.map { name in
        statement.bind(name, at: 1)
        defer { statement.reset() }
        return try statement.step() ? statement.int64(0) : 0
      })
  }

  /// Stores the assigned numbers; call it before the commit, and before other code uses the connection.
  func storeCounters() throws {
    guard let used = counters else { return }
    counters = nil
    let statement = try statement("UPDATE headway_meta SET value = ?2 WHERE name = ?1")
    for (index, value) in used.current.enumerated() where value != used.stored[index] {
      statement.bind(Counters.names[index], at: 1)
      statement.bind(value, at: 2)
      try statement.run()
    }
  }

  func nextNumbers() throws -> (id: JobID, position: Int64) {
    try withCounters { counters in
      counters.job += 1
      counters.position += 1
      return (JobID(rawValue: counters.job), counters.position)
    }
  }

  func nextPositions(_ count: Int) throws -> [Int64] {
    try withCounters { counters in
      counters.position += Int64(count)
      return Array((counters.position - Int64(count) + 1)..<(counters.position + 1))
    }
  }

  func nextWorker() throws -> WorkerID {
    try withCounters { counters in
      counters.worker += 1
      return WorkerID(rawValue: counters.worker)
    }
  }

  func noteDeleted(_ count: Int) throws { try withCounters { $0.deleted += Int64(count) } }

  // MARK: New jobs

  /// Adds jobs without keys or dependencies.
  func addPlain(_ new: ArraySlice<NewJob>) throws -> [Enqueued] {
    let insert = try statement(JobSQL.insertBatch)
    let added = try new.enumerated().map { row, new in
      let (id, position) = try nextNumbers()
      var job = JobRecord(id: id, new, at: now)
      (job.position, job.readyTime) = (position, now)
      JobRow.bindUnfinished(job, to: insert, row: row)
      try noteUnfinished(job)
      return Enqueued(id: id, isNew: true)
    }
    try insert.run()
    return added
  }

  func hold(_ key: String, by id: JobID, until time: StoreTime) throws -> Bool {
    let statement = try statement("INSERT OR REPLACE INTO headway_key (key, job, until) VALUES (?1, ?2, ?3)")
    statement.bind(key, at: 1)
    statement.bind(id.rawValue, at: 2)
    statement.bind(time.microseconds, at: 3)
    return try statement.run() > 0
  }

  func holder(of unique: UniqueKey) throws -> JobID? {
    let statement: SQLStatement
    if case .duration = unique.scope {
      statement = try self.statement("SELECT job FROM headway_key WHERE key = ?1 AND until > ?2")
      statement.bind(now.microseconds, at: 2)
    } else {
      statement = try self.statement("SELECT id FROM headway_job WHERE unique_key = ?1")
    }
    statement.bind(unique.key, at: 1)
    defer { statement.reset() }
    return try statement.step() ? JobID(rawValue: statement.int64(0)) : nil
  }

  // MARK: Rows

  /// Returns an unfinished or finished job.
  func find(_ id: JobID) throws -> JobRecord? { try findUnfinished(id) ?? findFinished(id) }

  func findUnfinished(_ ids: [JobID]) throws -> [JobRecord] { try ids.compactMap(findUnfinished) }

  func findUnfinished(_ id: JobID) throws -> JobRecord? {
    try find(id, "SELECT \(JobSQL.unfinishedColumns) FROM headway_job WHERE id = ?1")
  }

  private func findFinished(_ id: JobID) throws -> JobRecord? {
    try find(id, "SELECT \(JobSQL.finishedColumns) FROM headway_done WHERE id = ?1")
  }

  private func find(_ id: JobID, _ sql: String) throws -> JobRecord? {
    let statement = try statement(sql)
    defer { statement.reset() }
    statement.bind(id.rawValue, at: 1)
    return try statement.step() ? JobRow.read(statement) : nil
  }

  func insert(_ job: JobRecord) throws {
    let statement = try statement(JobSQL.insert)
    JobRow.bindUnfinished(job, to: statement)
    try statement.run()
  }

  func putUnfinished(_ job: JobRecord) throws {
    let update = try statement(JobSQL.update)
    JobRow.bindUnfinished(job, to: update)
    guard try update.run() == 0 else { return }
    // The job was finished.
    try delete(job.id, from: "headway_done", "id")
    let insert = try statement(JobSQL.insert)
    JobRow.bindUnfinished(job, to: insert, flags: JobRow.hasCheckpoints)
    try insert.run()
  }

  func putFinished(_ job: JobRecord) throws {
    try delete(job.id, from: "headway_job", "id")
    let insert = try statement(JobSQL.insertFinished)
    JobRow.bindFinished(job, to: insert)
    try insert.run()
  }

  func forget(_ id: JobID) throws {
    try noteDeleted(1)
    try deleteEdges(to: id)
    try delete(id, from: "headway_job", "id")
    try delete(id, from: "headway_done", "id")
  }

  func deleteCheckpoints(of id: JobID) throws { try delete(id, from: "headway_checkpoint", "job") }

  func deleteEdges(to id: JobID) throws { try delete(id, from: "headway_edge", "dependent") }

  func delete(_ id: JobID, from table: String, _ column: String) throws {
    let statement = try statement("DELETE FROM \(table) WHERE \(column) = ?1")
    statement.bind(id.rawValue, at: 1)
    try statement.run()
  }
}
#endif
