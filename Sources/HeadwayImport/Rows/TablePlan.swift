import HeadwayCSV

/// How the fields of one file become the columns of one table: the schema, met with the file's header.
struct TablePlan: Sendable {
  struct Column: Sendable {
    var name: String
    var type: ColumnType
    /// The position of the field in the file; nil when the file does not have the column.
    var field: Int?
    /// An empty field is stored as empty text: the column is part of the key, which `NULL` can't be.
    var isKey: Bool
    var isRequired: Bool
    var reference: ColumnReference?
    /// The type was found: it widens for a value that it does not keep as it is.
    var isFound = false
    /// The table is there, and its column makes numbers of text although nothing asks for that; else nil.
    var affinity: NumberAffinity?
  }

  /// The table in which the rows are written.
  var table: String
  var columns: [Column]
  /// The positions of the key's columns; empty for a table without a key, whose rows have the record's number as
  /// `rowid`.
  let key: [Int]
  let indices: [[String]]
  /// The first record of the file has the names.
  var hasHeader = true
  /// The columns that the table of the database has, if it is there.
  private(set) var existingColumns: [String] = []
  /// The file is JSON Lines: an empty string is a value, because there is `null`, and numbers have one format.
  var isJSONLines = false
  /// How many fields each record must have.
  let fieldCount: Int
  /// A delimiter ends the rows, behind which there is an empty field more.
  var endsRowsWithDelimiter = false
  /// That field has a column, too.
  var namesSurplusFields = false
  /// The lines of rows that the file has twice, because it has its table twice.
  var repeatedLines: Set<Int> = []
  /// The delimiter and the quote of a file that has fields in quotes; nil for another one.
  var quoting: CSVDialect?

  var hasKey: Bool { !key.isEmpty }
  /// The names of the columns whose types were found.
  var foundColumns: [String] { columns.filter(\.isFound).map(\.name) }
  /// Whether the rows are added to those of others, so that a key may be in the table and not in the file.
  var isAppended = false
  /// What is said of a second row with the same key.
  var duplicateReason: String {
    let names = key.map { columns[$0].name }.joined(separator: ", ")
    return isAppended ? "the table has a row with this key (\(names))" : "an earlier row has this key (\(names))"
  }
  /// A name of SQLite's row number that no column has.
  var rowIdentifier: String { SQL.rowIdentifier(besideColumns: columns.map(\.name) + existingColumns) }

  /// Meets a schema with a header.
  ///
  /// Columns that the file has and the schema does not are taken along as text, all in the order of the file. Columns
  /// that only the schema has are left out, but for those of the key.
  ///
  /// - Parameters:
  ///   - schema: The table.
  ///   - header: The names of the fields, in the order of the file.
  ///   - path: The file, for errors.
  ///   - chosen: The columns of the file that are taken along; all if it is empty.
  ///   - requiresDescribedColumns: Whether the file must have all columns of the schema.
  /// - Throws: ``ImportError`` with the code `badHeader`.
  init(
    _ schema: TableSchema, header: [String], path: String, choosing chosen: [String] = [],
    requiresDescribedColumns: Bool = false
  ) throws(ImportError) {
    var fields: [String: Int] = [:]
    for (position, name) in header.enumerated() {
      guard fields.updateValue(position, forKey: name.lowercasedAsName) == nil else {
        throw ImportError(.badHeader, path: path, line: 1, message: "The column \(name) is twice in the header.")
      }
    }
    if let unknown = chosen.first(where: { fields[$0.lowercasedAsName] == nil }) {
      throw ImportError(
        .badHeader, path: path, line: 1,
        message: Spelling.missing("The header has no column", unknown, among: header, "Its columns are"))
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
    // A key that the reference has, and this file has not.
    for described in schema.columns where fields[described.name.lowercasedAsName] == nil {
      if keyNames.contains(described.name.lowercasedAsName) { columns.append(column(described, isKey: true)) }
    }
    // A key that is SQLite's row number can't be empty.
    let isNumbered = schema.key.count == 1
    let missing =
      columns.filter { column in
        column.field == nil && (column.isRequired || (isNumbered && column.isKey && column.type == .integer))
      }.map(\.name)
      + schema.columns.filter { requiresDescribedColumns && fields[$0.name.lowercasedAsName] == nil }.map(\.name)
      + schema.key.filter { name in !columns.contains { $0.name.lowercasedAsName == name.lowercasedAsName } }
    guard missing.isEmpty else {
      throw ImportError(
        .badHeader, path: path, line: 1,
        message: Spelling.missing(
          "The header has no column", missing.joined(separator: "” and “"), among: header, "Its columns are"))
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

  /// Takes in the columns that the table of the database has.
  ///
  /// Letters with accents may be written in two ways that mean the same, and look it, but are two names to SQLite: such
  /// a column gets the name that it has there.
  ///
  /// - Parameter existingColumns: Their names.
  mutating func meet(existingColumns: [String]) {
    self.existingColumns = existingColumns
    for position in columns.indices {
      // Equal as Swift compares text; but what SQLite takes for the same comes first.
      let name = columns[position].name.lowercasedAsName
      let same = existingColumns.filter { $0.lowercasedAsName == name }
      guard let other = same.first, !same.contains(where: { $0.lowercasedAsName.utf8.elementsEqual(name.utf8) }) else {
        continue
      }
      columns[position].name = other
    }
  }

  /// Notes the columns of the table that make numbers of text although no description asks for that.
  ///
  /// - Parameters:
  ///   - affinities: By the names, in lower case, of columns that make numbers of text, what they make of it.
  ///   - described: The columns that the import describes.
  mutating func meet(affinities: [String: NumberAffinity], described: [ColumnSchema]) {
    guard !affinities.isEmpty else { return }
    let names = Set(described.map(\.name.lowercasedAsName))
    for position in columns.indices where !columns[position].isFound {
      let name = columns[position].name.lowercasedAsName
      // A number that is asked for is what a value becomes.
      guard columns[position].type == .text || !names.contains(name) else { continue }
      columns[position].affinity = affinities[name]
    }
  }

  /// Gives columns that nothing describes the types that were found.
  ///
  /// - Parameters:
  ///   - types: By the position of the field, the type.
  ///   - described: The columns that have types.
  ///   - existing: By the names, in lower case, of columns that are there, and whose types were found then, these.
  mutating func setFound(_ types: [ColumnType], described: [ColumnSchema], existing: [String: ColumnType]) {
    let names = Set((described.map(\.name) + existingColumns).map(\.lowercasedAsName))
    for position in columns.indices where !columns[position].isKey {
      let (name, field) = (columns[position].name.lowercasedAsName, columns[position].field)
      let isNew = !names.contains(name) && field.map { $0 < types.count } == true
      guard let field, let type = existing[name] ?? (isNew ? types[field] : nil), type != .text else { continue }
      (columns[position].type, columns[position].isFound) = (type, true)
    }
  }
}
