#if Jobs
import FoundationEssentials
import GRDB
@_spi(JobStore) import HeadwayJobs

/// The condition of a `JobFilter` in SQL.
///
/// Tags and labels are part of the encoded settings, so a job that meets the condition might not be in the filter.
struct JobSelection {
  let filter: JobFilter
  private let arguments: [String]
  /// The condition, with parameters from ?2 on.
  ///
  /// It also requires the job's number to be greater than ?1.
  let condition: String

  init(_ filter: JobFilter) throws {
    self.filter = filter
    var (conditions, arguments) = (["id > ?1"], [String]())
    func add(_ column: String, _ values: (some Encodable)?) throws {
      guard let values else { return }
      let list = String(decoding: try JSONEncoder().encode(values), as: UTF8.self)
      // In a list, SQLite ends a text at its first null character. The filter itself is applied to each row.
      guard !list.contains("\\u0000") else { return }
      arguments.append(list)
      conditions.append("\(column) IN (SELECT value FROM json_each(?\(arguments.count + 1)))")
    }
    try add("id", filter.ids?.map(\.rawValue))
    try add("state", filter.states?.map(\.rawValue))
    try add("queue", filter.queues?.sorted())
    try add("kind", filter.kinds?.map(\.rawValue))
    // Only finished jobs have a culprit.
    try add("culprit", filter.culprit.map { [$0.rawValue] })
    func add(_ argument: String, _ condition: (String) -> String) {
      arguments.append(argument)
      conditions.append(condition("?\(arguments.count + 1)"))
    }
    if let since = filter.since { add("\(since.microseconds)") { "enqueued >= CAST(\($0) AS INTEGER)" } }
    if let until = filter.until { add("\(until.microseconds)") { "enqueued <= CAST(\($0) AS INTEGER)" } }
    // The encoded settings contain the encoded texts.
    for text in [try filter.tag.map(Self.encoded), try filter.label.map(Self.encoded)?.dropFirst().dropLast()] {
      if let text { add(String(text)) { "instr(settings, CAST(\($0) AS BLOB)) > 0" } }
    }
    // This condition is last, because long payloads are not on the same pages of the database as the rest of their
    // rows.
    if let payload = filter.payload { add(payload) { "instr(payload, CAST(\($0) AS BLOB)) > 0" } }
    condition = conditions.joined(separator: " AND ")
    self.arguments = arguments
  }

  private static func encoded(_ text: String) throws -> Substring {
    Substring(String(decoding: try JSONEncoder().encode(text), as: UTF8.self))
  }

  /// The number of the first parameter that the condition does not use.
  var nextParameter: Int { arguments.count + 2 }

  /// Binds the arguments of the condition.
  ///
  /// - Parameters:
  ///   - id: Only jobs with greater numbers than this one meet the condition; nil for all.
  ///   - statement: A statement that contains the condition.
  func bind(after id: JobID? = nil, to statement: SQLStatement) {
    statement.bind(id?.rawValue ?? .min, at: 1)
    for (argument, index) in zip(arguments, 2...) { statement.bind(argument, at: Int32(index)) }
  }

  /// Returns jobs in the order of their numbers.
  ///
  /// - Parameters:
  ///   - areFinished: Whether to return finished or unfinished jobs.
  ///   - id: Only jobs with greater numbers than this one are returned; nil for all.
  ///   - limit: The maximum number of jobs.
  ///   - database: A connection.
  ///   - isIncluded: An additional condition. The function can change the job.
  /// - Throws: GRDB's `DatabaseError`, or the error of the condition.
  /// - Returns: The jobs.
  func jobs(
    areFinished: Bool, after id: JobID?, limit: Int, _ database: Database,
    where isIncluded: (inout JobRecord) throws -> Bool = { _ in true }
  ) throws -> [JobRecord] {
    guard limit > 0, areFinished || filter.culprit == nil else { return [] }
    let (columns, table) =
      areFinished ? (JobSQL.finishedColumns, "headway_done") : (JobSQL.unfinishedColumns, "headway_job")
    let rows = try SQLStatement(
      "SELECT \(columns) FROM \(table) WHERE \(condition) ORDER BY id", database)
    defer { rows.reset() }
    bind(after: id, to: rows)
    var jobs: [JobRecord] = []
    while jobs.count < limit, try rows.step() {
      var job = JobRow.read(rows)
      if filter.contains(job), try isIncluded(&job) { jobs.append(job) }
    }
    return jobs
  }
}
#endif
