extension String {
  /// The name with its ASCII letters in lower case.
  ///
  /// SQLite considers names equal if and only if they are equal in this form.
  var lowercasedAsName: String {
    String(decoding: utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
  }
}

extension String {
  /// Whether SQLite considers two names equal.
  func isSameName(as other: String) -> Bool { lowercasedAsName == other.lowercasedAsName }
}

/// The SQL statements of an import.
enum SQL {
  /// The prefix of an import's helper tables, and of its indices in tables that no import has created.
  ///
  /// GRDB's `DatabaseMigrator` ignores names that begin with `grdb_` when it compares the schema with the migrations'
  /// schema. With any other name, `eraseDatabaseOnSchemaChange` would erase the database when the app is launched.
  static let reservedPrefix = "grdb_headway_"

  /// The table of imports in earlier versions.
  static let formerImportsTable = "headway_imports"

  /// Whether an import can't use a table with this name.
  static func isReserved(_ name: String) -> Bool {
    name.lowercasedAsName.hasPrefix(reservedPrefix) || name.isSameName(as: formerImportsTable)
  }

  /// A name as SQL, with any characters.
  static func name(_ name: String) -> String {
    // Iterates over Unicode scalars. A `Character` of a quote and a combining accent is not equal to a quote, but
    // SQLite reads a quote there.
    var quoted = String.UnicodeScalarView("\"".unicodeScalars)
    for scalar in name.unicodeScalars { quoted.append(contentsOf: scalar == "\"" ? [scalar, scalar] : [scalar]) }
    quoted.append("\"")
    return String(quoted)
  }

  /// A name of SQLite's row number that no column has.
  ///
  /// There are three such names, because tables can have columns with these names.
  static func rowIdentifier(besideColumns columns: [String]) -> String {
    let taken = Set(columns.map(\.lowercasedAsName))
    return rowIdentifiers.first { !taken.contains($0) } ?? "rowid"
  }

  private static let rowIdentifiers = ["rowid", "_rowid_", "oid"]

  /// Whether no column has one of these names.
  static func hasRowIdentifier(besideColumns columns: [String]) -> Bool {
    !Set(columns.map(\.lowercasedAsName)).isSuperset(of: rowIdentifiers)
  }

  static func names(_ names: some Sequence<String>) -> String { names.map(name).joined(separator: ", ") }

  /// Creates a table.
  ///
  /// It declares references only to `parents`, the tables that exist.
  ///
  /// - Parameters:
  ///   - plan: The plan of the table.
  ///   - parents: The columns of the tables' keys, by the table's name in lower case.
  /// - Returns: A `CREATE TABLE` statement.
  static func createTable(_ plan: TablePlan, parents: [String: [String]]) -> String {
    var parts = plan.columns.map { columnDefinition($0, plan, parents: parents) }
    if plan.key.count > 1 || (plan.hasKey && !plan.isRowIdentifierKey) {
      parts.append("PRIMARY KEY (\(names(plan.key.map { plan.columns[$0].name })))")
    }
    return "CREATE TABLE IF NOT EXISTS \(name(plan.table)) (\(parts.joined(separator: ", ")))"
  }

  static func columnDefinition(_ column: TablePlan.Column, _ plan: TablePlan, parents: [String: [String]]) -> String {
    var definition = declaration(of: column.name, column.type.rawValue)
    if plan.isRowIdentifierKey, column.isKey { return definition + " PRIMARY KEY" }
    if column.isKey || column.isRequired { definition += " NOT NULL" }
    // SQLite requires the referenced column to be the whole key of its table.
    if let reference = column.reference, let key = parents[reference.table.lowercasedAsName], key.count == 1,
      key[0].isSameName(as: reference.column)
    {
      definition += " REFERENCES \(name(reference.table))(\(name(reference.column)))"
    }
    return definition
  }

  /// The definition of a described column, without constraints.
  static func columnDefinition(_ column: ColumnSchema) -> String {
    declaration(of: column.name, column.type.rawValue)
  }

  /// The definition of a column with a type, without constraints.
  static func declaration(of column: String, _ type: String) -> String { "\(name(column)) \(type.uppercased())" }

  static func addColumn(_ column: TablePlan.Column, to table: String) -> String {
    "ALTER TABLE \(name(table)) ADD COLUMN \(declaration(of: column.name, column.type.rawValue))"
  }

  /// Selects the stored key of the row that equals the bound key.
  static func storedKey(_ plan: TablePlan) -> String {
    let key = plan.key.map { name(plan.columns[$0].name) }
    let stored = key.map { "quote(\($0))" }.joined(separator: " || ',' || ")
    return "SELECT \(stored) FROM \(name(plan.table)) WHERE \(key.map { "\($0) = ?" }.joined(separator: " AND "))"
  }

  /// Selects the row with the bound number.
  static func presence(_ plan: TablePlan) -> String {
    "SELECT 1 FROM \(name(plan.table)) WHERE \(plan.rowIdentifier) = ?"
  }

  /// A statement that inserts `rows` rows.
  ///
  /// With `updates`, an existing row with the same key is updated in place. Rows that would not change are not written.
  static func insert(_ plan: TablePlan, rows: Int, updates: Bool) -> String {
    let columns = (plan.hasKey ? [] : [plan.rowIdentifier]) + plan.columns.map { name($0.name) }
    let row = "(\(Array(repeating: "?", count: columns.count).joined(separator: ",")))"
    let values = Array(repeating: row, count: rows).joined(separator: ",")
    // `ABORT` overrides a table that resolves conflicts by replacing rows, ignoring them, or ending the transaction.
    let insert = "INSERT OR ABORT INTO \(name(plan.table)) (\(columns.joined(separator: ", "))) VALUES \(values)"
    guard updates else { return insert }
    let key = plan.hasKey ? names(plan.key.map { plan.columns[$0].name }) : plan.rowIdentifier
    let others = plan.columns.filter { !$0.isKey }.map { name($0.name) }
    guard !others.isEmpty else { return "\(insert) ON CONFLICT (\(key)) DO NOTHING" }
    let assignments = others.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    let changes = disjunction(of: others.map { "\($0) IS NOT excluded.\($0)" }[...])
    return "\(insert) ON CONFLICT (\(key)) DO UPDATE SET \(assignments) WHERE \(changes)"
  }

  /// A statement that inserts a row with values in some columns only.
  static func insert(_ plan: TablePlan, columns: [Int]) -> String {
    let names = (plan.hasKey ? [] : [plan.rowIdentifier]) + columns.map { name(plan.columns[$0].name) }
    let values = Array(repeating: "?", count: names.count).joined(separator: ", ")
    return "INSERT OR ABORT INTO \(name(plan.table)) (\(names.joined(separator: ", "))) VALUES (\(values))"
  }

  /// A statement that changes the values of some columns in the row with the bound key.
  ///
  /// The values are parameters in column order, followed by the key. A row that would not change is not written.
  static func update(_ plan: TablePlan, columns: [Int]) -> String {
    let names = columns.map { name(plan.columns[$0].name) }
    let assignments = names.enumerated().map { "\($1) = ?\($0 + 1)" }.joined(separator: ", ")
    let changes = disjunction(of: names.enumerated().map { "\($1) IS NOT ?\($0 + 1)" }[...])
    let key = plan.key.enumerated().map { "\(name(plan.columns[$1].name)) = ?\(columns.count + $0 + 1)" }
    return
      "UPDATE OR ABORT \(name(plan.table)) SET \(assignments) WHERE \(key.joined(separator: " AND ")) AND (\(changes))"
  }

  /// Combines conditions with `OR`, in repeatedly divided halves.
  ///
  /// In a single sequence, the depth of the expression would equal the number of conditions, and SQLite accepts a depth
  /// of 1,000 (`SQLITE_MAX_EXPR_DEPTH`).
  private static func disjunction(of conditions: ArraySlice<String>) -> String {
    guard conditions.count > 16 else { return conditions.joined(separator: " OR ") }
    let middle = conditions.startIndex + conditions.count / 2
    return "(\(disjunction(of: conditions[..<middle]))) OR (\(disjunction(of: conditions[middle...])))"
  }

  /// Statements that copy rows with their numbers from one table to another.
  ///
  /// A table can have as many columns as a query can have results, not counting the row number. In this case, a second
  /// statement copies the last column.
  ///
  /// - Parameters:
  ///   - columns: The column names, with an expression for the value of each.
  ///   - source: The table with the rows, as SQL.
  ///   - target: The empty table, as SQL.
  ///   - identifier: The name of the row-number column in both tables; nil if it is not copied.
  ///   - order: The name of the row-number column to sort by; nil for no particular order.
  /// - Returns: One or two statements.
  static func copyRows(
    _ columns: [(name: String, value: String)], from source: String, to target: String, identifier: String?,
    orderedBy order: String?
  ) -> [String] {
    let isFull = identifier != nil && columns.count == TablePlan.mostColumns
    let copied = (identifier.map { [(name: $0, value: $0)] } ?? []) + (isFull ? columns.dropLast() : columns[...])
    let insert =
      "INSERT INTO \(target) (\(copied.map(\.name).joined(separator: ", "))) "
      + "SELECT \(copied.map(\.value).joined(separator: ", ")) FROM \(source)\(order.map { " ORDER BY \($0)" } ?? "")"
    guard isFull, let last = columns.last, let identifier else { return [insert] }
    return [
      insert,
      "UPDATE \(target) AS copy SET \(last.name) = "
        + "(SELECT \(last.value) FROM \(source) AS source WHERE source.\(identifier) = copy.\(identifier))",
    ]
  }

  static func createIndex(_ index: String, on columns: [String], of table: String) -> String {
    "CREATE INDEX IF NOT EXISTS \(name(index)) ON \(name(table)) (\(names(columns)))"
  }

  /// The name of an index that an import creates.
  ///
  /// In a table of an app, GRDB's migrator ignores the name.
  static func index(on columns: [String], of table: String, isOwn: Bool) -> String {
    (isOwn ? "" : reservedPrefix) + "\(table)_\(columns.joined(separator: "_"))"
  }
}

extension TablePlan {
  /// Whether the key is a single whole number, which SQLite can use as the row's identifier.
  var isRowIdentifierKey: Bool { key.count == 1 && columns[key[0]].type == .integer }
}
