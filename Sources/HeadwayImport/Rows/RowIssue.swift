/// A problem of a row of a file, and how the import has treated the row.
public struct RowIssue: Sendable, Hashable {
  /// How the import treated the row.
  public enum Status: String, Sendable, Hashable, Codable {
    /// The row is not in the database.
    case rejected
    /// The record is not a row and is not in the database: it comes before the header, or is a header that can't be
    /// used.
    case skipped
    /// The row is in the database but has a problem.
    case importedWithIssue
    /// The row is not in the database, because the table already has a row with the same key.
    ///
    /// See ``ImportOptions/ExistingRowPolicy/ignore``. A file of rejected rows does not contain such rows.
    case ignored
  }

  /// The table that the file is imported into.
  public let table: String
  /// The physical line where the record starts, counted from 1.
  public let lineNumber: Int
  /// How the import treated the row.
  public let status: Status
  /// The problem, described for people.
  public let reason: String
  /// The bytes of the record in the file, without its line ending.
  public let record: [UInt8]
}
