/// The rows of a store in an SQL database, inside a transaction that writes.
///
/// A store has the statements, and this protocol has the functions that bind values to most of them. The rest of
/// ``JobRows`` is what databases do in different ways.
@_spi(JobStore) public protocol SQLJobRows: JobRows {
  /// The type of rows.
  associatedtype Row: StoredRow
  /// The type that binds values to a statement.
  associatedtype Values: StoredRowWriter
  /// The type that reads jobs for commands.
  associatedtype Reader: StoreReader
  /// The statements about jobs.
  associatedtype Jobs: JobStatements
  /// The statements about checkpoints.
  associatedtype Checkpoints: CheckpointStatements
  /// The statements about dependencies.
  associatedtype Graph: GraphStatements
  /// The statements about error groups.
  associatedtype Errors: ErrorStatements
  /// The statements about queues and limits.
  associatedtype Limits: LimitStatements
  /// The statements about schedules.
  associatedtype Schedules: ScheduleStatements
  /// The statements about statistics.
  associatedtype Statistics: StatisticsStatements

  /// The queues that are paused or have settings, or nil if they have not been read.
  var knownQueues: [String: JobQueueRecord]? { get set }
  /// Definitions of schedules that were decoded before the transaction.
  var knownDefinitions: ScheduleRow.KnownDefinitions { get }

  /// Reads the jobs that match a filter and locks their rows if transactions overlap.
  var reader: Reader { get }

  /// Executes a statement and returns its rows.
  func rows<Value>(
    _ sql: String, _ write: (inout Values) -> Void, _ read: (Row) throws -> Value
  ) throws -> [Value]
  /// Executes a statement for elements and returns its rows.
  ///
  /// - Parameters:
  ///   - sql: The text of the statement.
  ///   - elements: The elements to execute it for.
  ///   - write: Binds the values of an element.
  ///   - constants: Binds the values that follow the values of the elements.
  ///   - read: Reads a row.
  /// - Throws: The error of the database.
  /// - Returns: The value that `read` returns for each row.
  func rows<Element, Value>(
    _ sql: String, for elements: [Element], _ write: (Element, inout Values) -> Void,
    constants: (inout Values) -> Void, _ read: (Row) throws -> Value
  ) throws -> [Value]
  /// Executes a statement without rows, immediately or together with the next one.
  func run(_ sql: String, _ write: (inout Values) -> Void) throws
  /// Executes a statement without rows for elements, immediately or together with the next one.
  func run<Element>(
    _ sql: String, for elements: [Element], _ write: (Element, inout Values) -> Void,
    constants: (inout Values) -> Void
  ) throws
}

@_spi(JobStore) extension SQLJobRows {
  /// Executes a statement for elements.
  public func run<Element>(
    _ sql: String, for elements: [Element], _ write: (Element, inout Values) -> Void
  ) throws {
    try run(sql, for: elements, write, constants: { _ in })
  }

  /// Executes a statement for jobs.
  public func run(_ sql: String, for ids: [JobID]) throws { try run(sql, for: ids) { $1.add($0.rawValue) } }

  /// Executes a statement for jobs and returns its rows.
  public func rows<Value>(_ sql: String, for ids: [JobID], _ read: (Row) throws -> Value) throws -> [Value] {
    try rows(sql, for: ids, { $1.add($0.rawValue) }, constants: { _ in }, read)
  }

  // MARK: Jobs

  /// Returns the unfinished jobs among several jobs, ordered by ID.
  public func findUnfinished(_ ids: [JobID]) throws -> [JobRecord] {
    ids.isEmpty ? [] : try rows(Jobs.findUnfinished, for: ids) { JobRow.read($0) }
  }

  /// Returns whether a job exists and has not ended.
  public func isUnfinished(_ id: JobID) throws -> Bool {
    try !rows(Jobs.isUnfinished, { $0.add(id.rawValue) }) { _ in }.isEmpty
  }

  /// Returns whether an attempt runs its job.
  public func isRun(by fence: JobFence) throws -> Bool {
    try !rows(Jobs.findRunning, { JobRow.write(fence, to: &$0) }) { _ in }.isEmpty
  }

  /// Returns jobs that a worker runs, ordered by ID, up to a limit.
  public func runningJobs(of worker: WorkerID, limit: Int) throws -> [JobRecord] {
    try rows(
      Jobs.runningJobs,
      {
        $0.add(worker.rawValue)
        $0.add(limit)
      }
    ) { JobRow.read($0) }
  }

  /// Returns the jobs that a worker runs, ordered by ID.
  public func runningJobs(of worker: WorkerID) throws -> [JobRecord] { try runningJobs(of: worker, limit: .max) }

  /// Returns the jobs that have not started by their deadline, ordered by deadline, up to a limit.
  public func lateJobs(limit: Int) throws -> [JobRecord] { try jobs(Jobs.lateJobs, limit) }

  /// Returns the scheduled and retrying jobs that are due, ordered by due time, up to a limit.
  public func dueJobs(limit: Int) throws -> [JobRecord] { try jobs(Jobs.dueJobs, limit) }

  private func jobs(_ sql: String, _ limit: Int) throws -> [JobRecord] {
    try rows(
      sql,
      {
        $0.add(now)
        $0.add(limit)
      }
    ) { JobRow.read($0) }
  }

  /// Deletes the jobs that are not kept.
  public func deleteRows(of ids: [JobID]) throws {
    try run(Graph.deleteEdges, for: ids)
    try run(Jobs.deleteUnfinished, for: ids)
    try run(Jobs.deleteFinished, for: ids)
  }

  /// Deletes the rows of finished jobs.
  public func deleteFinishedRows(of ids: [JobID]) throws {
    try run(Jobs.deleteFinished, for: ids)
    try run(Checkpoints.delete, for: ids)
    try run(Graph.deleteEdges, for: ids)
  }

  /// Deletes expired keys, full buckets and old records of changes, each up to a limit.
  public func pruneKeys() throws {
    try run(Jobs.pruneKeys) { $0.add(now) }
    try run(Jobs.pruneBuckets) { $0.add(now) }
    try pruneChanges()
  }

  /// Returns jobs that a command can change, ordered by ID, up to ``JobCommand/maxChangedCount``.
  public func select(
    for command: JobCommand, prepare: ([JobRecord]) throws -> Void, where isIncluded: (inout JobRecord) throws -> Bool
  ) throws -> [JobRecord] {
    guard let filter = command.filter else { return [] }
    return try JobSelection(filter, reader).jobs(
      for: command, limit: JobCommand.maxChangedCount, prepare: prepare, where: isIncluded)
  }

  /// Calls a function that writes a damaged job, and preserves the stored parts of the job.
  public func preservingParts(of job: JobRecord, _ write: () throws -> Void) throws {
    // The parts remain as they are stored, for people to inspect, and for a newer release that might be able to read
    // them.
    let parts = try rows(Jobs.findParts, { $0.add(job.id.rawValue) }) { row in
      (settings: row.optional(0, row.bytes), history: row.optional(1, row.bytes))
    }.first
    try write()
    try run(job.state.isFinished ? Jobs.setFinishedParts : Jobs.setUnfinishedParts) { values in
      values.add(job.id.rawValue)
      values.add(parts?.settings)
      values.add(parts?.history)
    }
  }

  /// Returns the job that holds each key, or nil if no job holds it.
  public func holders(of keys: [UniqueKey], _ sql: String) throws -> [JobID?] {
    func find(_ keys: [String], _ sql: String, _ constants: (inout Values) -> Void) throws -> [[UInt8]: JobID] {
      guard !keys.isEmpty else { return [:] }
      let found = try rows(sql, for: keys, { $1.add($0) }, constants: constants) { ($0.bytes(0), $0.id(1)) }
      return Dictionary(found, uniquingKeysWith: { first, _ in first })
    }
    let holders = try find(keys.filter { $0.duration == nil }.map(\.key), sql) { _ in }
    let timed = try find(keys.filter { $0.duration != nil }.map(\.key), Jobs.timedHolders) { $0.add(now) }
    return keys.map { ($0.duration == nil ? holders : timed)[Array($0.key.utf8)] }
  }

  // MARK: Attempts

  /// Returns the values of one name that jobs have stored.
  public func checkpoints(_ name: String, of ids: [JobID]) throws -> [JobID: JobPayload] {
    guard !ids.isEmpty else { return [:] }
    let found = try rows(Checkpoints.find, for: ids, { $1.add($0.rawValue) }, constants: { $0.add(name) }) { row in
      (row.id(0), JobPayload(bytes: row.bytes(1)))
    }
    return Dictionary(found, uniquingKeysWith: { first, _ in first })
  }

  /// Stores values of unfinished jobs, each with a name.
  public func putCheckpoints(_ checkpoints: [(job: JobID, name: String, value: JobPayload)]) throws {
    try run(Checkpoints.put, for: checkpoints) { checkpoint, values in
      values.add(checkpoint.job.rawValue)
      values.add(checkpoint.name)
      values.add(checkpoint.value.bytes)
    }
    try run(Checkpoints.note, for: Set(checkpoints.map(\.job)).sorted())
  }

  /// Removes the checkpoints of jobs.
  public func deleteCheckpoints(of ids: [JobID]) throws { try run(Checkpoints.delete, for: ids) }

  /// Stores the progress of a running job.
  public func setProgress(_ progress: JobProgress, of id: JobID) throws {
    try run(Jobs.setProgress) { values in
      values.add(id.rawValue)
      values.add(progress.fraction)
      values.add(description: progress.text)
    }
  }
}
