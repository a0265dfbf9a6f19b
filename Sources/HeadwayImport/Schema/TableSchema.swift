/// A table: its columns, its key, and the indices to create after it is loaded.
public struct TableSchema: Sendable, Hashable {
  /// The table's name.
  public var name: String
  /// The columns, in order of creation.
  public var columns: [ColumnSchema]
  /// The names of the key columns, which together identify a row; empty if there is no key.
  ///
  /// A key column is not necessarily required: its field can be empty in a valid row, as `from_trip_id` is in most rows
  /// of `transfers`. Two rows are the same if all key columns are equal, including empty ones. An SQLite `UNIQUE`
  /// constraint treats that differently (each `NULL` is distinct), so empty key fields must be stored as empty text.
  public var key: [String]
  /// The column names of each index to create after loading, in addition to the index of the key.
  ///
  /// An index is not created if the loaded file lacks one of its columns, because every value would be `NULL`.
  public var indices: [[String]]

  /// Creates the description of a table.
  ///
  /// - Parameters:
  ///   - name: The table's name.
  ///   - columns: The columns, in order of creation.
  ///   - key: The names of the key columns, which together identify a row; empty if there is no key.
  ///   - indices: The column names of each index to create after loading.
  public init(name: String, columns: [ColumnSchema], key: [String] = [], indices: [[String]] = []) {
    self.name = name
    self.columns = columns
    self.key = key
    self.indices = indices
  }
}

extension TableSchema {
  /// The column with a name, if the table has one.
  ///
  /// - Parameter name: The name, in the spelling of the schema (names are case-sensitive).
  /// - Returns: The column, or `nil`.
  /// - Complexity: O(columns).
  public func column(named name: String) -> ColumnSchema? {
    columns.first { $0.name == name }
  }

  /// The names of the other tables that columns of this table refer to.
  ///
  /// References to the table itself are omitted, because they order rows, not tables.
  public var dependencies: Set<String> {
    var names: Set<String> = []
    for column in columns {
      if let reference = column.reference, reference.table != name { names.insert(reference.table) }
    }
    return names
  }

  /// The same table with a prefix before its name and the names of referenced tables.
  ///
  /// - Parameter prefix: The text to put before each name.
  /// - Returns: A copy of the table with the new names.
  public func prefixed(_ prefix: String) -> TableSchema {
    var table = self
    table.name = prefix + name
    for (position, column) in columns.enumerated() {
      if let reference = column.reference { table.columns[position].reference?.table = prefix + reference.table }
    }
    return table
  }
}
