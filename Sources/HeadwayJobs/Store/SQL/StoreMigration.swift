/// A change of the tables of a store in an SQL database.
///
/// Each change of the tables adds a migration with the next number. A migration that was released never changes. The
/// store keeps the number of the last migration and runs the missing ones in one transaction.
@_spi(JobStore) public struct StoreMigration: Sendable {
  /// The number; 1 creates the tables.
  public let number: Int64
  /// Statements that each end with a semicolon at the end of a line.
  ///
  /// The bodies of functions are in `$body$` quotes.
  public let sql: String

  /// Creates a migration.
  public init(_ number: Int64, _ sql: String) { (self.number, self.sql) = (number, sql) }

  /// The statements one by one.
  public var statements: [String] {
    var (statements, lines, isInBody) = ([String](), [Substring](), false)
    for line in sql.split(separator: "\n") {
      lines.append(line)
      if line.split(separator: "$body$", omittingEmptySubsequences: false).count == 2 { isInBody.toggle() }
      guard !isInBody, line.last == ";" else { continue }
      statements.append(lines.joined(separator: "\n"))
      lines = []
    }
    return statements
  }
}

@_spi(JobStore) extension [StoreMigration] {
  /// The schema version that this version of Headway creates.
  public var version: Int64 { last?.number ?? 0 }

  /// Returns the migrations that tables need.
  ///
  /// - Parameters:
  ///   - stored: The number of the last migration of the tables; 0 if there are no tables.
  ///   - place: Where other tables can be: another database, or another schema.
  /// - Returns: The migrations, in order.
  /// - Throws: ``JobError`` with the code ``JobError/Code/newerSchema`` if the tables are more than one version newer.
  ///   Each version works with its own tables and with the next ones, so that you can update one process after another.
  public func missing(after stored: Int64, orUse place: String) throws -> [StoreMigration] {
    guard stored <= version + 1 else {
      throw JobError(
        .newerSchema,
        "The job tables have version \(stored), but this program works with versions up to \(version + 1). Update "
          + "Headway in this program, or use \(place).")
    }
    return filter { $0.number > stored }
  }
}
