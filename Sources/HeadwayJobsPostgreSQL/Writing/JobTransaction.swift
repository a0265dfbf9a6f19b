#if PostgreSQL
import HeadwayJobs

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
///   the same order. Claims skip locked rows, so they wait for none. Exchanges share the lock of the store.
/// - Transactions that change jobs in another order hold the lock of the store exclusively: most commands, rescues, due
///   jobs, jobs that are added before dependents, and failures that run down the graph. Therefore, exchanges don't
///   deadlock with them.
///
/// If there is a deadlock nevertheless, because a transaction of the application takes locks in another order,
/// PostgreSQL ends one of the transactions, and the store repeats its own.
final class JobTransaction {
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
    try run("SELECT nextval('headway.position') FROM generate_series(1, $1)", count).rows.map { $0.int64(0) }
  }

  func nextPosition() throws -> Int64 {
    // A job that takes the place of a new one also takes its position.
    try numbers?.position ?? nextPositions(1)[0]
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

  private func replace(_ old: JobRecord, with new: NewJob) throws {
    var job = old
    guard JobTransitions.replace(&job, with: new, at: now) else { return }
    // The job becomes ready now, so it comes after those that were already ready.
    if old.state == .scheduled, job.state == .waiting { try place(&job) }
    try put(job)
  }

  /// Inserts a job; returns nil if another transaction has inserted its key in the meantime.
  private func insert(
    _ new: NewJob, _ dependencies: [JobGraph.Requirement], _ hasDependents: Bool, isKeyFree: Bool = false
  ) throws -> JobID? {
    let numbers = try numbers ?? nextNumbers()
    var job = JobRecord(id: numbers.id, new, at: now)
    (job.position, job.ready) = (numbers.position, now)
    if let unique = job.settings.unique {
      if case .duration(let duration) = unique.scope {
        guard try isKeyFree || take(unique.key, for: duration, job.id) else { return nil }
      } else {
        job.holdsKey = true
      }
    }
    let heldKey = job.holdsKey
    var rows = self
    try rows.insertEdges(of: &job, dependencies)
    job.hasDependents = hasDependents && !job.state.isFinished
    guard !job.state.isFinished else {
      try putNewFinished(job)
      return job.id
    }
    if heldKey, !isKeyFree {
      var statement = statement(JobRow.insertIfUnique)
      JobRow.addUnfinished([job], to: &statement)
      if try run(statement).isEmpty {
        // The edges of the job that was not inserted.
        try deleteEdges(to: job.id)
        return nil
      }
    } else {
      newRows.add(job)
      try writeNewRowsIfFull()
    }
    try noteUnfinished(job)
    return job.id
  }

  /// Inserts a job that was cancelled when it was added.
  private func putNewFinished(_ job: JobRecord) throws {
    hints.finished.append(job.id)
    try noteLimits(of: job)
    if job.expires.map({ $0 <= job.finished ?? now }) ?? false { return try deleteEdges(to: job.id) }
    newRows.add(job)
    try writeNewRowsIfFull()
  }

  /// Takes a key for a time, unless another job holds it.
  private func take(_ key: String, for duration: Duration, _ id: JobID) throws -> Bool {
    var take = statement(Self.takeKeys)
    take.add(array: [key])
    take.add(array: [id.rawValue])
    take.add(array: [now + duration])
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
      if let job = try findUnfinished(id) { return job }
      if let job = try findFinished(id) { return job }
    }
    return nil
  }

  func findUnfinished(_ id: JobID) throws -> JobRecord? {
    try run("SELECT \(JobRow.unfinishedColumns) FROM headway.job WHERE id = $1 FOR UPDATE", id.rawValue).first
      .map(JobRow.read)
  }

  /// Returns unfinished jobs, and locks their rows in the order of their numbers.
  func findUnfinished(_ ids: [JobID]) throws -> [JobRecord] {
    guard !ids.isEmpty else { return [] }
    var find = statement(
      "SELECT \(JobRow.unfinishedColumns) FROM headway.job WHERE id = ANY($1) ORDER BY id FOR UPDATE")
    find.add(array: ids.map(\.rawValue))
    return try run(find).rows.map(JobRow.read)
  }

  private func findFinished(_ id: JobID) throws -> JobRecord? {
    let found = try run("SELECT \(JobRow.finishedColumns) FROM headway.done WHERE id = $1 FOR UPDATE", id.rawValue)
    guard let row = found.first else { return nil }
    finishedJobs.insert(id)
    return JobRow.read(row)
  }

  /// Writes a changed job, whose row is locked, to the table that it belongs in.
  func put(_ changed: JobRecord) throws {
    try session.sendDeferredIfMany()
    var job = changed
    if job.needsKey, let unique = job.settings.unique {
      if let other = try holder(of: unique), other != job.id {
        JobTransitions.supersede(&job, by: other, at: now)
      } else {
        job.holdsKey = true
      }
    }
    let damagedParts = try job.damage.map { damage in
      if !job.state.isFinished, job.state != .running { JobTransitions.fail(&job, because: damage, at: now) }
      return try parts(of: job.id)
    }
    let wasFinished = finishedJobs.remove(job.id) != nil
    guard job.state.isFinished else {
      if wasFinished { delete(job.id, from: "headway.done", "id") }
      var statement = statement(JobRow.put)
      JobRow.addUnfinished([job], to: &statement, flags: wasFinished ? JobRow.hasCheckpoints : 0)
      runLater(statement)
      try noteUnfinished(job)
      if job.state == .waiting {
        waitingAgain.append(ClaimMarks.Place(queue: job.queue, priority: job.priority, position: job.position))
      }
      damagedParts.map { restore($0, of: job.id, in: "headway.job") }
      return
    }
    delete(job.id, from: "headway.job", "id")
    hints.finished.append(job.id)
    try noteLimits(of: job)
    if job.hasDependents { ended.append(JobGraph.Standing(job)) }
    // Dependents might read the result.
    let isForgotten = !job.hasDependents && job.expires.map { $0 <= job.finished ?? now } ?? false
    // Failed and cancelled jobs can be run again, and must not repeat their steps.
    if job.state == .succeeded || isForgotten { delete(job.id, from: "headway.checkpoint", "job") }
    guard !isForgotten else {
      try deleteEdges(to: job.id)
      return delete(job.id, from: "headway.done", "id")
    }
    var statement = statement(JobRow.putFinished)
    JobRow.addFinished([job], to: &statement)
    runLater(statement)
    damagedParts.map { restore($0, of: job.id, in: "headway.done") }
  }

  func deleteEdges(to id: JobID) throws { delete(id, from: "headway.edge", "dependent") }

  func delete(_ id: JobID, from table: String, _ column: String) {
    runLater("DELETE FROM \(table) WHERE \(column) = $1", id.rawValue)
  }

  func noteUnfinished(_ job: JobRecord) throws {
    try noteLimits(of: job)
    if job.state == .scheduled { hints.hasScheduled = true }
    if job.state == .waiting { hints.claimableQueues.insert(job.queue) }
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
  struct StoredParts {
    let settings: [UInt8]?
    let history: [UInt8]?
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
