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
  typealias Limits = LimitSQL
  typealias Schedules = ScheduleSQL

  let database: Database
  let now: StoreTime
  /// The hints for observers, which are called after the commit.
  var hints = JobHints()
  var knownQueues: [String: JobQueueRecord]?
  var ended: [JobGraph.Standing] = []
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
    let statement = try statement(MetaSQL.find)
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
    let statement = try statement(MetaSQL.set)
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
