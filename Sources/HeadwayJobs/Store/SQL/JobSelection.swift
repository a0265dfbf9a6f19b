/// The jobs in a database that match a filter.
///
/// Tags and labels are part of the encoded settings, so a job that meets the condition in SQL might not match the
/// filter.
@_spi(JobStore) public struct JobSelection<Reader: StoreReader> {
  let filter: JobFilter
  let reader: Reader

  /// The maximum number of jobs that a statement returns.
  private static var pageSize: Int { 1_000 }

  /// Creates a selection.
  ///
  /// - Parameters:
  ///   - filter: The jobs to select.
  ///   - reader: A connection to the store.
  public init(_ filter: JobFilter, _ reader: Reader) { (self.filter, self.reader) = (filter, reader) }

  /// The maximum number of rows that one read examines.
  var maxRowCount: Int { filter.payload == nil ? 20_000 : 2_000 }

  // MARK: Conditions

  /// Whether a list of the filter contains nothing that a row could contain.
  var isEmpty: Bool {
    filter.ids?.isEmpty == true || filter.states?.isEmpty == true
      || texts(filter.queues)?.isEmpty == true || texts(filter.kinds.map { Set($0.map(\.rawValue)) })?.isEmpty == true
  }

  /// Whether an index finds the jobs, so that a statement reads no others.
  var isIndexed: Bool { filter.ids != nil || filter.culprit != nil }

  /// Whether jobs have to be compared with the strings in their encoded settings.
  var needsSettings: Bool { filter.tag != nil || filter.label != nil }

  /// The states of the filter that unfinished jobs can have.
  var unfinishedStates: Set<JobState> {
    filter.requiresEnd ? [] : filter.states?.intersection(JobState.unfinished) ?? JobState.unfinished
  }

  /// The states of the filter that finished jobs can have.
  private var finishedStates: Set<JobState> { filter.states?.intersection(JobState.finished) ?? JobState.finished }

  /// The table of unfinished jobs, or its smallest part that has an index in ID order; nil if it can't contain jobs of
  /// the filter.
  var unfinishedTable: SearchSQL.Table? {
    unfinishedStates.isEmpty ? nil : unfinishedStates == [.retrying] ? .retrying : .unfinished
  }

  /// The table of finished jobs, or its smallest parts that have an index in ID order.
  var finishedTables: [SearchSQL.Table] {
    finishedStates.contains(.succeeded) ? [.finished] : finishedStates.map { .finished($0) }
  }

  /// The tables that can contain the jobs, or their smallest parts that have an index in ID order.
  var tables: [SearchSQL.Table] {
    guard let group = filter.errorGroup, !isIndexed else {
      return (unfinishedTable.map { [$0] } ?? []) + finishedTables
    }
    // Jobs that have succeeded are in no group.
    let states = unfinishedStates.union(finishedStates).subtracting([.succeeded])
    return JobState.allCases.filter(states.contains).map { .errors(group, $0) }
  }

  /// Adds the values of the condition for the rows of a table to a statement.
  ///
  /// - Returns: A condition in SQL.
  func addCondition(to statement: inout StoreStatement, for table: SearchSQL.Table) -> String {
    var conditions = ["true"]
    func add(_ column: String, _ list: StoredValue?) {
      guard let list else { return }
      conditions.append(Reader.Search.isIn(column, statement.add(list)))
    }
    add("id", filter.ids.map { .integers(Set($0).map(\.rawValue)) })
    // Two conditions for the same state would make a server expect few rows, and read them by another index.
    if !table.hasOneState { add("state", filter.states.map { .integers($0.map { Int64($0.rawValue) }) }) }
    add("queue", texts(filter.queues).map { .texts($0) })
    add("kind", texts(filter.kinds.map { Set($0.map(\.rawValue)) }).map { .texts($0) })
    if let culprit = filter.culprit { conditions.append("culprit = \(statement.add(.id(culprit)))") }
    if let group = filter.errorGroup { conditions.append("error = \(statement.add(.integer(group.rawValue)))") }
    if let since = filter.since { conditions.append("enqueued >= \(statement.add(.time(since)))") }
    if let until = filter.until { conditions.append("enqueued <= \(statement.add(.time(until)))") }
    conditions += addEndTime(to: &statement)
    // Characters of the text can be escaped, so settings that contain a backslash are decoded, too.
    for text in [filter.tag, filter.label].compactMap(\.self) {
      let parts = [Array(text.utf8), [UInt8(ascii: "\\")]].map { bytes in
        Reader.Search.contains("settings", statement.add(.bytes(bytes)))
      }
      conditions.append("(\(parts.joined(separator: " OR ")))")
    }
    // This condition is last, because long payloads are not in the same place as the rest of their rows.
    if let payload = filter.payload {
      conditions.append(Reader.Search.contains("payload", statement.add(.bytes(Array(payload.utf8)))))
    }
    return conditions.joined(separator: " AND ")
  }

  /// Adds the values of the conditions for the time when jobs ended to a statement.
  ///
  /// - Returns: Conditions in SQL, which only the table of finished jobs can meet.
  func addEndTime(to statement: inout StoreStatement) -> [String] {
    var conditions: [String] = []
    if let since = filter.endedSince { conditions.append("finished >= \(statement.add(.time(since)))") }
    if let until = filter.endedUntil { conditions.append("finished <= \(statement.add(.time(until)))") }
    return conditions
  }

  /// Returns the strings of a list that the database can compare; nil if it must not compare the list.
  private func texts(_ list: Set<String>?) -> [String]? {
    guard let list else { return nil }
    let texts = list.filter { !$0.utf8.contains(0) }.sorted()
    return texts.count < list.count && Reader.Search.storesNullCharacters ? nil : texts
  }

  /// Returns whether the encoded settings in the second column contain the strings of the filter.
  func isMatch(_ row: Reader.Row) -> Bool {
    guard needsSettings else { return true }
    return (try? JobSettings(stored: row.optional(1, row.bytes))).map(filter.matchesText) ?? false
  }

  // MARK: Reading

  /// Returns all jobs, ordered by ID.
  ///
  /// - Throws: The error of the database.
  func all() throws -> [JobRecord] {
    var (jobs, last) = ([JobRecord](), JobID?.none)
    repeat {
      let part = try part(after: last, limit: .max)
      jobs += part.jobs
      last = part.next
    } while last != nil
    return jobs
  }

  /// Returns the next jobs, ordered by ID, after examining a limited number of rows.
  ///
  /// - Parameters:
  ///   - id: Only jobs with greater IDs are returned; nil for all.
  ///   - limit: The maximum number of jobs.
  /// - Throws: The error of the database.
  /// - Returns: The jobs, and where the next part begins; nil if there are no further jobs, or if the limit is reached.
  func part(after id: JobID?, limit: Int) throws -> (jobs: [JobRecord], next: JobID?) {
    guard limit > 0, !isEmpty else { return ([], nil) }
    let start = id?.rawValue ?? .min
    var end: Int64?
    func note(_ last: Int64) { end = min(end ?? last, last) }
    // All jobs match the empty filter, so the next ones are found soon.
    if !isIndexed, filter != .all {
      for table in tables {
        let window = try window(table, after: start)
        if window.isFull { note(window.end) }
      }
    }
    var jobs: [JobRecord] = []
    let size = min(limit, Self.pageSize)
    for table in tables {
      let found = try page(table, after: start, upTo: end, limit: size)
      if found.count == size, let last = found.last { note(last.id.rawValue) }
      jobs += found
    }
    jobs = jobs.filter { job in end.map { job.id.rawValue <= $0 } != false && filter.contains(job) }
    jobs.sort { $0.id < $1.id }
    return (Array(jobs.prefix(limit)), jobs.count >= limit ? nil : end.map { JobID(rawValue: $0) })
  }

  /// Returns the last of the next rows that one read examines.
  private func window(_ table: SearchSQL.Table, after start: Int64) throws -> (end: Int64, isFull: Bool) {
    let window = StoreStatement(SearchSQL.window(table), .integer(start), .number(maxRowCount))
    return try reader.rows(window) { $0.isNull(0) ? (start, false) : ($0.int64(0), $0.int(1) == maxRowCount) }.first
      ?? (start, false)
  }

  private func page(
    _ table: SearchSQL.Table, after start: Int64, upTo end: Int64?, limit: Int
  ) throws -> [JobRecord] {
    try reader.rows(statement(columns(of: table), table, after: start, upTo: end, limit: limit)) { JobRow.read($0) }
  }

  private func columns(of table: SearchSQL.Table) -> String {
    table.areFinished ? Reader.Search.finishedColumns : Reader.Search.unfinishedColumns
  }

  private func statement(
    _ columns: String, _ table: SearchSQL.Table, after start: Int64, upTo end: Int64?, limit: Int,
    for command: JobCommand? = nil, locks: Bool = false, among ids: [Int64]? = nil
  ) -> StoreStatement {
    var statement = StoreStatement("", .integer(start))
    var conditions = [table.part, "id > $1", addCondition(to: &statement, for: table)]
    if let command { conditions.append(SearchSQL.condition(of: command, &statement)) }
    if let end { conditions.append("id <= \(statement.add(.integer(end)))") }
    if let ids { conditions.append(Reader.Search.isIn("id", statement.add(.integers(ids)))) }
    statement.sql = SearchSQL.page(
      columns, table, where: conditions.joined(separator: " AND "), limit: statement.add(.number(limit)),
      lock: locks ? Reader.Search.lock : "")
    return statement
  }

  // MARK: Changes

  /// Returns the jobs that a command changes, ordered by ID, and locks their rows.
  ///
  /// - Parameters:
  ///   - command: The command with the filter of the jobs.
  ///   - limit: The maximum number of jobs.
  ///   - prepare: Called with the jobs that the next calls of `isIncluded` examine.
  ///   - isIncluded: A function that returns whether to select the job, and that can change the job.
  /// - Throws: The error of the database or of the functions.
  /// - Returns: The selected jobs, with their changes.
  public func jobs(
    for command: JobCommand, limit: Int, prepare: ([JobRecord]) throws -> Void,
    where isIncluded: (inout JobRecord) throws -> Bool
  ) throws -> [JobRecord] {
    guard limit > 0, !isEmpty, command.changesFinished || !filter.requiresEnd else { return [] }
    let table = command.changesFinished ? SearchSQL.Table.finished : .unfinished
    var (jobs, start) = ([JobRecord](), Int64.min)
    while true {
      // One statement compares a limited number of payloads.
      let window = filter.payload == nil || isIndexed ? nil : try window(table, after: start)
      func select(_ columns: String, locks: Bool, among ids: [Int64]? = nil) -> StoreStatement {
        statement(
          columns, table, after: start, upTo: window?.end, limit: Self.pageSize, for: command, locks: locks, among: ids)
      }
      var count = 0
      var last = start
      var ids: [Int64]?
      if needsSettings, !Reader.Search.lock.isEmpty {
        // Only the rows with the strings are locked.
        ids = []
        try reader.forEachRow(select("id, settings", locks: false)) { row in
          (count, last) = (count + 1, row.int64(0))
          if isMatch(row) { ids?.append(last) }
        }
      }
      let found = try reader.rows(select(columns(of: table), locks: true, among: ids)) { JobRow.read($0) }
      if ids == nil { (count, last) = (found.count, found.last?.id.rawValue ?? start) }
      let examined = found.filter(filter.contains)
      try prepare(examined)
      for var job in examined {
        guard try isIncluded(&job) else { continue }
        jobs.append(job)
        if jobs.count == limit { return jobs }
      }
      if count == Self.pageSize {
        start = last
      } else if let window, window.isFull {
        start = window.end
      } else {
        return jobs
      }
    }
  }
}
