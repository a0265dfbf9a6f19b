#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// The jobs of a store, inside a transaction that writes.
///
/// `JobTransitions` and `JobGraph` determine all changes of a job's state. The most frequent ones, claims and
/// successes, have their own statements, which handle many jobs.
///
/// # Locks
///
/// Every change of a job happens under the lock of its row, in the newest version of the row: the isolation level is
/// READ COMMITTED, and rows are read by `FOR UPDATE`. There are three kinds of transactions:
///
/// - Transactions that add jobs, and most writes of attempts, hold no other locks, so a transaction of the application
///   can contain them and last long.
/// - Exchanges lock the rows of the jobs that end, in the order of their numbers, then those of their dependents, in
///   the same order. Claims skip locked rows, so they wait for none. Exchanges share the lock of the store. So do
///   signals, which also lock jobs in the order of their numbers.
/// - Transactions that change jobs in another order hold the lock of the store exclusively: most commands, rescues, due
///   jobs, jobs that are added before dependents, and failures that run down the graph. Therefore, exchanges don't
///   deadlock with them.
///
/// If there is a deadlock nevertheless, because a transaction of the application takes locks in another order,
/// PostgreSQL ends one of the transactions, and the store repeats its own.
final class JobTransaction: JobRows {
  let session: PostgresSession
  let schema: SchemaName
  let now: StoreTime
  let hold: Hold
  /// The hints for observers, which are called after the commit.
  var hints = JobHints()
  /// The places of changed jobs that wait, which can be before the marks of claims.
  var waitingAgain: [ClaimMarks.Place] = []
  /// The queues that are paused or have settings, or nil if they have not been read.
  var knownQueues: [String: JobQueueRecord]?
  var ended: [JobGraph.Standing] = []
  var meetBudget = JobGraph.maxMetCount
  var cascadeBudget = JobGraph.maxCascadeCount
  var awaited: Set<JobID> = []
  /// Whether the changes are repeated after a conflict.
  var isRepeatable = true
  /// The keys of jobs that will be added or run again, each with its holder; nil if it is free.
  var preparedKeys: [String: JobID?] = [:]
  /// The timed keys of jobs that will be added, each with its holder; nil if it was taken for the new job.
  var preparedTimedKeys: [String: JobID?] = [:]
  /// The jobs whose retention has expired, for a command that prunes the store.
  var expired: [JobID] = []
  /// The numbers of the job that is being added.
  private var numbers: NewRows.Numbers?
  /// The new rows that have not been written yet.
  var newRows = NewRows()
  /// The jobs that were read from the table of finished ones, and have not been written since.
  var finishedJobs: Set<JobID> = []
  var holdsLimitsLock = false
  var hasLockedFailureCounts = false

  /// How a transaction holds the lock of the store.
  enum Hold {
    case none, shared, alone
  }

  /// A transaction that shares the lock of the store must be repeated with the exclusive lock.
  struct MustBeAlone: Error {}

  /// A row that another transaction has deleted in the meantime.
  struct Conflict: Error {}

  init(_ session: PostgresSession, _ schema: SchemaName, hold: Hold, at now: StoreTime) {
    self.session = session
    self.schema = schema
    self.hold = hold
    self.now = now
  }

  // MARK: Statements

  func statement(_ sql: String) -> Statement { Statement(schema.sql(sql), isFrequent: true) }

  func statement(_ sql: String, _ values: any BinaryValue...) -> Statement {
    var statement = statement(sql)
    for value in values { statement.add(any: value) }
    return statement
  }

  /// Executes a statement, and the ones before it that were not sent yet.
  func run(_ statement: Statement) throws -> QueryResult {
    writeNewRowsLater()
    return try session.run(statement)
  }

  func run(_ sql: String, _ values: any BinaryValue...) throws -> QueryResult {
    var statement = statement(sql)
    for value in values { statement.add(any: value) }
    return try run(statement)
  }

  /// Executes a statement whose result is not needed together with the next one.
  func runLater(_ statement: Statement) {
    writeNewRowsLater()
    session.runLater(statement)
  }

  func runLater(_ sql: String, _ values: any BinaryValue...) {
    var statement = statement(sql)
    for value in values { statement.add(any: value) }
    runLater(statement)
  }

  /// Requires that no other transaction changes several jobs.
  func requireAlone() throws { if hold == .shared { throw MustBeAlone() } }

  // MARK: Numbers

  func nextPositions(_ count: Int) throws -> [Int64] {
    // A job that takes the place of a new one also takes its position.
    if let numbers, count == 1 { return [numbers.position] }
    return try run("SELECT nextval('headway.position') FROM generate_series(1, $1)", count).rows.map { $0.int64(0) }
  }

  // MARK: New jobs

  func add(_ new: NewJob, _ dependencies: [JobGraph.Requirement], hasDependents: Bool) throws -> Enqueued {
    // Each job has its own numbers, even if it is not stored, so that the numbers have the same order as the jobs.
    numbers = try nextNumbers()
    defer { numbers = nil }
    if let unique = new.settings.unique,
      let known = unique.isHeldByState
        ? preparedKeys.removeValue(forKey: unique.key) : preparedTimedKeys.removeValue(forKey: unique.key)
    {
      if let other = known, unique.conflict == .keep { return Enqueued(id: other, isNew: false) }
      if known == nil, let id = try insert(new, dependencies, hasDependents, isKeyFree: true) {
        return Enqueued(id: id, isNew: true)
      }
    }
    while true {
      if let unique = new.settings.unique, let other = try holder(of: unique) {
        guard unique.conflict == .replace else { return Enqueued(id: other, isNew: false) }
        let old = try find(other)
        // The other job can end before its row is locked.
        if unique.isHeldByState, old.map(\.state.isFinished) ?? true { continue }
        if let old { try replace(old, with: new) }
        return Enqueued(id: other, isNew: false)
      }
      if let id = try insert(new, dependencies, hasDependents) { return Enqueued(id: id, isNew: true) }
    }
  }

  /// Inserts a job; returns nil if another transaction has inserted its key in the meantime.
  private func insert(
    _ new: NewJob, _ dependencies: [JobGraph.Requirement], _ hasDependents: Bool, isKeyFree: Bool = false
  ) throws -> JobID? {
    let numbers = try numbers ?? nextNumbers()
    var job = JobRecord(id: numbers.id, new, at: now)
    (job.position, job.readyTime) = (numbers.position, now)
    if let unique = job.settings.unique {
      if case .duration(let duration) = unique.scope {
        guard try isKeyFree || hold(unique.key, by: job.id, until: now + duration) else { return nil }
      } else {
        job.holdsKey = true
      }
    }
    let heldKey = job.holdsKey
    try insertEdges(of: &job, dependencies)
    job.hasDependents = hasDependents && !job.state.isFinished
    guard !job.state.isFinished else {
      try putNewFinished(job)
      return job.id
    }
    if heldKey, !isKeyFree {
      var statement = statement(JobSQL.insertIfUnique)
      JobRow.addUnfinished([job], to: &statement)
      if try run(statement).isEmpty {
        // The edges of the job that was not inserted.
        deleteEdges(to: job.id)
        return nil
      }
    } else {
      try insert(job)
    }
    try noteUnfinished(job)
    return job.id
  }

  func insert(_ job: JobRecord) throws {
    newRows.add(job)
    try writeNewRowsIfFull()
  }

  /// Inserts a job that was cancelled when it was added.
  private func putNewFinished(_ job: JobRecord) throws {
    hints.finished.append(job.id)
    try noteLimits(of: job)
    if job.expirationTime.map({ $0 <= job.finishedTime ?? now }) ?? false { return deleteEdges(to: job.id) }
    try insert(job)
  }

  func hold(_ key: String, by id: JobID, until time: StoreTime) throws -> Bool {
    var take = statement(Self.takeKeys)
    take.add(array: [key])
    take.add(array: [id.rawValue])
    take.add(array: [time])
    take.add(now)
    return try !run(take).isEmpty
  }

  func holder(of unique: UniqueKey) throws -> JobID? {
    if let known = unique.isHeldByState ? preparedKeys[unique.key] : preparedTimedKeys[unique.key] { return known }
    let rows =
      if case .duration = unique.scope {
        try run("SELECT job FROM headway.key WHERE key = $1 AND until > $2", unique.key, now)
      } else {
        try run("SELECT id FROM headway.job WHERE unique_key = $1", unique.key)
      }
    return rows.first?.id(0)
  }

  // MARK: Rows

  /// Returns an unfinished or finished job, and locks its row.
  func find(_ id: JobID) throws -> JobRecord? {
    // A job that ends or is run again in between moves from one table to the other.
    for _ in 0..<2 {
      if let job = try findUnfinished([id]).first { return job }
      if let job = try findFinished(id) { return job }
    }
    return nil
  }

  /// Returns unfinished jobs, and locks their rows in the order of their numbers.
  func findUnfinished(_ ids: [JobID]) throws -> [JobRecord] {
    guard !ids.isEmpty else { return [] }
    var find = statement(
      "SELECT \(JobSQL.unfinishedColumns) FROM headway.job WHERE id = ANY($1) ORDER BY id FOR UPDATE")
    find.add(array: ids.map(\.rawValue))
    return try run(find).rows.map { JobRow.read($0) }
  }

  private func findFinished(_ id: JobID) throws -> JobRecord? {
    let found = try run("SELECT \(JobSQL.finishedColumns) FROM headway.done WHERE id = $1 FOR UPDATE", id.rawValue)
    guard let row = found.first else { return nil }
    finishedJobs.insert(id)
    return JobRow.read(row)
  }

  func putUnfinished(_ job: JobRecord) throws {
    try session.sendDeferredIfMany()
    let wasFinished = finishedJobs.remove(job.id) != nil
    if wasFinished { delete(job.id, from: "headway.done", "id") }
    var statement = statement(JobSQL.put)
    JobRow.addUnfinished([job], to: &statement, flags: wasFinished ? JobRow.hasCheckpoints : 0)
    runLater(statement)
    if job.state == .waiting {
      waitingAgain.append(ClaimMarks.Place(queue: job.queue, priority: job.priority, position: job.position))
    }
  }

  func putFinished(_ job: JobRecord) throws {
    try session.sendDeferredIfMany()
    finishedJobs.remove(job.id)
    delete(job.id, from: "headway.job", "id")
    var statement = statement(JobSQL.putFinished)
    JobRow.addFinished([job], to: &statement)
    runLater(statement)
  }

  func forget(_ id: JobID) throws {
    try session.sendDeferredIfMany()
    finishedJobs.remove(id)
    deleteEdges(to: id)
    delete(id, from: "headway.job", "id")
    delete(id, from: "headway.done", "id")
  }

  func deleteCheckpoints(of id: JobID) { delete(id, from: "headway.checkpoint", "job") }

  private func deleteEdges(to id: JobID) { delete(id, from: "headway.edge", "dependent") }

  private func delete(_ id: JobID, from table: String, _ column: String) {
    runLater("DELETE FROM \(table) WHERE \(column) = $1", id.rawValue)
  }
}

extension UniqueKey {
  /// Whether the key is free when the job has ended, at the latest.
  var isHeldByState: Bool { duration == nil }
}

// MARK: Damage

/// Preserves the stored parts of jobs that can't be read completely.
///
/// The parts remain as they are stored, for people to inspect, and for a newer release that might be able to read them.
extension JobTransaction {
  private struct StoredParts {
    let settings: [UInt8]?
    let history: [UInt8]?
  }

  func preservingParts(of job: JobRecord, _ write: () throws -> Void) throws {
    let parts = try parts(of: job.id)
    try write()
    restore(parts, of: job.id, in: job.state.isFinished ? "headway.done" : "headway.job")
  }

  private func parts(of id: JobID) throws -> StoredParts {
    let rows = try run(
      """
      SELECT settings, history FROM headway.job WHERE id = $1
      UNION ALL SELECT settings, history FROM headway.done WHERE id = $1
      """, id.rawValue)
    return StoredParts(
      settings: rows.first?.optional(0) { rows.first?.bytes($0) } ?? nil,
      history: rows.first?.optional(1) { rows.first?.bytes($0) } ?? nil)
  }

  private func restore(_ parts: StoredParts, of id: JobID, in table: String) {
    var statement = statement("UPDATE \(table) SET settings = $2, history = $3 WHERE id = $1")
    statement.add(id.rawValue)
    statement.add(parts.settings)
    statement.add(parts.history)
    runLater(statement)
  }
}
#endif
