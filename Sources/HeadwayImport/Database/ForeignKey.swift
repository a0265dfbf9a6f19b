#if SQLite
import GRDB

/// A foreign key that a table of the database declares.
struct ForeignKey: Sendable {
  /// The referring table, with its columns.
  let table: String
  let columns: [String]
  /// The referenced table, with its columns.
  let parent: String
  let parentColumns: [String]

  /// Whether the table refers to itself.
  var isInside: Bool { table.isSameName(as: parent) }

  /// The foreign keys of a table.
  static func keys(of table: String, _ connection: Database) throws -> [ForeignKey] {
    let rows = try Row.fetchAll(
      connection,
      sql: #"SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?, 'main') ORDER BY id, seq"#,
      arguments: [table])
    return try Dictionary(grouping: rows) { $0["id"] as Int }.sorted { $0.key < $1.key }.map { _, parts in
      let parent: String = parts[0]["table"]
      var columns = parts.compactMap { $0["to"] as String? }
      // Without columns, the key refers to the primary key.
      if columns.count < parts.count { columns = try ExistingTable(named: parent, connection)?.primaryKey ?? [] }
      return ForeignKey(table: table, columns: parts.map { $0["from"] }, parent: parent, parentColumns: columns)
    }
  }

  /// The foreign keys of other tables that refer to a table, except those of tables that imports have created.
  static func keys(to table: String, _ connection: Database) throws -> [ForeignKey] {
    let children = try String.fetchAll(
      connection,
      sql: """
        SELECT DISTINCT child.name FROM sqlite_master AS child, pragma_foreign_key_list(child.name) AS key
        WHERE child.type = 'table' AND key."table" = :table COLLATE NOCASE AND child.name <> :table COLLATE NOCASE
        """, arguments: ["table": table])
    return try children.flatMap { child -> [ForeignKey] in
      guard let existing = try ExistingTable(named: child, connection),
        try !ImportHistory.hasMade(existing, key: existing.primaryKey, connection)
      else { return [] }
      return try keys(of: child, connection).filter { $0.parent.isSameName(as: table) }
    }
  }

  /// Whether the columns identify rows of the parent, as SQLite requires.
  func canBeChecked(_ connection: Database) throws -> Bool {
    guard let parent = try ExistingTable(named: parent, connection) else { return false }
    return parentColumns.count == columns.count && parent.identifiesRows(by: parentColumns)
  }

  /// The SQL condition for rows that refer to a missing row.
  ///
  /// - Parameters:
  ///   - row: The alias of the referring row in the statement.
  ///   - parent: The table that the row refers to, as SQL; nil for the one that the key names.
  /// - Returns: A condition in SQL.
  func isBroken(_ row: String, in parent: String? = nil) -> String {
    let isSet = columns.map { "\(row).\(SQL.name($0)) IS NOT NULL" }
    let isSame = zip(parentColumns, columns).map { "parent.\(SQL.name($0)) = \(row).\(SQL.name($1))" }
    return "\(isSet.joined(separator: " AND ")) AND NOT EXISTS (SELECT 1 FROM "
      + "\(parent ?? "main.\(SQL.name(self.parent))") AS parent WHERE \(isSame.joined(separator: " AND ")))"
  }

  /// The number of rows that refer to a missing row.
  func brokenCount(_ connection: Database) throws -> Int {
    try Int.fetchOne(
      connection, sql: "SELECT count(*) FROM main.\(SQL.name(table)) AS child WHERE \(isBroken("child"))") ?? 0
  }

  /// The reason for rejecting a row.
  var reason: String {
    "\(columns.joined(separator: ", ")): there is no such row in \(parent) (\(parentColumns.joined(separator: ", ")))"
  }
}

/// The foreign keys that rows must not violate when they are imported into a table that no import has created.
struct EnforcedReferences: Sendable {
  /// The foreign keys of the table.
  var own: [ForeignKey] = []
  /// The foreign keys of other tables that refer to the table.
  var toTable: [ForeignKey] = []
  /// Whether SQLite checks the foreign keys while rows are written.
  var isEnforced = false
  /// The reason why foreign keys can't be checked, in words; nil if they can be checked, or if there are none.
  var unchecked: String?

  init() {}

  /// Reads the foreign keys of a table.
  ///
  /// - Parameters:
  ///   - table: The table's name.
  ///   - isOwn: Whether an import has created the table. References of such a table are only reported.
  ///   - connection: Any connection.
  /// - Throws: GRDB's `DatabaseError`.
  init(of table: String, isOwn: Bool, _ connection: Database) throws {
    let keys = isOwn ? [] : try ForeignKey.keys(of: table, connection)
    let keysToTable = try ForeignKey.keys(to: table, connection)
    own = try keys.filter { try $0.canBeChecked(connection) }
    toTable = try keysToTable.filter { try $0.canBeChecked(connection) }
    if let key = try (keys + keysToTable).first(where: { try !$0.canBeChecked(connection) }) {
      unchecked =
        "\(key.columns.joined(separator: ", ")) of \(key.table) refers to \(key.parent), but not to columns that "
        + "identify its rows: not checked"
    }
    // SQLite rejects all rows if one of the keys can't be checked.
    let areAllChecked = own.count == keys.count && toTable.count == keysToTable.count
    isEnforced = !isOwn && !(own.isEmpty && toTable.isEmpty) && areAllChecked
  }

  /// The number of rows of other tables that refer to missing rows.
  func orphanCounts(_ connection: Database) throws -> [Int] { try toTable.map { try $0.brokenCount(connection) } }

  /// Ensures that the number of rows of other tables that refer to missing rows has not increased.
  ///
  /// - Parameters:
  ///   - before: The previous number of such rows for each foreign key.
  ///   - replaced: Tables, in lowercase, whose rows are replaced after the rows of this table.
  ///   - path: The path of the file, for errors.
  ///   - connection: The connection that writes.
  /// - Throws: ``ImportError`` with the code `brokenReferences`.
  func requireNoOrphans(
    since before: [Int], except replaced: Set<String>, path: String, _ connection: Database
  ) throws {
    for (key, (count, now)) in zip(toTable, zip(before, try orphanCounts(connection)))
    where now > count && !replaced.contains(key.table.lowercasedAsName) {
      throw ImportError(
        .brokenReferences, path: path,
        context: "\((now - count).rows) of the table \(key.table) would refer to rows of \(key.parent) that the file "
          + "does not have. Nothing has changed: change or remove the referring rows first.")
    }
  }
}
#endif
