/// Values of a column whose text an import could not keep, because the table's column converts text to numbers.
///
/// A column that is declared `STRING` or `INTEGER`, for example, stores `007` as 7 and `1e3` as 1000; see
/// [SQLite's rules](https://sqlite.org/datatype3.html#type_affinity).
public struct ConvertedColumn: Sendable, Hashable {
  /// The column's name.
  public let column: String
  /// The type that the table declares for the column.
  public let declaredType: String
  /// The number of values whose text has changed.
  public let count: Int
  /// The line of the first of these values, counted from 1.
  public let firstLineNumber: Int
  /// The beginning of the first of these values, as the file has it.
  public let firstValue: String
}
