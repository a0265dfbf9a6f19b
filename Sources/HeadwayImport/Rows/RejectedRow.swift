/// A row of a file with which something is wrong.
public struct RejectedRow: Sendable, Hashable {
  /// What became of the row.
  public enum Status: String, Sendable, Hashable, Codable {
    /// It is not in the database.
    case rejected
    /// It is no row, and not in the database: it comes before the header, or is a header that can't be used.
    case skipped
    /// It is in the database as it stands in the file, and something should be known about it.
    case reported
  }

  /// The table into which the file is imported.
  public let table: String
  /// The physical line, counted from 1, on which the record starts.
  public let line: Int
  /// What became of the row.
  public let status: Status
  /// What is wrong, for a person.
  public let reason: String
  /// The record as it stands in the file, without its line end.
  public let record: [UInt8]
}
