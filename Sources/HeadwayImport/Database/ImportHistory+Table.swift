#if SQLite
import Foundation
import GRDB

extension ImportHistory {
  static let table = "\(SQL.reservedPrefix)imports"

  static func create(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE IF NOT EXISTS \(table) (
          id INTEGER PRIMARY KEY, "table" TEXT NOT NULL COLLATE NOCASE, source TEXT NOT NULL, size INTEGER,
          columns TEXT NOT NULL, started TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, ended TEXT,
          outcome TEXT NOT NULL DEFAULT 'running', rows INTEGER NOT NULL DEFAULT 0,
          began_empty INTEGER NOT NULL, row_offset INTEGER NOT NULL, last_row INTEGER NOT NULL DEFAULT 0, run TEXT,
          found_columns TEXT NOT NULL DEFAULT '[]', records INTEGER, records_hash INTEGER, last_row_hash INTEGER,
          refused INTEGER NOT NULL DEFAULT 0, owner TEXT, made_as TEXT,
          start_row INTEGER, rows_before INTEGER, stored_rows INTEGER)
        """)
    let known = try columns(of: table, database)
    for column in ["start_row", "rows_before", "stored_rows"] where !known.contains(column) {
      try database.execute(sql: "ALTER TABLE \(table) ADD COLUMN \(column) INTEGER")
    }
  }

  /// Moves the entries of earlier versions to the current table and removes helper tables that a killed process has
  /// left.
  static func migrate(_ database: Database) throws {
    let former = Set(try columns(of: SQL.formerImportsTable, database))
    let needed: Set = ["id", "table", "source", "columns", "outcome", "began_empty", "row_offset", "last_row"]
    let helpers = try String.fetchAll(
      database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '% (headway import %)'"
    ).filter(isAbandonedHelper)
    guard former.isSuperset(of: needed) || !helpers.isEmpty else { return }
    try database.inTransaction(.immediate) {
      for helper in helpers { try database.execute(sql: "DROP TABLE IF EXISTS \(SQL.name(helper))") }
      // Another process might have moved the entries in the meantime.
      if former.isSuperset(of: needed), try !columns(of: SQL.formerImportsTable, database).isEmpty {
        try create(database)
        let common = SQL.names(try columns(of: table, database).filter { $0 != "id" && former.contains($0) })
        try database.execute(
          sql: """
            INSERT INTO \(table) (\(common)) SELECT \(common) FROM \(SQL.formerImportsTable) ORDER BY id;
            DROP TABLE \(SQL.formerImportsTable)
            """)
      }
      return .commit
    }
  }

  /// Whether an earlier version created this table for rows that would replace others, and its process no longer
  /// exists.
  private static func isAbandonedHelper(_ name: String) -> Bool {
    guard let match = name.firstMatch(of: /\ \(headway import (\d+) \d+\)$/), let process = pid_t(match.1) else {
      return false
    }
    return kill(process, 0) != 0 && errno == ESRCH
  }

  /// The names of a table's columns.
  ///
  /// They are not read through GRDB's schema methods, because GRDB would cache that there were none.
  private static func columns(of table: String, _ database: Database) throws -> [String] {
    try String.fetchAll(database, sql: "SELECT name FROM pragma_table_info(?, 'main')", arguments: [table])
  }

  /// Whether the table of imports exists.
  static func exists(_ database: Database) throws -> Bool { try !columns(of: table, database).isEmpty }

  /// The names of a table's columns whose types were found, not described.
  static func inferredColumns(of target: String, _ database: Database) throws -> [String] {
    guard try exists(database) else { return [] }
    let last = try String.fetchOne(
      database, sql: "SELECT found_columns FROM \(table) WHERE \"table\" = ? ORDER BY id DESC LIMIT 1",
      arguments: [target])
    return try last.map { try JSONDecoder().decode([String].self, from: Data($0.utf8)) } ?? []
  }

  // MARK: Tables that imports have created

  /// Whether an import has created a table, so that imports may change its columns.
  ///
  /// A new table with the same name, but another definition, does not count. Earlier versions did not store the
  /// definition. For their entries, the table must have been empty when it was first imported into, and all of its
  /// columns must be columns of the files or of the key.
  /// - Parameters:
  ///   - existing: The definition that the table has now.
  ///   - key: The names of the key columns.
  ///   - database: Any connection.
  /// - Returns: True for a table that earlier imports have created.
  /// - Throws: GRDB's `DatabaseError`.
  static func hasMade(_ existing: ExistingTable, key: [String], _ database: Database) throws -> Bool {
    guard try exists(database) else { return false }
    let entries = try Row.fetchAll(
      database, sql: "SELECT made_as, columns, began_empty, records FROM \(table) WHERE \"table\" = ? ORDER BY id",
      arguments: [existing.name])
    if let known = entries.last(where: { $0["made_as"] != nil }) {
      return known["made_as"] == existing.definition
    }
    guard let first = entries.first, first["began_empty"] == true, first["records"] == Int?.none else { return false }
    let columns = entries.flatMap { ($0["columns"] as String).split(separator: ",").map(String.init) } + key
    return Set(columns.map(\.lowercasedAsName)).isSuperset(of: existing.columnNames.map(\.lowercasedAsName))
  }

  /// Stores the definition of a table that imports have created, after a change.
  static func noteDefinition(of target: String, _ database: Database) throws {
    try database.execute(
      sql: """
        UPDATE \(table) SET made_as =
          (SELECT sql FROM sqlite_master WHERE type = 'table' AND name = :target COLLATE NOCASE)
        WHERE id = (SELECT max(id) FROM \(table) WHERE "table" = :target)
        """, arguments: ["target": target])
  }
}
#endif
