import HeadwayCSV

#if SQLite
import GRDBSQLite
#endif

/// How the fields of one file become the columns of one table: the schema, matched with the file's header.
struct TablePlan: Sendable {
  struct Column: Sendable {
    var name: String
    var type: ColumnType
    /// The position of the field in the file; nil if the file does not have the column.
    var field: Int?
    /// Whether the column is part of the key.
    ///
    /// An empty field is then stored as empty text, because a key can't be `NULL`.
    var isKey: Bool
    var isRequired: Bool
    var reference: ColumnReference?
    /// Whether the type was inferred from the rows.
    ///
    /// It then widens for a value that it does not store exactly.
    var isInferred = false
    /// The affinity of an existing column that converts text to numbers although the import does not describe it as a
    /// number; otherwise nil.
    var affinity: NumberAffinity?
  }

  /// The table that the rows are written to.
  var table: String
  var columns: [Column]
  /// The positions of the key's columns; empty for a table without a key, where the `rowid` of a row is the number of
  /// its record.
  let key: [Int]
  let indices: [[String]]
  /// Whether the first record of the file has the names.
  var hasHeader = true
  /// The columns of the table in the database, if it exists.
  private(set) var existingColumns: [String] = []
  /// Whether the file is JSON Lines.
  ///
  /// An empty string is then a value, because `null` means no value, and numbers have one format.
  var isJSONLines = false
  /// The number of fields that each record must have.
  let fieldCount: Int
  /// Whether rows end with a delimiter, which is followed by an extra empty field.
  var endsRowsWithDelimiter = false
  /// Whether this extra field has a column.
  var namesSurplusFields = false
  /// The lines of rows that are in the file twice, because the file contains its table twice.
  var repeatedLines: Set<Int> = []
  /// The delimiter and the quote of a file with quoted fields; nil for a file without them.
  var quoting: CSVDialect?

  var hasKey: Bool { !key.isEmpty }
  /// The columns whose types were inferred, by name.
  var inferredColumns: [String] { columns.filter(\.isInferred).map(\.name) }
  /// Whether the rows are appended, so that the table can already have a row with the same key.
  var isAppended = false
  /// Whether a row whose key already exists is ignored instead of rejected.
  var ignoresExisting = false
  /// The reason for rejecting a row whose key already exists.
  var duplicateReason: String {
    let names = key.map { columns[$0].name }.joined(separator: ", ")
    return isAppended ? "the table has a row with this key (\(names))" : "an earlier row has this key (\(names))"
  }
  /// Whether a row that the table rejects for this reason counts as ignored instead of rejected.
  func isIgnored(_ reason: String) -> Bool { ignoresExisting && reason == duplicateReason }
  /// A name of SQLite's row number that is not the name of a column.
  var rowIdentifier: String { SQL.rowIdentifier(besideColumns: columns.map(\.name) + existingColumns) }

  /// SQLite's limit (`SQLITE_MAX_COLUMN`), which depends on how the library was compiled.
  static let mostColumns: Int = {
    let usual = 2_000
    #if SQLite
    var database: OpaquePointer?
    defer { sqlite3_close(database) }
    guard sqlite3_open(":memory:", &database) == SQLITE_OK else { return usual }
    return Int(sqlite3_limit(database, SQLITE_LIMIT_COLUMN, -1))
    #else
    return usual
    #endif
  }()

  /// Matches a schema with a header.
  ///
  /// Columns that only the file has are imported as text. All columns are in file order. Columns that only the schema
  /// has are omitted, except key columns.
  ///
  /// - Parameters:
  ///   - schema: The description of the table.
  ///   - header: The field names, in file order.
  ///   - path: The file, for errors.
  ///   - chosen: The columns of the file to import; empty for all columns.
  ///   - requiresSchemaColumns: Whether the file must have all columns of the schema.
  /// - Throws: ``ImportError`` with the code `badHeader`.
  init(
    _ schema: TableSchema, header: [String], path: String, choosing chosen: [String] = [],
    requiresSchemaColumns: Bool = false
  ) throws(ImportError) {
    var fields: [String: Int] = [:]
    for (position, name) in header.enumerated() {
      guard fields.updateValue(position, forKey: name.lowercasedAsName) == nil else {
        throw ImportError(
          .badHeader, path: path, lineNumber: 1, context: "The column \(name) occurs twice in the header.")
      }
    }
    if let unknown = chosen.first(where: { fields[$0.lowercasedAsName] == nil }) {
      throw ImportError(
        .badHeader, path: path, lineNumber: 1,
        context: Spelling.missing("The header has no column", unknown, among: header, "Its columns are"))
    }
    func column(_ column: ColumnSchema, isKey: Bool) -> Column {
      Column(
        name: column.name, type: column.type, field: fields[column.name.lowercasedAsName], isKey: isKey,
        isRequired: column.isRequired, reference: column.reference)
    }
    let keyNames = Set(schema.key.map(\.lowercasedAsName))
    let described = Dictionary(schema.columns.map { ($0.name.lowercasedAsName, $0) }, uniquingKeysWith: { $1 })
    let taken = Set(chosen.map(\.lowercasedAsName)).union(chosen.isEmpty ? [] : keyNames)
    var columns = header.filter { chosen.isEmpty || taken.contains($0.lowercasedAsName) }.map { name in
      column(
        described[name.lowercasedAsName] ?? ColumnSchema(name: name), isKey: keyNames.contains(name.lowercasedAsName))
    }
    // Key columns of the schema that this file lacks.
    for described in schema.columns where fields[described.name.lowercasedAsName] == nil {
      if keyNames.contains(described.name.lowercasedAsName) { columns.append(column(described, isKey: true)) }
    }
    // A key that is SQLite's row number can't be empty.
    let isNumbered = schema.key.count == 1
    let missing =
      columns.filter { column in
        column.field == nil && (column.isRequired || (isNumbered && column.isKey && column.type == .integer))
      }.map(\.name)
      + schema.columns.filter { requiresSchemaColumns && fields[$0.name.lowercasedAsName] == nil }.map(\.name)
      + schema.key.filter { name in !columns.contains { $0.name.lowercasedAsName == name.lowercasedAsName } }
    guard missing.isEmpty else {
      throw ImportError(
        .badHeader, path: path, lineNumber: 1,
        context: Spelling.missing(
          "The header has no column", missing.joined(separator: "” and “"), among: header, "Its columns are"))
    }
    guard columns.count <= Self.mostColumns else {
      throw ImportError(
        .badHeader, path: path, lineNumber: 1,
        context: "There are \(columns.count) columns, but an SQLite table has \(Self.mostColumns) at most. Choose "
          + "some of them (--columns).")
    }
    table = schema.name
    key = schema.key.compactMap { name in
      columns.firstIndex { $0.name.lowercasedAsName == name.lowercasedAsName }
    }
    let present = Set(columns.filter { $0.field != nil }.map(\.name))
    indices = schema.indices.filter { present.isSuperset(of: $0) }
    fieldCount = header.count
    self.columns = columns
  }

  /// Adopts the column names that the database has.
  ///
  /// Letters with accents can be encoded in two ways that mean and look the same but are different names to SQLite. A
  /// column that differs only in this way gets its name in the table.
  ///
  /// - Parameter existingColumns: The table's column names.
  mutating func meet(existingColumns: [String]) {
    self.existingColumns = existingColumns
    let namesakes = Dictionary(grouping: existingColumns, by: \.lowercasedAsName)
    for position in columns.indices {
      // The names are equal as Swift compares text. A name that SQLite considers equal has priority.
      let name = columns[position].name.lowercasedAsName
      guard let same = namesakes[name], !same.contains(where: { $0.lowercasedAsName.utf8.elementsEqual(name.utf8) })
      else { continue }
      columns[position].name = same[0]
    }
  }

  /// Sets the affinities of the columns that convert text to numbers although they are not described as numbers.
  ///
  /// - Parameters:
  ///   - affinities: The affinities of columns that convert text to numbers, by the column's name in lower case.
  ///   - described: The columns that the import describes.
  mutating func meet(affinities: [String: NumberAffinity], described: [ColumnSchema]) {
    guard !affinities.isEmpty else { return }
    let names = Set(described.map(\.name.lowercasedAsName))
    for position in columns.indices where !columns[position].isInferred {
      let name = columns[position].name.lowercasedAsName
      // If the description specifies a number, the conversion is intended.
      guard columns[position].type == .text || !names.contains(name) else { continue }
      columns[position].affinity = affinities[name]
    }
  }

  /// Sets the types that were inferred for columns without a description.
  ///
  /// - Parameters:
  ///   - types: The inferred types, by the position of the field.
  ///   - described: The columns that have types.
  ///   - existing: The types that earlier imports inferred for existing columns, by the column's name in lower case.
  mutating func setInferred(_ types: [ColumnType], described: [ColumnSchema], existing: [String: ColumnType]) {
    let names = Set((described.map(\.name) + existingColumns).map(\.lowercasedAsName))
    for position in columns.indices where !columns[position].isKey {
      let (name, field) = (columns[position].name.lowercasedAsName, columns[position].field)
      let isNew = !names.contains(name) && field.map { $0 < types.count } == true
      guard let field, let type = existing[name] ?? (isNew ? types[field] : nil), type != .text else { continue }
      (columns[position].type, columns[position].isInferred) = (type, true)
    }
  }
}
