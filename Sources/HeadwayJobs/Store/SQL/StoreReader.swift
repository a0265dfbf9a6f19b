/// A connection that reads the state of a store at one moment.
///
/// The statements that all databases understand are in HeadwayJobs. A store has the others: ``OverviewStatements`` and
/// ``SearchStatements``.
@_spi(JobStore) public protocol StoreReader {
  /// The type of rows.
  associatedtype Row: StoredRow
  /// The statements of snapshots and overviews.
  associatedtype Overview: OverviewStatements
  /// The parts of statements that find jobs.
  associatedtype Search: SearchStatements

  /// The time of the store's clock.
  var now: StoreTime { get }

  /// Executes a statement, and calls a function with each row.
  func forEachRow(_ statement: StoreStatement, _ body: (Row) throws -> Void) throws

  /// Makes the next statements read by index, even if the statistics of the database are old.
  ///
  /// The default implementation does nothing.
  func preferIndexes()

  /// Returns whether the worker in a row of ``OverviewStatements/workers`` is alive.
  func isAlive(_ row: Row) -> Bool

  /// Returns the names of queues that have waiting jobs.
  ///
  /// - Parameters:
  ///   - name: Only names after this one are returned; nil for all.
  ///   - limit: The maximum number of names.
  /// - Returns: The names, in an order of the store.
  /// - Throws: The error of the database.
  func waitingQueues(after name: String?, limit: Int) throws -> [String]
}

@_spi(JobStore) extension StoreReader {
  /// Does nothing.
  public func preferIndexes() {}

  /// Executes a statement, and returns a value for each row.
  public func rows<Value>(_ statement: StoreStatement, _ read: (Row) throws -> Value) throws -> [Value] {
    var values: [Value] = []
    try forEachRow(statement) { values.append(try read($0)) }
    return values
  }

  // MARK: Parts of a store

  /// Returns the queues that are paused or have settings.
  ///
  /// - Throws: The error of the database.
  /// - Returns: The queues by their names.
  public func queues() throws -> [String: JobQueueRecord] {
    QueueRow.byName(try rows(StoreStatement(OverviewSQL.queues, isFrequent: true)) { QueueRow.read($0) })
  }

  /// Returns a value that an attempt of a job has stored.
  ///
  /// - Parameters:
  ///   - name: The name of the checkpoint.
  ///   - id: The job.
  /// - Throws: The error of the database.
  /// - Returns: The value, or nil if there is none.
  public func checkpoint(_ name: String, of id: JobID) throws -> JobPayload? {
    guard Search.storesNullCharacters || !name.utf8.contains(0) else { return nil }
    let select = StoreStatement(OverviewSQL.checkpoint, .id(id), .text(name), isFrequent: true)
    return try rows(select) { JobPayload(bytes: $0.bytes(0)) }.first
  }

  func jobs(_ filter: JobFilter, after id: JobID?, limit: Int) throws -> (jobs: [JobRecord], next: JobID?) {
    try JobSelection(filter, self).part(after: id, limit: limit)
  }

  func ids(_ filter: JobFilter, before id: JobID?, limit: Int) throws -> JobIDPage {
    try JobSearch(filter, before: id, limit: limit, self).page()
  }

  func schedules() throws -> [ScheduleRecord] {
    try rows(StoreStatement(OverviewSQL.schedules, isFrequent: true)) { try ScheduleRow.read($0) }
      .sorted { $0.name < $1.name }
  }

  func edges(of ids: [JobID]) throws -> [JobEdge] {
    let list = "$1"
    let select = StoreStatement(
      OverviewSQL.edges(from: Search.isIn("dependency", list), to: Search.isIn("dependent", list)),
      .integers(ids.map(\.rawValue)), isFrequent: true)
    return try rows(select) { try JobRow.readEdge($0) }
  }
}
