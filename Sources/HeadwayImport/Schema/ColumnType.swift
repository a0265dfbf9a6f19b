/// The type that SQLite stores the values of a column with.
///
/// The import converts a field to this type if it can, and otherwise keeps the text, as SQLite's column affinity does.
public enum ColumnType: String, Sendable, Hashable, Codable {
  /// Text in UTF-8.
  case text
  /// A whole number of up to 64 bits.
  case integer
  /// A floating-point number of 64 bits.
  case real
  /// A whole number of up to 64 bits if the value is one, and otherwise a floating-point number.
  case numeric
}
