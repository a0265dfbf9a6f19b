extension String {
  /// The name with its ASCII letters in lower case: SQLite tells no names apart that are the same so, and all others.
  var lowercasedAsName: String {
    String(decoding: utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
  }
}

extension String {
  /// Whether SQLite takes two names for the same.
  func isSameName(as other: String) -> Bool { lowercasedAsName == other.lowercasedAsName }
}

/// The SQL texts of an import.
enum SQL {
  /// The beginning of the names of all tables that an import creates besides the one that it fills, and of indices in a
  /// table that no import has created.
  ///
  /// GRDB's `DatabaseMigrator` ignores names that begin with `grdb_` when it compares the schema with that of the
  /// migrations. With any other name, `eraseDatabaseOnSchemaChange` would erase the database when the app is launched.
  static let reservedPrefix = "grdb_headway_"

  /// The name of the table of imports in earlier versions.
  static let formerImportsTable = "headway_imports"

  /// Whether no table of an import can have that name.
  static func isReserved(_ name: String) -> Bool {
    name.lowercasedAsName.hasPrefix(reservedPrefix) || name.isSameName(as: formerImportsTable)
  }

  /// A name as SQL, whatever characters it has.
  static func name(_ name: String) -> String {
    // By its scalars: to a `Character`, a quote with a combining accent behind it is no quote, and to SQLite it is.
    var quoted = String.UnicodeScalarView("\"".unicodeScalars)
    for scalar in name.unicodeScalars { quoted.append(contentsOf: scalar == "\"" ? [scalar, scalar] : [scalar]) }
    quoted.append("\"")
    return String(quoted)
  }

  /// A name of SQLite's row number: it has three, for tables that have columns of these names.
  static func rowIdentifier(besideColumns columns: [String]) -> String {
    let taken = Set(columns.map(\.lowercasedAsName))
    return rowIdentifiers.first { !taken.contains($0) } ?? "rowid"
  }

  private static let rowIdentifiers = ["rowid", "_rowid_", "oid"]

  /// Whether one of these names is left.
  static func hasRowIdentifier(besideColumns columns: [String]) -> Bool {
    !Set(columns.map(\.lowercasedAsName)).isSuperset(of: rowIdentifiers)
  }

  static func names(_ names: some Sequence<String>) -> String { names.map(name).joined(separator: ", ") }

  /// The table says that it refers to `parents`, the tables that exist, and to no others.
  ///
  /// - Parameters:
  ///   - plan: The table.
  ///   - parents: By the tables' names in lower case, the columns of their keys.
  /// - Returns: The statement.
  static func createTable(_ plan: TablePlan, parents: [String: [String]]) -> String {
    var parts = plan.columns.map { columnDefinition($0, plan, parents: parents) }
    if plan.key.count > 1 || (plan.hasKey && !plan.isRowIdentifierKey) {
      parts.append("PRIMARY KEY (\(names(plan.key.map { plan.columns[$0].name })))")
    }
    return "CREATE TABLE IF NOT EXISTS \(name(plan.table)) (\(parts.joined(separator: ", ")))"
  }

  static func columnDefinition(_ column: TablePlan.Column, _ plan: TablePlan, parents: [String: [String]]) -> String {
    var definition = "\(name(column.name)) \(column.type.rawValue.uppercased())"
    if plan.isRowIdentifierKey, column.isKey { return definition + " PRIMARY KEY" }
    if column.isKey || column.isRequired { definition += " NOT NULL" }
    // SQLite requires the column to be the whole key of its table.
    if let reference = column.reference, let key = parents[reference.table.lowercasedAsName], key.count == 1,
      key[0].isSameName(as: reference.column)
    {
      definition += " REFERENCES \(name(reference.table))(\(name(reference.column)))"
    }
    return definition
  }

  /// A column as it is described, without constraints.
  static func columnDefinition(_ column: ColumnSchema) -> String {
    "\(name(column.name)) \(column.type.rawValue.uppercased())"
  }

  static func addColumn(_ column: TablePlan.Column, to table: String) -> String {
    "ALTER TABLE \(name(table)) ADD COLUMN \(name(column.name)) \(column.type.rawValue.uppercased())"
  }

  /// Asks for the key of the row whose key is the same as the one that is bound, as the table keeps it.
  static func storedKey(_ plan: TablePlan) -> String {
    let key = plan.key.map { name(plan.columns[$0].name) }
    let stored = key.map { "quote(\($0))" }.joined(separator: " || ',' || ")
    return "SELECT \(stored) FROM \(name(plan.table)) WHERE \(key.map { "\($0) = ?" }.joined(separator: " AND "))"
  }

  /// Asks for the row with the number that is bound.
  static func presence(_ plan: TablePlan) -> String {
    "SELECT 1 FROM \(name(plan.table)) WHERE \(plan.rowIdentifier) = ?"
  }

  /// A statement that inserts `rows` rows.
  ///
  /// With `updates`, a row whose key is there is updated in place; rows that would not change are not written.
  static func insert(_ plan: TablePlan, rows: Int, updates: Bool) -> String {
    let columns = (plan.hasKey ? [] : [plan.rowIdentifier]) + plan.columns.map { name($0.name) }
    let row = "(\(Array(repeating: "?", count: columns.count).joined(separator: ",")))"
    let values = Array(repeating: row, count: rows).joined(separator: ",")
    // A table may say that rows in conflict are replaced, ignored, or end the transaction.
    let insert = "INSERT OR ABORT INTO \(name(plan.table)) (\(columns.joined(separator: ", "))) VALUES \(values)"
    guard updates else { return insert }
    let key = plan.hasKey ? names(plan.key.map { plan.columns[$0].name }) : plan.rowIdentifier
    let others = plan.columns.filter { !$0.isKey }.map { name($0.name) }
    guard !others.isEmpty else { return "\(insert) ON CONFLICT (\(key)) DO NOTHING" }
    let assignments = others.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    let changes = disjunction(of: others.map { "\($0) IS NOT excluded.\($0)" }[...])
    return "\(insert) ON CONFLICT (\(key)) DO UPDATE SET \(assignments) WHERE \(changes)"
  }

  /// Conditions of which one must hold, divided again and again: in a row, their expression would be as deep as they
  /// are many, and SQLite takes a depth of 1,000 (`SQLITE_MAX_EXPR_DEPTH`).
  private static func disjunction(of conditions: ArraySlice<String>) -> String {
    guard conditions.count > 16 else { return conditions.joined(separator: " OR ") }
    let middle = conditions.startIndex + conditions.count / 2
    return "(\(disjunction(of: conditions[..<middle]))) OR (\(disjunction(of: conditions[middle...])))"
  }

  static func createIndex(_ index: String, on columns: [String], of table: String) -> String {
    "CREATE INDEX IF NOT EXISTS \(name(index)) ON \(name(table)) (\(names(columns)))"
  }

  /// The name of an index that an import creates; in a table of an app, one that GRDB's migrator ignores.
  static func index(on columns: [String], of table: String, isOwn: Bool) -> String {
    (isOwn ? "" : reservedPrefix) + "\(table)_\(columns.joined(separator: "_"))"
  }
}

extension TablePlan {
  /// Whether the key is one whole number, which SQLite can make the row's identifier.
  var isRowIdentifierKey: Bool { key.count == 1 && columns[key[0]].type == .integer }
}
