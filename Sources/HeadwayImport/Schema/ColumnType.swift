/// How SQLite stores the values of a column.
///
/// The import converts a field to this type when it can, and keeps the text when it cannot, as SQLite's column affinity
/// does.
public enum ColumnType: String, Sendable, Hashable, Codable {
  /// Text in UTF-8.
  case text
  /// A whole number of up to 64 bits.
  case integer
  /// A floating-point number of 64 bits.
  case real
  /// A whole number of up to 64 bits where the value is one, and else a floating-point number.
  case numeric
}
