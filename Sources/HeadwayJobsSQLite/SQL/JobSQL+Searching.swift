#if Jobs
@_spi(JobStore) import HeadwayJobs

/// The parts of statements that find jobs which only SQLite understands.
extension JobSQL: SearchStatements {
  /// Only one connection writes at a time.
  static let lock = ""
  /// In a list, SQLite ends a text at its first null character.
  static let storesNullCharacters = true

  /// A list is bound as JSON.
  static func isIn(_ column: String, _ parameter: String) -> String {
    "\(column) IN (SELECT value FROM json_each(\(parameter)))"
  }

  static func contains(_ column: String, _ parameter: String) -> String { "instr(\(column), \(parameter)) > 0" }
}
#endif
