/// The column whose values another column repeats: a foreign key.
///
/// The referenced column need not be unique: many rows of `shapes` share one `shape_id`, and `trips` refers to it. A
/// reference therefore means only that a row with the value exists, which is weaker than SQLite's `FOREIGN KEY`.
public struct ColumnReference: Sendable, Hashable {
  /// The referenced table, which can be the referring table itself.
  public var table: String
  /// The referenced column.
  public var column: String

  /// Creates a reference to a column of a table.
  ///
  /// - Parameters:
  ///   - table: The name of the referenced table.
  ///   - column: The name of the referenced column.
  public init(table: String, column: String) {
    self.table = table
    self.column = column
  }
}
