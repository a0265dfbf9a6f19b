#if SQLite
import GRDB
import GRDBSQLite

extension TargetTable {
  private var references: [(column: Int, reference: ColumnReference)] {
    plan.columns.enumerated().compactMap { position, column in
      guard column.field != nil, let reference = column.reference, reference.table != plan.table else { return nil }
      return (position, reference)
    }
  }

  /// The keys that each column may refer to, by column.
  ///
  /// They are read concurrently with writes.
  func knownKeys() throws -> [Int: KeySet] {
    var known: [Int: KeySet] = [:]
    for (column, reference) in references where existingTables.contains(reference.table.lowercasedAsName) {
      known[column] = try database.read { connection in
        var keys = KeySet()
        let statement = try connection.makeStatement(
          sql: "SELECT DISTINCT \(SQL.name(reference.column)) FROM \(SQL.name(reference.table))")
        let handle = statement.sqliteStatement
        let cursor = try Row.fetchCursor(statement)
        while try cursor.next() != nil {
          // The text is UTF-8 with any encoding of the database.
          guard let text = sqlite3_column_text(handle, 0) else { continue }
          let bytes = UnsafeRawBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, 0)))
          _ = keys.insert(KeySet.hash(bytes))
        }
        return keys
      }
    }
    return known
  }

  /// Describes unchecked references, which are references to missing tables, for columns that have values.
  func uncheckedReferences() throws -> [String] {
    let unchecked = references.filter { !existingTables.contains($0.reference.table.lowercasedAsName) }
    return try [preparation.references.unchecked].compactMap(\.self)
      + unchecked.compactMap { column, reference in
        let (name, table) = (plan.columns[column].name, reference.table)
        // Such a column usually has an index, so this is a single lookup.
        let value = try database.read {
          try Row.fetchOne(
            $0, sql: "SELECT 1 FROM \(SQL.name(plan.table)) WHERE \(SQL.name(name)) > '' LIMIT 1")
        }
        guard value != nil else { return nil }
        return "\(name) refers to \(table).\(reference.column), but there is no table \(table): not checked"
      }
  }

  /// The issues of rows whose reference to their own table does not exist.
  func unresolved(_ selfReferences: [SelfReference]) throws -> [RowIssue] {
    var rows: [RowIssue] = []
    for selfReference in selfReferences {
      let unresolved = selfReference.unresolved
      guard !unresolved.isEmpty else { continue }
      let reference = selfReference.reference
      rows += try readStored { [storage, plan] connection in
        var rows: [RowIssue] = []
        let statement = try connection.makeStatement(
          sql: "SELECT 1 FROM \(SQL.name(storage.table)) WHERE \(SQL.name(reference.column)) = ?")
        for entry in unresolved {
          let value = String(decoding: entry.value, as: UTF8.self)
          guard try Row.fetchOne(statement, arguments: [value]) == nil else { continue }
          rows.append(
            RowIssue(
              table: plan.table, lineNumber: entry.lineNumber, status: .importedWithIssue,
              reason: reference.missing(value, from: selfReference.columnName), record: entry.record))
        }
        return rows
      }
    }
    return rows.sorted { $0.lineNumber < $1.lineNumber }
  }

  /// Reads the rows of this import.
  ///
  /// Only the writing connection can read a temporary table.
  private func readStored<Answer: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Answer
  ) throws -> Answer {
    places.isTemporary ? try database.writeAndWait("read \(plan.table)", body) : try database.read(body)
  }
}
#endif
