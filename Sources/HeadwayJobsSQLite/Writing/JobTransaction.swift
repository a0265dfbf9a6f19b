#if Jobs
import GRDB
import GRDBSQLite
@_spi(JobStore) import HeadwayJobs

/// The jobs of a store, inside a transaction that writes.
///
/// `JobTransitions` and `JobGraph` determine all changes of a job's state. The most frequent ones, claims and
/// successes, write only the columns that change.
final class JobTransaction: SQLJobRows {
  typealias Jobs = JobSQL
  typealias Checkpoints = CheckpointSQL
  typealias Graph = GraphSQL
  typealias Errors = ErrorSQL
  typealias Limits = LimitSQL
  typealias Schedules = ScheduleSQL
  typealias Statistics = StatisticsSQL

  let database: Database
  let now: StoreTime
  /// The hints for observers, which are called after the commit.
  var hints = JobHints()
  var knownQueues: [String: JobQueueRecord]?
  var ended: [JobGraph.Standing] = []
  var activity = JobActivityLog()
  var meetBudget = JobGraph.maxMetCount
  var cascadeBudget = JobGraph.maxCascadeCount
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

  /// The numbers that a store assigns.
  private enum Number: Int, CaseIterable {
    case job, position, worker
    /// The number of deleted jobs, which makes it possible to detect lost jobs.
    case deleted

    static let names = ["job", "position", "worker", "deleted"]
    var name: String { Self.names[rawValue] }
  }

  /// The last assigned numbers.
  fileprivate struct Counters {
    let stored: [Int64]
    var current: [Int64]
  }

  /// The state to restore if a request fails.
  struct Mark {
    fileprivate let hints: JobHints
    fileprivate let counters: Counters?
    fileprivate let activityCount: Int
  }

  init(_ database: Database, at now: StoreTime) {
    self.database = database
    self.now = now
  }

  // MARK: Statements

  func statement(_ sql: String) throws -> SQLStatement { try SQLStatement(sql, database) }

  func rows<Value>(
    _ sql: String, _ write: (inout ParameterBinder) -> Void, _ read: (SQLStatement) throws -> Value
  ) throws -> [Value] {
    try rows(sql, for: [()], { write(&$1) }, constants: { _ in }, read)
  }

  func rows<Element, Value>(
    _ sql: String, for elements: [Element], _ write: (Element, inout ParameterBinder) -> Void,
    constants: (inout ParameterBinder) -> Void, _ read: (SQLStatement) throws -> Value
  ) throws -> [Value] {
    var values: [Value] = []
    let statement = try statement(sql)
    for element in elements {
      var binder = ParameterBinder(statement)
      write(element, &binder)
      constants(&binder)
      try statement.forEachRow { values.append(try read($0)) }
    }
    return values
  }

  func run(_ sql: String, _ write: (inout ParameterBinder) -> Void) throws {
    try run(sql, for: [()], { write(&$1) }, constants: { _ in })
  }

  func run<Element>(
    _ sql: String, for elements: [Element], _ write: (Element, inout ParameterBinder) -> Void,
    constants: (inout ParameterBinder) -> Void
  ) throws {
    let statement = try statement(sql)
    for element in elements {
      var binder = ParameterBinder(statement)
      write(element, &binder)
      constants(&binder)
      try statement.run()
    }
  }

  var mark: Mark { Mark(hints: hints, counters: counters, activityCount: activity.count) }

  /// Restores the state at a mark, after the request has changed nothing or its savepoint was rolled back.
  func restore(_ mark: Mark) {
    (hints, counters, knownQueues, ended) = (mark.hints, mark.counters, nil, [])
    activity.truncate(to: mark.activityCount)
  }

  // MARK: Numbers

  /// Assigns numbers and returns the last one.
  @discardableResult
  private func increase(_ number: Number, by count: Int = 1) throws -> Int64 {
    if counters == nil {
      let stored = try Number.allCases.map { number in
        try rows(MetaSQL.find, { $0.add(number.name) }) { $0.int64(0) }.first ?? 0
      }
      counters = Counters(stored: stored, current: stored)
    }
    counters?.current[number.rawValue] += Int64(count)
    return counters?.current[number.rawValue] ?? 0
  }

  /// Stores the assigned numbers and the activity; call it before the commit, and before other code uses the
  /// connection.
  func storeCounters() throws {
    try storeActivity()
    guard let used = counters else { return }
    counters = nil
    let changed = Number.allCases.filter { used.current[$0.rawValue] != used.stored[$0.rawValue] }
    try run(MetaSQL.set, for: changed) { number, values in
      values.add(number.name)
      values.add(used.current[number.rawValue])
    }
  }

  func nextNumbers() throws -> (id: JobID, position: Int64) {
    (JobID(rawValue: try increase(.job)), try increase(.position))
  }

  func nextPositions(_ count: Int) throws -> [Int64] {
    let last = try increase(.position, by: count)
    return Array((last - Int64(count) + 1)..<(last + 1))
  }

  func nextWorker() throws -> WorkerID { WorkerID(rawValue: try increase(.worker)) }

  func noteDeleted(_ count: Int) throws { try increase(.deleted, by: count) }

  // MARK: Jobs

  func find(_ ids: [JobID]) throws -> [JobRecord] {
    let unfinished = try findUnfinished(ids)
    guard unfinished.count < ids.count else { return unfinished }
    let found = Set(unfinished.map(\.id))
    return try unfinished + rows(JobSQL.findFinished, for: ids.filter { !found.contains($0) }) { JobRow.read($0) }
  }

  func insert(_ jobs: [JobRecord]) throws {
    let batchEnd = jobs.count - jobs.count % JobSQL.batchSize
    for first in stride(from: 0, to: batchEnd, by: JobSQL.batchSize) {
      let insert = try statement(JobSQL.insertBatch)
      for row in 0..<JobSQL.batchSize { JobRow.bindUnfinished(jobs[first + row], to: insert, row: row) }
      try insert.run()
    }
    try run(JobSQL.insert, for: Array(jobs[batchEnd...])) { JobRow.writeUnfinished($0, to: &$1) }
  }

  func putUnfinished(_ jobs: [JobRecord]) throws {
    for job in jobs {
      let update = try statement(JobSQL.update)
      JobRow.bindUnfinished(job, to: update)
      guard try update.run() == 0 else { continue }
      // The job was finished.
      try run(JobSQL.deleteFinished, for: [job.id])
      let insert = try statement(JobSQL.insert)
      JobRow.bindUnfinished(job, to: insert, flags: JobRow.hasCheckpoints)
      try insert.run()
    }
  }

  func putFinished(_ jobs: [JobRecord]) throws {
    try run(JobSQL.deleteUnfinished, for: jobs.map(\.id))
    try run(JobSQL.putFinished, for: jobs) { JobRow.writeFinished($0, to: &$1) }
  }

  func forget(_ ids: [JobID]) throws {
    try noteDeleted(ids.count)
    try deleteRows(of: ids)
  }

  // MARK: Keys

  func holders(of keys: [UniqueKey], toReplace: Bool) throws -> [JobID?] { try holders(of: keys, JobSQL.holders) }

  func hold(_ keys: [(key: String, job: JobID, until: StoreTime)]) throws {
    try run(JobSQL.holdKey, for: keys) { key, values in
      values.add(key.key)
      values.add(key.job.rawValue)
      values.add(key.until)
    }
  }
}
#endif
