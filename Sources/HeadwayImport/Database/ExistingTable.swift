#if SQLite
  import GRDB

  /// A table that is in the database before an import.
  struct ExistingTable {
    let name: String
    /// The columns with their declared types, in order.
    private let columns: [(name: String, type: String)]
    /// The names of the primary key's columns, in its order.
    let primaryKey: [String]
    /// The columns of each constraint or index by which no two rows are the same, in lower case.
    private let uniqueColumns: [Set<String>]

    /// Nil if there is no table of that name.
    init?(named name: String, _ connection: Database) throws {
      // Not asked through GRDB, which remembers that there was none, and does not double a quote in a name.
      let known = try String.fetchOne(
        connection, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE",
        arguments: [name])
      guard let known else { return nil }
      self.name = known
      let rows = try Row.fetchAll(
        connection, sql: "SELECT name, type, pk FROM pragma_table_info(?)", arguments: [known])
      columns = rows.map { ($0["name"], $0["type"]) }
      primaryKey = rows.filter { $0["pk"] > 0 }.sorted { $0["pk"] < ($1["pk"] as Int) }.map { $0["name"] }
      let indices = try String.fetchAll(
        connection, sql: #"SELECT name FROM pragma_index_list(?) WHERE "unique" AND NOT partial"#, arguments: [known])
      let indexed = try indices.map { index in
        try String?.fetchAll(connection, sql: "SELECT name FROM pragma_index_info(?)", arguments: [index])
      }
      // An index on an expression has a column without a name.
      uniqueColumns =
        indexed.filter { !$0.contains(nil) }.map { Set($0.compactMap { $0?.lowercasedAsName }) }
        + [Set(primaryKey.map(\.lowercasedAsName))]
    }

    /// The description of the table, if it has no key, with the primary key of this table, if the file has that.
    func completing(_ schema: TableSchema, header: [String]) -> TableSchema {
      let fields = Set(header.map(\.lowercasedAsName))
      guard schema.key.isEmpty, !primaryKey.isEmpty, fields.isSuperset(of: primaryKey.map(\.lowercasedAsName)) else {
        return schema
      }
      var schema = schema
      schema.key = primaryKey
      for name in primaryKey where !schema.columns.contains(where: { $0.name.isSameName(as: name) }) {
        let isInteger = declaredType(of: name) == "INTEGER"
        schema.columns.append(ColumnSchema(name: name, type: isInteger ? .integer : .text))
      }
      return schema
    }

    /// Makes sure that rows can be told apart by the key of the plan.
    ///
    /// A table without a key gets an index for that.
    ///
    /// - Throws: ``ImportError`` with the code `unsuitableTable`.
    func requireKey(of plan: TablePlan, path: String, _ connection: Database) throws {
      let key = plan.key.map { plan.columns[$0].name }
      guard !key.isEmpty, !uniqueColumns.contains(Set(key.map(\.lowercasedAsName))) else { return }
      func failure(_ reason: String) -> ImportError {
        ImportError(
          .unsuitableTable, path: path,
          message: "The key of the table \(name) can't be \(key.joined(separator: ", ")): \(reason).")
      }
      guard primaryKey.isEmpty else { throw failure("it is \(primaryKey.joined(separator: ", "))") }
      let names = Set(columns.map(\.name.lowercasedAsName))
      guard names.isSuperset(of: key.map(\.lowercasedAsName)) else { throw failure("it has rows without that") }
      do {
        try connection.execute(
          sql: "CREATE UNIQUE INDEX \(SQL.name("\(name)_\(key.joined(separator: "_"))_key")) ON \(SQL.name(name)) "
            + "(\(SQL.names(key)))")
      } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
        throw failure("several rows are the same there")
      }
    }

    /// Makes sure that columns have the types that were asked for.
    ///
    /// - Throws: ``ImportError`` with the code `unsuitableTable`.
    func requireTypes(of described: [ColumnSchema], path: String) throws {
      for column in described {
        guard let declared = declaredType(of: column.name), !Self.isType(declared, fitFor: column.type) else {
          continue
        }
        throw ImportError(
          .unsuitableTable, path: path,
          message: "The column \(column.name) of the table \(name) is \(declared) there, "
            + "which can't become \(column.type.rawValue).")
      }
    }

    private func declaredType(of column: String) -> String? {
      columns.first { $0.name.isSameName(as: column) }?.type.uppercased()
    }

    /// Whether SQLite keeps values of a type as they are in a column declared so; the rules of column affinity, from
    /// <https://sqlite.org/datatype3.html#determination_of_column_affinity>.
    private static func isType(_ declared: String, fitFor type: ColumnType) -> Bool {
      if declared.contains("INT") { return type == .integer }
      if ["CHAR", "CLOB", "TEXT"].contains(where: declared.contains) { return type == .text }
      if declared.isEmpty || declared.contains("BLOB") { return true }
      if ["REAL", "FLOA", "DOUB"].contains(where: declared.contains) { return type == .real }
      return type != .text
    }
  }
#endif
