#if SQLite
import Foundation
import GRDB

extension ExistingTable {
  /// Gives columns wider types; all values keep the text that they have in the file.
  ///
  /// SQLite can't change the type of a column. The table is therefore copied, with its row numbers, indices and
  /// triggers, to a new table that takes its name, as <https://sqlite.org/lang_altertable.html#otheralter> advises.
  /// This runs in the caller's transaction, so readers see the table before or after the change.
  ///
  /// - Parameters:
  ///   - wanted: The wanted types, by the column's name as an import has declared it.
  ///   - connection: The connection that writes.
  /// - Throws: ``ImportError`` with the code `unsuitableTable`, if a column was declared in another way than by an
  ///   import, or GRDB's `DatabaseError`.
  /// - Returns: The changed types, by column name.
  /// - Complexity: O(*n*) in the size of the table.
  @discardableResult
  func widen(_ wanted: [String: ColumnType], _ connection: Database) throws -> [String: ColumnType] {
    let types = numericTypes(of: Array(wanted.keys))
    // Another import might have widened the columns already.
    let changes = wanted.filter { column, type in
      types[column.lowercasedAsName].map { $0 != type && !(type == .numeric && $0 == .real) } ?? false
    }
    guard !changes.isEmpty else { return [:] }
    let dependents = try String.fetchAll(
      connection,
      sql: """
        SELECT sql FROM \(isTemporary ? "sqlite_temp_master" : "sqlite_master")
        WHERE tbl_name = ? COLLATE NOCASE AND type IN ('index', 'trigger') AND sql NOT NULL
        """, arguments: [name])
    // No table has this name outside of the transaction.
    let copy = "\(schema).\(SQL.name("\(SQL.reservedPrefix)widened"))"
    try connection.execute(sql: "CREATE TABLE \(copy) \(try definition(with: changes))")
    connection.add(function: Self.exactText)
    for sql in copying(to: copy, changes) { try connection.execute(sql: sql) }
    try connection.execute(sql: "DROP TABLE \(schema).\(SQL.name(name))")
    // Without this, SQLite would look for the table, which does not exist now, in all views and triggers.
    try connection.execute(sql: "PRAGMA legacy_alter_table = ON")
    defer { try? connection.execute(sql: "PRAGMA legacy_alter_table = OFF") }
    try connection.execute(sql: "ALTER TABLE \(copy) RENAME TO \(SQL.name(name))")
    for sql in dependents { try connection.execute(sql: isTemporary ? sql.inTemporarySchema : sql) }
    return changes
  }

  /// The part of the definition after the table's name, with other types.
  private func definition(with changes: [String: ColumnType]) throws -> String {
    var text = String(definitionBehindName)
    for (column, type) in changes {
      guard let declaration = declaration(of: column, in: text) else {
        throw ImportError(
          .unsuitableTable, path: name,
          context:
            "The column \(column) has a value that its type does not keep, and can't have the type \(type.rawValue)."
        )
      }
      text.replaceSubrange(declaration, with: SQL.declaration(of: column, type.rawValue))
    }
    return text
  }

  /// Returns the text of a number: 15 digits, or as many as it needs.
  ///
  /// The first argument is the text with 15 digits. If these do not suffice, the result is the shortest text that reads
  /// as the number.
  private static let exactText = DatabaseFunction(
    "\(SQL.reservedPrefix)exact_text", argumentCount: 2, pure: true
  ) { values in
    Double.fromDatabaseValue(values[1]).flatMap(ExactNumber.longText)?.databaseValue ?? values[0]
  }

  /// Statements that copy the rows, with numbers as text in columns that become text.
  private func copying(to copy: String, _ changes: [String: ColumnType]) -> [String] {
    let texts = Set(changes.filter { $0.value == .text }.keys.map(\.lowercasedAsName))
    let columns = storedColumnNames.map { column in
      let name = SQL.name(column)
      guard texts.contains(column.lowercasedAsName) else { return (name: name, value: name) }
      // The text keeps the value and has the form that it had before it became a number, except for trailing zeros:
      // `ExactNumber`.
      let text = "\(SQL.name(Self.exactText.name))(printf('%!.15g', \(name)), \(name))"
      return (name: name, value: "CASE typeof(\(name)) WHEN 'real' THEN \(text) ELSE \(name) END")
    }
    let hasNumbers = !isWithoutRowIdentifier && SQL.hasRowIdentifier(besideColumns: columnNames)
    let identifier = hasNumbers ? SQL.rowIdentifier(besideColumns: columnNames) : nil
    return SQL.copyRows(
      columns, from: "\(schema).\(SQL.name(name))", to: copy, identifier: identifier, orderedBy: identifier)
  }
}

extension String {
  /// The statement that creates an index, as SQLite stores it, adapted to the schema of temporary tables.
  fileprivate var inTemporarySchema: String {
    replacing("CREATE UNIQUE INDEX ", with: "CREATE UNIQUE INDEX temp.", maxReplacements: 1)
  }
}
#endif
