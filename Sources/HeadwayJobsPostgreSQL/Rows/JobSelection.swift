#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// The condition of a `JobFilter` in SQL.
///
/// Tags and labels are part of the encoded settings, so a job that meets the condition might not match the filter.
struct JobSelection {
  private let filter: JobFilter
  /// Whether it contains a text that no row can contain.
  let isImpossible: Bool

  /// The number of rows that are read at a time.
  private static let pageSize = 1_000

  init(_ filter: JobFilter) {
    self.filter = filter
    let texts = (filter.queues ?? []).union((filter.kinds ?? []).map(\.rawValue))
    isImpossible = !texts.isEmpty && texts.allSatisfy { $0.utf8.contains(0) }
  }

  /// Returns jobs in the order of their numbers.
  ///
  /// - Parameters:
  ///   - areFinished: Whether to return finished or unfinished jobs.
  ///   - id: Only jobs with greater numbers than this one are returned; nil for all.
  ///   - limit: The maximum number of jobs.
  ///   - locks: Whether to lock the rows.
  ///   - run: Executes a statement.
  ///   - condition: Adds the parameters of an additional condition to a statement, and returns the condition.
  ///   - prepare: Called with the jobs that the next calls of `isIncluded` examine.
  ///   - isIncluded: An additional condition. The function can change the job.
  /// - Throws: `PostgresError`, or the error of the condition.
  /// - Returns: The jobs.
  func jobs(
    areFinished: Bool, after id: JobID?, limit: Int, locks: Bool, _ run: (Statement) throws -> QueryResult,
    condition: (inout Statement) -> String = { _ in "true" }, prepare: ([JobRecord]) throws -> Void = { _ in },
    where isIncluded: (inout JobRecord) throws -> Bool = { _ in true }
  ) throws -> [JobRecord] {
    guard limit > 0, !isImpossible, areFinished || filter.culprit == nil else { return [] }
    let (columns, table) =
      areFinished ? (JobSQL.finishedColumns, "headway.done") : (JobSQL.unfinishedColumns, "headway.job")
    /// Finds the last of the next rows whose payloads one statement compares; nil if the statement needs no bound.
    func window(after last: Int64) throws -> (end: Int64, isFull: Bool)? {
      guard filter.payload != nil, filter.ids == nil else { return nil }
      var statement = Statement("", last)
      let conditions = [addCondition(to: &statement, includesPayload: false), condition(&statement)]
      statement.sql =
        "SELECT max(id), count(*) FROM (SELECT id FROM \(table) WHERE id > $1 AND "
        + "\(conditions.joined(separator: " AND ")) ORDER BY id LIMIT \(Self.pageSize)) seen"
      guard let row = try run(statement).first, !row.isNull(0) else { return (last, false) }
      return (row.int64(0), row.int(1) == Self.pageSize)
    }
    func page(
      _ columns: String, after last: Int64, upTo end: Int64?, locks: Bool, _ ids: [Int64]? = nil
    ) throws -> QueryResult {
      var statement = Statement("", last)
      var conditions = [addCondition(to: &statement), condition(&statement)]
      if let end {
        statement.add(end)
        conditions.append("id <= $\(statement.parameters.count)")
      }
      if let ids {
        statement.add(array: ids)
        conditions.append("id = ANY($\(statement.parameters.count))")
      }
      statement.sql =
        "SELECT \(columns) FROM \(table) WHERE id > $1 AND \(conditions.joined(separator: " AND ")) ORDER BY id "
        + "LIMIT \(Self.pageSize)" + (locks ? " FOR UPDATE" : "")
      return try run(statement)
    }
    var (jobs, last) = ([JobRecord](), id?.rawValue ?? .min)
    while true {
      let part = try window(after: last)
      let found: QueryResult
      let rows: QueryResult
      if locks, filter.needsSettings {
        // Only the rows with the texts are locked.
        found = try page("id, settings", after: last, upTo: part?.end, locks: false)
        let ids = found.rows.filter(isMatch).map { $0.int64(0) }
        rows = try page(columns, after: last, upTo: part?.end, locks: true, ids)
      } else {
        found = try page(columns, after: last, upTo: part?.end, locks: locks)
        rows = found
      }
      let examined = rows.rows.map { JobRow.read($0) }.filter(filter.contains)
      try prepare(examined)
      for var job in examined {
        guard try isIncluded(&job) else { continue }
        jobs.append(job)
        if jobs.count == limit { return jobs }
      }
      if let part {
        guard part.isFull else { return jobs }
        last = part.end
      } else {
        guard found.count == Self.pageSize, let end = found.rows.last else { return jobs }
        last = end.int64(0)
      }
    }
  }

  /// Returns whether the encoded settings in the second column contain the texts of the filter.
  func isMatch(_ row: ResultRow) -> Bool {
    guard filter.needsSettings else { return true }
    return (try? JobSettings(stored: row.optional(1, row.bytes))).map(filter.matchesText) ?? false
  }

  /// Adds the parameters of the condition to a statement.
  ///
  /// - Parameters:
  ///   - statement: The statement.
  ///   - includesPayload: Whether payloads are compared. Comparing them takes more time than the rest.
  /// - Returns: The condition.
  func addCondition(to statement: inout Statement, includesPayload: Bool = true) -> String {
    var conditions = ["true"]
    func add<Value: BinaryValue>(_ column: String, _ values: [Value]?) {
      guard let values else { return }
      statement.add(array: values)
      conditions.append("\(column) = ANY($\(statement.parameters.count))")
    }
    add("id", filter.ids.map { Set($0).map(\.rawValue) })
    add("state", filter.states?.map { Int64($0.rawValue) })
    add("queue", filter.queues?.filter { !$0.utf8.contains(0) })
    add("kind", filter.kinds?.map(\.rawValue).filter { !$0.utf8.contains(0) })
    // Only finished jobs have a culprit.
    add("culprit", filter.culprit.map { [$0.rawValue] })
    func add(_ comparison: String, _ time: StoreTime?) {
      guard let time else { return }
      statement.add(time)
      conditions.append("\(comparison) $\(statement.parameters.count)")
    }
    add("enqueued >=", filter.since)
    add("enqueued <=", filter.until)
    // Other clients might have escaped characters of the text, so settings that contain a backslash are decoded, too.
    for text in [filter.tag, filter.label].compactMap(\.self) {
      statement.add(Array(text.utf8))
      let text = "$\(statement.parameters.count)"
      conditions.append("(position(\(text) IN settings) > 0 OR position('\\x5c'::bytea IN settings) > 0)")
    }
    if includesPayload, let payload = filter.payload {
      statement.add(Array(payload.utf8))
      conditions.append("position($\(statement.parameters.count) IN payload) > 0")
    }
    return conditions.joined(separator: " AND ")
  }
}

extension JobFilter {
  /// Whether jobs have to be compared with the texts in their encoded settings.
  var needsSettings: Bool { tag != nil || label != nil }
}
#endif
