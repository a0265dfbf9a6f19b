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
///   can contain them and still take a long time.
/// - Exchanges lock the rows of the ending jobs in ascending order of ID, and then the rows of their dependents in the
///   same order. Claims skip locked rows, so they wait for none. Exchanges and signals share the lock of the store, and
///   signals also lock jobs in ascending order of ID.
/// - Transactions that change jobs in another order hold the lock of the store exclusively: most commands, rescues, due
///   jobs, jobs that are added before dependents, and failures that run down the graph. Therefore, exchanges don't
///   deadlock with them.
///
/// The rows of error groups are locked at the end of a transaction, in ascending order of ID: see ``writeErrors()``.
///
/// If there is a deadlock nevertheless, because a transaction of the application takes locks in another order,
/// PostgreSQL ends one of the transactions, and the store repeats its own.
final class JobTransaction: SQLJobRows {
  typealias Jobs = JobSQL
  typealias Checkpoints = CheckpointSQL
  typealias Graph = GraphSQL
  typealias Errors = ErrorSQL
  typealias Limits = LimitSQL
  typealias Schedules = ScheduleSQL
  typealias Statistics = StatisticsSQL

  let session: PostgresSession
  let schema: SchemaName
  let now: StoreTime
  let hold: Hold
  /// The hints for observers, which are called after the commit.
  var hints = JobHints()
  /// The places of changed jobs that wait, which can be before the marks of claims.
  var waitingAgain: [ClaimMarks.Place] = []
  var knownQueues: [String: JobQueueRecord]?
  var ended: [JobGraph.Standing] = []
  var activity = JobActivityLog()
  var meetBudget = JobGraph.maxMetCount
  var cascadeBudget = JobGraph.maxCascadeCount
  /// The attempts that have failed in this transaction, by the groups of their errors.
  var errors: [JobErrorGroup.ID: JobErrorGroup] = [:]
  /// The jobs whose retention has expired, for a command that prunes the store.
  var expired: [JobID] = []
  /// Numbers and positions for new jobs, in descending order.
  private var numbers: [(id: JobID, position: Int64)] = []
  /// The jobs that were read from the table of finished ones and have not been written since.
  var finishedJobs: Set<JobID> = []
  var holdsLimitsLock = false
  var hasLockedFailureCounts = false

  /// How a transaction holds the lock of the store.
  enum Hold {
    case none, shared, alone
  }

  /// A transaction that shares the lock of the store must be repeated with the exclusive lock.
  struct MustBeAlone: Error {}

  /// A row that another transaction has inserted or deleted in the meantime.
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

  /// Executes a statement, and the earlier statements that were not sent yet.
  func run(_ statement: Statement) throws -> QueryResult { try session.run(statement) }

  func run(_ sql: String, _ values: any BinaryValue...) throws -> QueryResult {
    var statement = statement(sql)
    for value in values { statement.add(any: value) }
    return try run(statement)
  }

  /// Executes a statement whose result is not needed together with the next one.
  func runLater(_ statement: Statement) { session.runLater(statement) }

  func runLater(_ sql: String, _ values: any BinaryValue...) {
    var statement = statement(sql)
    for value in values { statement.add(any: value) }
    runLater(statement)
  }

  private func statement(_ sql: String, _ values: RowValues) -> Statement {
    var statement = statement(sql)
    statement.parameters = values.parameters
    return statement
  }

  func rows<Value>(
    _ sql: String, _ write: (inout RowValues) -> Void, _ read: (ResultRow) throws -> Value
  ) throws -> [Value] {
    var values = RowValues()
    write(&values)
    return try session.run(statement(sql, values)).rows.map(read)
  }

  func rows<Element, Value>(
    _ sql: String, for elements: [Element], _ write: (Element, inout RowValues) -> Void,
    constants: (inout RowValues) -> Void, _ read: (ResultRow) throws -> Value
  ) throws -> [Value] {
    var rest = elements[...]
    guard !rest.isEmpty else { return [] }
    return try session.run(statement(sql, values(of: &rest, isBounded: false, write, constants))).rows.map(read)
  }

  func run(_ sql: String, _ write: (inout RowValues) -> Void) throws {
    try session.sendDeferredIfMany()
    var values = RowValues()
    write(&values)
    session.runLater(statement(sql, values))
  }

  func run<Element>(
    _ sql: String, for elements: [Element], _ write: (Element, inout RowValues) -> Void,
    constants: (inout RowValues) -> Void
  ) throws {
    try session.sendDeferredIfMany()
    var rest = elements[...]
    while !rest.isEmpty {
      session.runLater(statement(sql, values(of: &rest, isBounded: true, write, constants)))
      // No request takes a long time.
      if !rest.isEmpty { _ = try session.run([]) }
    }
  }

  /// The maximum number of elements, and of bytes, that one statement writes.
  private static let maxCount = 1_000
  private static let maxSize = 1_024 * 1_024

  /// Removes elements that one statement writes and returns the values of its parameters.
  private func values<Element>(
    of rest: inout ArraySlice<Element>, isBounded: Bool, _ write: (Element, inout RowValues) -> Void,
    _ constants: (inout RowValues) -> Void
  ) -> RowValues {
    var (values, count) = (RowValues(), 0)
    while let element = rest.first, !isBounded || count < Self.maxCount && values.size < Self.maxSize {
      rest.removeFirst()
      count += 1
      values.beginElement()
      write(element, &values)
    }
    values.endElements()
    constants(&values)
    return values
  }

  /// Requires that no other transaction changes several jobs.
  func requireAlone() throws { if hold == .shared { throw MustBeAlone() } }

  // MARK: Numbers

  func reserveNumbers(_ count: Int) throws {
    numbers = []
    guard count > 0 else { return }
    numbers = try run(JobSQL.nextNumbers, count).rows.reversed().map { ($0.id(0), $0.int64(1)) }
  }

  func nextNumbers() throws -> (id: JobID, position: Int64) {
    if numbers.isEmpty { try reserveNumbers(1) }
    guard let next = numbers.popLast() else { throw Conflict() }
    return next
  }

  func nextPositions(_ count: Int) throws -> [Int64] {
    // A job that takes the place of a new one also takes its position.
    if count == 1, let next = numbers.popLast() { return [next.position] }
    return try run(JobSQL.nextPositions, count).rows.map { $0.int64(0) }
  }

  // MARK: Keys

  func holders(of keys: [UniqueKey], toReplace: Bool) throws -> [JobID?] {
    try holders(of: keys, toReplace ? JobSQL.lockHolders : JobSQL.holders)
  }

  func hold(_ keys: [(key: String, job: JobID, until: StoreTime)]) throws {
    // In the same order in all transactions.
    let held = try rows(
      JobSQL.holdKeys, for: keys.sorted { $0.key < $1.key },
      { key, values in
        values.add(key.key)
        values.add(key.job.rawValue)
        values.add(key.until)
      }, constants: { $0.add(now) }, { $0.text(0) })
    if held.count < keys.count { throw Conflict() }
  }

  // MARK: Jobs

  func find(_ ids: [JobID]) throws -> [JobRecord] {
    var (found, missing) = ([JobRecord](), Set(ids))
    // A job that ends or is run again in between moves from one table to the other.
    for _ in 0..<2 where !missing.isEmpty {
      found += try findUnfinished(missing.sorted())
      missing.subtract(found.map(\.id))
      let finished = try rows(JobSQL.findFinished, for: missing.sorted()) { JobRow.read($0) }
      found += finished
      missing.subtract(finished.map(\.id))
      finishedJobs.formUnion(finished.map(\.id))
    }
    return found
  }

  func insert(_ jobs: [JobRecord]) throws {
    try run(JobSQL.insert, for: jobs) { JobRow.writeUnfinished($0, to: &$1) }
  }

  func putUnfinished(_ jobs: [JobRecord]) throws {
    let restarted = finishedJobs.intersection(jobs.map(\.id))
    finishedJobs.subtract(restarted)
    try run(JobSQL.deleteFinished, for: restarted.sorted())
    try run(JobSQL.put, for: jobs) { job, values in
      JobRow.writeUnfinished(job, flags: restarted.contains(job.id) ? JobRow.hasCheckpoints : 0, to: &values)
    }
    waitingAgain += jobs.lazy.filter { $0.state == .waiting }.map { job in
      ClaimMarks.Place(queue: job.queue, priority: job.priority, position: job.position)
    }
  }

  func putFinished(_ jobs: [JobRecord]) throws {
    let ids = jobs.map(\.id)
    finishedJobs.subtract(ids)
    try run(JobSQL.deleteUnfinished, for: ids)
    try run(JobSQL.putFinished, for: jobs) { JobRow.writeFinished($0, to: &$1) }
  }

  func forget(_ ids: [JobID]) throws {
    finishedJobs.subtract(ids)
    try deleteRows(of: ids)
  }
}
#endif
