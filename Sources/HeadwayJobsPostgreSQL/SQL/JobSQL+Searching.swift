#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// The parts of statements that find jobs which only PostgreSQL understands.
extension JobSQL: SearchStatements {
  static let lock = " FOR UPDATE"
  static let storesNullCharacters = false

  static func isIn(_ column: String, _ parameter: String) -> String { "\(column) = ANY(\(parameter))" }

  static func contains(_ column: String, _ parameter: String) -> String { "position(\(parameter) IN \(column)) > 0" }
}
#endif
