/// A table: its columns, its key, and the indices worth having once it is loaded.
public struct TableSchema: Sendable, Hashable {
  /// The name of the table.
  public var name: String
  /// The columns, in the order in which they are created.
  public var columns: [ColumnSchema]
  /// The names of the columns that together identify a row; empty if none do.
  ///
  /// A key column is not necessarily a required one: its field may be empty in a valid row, as `from_trip_id` is in
  /// most rows of `transfers`. Two rows are the same when all key columns agree, empty ones included. An SQLite
  /// `UNIQUE` constraint sees that differently (each `NULL` is distinct), so empty key fields are to be stored as empty
  /// text.
  public var key: [String]
  /// The column names of each index to create after loading, beside the one that the key implies.
  ///
  /// An index one of whose columns the loaded file lacks is not worth creating: every value would be `NULL`.
  public var indices: [[String]]

  /// Creates the description of a table.
  ///
  /// - Parameters:
  ///   - name: The name of the table.
  ///   - columns: The columns, in the order in which they are created.
  ///   - key: The names of the columns that together identify a row; empty if none do.
  ///   - indices: The column names of each index to create after loading.
  public init(name: String, columns: [ColumnSchema], key: [String] = [], indices: [[String]] = []) {
    self.name = name
    self.columns = columns
    self.key = key
    self.indices = indices
  }
}

extension TableSchema {
  /// The column of that name, if the table has one.
  ///
  /// - Parameter name: The name, in the spelling of the schema (names are case-sensitive).
  /// - Returns: The column, or `nil`.
  /// - Complexity: O(columns).
  public func column(named name: String) -> ColumnSchema? {
    columns.first { $0.name == name }
  }

  /// The names of the other tables to which columns of this one refer.
  ///
  /// A table's references to itself are left out: they order rows, not tables.
  public var dependencies: Set<String> {
    var names: Set<String> = []
    for column in columns {
      if let reference = column.reference, reference.table != name { names.insert(reference.table) }
    }
    return names
  }

  /// The same table under a name that begins with a prefix, and so the tables to which it refers.
  ///
  /// - Parameter prefix: The prefix.
  /// - Returns: The table.
  public func prefixed(_ prefix: String) -> TableSchema {
    var table = self
    table.name = prefix + name
    for (position, column) in columns.enumerated() {
      if let reference = column.reference { table.columns[position].reference?.table = prefix + reference.table }
    }
    return table
  }
}
