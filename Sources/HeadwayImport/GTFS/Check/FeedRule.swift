/// A rule of the GTFS reference as a question to a database that has a feed: which rows of a table do not follow it.
struct FeedRule: Sendable {
  let severity: FeedFinding.Severity
  let code: String
  let table: String
  let message: String
  /// The columns by which a person finds a row.
  let columns: [String]
  /// What is asked: rows with the number of their record as `record`, and with the columns.
  let source: String
  let condition: String

  /// - Parameters:
  ///   - severity: How bad it is.
  ///   - code: What it is, for a program.
  ///   - table: The table.
  ///   - message: What it is, for a person.
  ///   - columns: The columns by which a person finds a row; by default the table's key.
  ///   - source: A select in place of the table itself, with `record`.
  ///   - condition: What holds for rows that do not follow the rule, in SQL.
  init(
    _ severity: FeedFinding.Severity, _ code: String, _ table: String, _ message: String, columns: [String]? = nil,
    source: String? = nil, where condition: String = "1"
  ) {
    (self.severity, self.code, self.table, self.message) = (severity, code, table, message)
    self.columns = columns ?? GTFSSchema.table(named: table)?.key ?? []
    self.source = source ?? "SELECT rowid AS record, * FROM \(table)"
    self.condition = condition
  }

  /// A value that must be there.
  static func missing(
    _ column: String, _ table: String, when reason: String, _ condition: String, code: String = "missing_required_field"
  ) -> FeedRule {
    FeedRule(
      .error, code, table, "\(column) is empty, which is required \(reason)",
      where: "\(empty(column)) AND (\(condition))")
  }

  /// Whether a column has no value, in SQL.
  static func empty(_ column: String) -> String { "coalesce(\(column), '') = ''" }

  /// A time of day in seconds, in SQL; hours may be more than 24.
  static func seconds(_ column: String) -> String {
    "(CAST(substr(\(column), 1, length(\(column)) - 6) AS INTEGER) * 3600 "
      + "+ CAST(substr(\(column), -5, 2) AS INTEGER) * 60 + CAST(substr(\(column), -2) AS INTEGER))"
  }

  /// Whether the feed has several agencies, in SQL.
  static let severalAgencies = "(SELECT count(*) FROM agency) > 1"

  /// Every rule.
  static let all = structure + network + timetable + onDemand + calendars + fares + others

  /// The rule as one statement: the number of the record, and the columns.
  var sql: String {
    let columns = columns.map(SQL.name).joined(separator: ", ")
    return "SELECT record\(columns.isEmpty ? "" : ", \(columns)") FROM (\(source)) WHERE \(condition) ORDER BY record"
  }
}
