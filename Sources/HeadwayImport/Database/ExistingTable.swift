#if SQLite
import GRDB

/// A table that exists in the database before an import.
struct ExistingTable {
  let name: String
  /// The columns with their declared types, in order.
  private let columns: [(name: String, type: String)]
  /// The position of each column, by its name in lower case.
  private let positions: [String: Int]
  /// The names of the primary key's columns, in its order.
  let primaryKey: [String]
  /// The columns of each constraint or index that makes rows unique, in lower case.
  private let uniqueColumns: [Set<String>]
  /// The columns of each unique index that was created separately, with `CREATE UNIQUE INDEX`.
  private let uniqueIndices: [[String]]
  /// The columns, in lower case, with a collation other than `BINARY` in an index.
  ///
  /// Values with different bytes can be equal there.
  private let collatedColumns: Set<String>
  /// The columns that SQLite computes.
  private let generated: [String]
  /// The columns, in lower case, that must have values.
  private let requiredColumns: Set<String>
  /// The number of unique indices, including those of constraints.
  private let uniqueIndexCount: Int
  /// Whether the primary key has its own index.
  private let hasPrimaryKeyIndex: Bool
  /// Whether the table is `WITHOUT ROWID`.
  let isWithoutRowIdentifier: Bool
  /// Whether the table is `STRICT`.
  private let isStrict: Bool
  /// The statement that created the table, as SQLite stores it.
  let definition: String
  /// Whether the table is temporary: it belongs to the connection, and is dropped with it.
  let isTemporary: Bool

  /// The schema of the table.
  var schema: String { isTemporary ? "temp" : "main" }

  /// SQLite's table that lists the tables of a schema.
  private static func master(isTemporary: Bool) -> String { isTemporary ? "sqlite_temp_master" : "sqlite_master" }

  /// Reads the table; nil if there is no table with that name.
  init?(named name: String, isTemporary: Bool = false, _ connection: Database) throws {
    self.isTemporary = isTemporary
    let (schema, master) = (isTemporary ? "temp" : "main", Self.master(isTemporary: isTemporary))
    // Not read through GRDB's schema methods, because GRDB would cache that the table does not exist, and does not
    // escape a quote in a name.
    let known = try String.fetchOne(
      connection, sql: "SELECT name FROM \(master) WHERE type = 'table' AND name = ? COLLATE NOCASE",
      arguments: [name])
    guard let known else { return nil }
    self.name = known
    let rows = try Row.fetchAll(
      connection, sql: "SELECT name, type, pk, hidden, \"notnull\" FROM pragma_table_xinfo(?, ?)",
      arguments: [known, schema])
    let columns: [(name: String, type: String)] = rows.map { ($0["name"], $0["type"]) }
    self.columns = columns
    // Two columns can have names that are equal to Swift: letters with accents can be encoded in two ways.
    positions = Dictionary(
      columns.enumerated().map { ($1.name.lowercasedAsName, $0) }, uniquingKeysWith: { first, _ in first })
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
    // The primary key is always included.
    uniqueColumns =
      [Set(primaryKey.map(\.lowercasedAsName))]
      + indexed.filter { $0.origin != "pk" }.map { Set($0.columns.map(\.lowercasedAsName)) }
  }

  /// Whether a table has triggers.
  ///
  /// They can reject rows, ignore them (`RAISE`), and add others.
  ///
  /// - Parameters:
  ///   - table: The table's name.
  ///   - connection: Any connection.
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

  /// All column names.
  var columnNames: [String] { columns.map(\.name) }

  /// The column names, except those of columns that SQLite computes.
  var storedColumnNames: [String] { columnNames.filter { !generated.contains($0) } }

  /// Returns the description of the table.
  ///
  /// If it has no key, and the file has the columns of this table's primary key, that becomes its key.
  func completing(_ schema: TableSchema, header: [String]) -> TableSchema {
    let fields = Set(header.map(\.lowercasedAsName))
    guard schema.key.isEmpty, !primaryKey.isEmpty, fields.isSuperset(of: primaryKey.map(\.lowercasedAsName)) else {
      return schema
    }
    var schema = schema
    schema.key = primaryKey
    for name in primaryKey where !schema.columns.contains(where: { $0.name.isSameName(as: name) }) {
      // A single `INTEGER` column is SQLite's row number, which accepts only whole numbers. This does not apply if the
      // key has an index, as in a table without row numbers, or with `DESC`.
      let isInteger = declaredType(of: name) == "INTEGER" && (primaryKey.count > 1 || !hasPrimaryKeyIndex)
      schema.columns.append(ColumnSchema(name: name, type: isInteger ? .integer : .text))
    }
    return schema
  }

  /// The types of those columns that are declared as an import declares numbers, by the column's name in lower case.
  ///
  /// A column with another declaration belongs to a new table. Another program has created that table under the name of
  /// a table that no longer exists.
  func numericTypes(of names: [String]) -> [String: ColumnType] {
    let declarations = Self.declarations(in: definitionBehindName)
    var types: [String: ColumnType] = [:]
    for name in names {
      guard let known = column(named: name), let type = ColumnType(rawValue: known.type.lowercased()), type != .text,
        declarations[Array(SQL.declaration(of: known.name, known.type).utf8)] != nil
      else { continue }
      types[name.lowercasedAsName] = type
    }
    return types
  }

  /// The range in a definition that declares a column as an import does, with its type and without a constraint.
  func declaration(of column: String, in definition: String) -> Range<String.Index>? {
    guard let known = self.column(named: column) else { return nil }
    return Self.declarations(in: definition[...])[Array(SQL.declaration(of: known.name, known.type).utf8)]
  }

  /// The ranges in a definition that look like columns without constraints, by the bytes of their strings.
  ///
  /// - Complexity: O(*n*) in the length of the definition.
  private static func declarations(in definition: Substring) -> [[UInt8]: Range<String.Index>] {
    var found: [[UInt8]: Range<String.Index>] = [:]
    var rest = definition.utf8
    while let opening = rest.firstIndex(where: { "(,".utf8.contains($0) }) {
      let isFirst = rest[opening] == UInt8(ascii: "(")
      rest = rest[rest.index(after: opening)...]
      let declared = isFirst ? rest : rest.dropFirst()
      guard isFirst || rest.first == UInt8(ascii: " "), let nameEnd = Substring(declared).quotedNameEnd,
        let end = declared[nameEnd...].firstIndex(where: { ",)".utf8.contains($0) })
      else { continue }
      found[Array(declared[..<end])] = declared.startIndex..<end
    }
    return found
  }

  /// Whether the table might reject a row that an import considers valid, because of a trigger, or a constraint other
  /// than the import's key.
  func mayRefuseRows(of plan: TablePlan, _ connection: Database) throws -> Bool {
    let key = Set(plan.key.map { plan.columns[$0].name.lowercasedAsName })
    let given = key.union(plan.columns.filter(\.isRequired).map(\.name.lowercasedAsName))
    let constraintCount = uniqueIndexCount + (primaryKey.isEmpty || hasPrimaryKeyIndex ? 0 : 1)
    let hasTriggers = try Self.hasTriggers(name, connection)
    return hasTriggers || constraintCount > uniqueColumns.count { $0 == key }
      || !given.isSuperset(of: requiredColumns)
      || ["CHECK", "STRICT"].contains(where: definition.uppercased().contains)
  }

  /// Whether the table has columns that must have a value, and that the plan does not have.
  func requiresColumns(besides plan: TablePlan) -> Bool {
    !Set(plan.columns.map(\.name.lowercasedAsName)).isSuperset(of: requiredColumns)
  }

  /// Whether no two rows have the same values in some columns.
  func identifiesRows(by columns: [String]) -> Bool { uniqueColumns.contains(Set(columns.map(\.lowercasedAsName))) }

  /// Whether anything other than the primary key makes rows unique.
  var hasUniqueColumns: Bool { uniqueColumns.count > 1 }

  /// The part of the table's definition after its name.
  var definitionBehindName: Substring { Substring(definition.dropFirst("CREATE TABLE ".count)).droppingName }

  /// Creates a temporary table with the columns and constraints of this one.
  func copyDefinition(toTemporary other: String, _ connection: Database) throws {
    try connection.execute(sql: "CREATE TEMP TABLE \(SQL.name(other)) \(definitionBehindName)")
    for (number, columns) in uniqueIndices.enumerated() {
      let index = SQL.name("\(other)_\(number)")
      try connection.execute(
        sql: "CREATE UNIQUE INDEX temp.\(index) ON \(SQL.name(other)) (\(SQL.names(columns)))")
    }
  }

  /// Ensures that SQLite computes none of the file's columns, and that rows of a table without a key have a row number.
  ///
  /// - Throws: ``ImportError`` with the code `unsuitableTable`.
  func requirePlaces(for plan: TablePlan, path: String) throws {
    let computed = plan.columns.first { column in generated.contains { $0.isSameName(as: column.name) } }
    if let computed {
      throw ImportError(
        .unsuitableTable, path: path, context: "The column \(computed.name) of the table \(name) is generated.")
    }
    guard !plan.hasKey, isWithoutRowIdentifier else { return }
    throw ImportError(
      .unsuitableTable, path: path,
      context: "The file has no column \(primaryKey.joined(separator: ", ")), the key of the table \(name).")
  }

  /// Ensures that the key of the plan identifies rows.
  ///
  /// If the table has no key, this creates a unique index on it.
  ///
  /// - Returns: The name of the index, if it was created.
  /// - Throws: ``ImportError`` with the code `unsuitableTable`.
  func requireKey(of plan: TablePlan, isOwn: Bool, path: String, _ connection: Database) throws -> String? {
    let key = plan.key.map { plan.columns[$0].name }
    guard !key.isEmpty, !uniqueColumns.contains(Set(key.map(\.lowercasedAsName))) else { return nil }
    func failure(_ reason: String) -> ImportError {
      ImportError(
        .unsuitableTable, path: path,
        context: "The key of the table \(name) can't be \(key.joined(separator: ", ")): \(reason).")
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

  /// Ensures that columns have the types that the import describes.
  ///
  /// - Throws: ``ImportError`` with the code `unsuitableTable`.
  func requireTypes(of described: [ColumnSchema], path: String) throws {
    for column in described {
      guard let declared = declaredType(of: column.name), !Self.isType(declared, fitFor: column.type) else {
        continue
      }
      throw ImportError(
        .unsuitableTable, path: path,
        context: "The column \(column.name) of the table \(name) is \(declared) there, "
          + "which can't become \(column.type.rawValue).")
    }
  }

  /// Whether two different keys of a plan can be equal in this table, because of a collation, or because the table
  /// converts their values.
  func comparesKeysOtherwise(than plan: TablePlan) -> Bool {
    plan.key.contains { position in
      let column = plan.columns[position]
      return collatedColumns.contains(column.name.lowercasedAsName)
        || declaredType(of: column.name).map { !Self.isType($0, fitFor: column.type) } == true
    }
  }

  func declaredType(of column: String) -> String? { self.column(named: column)?.type.uppercased() }

  private func column(named name: String) -> (name: String, type: String)? {
    positions[name.lowercasedAsName].map { columns[$0] }
  }

  /// The affinities of columns that convert text to numbers, by the column's name in lower case.
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

  /// Whether SQLite stores values of a type unchanged in a column with this declared type.
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

/// The affinity of a column, determined from its declared type by the rules in
/// <https://sqlite.org/datatype3.html#determination_of_column_affinity>.
private enum Affinity {
  case integer, text, none, real, numeric

  /// - Parameters:
  ///   - declared: The declared type in upper case.
  ///   - isStrict: Whether the table is `STRICT`. A column declared `ANY` then stores each value
  ///     unchanged.
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
  /// The rest of a statement after the name that it begins with, in quotes or not.
  fileprivate var droppingName: Substring {
    if let quotedNameEnd { return self[quotedNameEnd...] }
    return Substring(unicodeScalars.drop { !$0.properties.isWhitespace && $0 != "(" })
  }

  /// The end of the quoted name that the text begins with; nil if it does not begin with a quote.
  fileprivate var quotedNameEnd: Index? {
    guard let first = utf8.first, let end = Self.closingQuotes[first] else { return nil }
    var rest = utf8.dropFirst()
    while let position = rest.firstIndex(of: end) {
      rest = rest[rest.index(after: position)...]
      // A doubled quote is part of the name.
      guard rest.first == end, end != UInt8(ascii: "]") else { break }
      rest.removeFirst()
    }
    return rest.startIndex
  }

  private static let closingQuotes = Dictionary(uniqueKeysWithValues: zip("\"`'[".utf8, "\"`']".utf8))
}
#endif
