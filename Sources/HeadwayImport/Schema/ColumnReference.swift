/// The column whose values another column repeats: a foreign key.
///
/// The referenced column need not be unique: many rows of `shapes` share one `shape_id`, and `trips` refers to it. A
/// reference therefore says "a row with this value exists", which is weaker than SQLite's `FOREIGN KEY`.
public struct ColumnReference: Sendable, Hashable {
  /// The table referred to, which may be the referring table itself.
  public var table: String
  /// The column referred to.
  public var column: String

  /// Creates a reference to a column of a table.
  ///
  /// - Parameters:
  ///   - table: The table referred to.
  ///   - column: The column referred to.
  public init(table: String, column: String) {
    self.table = table
    self.column = column
  }
}
