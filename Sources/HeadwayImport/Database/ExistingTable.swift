#if SQLite
import Foundation
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
  /// The columns of each index that was made by itself for that.
  private let uniqueIndices: [[String]]
  /// The columns, in lower case, whose values are the same in an index although their bytes are not.
  private let collatedColumns: Set<String>
  /// The columns that SQLite computes.
  private let generated: [String]
  /// The columns, in lower case, that must have values.
  private let requiredColumns: Set<String>
  /// How many indices there are by which no two rows are the same.
  private let uniqueIndexCount: Int
  /// The primary key has an index of its own.
  private let hasPrimaryKeyIndex: Bool
  /// `WITHOUT ROWID`.
  let isWithoutRowIdentifier: Bool
  /// `STRICT`.
  private let isStrict: Bool
  /// The statement that made the table, as SQLite keeps it.
  let definition: String
  /// Whether the table is the connection's own, and gone with it.
  let isTemporary: Bool

  /// The schema in which the table is.
  var schema: String { isTemporary ? "temp" : "main" }

  /// The name of the table that lists those of a schema.
  private static func master(isTemporary: Bool) -> String { isTemporary ? "sqlite_temp_master" : "sqlite_master" }

  /// Nil if there is no table of that name.
  init?(named name: String, isTemporary: Bool = false, _ connection: Database) throws {
    self.isTemporary = isTemporary
    let (schema, master) = (isTemporary ? "temp" : "main", Self.master(isTemporary: isTemporary))
    // Not asked through GRDB, which remembers that there was none, and does not double a quote in a name.
    let known = try String.fetchOne(
      connection, sql: "SELECT name FROM \(master) WHERE type = 'table' AND name = ? COLLATE NOCASE",
      arguments: [name])
    guard let known else { return nil }
    self.name = known
    let rows = try Row.fetchAll(
      connection, sql: "SELECT name, type, pk, hidden, \"notnull\" FROM pragma_table_xinfo(?, ?)",
      arguments: [known, schema])
    columns = rows.map { ($0["name"], $0["type"]) }
    requiredColumns = Set(rows.filter { $0["notnull"] > 0 }.map { ($0["name"] as String).lowercasedAsName })
    generated = rows.filter { $0["hidden"] > 1 }.map { $0["name"] }
    let kind = try Row.fetchOne(
      connection, sql: "SELECT wr, strict FROM pragma_table_list WHERE name = ? AND schema = ?",
      arguments: [known, schema])
    (isWithoutRowIdentifier, isStrict) = (kind?["wr"] == 1, kind?["strict"] == 1)
    definition =
      try String.fetchOne(
        connection, sql: "SELECT sql FROM \(master) WHERE type = 'table' AND name = ?", arguments: [known]) ?? ""
    primaryKey = rows.filter { $0["pk"] > 0 }.sorted { $0["pk"] < ($1["pk"] as Int) }.map { $0["name"] }
    let indices = try Row.fetchAll(
      connection, sql: #"SELECT name, origin, partial FROM pragma_index_list(?, ?) WHERE "unique""#,
      arguments: [known, schema])
    uniqueIndexCount = indices.count
    hasPrimaryKeyIndex = indices.contains { $0["origin"] == "pk" }
    let indexed = try indices.filter { !$0["partial"] }.map { index in
      let columns = try String?.fetchAll(
        connection, sql: "SELECT name FROM pragma_index_info(?, ?)", arguments: [index["name"] as String, schema])
      // An index on an expression has a column without a name.
      return (columns: columns.contains(nil) ? [] : columns.compactMap { $0 }, origin: index["origin"] as String)
    }.filter { !$0.columns.isEmpty }
    let collated = try indices.flatMap { index in
      try String.fetchAll(
        connection, sql: "SELECT name FROM pragma_index_xinfo(?, ?) WHERE key AND name NOT NULL AND coll <> 'BINARY'",
        arguments: [index["name"] as String, schema])
    }
    collatedColumns = Set(collated.map(\.lowercasedAsName))
    uniqueIndices = indexed.filter { $0.origin == "c" }.map(\.columns)
    // That of the primary key is there too.
    uniqueColumns =
      [Set(primaryKey.map(\.lowercasedAsName))]
      + indexed.filter { $0.origin != "pk" }.map { Set($0.columns.map(\.lowercasedAsName)) }
  }

  /// Whether a table has triggers, which may refuse rows or ignore them (`RAISE`), and add others.
  ///
  /// - Parameters:
  ///   - table: Its name.
  ///   - connection: Any.
  /// - Returns: False for a temporary table.
  /// - Throws: GRDB's `DatabaseError`.
  static func hasTriggers(_ table: String, _ connection: Database) throws -> Bool {
    let masters = ["sqlite_master", "sqlite_temp_master"]
    return try masters.contains { master in
      try Row.fetchOne(
        connection, sql: "SELECT 1 FROM \(master) WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE",
        arguments: [table]) != nil
    }
  }

  /// The names of all columns.
  var columnNames: [String] { columns.map(\.name) }

  /// The names of the columns that SQLite does not compute.
  var storedColumnNames: [String] { columnNames.filter { !generated.contains($0) } }

  /// The description of the table, if it has no key, with the primary key of this table, if the file has that.
  func completing(_ schema: TableSchema, header: [String]) -> TableSchema {
    let fields = Set(header.map(\.lowercasedAsName))
    guard schema.key.isEmpty, !primaryKey.isEmpty, fields.isSuperset(of: primaryKey.map(\.lowercasedAsName)) else {
      return schema
    }
    var schema = schema
    schema.key = primaryKey
    for name in primaryKey where !schema.columns.contains(where: { $0.name.isSameName(as: name) }) {
      // Alone it is SQLite's row number, which takes nothing else; but not where it has an index, as in a table
      // without row numbers, or with `DESC`.
      let isInteger = declaredType(of: name) == "INTEGER" && (primaryKey.count > 1 || !hasPrimaryKeyIndex)
      schema.columns.append(ColumnSchema(name: name, type: isInteger ? .integer : .text))
    }
    return schema
  }

  /// By names in lower case, the types of those of some columns that are declared as an import declares numbers.
  ///
  /// A column that is declared in another way is that of a table which somebody else has made since, under the name
  /// of one that is gone.
  func numericTypes(of names: [String]) -> [String: ColumnType] {
    var types: [String: ColumnType] = [:]
    for name in names {
      let type = declaredType(of: name).flatMap { ColumnType(rawValue: $0.lowercased()) }
      if let type, type != .text, declaration(of: name, in: definitionBehindName) != nil {
        types[name.lowercasedAsName] = type
      }
    }
    return types
  }

  /// Where a definition declares a column as an import does, with its type and without a constraint.
  func declaration(of column: String, in definition: some StringProtocol) -> Range<String.Index>? {
    guard let known = columns.first(where: { $0.name.isSameName(as: column) }) else { return nil }
    let text = "\(SQL.name(known.name)) \(known.type.uppercased())"
    // In a name, quotes are doubled, so that this is no part of one.
    for (start, end) in [("(", ","), (", ", ","), ("(", ")"), (", ", ")")] {
      guard let found = definition.range(of: start + text + end, options: .literal) else { continue }
      let scalars = definition.unicodeScalars
      return scalars.index(found.lowerBound, offsetBy: start.count)..<scalars.index(before: found.upperBound)
    }
    return nil
  }

  /// Whether the table may refuse a row that an import has found right: by a constraint beside the import's key, or a
  /// trigger.
  func mayRefuseRows(of plan: TablePlan, _ connection: Database) throws -> Bool {
    let key = Set(plan.key.map { plan.columns[$0].name.lowercasedAsName })
    let given = key.union(plan.columns.filter(\.isRequired).map(\.name.lowercasedAsName))
    let constraintCount = uniqueIndexCount + (primaryKey.isEmpty || hasPrimaryKeyIndex ? 0 : 1)
    let hasTriggers = try Self.hasTriggers(name, connection)
    return hasTriggers || constraintCount > uniqueColumns.count { $0 == key }
      || !given.isSuperset(of: requiredColumns)
      || ["CHECK", "STRICT"].contains(where: definition.uppercased().contains)
  }

  /// Whether something beside the primary key makes rows unique.
  var hasUniqueColumns: Bool { uniqueColumns.count > 1 }

  /// What the table's definition says behind its name.
  var definitionBehindName: Substring { Substring(definition.dropFirst("CREATE TABLE ".count)).droppingName }

  /// Makes a temporary table with the columns and constraints of this one.
  func copyDefinition(toTemporary other: String, _ connection: Database) throws {
    try connection.execute(sql: "CREATE TEMP TABLE \(SQL.name(other)) \(definitionBehindName)")
    for (number, columns) in uniqueIndices.enumerated() {
      let index = SQL.name("\(other)_\(number)")
      try connection.execute(
        sql: "CREATE UNIQUE INDEX temp.\(index) ON \(SQL.name(other)) (\(SQL.names(columns)))")
    }
  }

  /// Makes sure that the file has no column that SQLite computes, and that rows have a number that can be named.
  ///
  /// - Throws: ``ImportError`` with the code `unsuitableTable`.
  func requirePlaces(for plan: TablePlan, path: String) throws {
    let computed = plan.columns.first { column in generated.contains { $0.isSameName(as: column.name) } }
    if let computed {
      throw ImportError(
        .unsuitableTable, path: path, message: "The column \(computed.name) of the table \(name) is generated.")
    }
    guard !plan.hasKey, isWithoutRowIdentifier else { return }
    throw ImportError(
      .unsuitableTable, path: path,
      message: "The file has no column \(primaryKey.joined(separator: ", ")), the key of the table \(name).")
  }

  /// Makes sure that rows can be told apart by the key of the plan.
  ///
  /// A table without a key gets an index for that.
  ///
  /// - Returns: The name of that index, if it is new.
  /// - Throws: ``ImportError`` with the code `unsuitableTable`.
  func requireKey(of plan: TablePlan, isOwn: Bool, path: String, _ connection: Database) throws -> String? {
    let key = plan.key.map { plan.columns[$0].name }
    guard !key.isEmpty, !uniqueColumns.contains(Set(key.map(\.lowercasedAsName))) else { return nil }
    func failure(_ reason: String) -> ImportError {
      ImportError(
        .unsuitableTable, path: path,
        message: "The key of the table \(name) can't be \(key.joined(separator: ", ")): \(reason).")
    }
    guard primaryKey.isEmpty else { throw failure("it is \(primaryKey.joined(separator: ", "))") }
    let names = Set(columns.map(\.name.lowercasedAsName))
    guard names.isSuperset(of: key.map(\.lowercasedAsName)) else { throw failure("it has rows without that") }
    let isNull = key.map { "\(SQL.name($0)) IS NULL" }.joined(separator: " OR ")
    let incomplete = try Row.fetchOne(connection, sql: "SELECT 1 FROM \(SQL.name(name)) WHERE \(isNull) LIMIT 1")
    guard incomplete == nil else { throw failure("it has rows without that") }
    let index = SQL.index(on: key + ["key"], of: name, isOwn: isOwn)
    do {
      try connection.execute(
        sql: "CREATE UNIQUE INDEX IF NOT EXISTS \(SQL.name(index)) ON \(SQL.name(name)) (\(SQL.names(key)))")
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
      throw failure("several rows are the same there")
    }
    return index
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

  /// Whether two keys of a plan may be the same here although their bytes are not: by a collation, or since the table
  /// makes other values of them.
  func comparesKeysOtherwise(than plan: TablePlan) -> Bool {
    plan.key.contains { position in
      let column = plan.columns[position]
      return collatedColumns.contains(column.name.lowercasedAsName)
        || declaredType(of: column.name).map { !Self.isType($0, fitFor: column.type) } == true
    }
  }

  func declaredType(of column: String) -> String? {
    columns.first { $0.name.isSameName(as: column) }?.type.uppercased()
  }

  /// By the names, in lower case, of columns that make numbers of text, what they make of it.
  var numberAffinities: [String: NumberAffinity] {
    var affinities: [String: NumberAffinity] = [:]
    for (name, declaredType) in columns {
      let type: ColumnType
      switch Affinity(declaredType.uppercased(), isStrict: isStrict) {
      case .integer, .numeric: type = .numeric
      case .real: type = .real
      case .text, .none: continue
      }
      affinities[name.lowercasedAsName] = NumberAffinity(declaredType: declaredType, type: type)
    }
    return affinities
  }

  /// Whether SQLite keeps values of a type as they are in a column declared so.
  private static func isType(_ declared: String, fitFor type: ColumnType) -> Bool {
    switch Affinity(declared, isStrict: false) {
    case .integer: type == .integer
    case .text: type == .text
    case .none: true
    case .real: type == .real
    case .numeric: type != .text
    }
  }
}

/// The affinity of a column, by its declared type; the rules are from
/// <https://sqlite.org/datatype3.html#determination_of_column_affinity>.
private enum Affinity {
  case integer, text, none, real, numeric

  /// - Parameters:
  ///   - declared: The type in capitals.
  ///   - isStrict: Whether the table is `STRICT`, in which `ANY` keeps each value.
  init(_ declared: String, isStrict: Bool) {
    if declared.contains("INT") {
      self = .integer
    } else if ["CHAR", "CLOB", "TEXT"].contains(where: declared.contains) {
      self = .text
    } else if declared.isEmpty || declared.contains("BLOB") || (isStrict && declared == "ANY") {
      self = .none
    } else if ["REAL", "FLOA", "DOUB"].contains(where: declared.contains) {
      self = .real
    } else {
      self = .numeric
    }
  }
}

extension Substring {
  /// A statement behind the name with which this begins, in quotes or not.
  fileprivate var droppingName: Substring {
    let closing: [Unicode.Scalar: Unicode.Scalar] = ["\"": "\"", "`": "`", "'": "'", "[": "]"]
    var rest = unicodeScalars
    guard let first = rest.first, let end = closing[first] else {
      return Substring(rest.drop { !$0.properties.isWhitespace && $0 != "(" })
    }
    rest.removeFirst()
    while let position = rest.firstIndex(of: end) {
      rest = rest[rest.index(after: position)...]
      // Doubled, it is a part of the name.
      guard rest.first == end, end != "]" else { break }
      rest.removeFirst()
    }
    return Substring(rest)
  }
}
#endif
