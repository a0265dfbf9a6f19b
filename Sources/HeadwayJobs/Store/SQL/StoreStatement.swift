/// A statement that reads a store, with the values of its parameters.
///
/// The text is written for PostgreSQL: its tables are in the schema `headway`, and its parameters are `$1`, `$2` and so
/// on. A store translates the names and the parameters.
@_spi(JobStore) public struct StoreStatement: Sendable {
  /// The text.
  public var sql: String
  /// The values of the parameters.
  public private(set) var values: [StoredValue]
  /// Whether the text is always the same, and executed often.
  public let isFrequent: Bool

  /// Creates a statement.
  ///
  /// - Parameters:
  ///   - sql: The text of the statement.
  ///   - values: The values of the parameters.
  ///   - isFrequent: Whether the text is always the same, and executed often.
  public init(_ sql: String, _ values: StoredValue..., isFrequent: Bool = false) {
    (self.sql, self.values, self.isFrequent) = (sql, values, isFrequent)
  }

  /// Adds a value and returns its parameter for the text.
  public mutating func add(_ value: StoredValue) -> String {
    values.append(value)
    return "$\(values.count)"
  }
}

/// The value of a parameter.
@_spi(JobStore) public enum StoredValue: Sendable {
  /// An integer.
  case integer(Int64)
  /// A text.
  case text(String)
  /// Bytes.
  case bytes([UInt8])
  /// A time.
  case time(StoreTime)
  /// A list of integers.
  case integers([Int64])
  /// A list of strings.
  case texts([String])

  /// Creates an integer.
  static func number(_ value: Int) -> StoredValue { .integer(Int64(value)) }

  /// Creates the ID of a job.
  static func id(_ id: JobID) -> StoredValue { .integer(id.rawValue) }
}
