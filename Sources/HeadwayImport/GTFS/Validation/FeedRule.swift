/// A rule of the GTFS reference, as a query that finds the rows of a feed's table that violate it.
struct FeedRule: Sendable {
  let severity: FeedIssue.Severity
  let code: String
  let table: String
  let message: String
  /// The columns that help a person find a row.
  let columns: [String]
  /// The rows to check, as a query: the number of their record as `record`, and the columns.
  let source: String
  let condition: String

  /// - Parameters:
  ///   - severity: The severity of the issue.
  ///   - code: The kind of issue, for programs.
  ///   - table: The table's name.
  ///   - message: The description of the issue, for people.
  ///   - columns: The columns that help a person find a row; by default, the table's key.
  ///   - source: A query to use instead of the table itself, with a column `record`.
  ///   - condition: The condition for rows that violate the rule, in SQL.
  init(
    _ severity: FeedIssue.Severity, _ code: String, _ table: String, _ message: String, columns: [String]? = nil,
    source: String? = nil, where condition: String = "1"
  ) {
    (self.severity, self.code, self.table, self.message) = (severity, code, table, message)
    self.columns = columns ?? GTFSSchema.table(named: table)?.key ?? []
    self.source = source ?? "SELECT rowid AS record, * FROM \(table)"
    self.condition = condition
  }

  /// A rule that a field must have a value.
  static func missing(
    _ column: String, _ table: String, when reason: String, _ condition: String, code: String = "missing_required_field"
  ) -> FeedRule {
    FeedRule(
      .error, code, table, "\(column) is empty, which is required \(reason)",
      where: "\(empty(column)) AND (\(condition))")
  }

  /// Whether a column has no value, in SQL.
  static func empty(_ column: String) -> String { "coalesce(\(column), '') = ''" }

  /// A time of day in seconds, in SQL; the hour can exceed 24.
  static func seconds(_ column: String) -> String {
    "(CAST(substr(\(column), 1, length(\(column)) - 6) AS INTEGER) * 3600 "
      + "+ CAST(substr(\(column), -5, 2) AS INTEGER) * 60 + CAST(substr(\(column), -2) AS INTEGER))"
  }

  /// Whether the feed has several agencies, in SQL.
  static let severalAgencies = "(SELECT count(*) FROM agency) > 1"

  /// All rules.
  static let all = structure + network + timetable + onDemand + calendars + fares + others

  /// The rule as one statement: the number of the record, and the columns.
  var sql: String {
    let columns = columns.map(SQL.name).joined(separator: ", ")
    return "SELECT record\(columns.isEmpty ? "" : ", \(columns)") FROM (\(source)) WHERE \(condition) ORDER BY record"
  }
}
