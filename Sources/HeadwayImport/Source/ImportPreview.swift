public import HeadwayCSV

/// The table that an import of a file would create, without importing anything.
///
/// ```swift
/// let preview = try ImportPreview(ofFile: "people.csv")
/// for statement in preview.statements { print(statement) }
/// ```
public struct ImportPreview: Sendable {
  /// The table's name.
  public let table: String
  /// The layout of the file.
  public let layout: CSVLayout
  /// The statements that create the table and its indices, without a final semicolon.
  public let statements: [String]
  /// Sentences about whole columns, as in ``TableReport/notes``.
  public let notes: [String]

  /// Reads the beginning of a file.
  ///
  /// An import creates the same table if no later value needs a wider type, and if the database does not have the
  /// table.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - table: The description of the table; nil to derive it from the file's name.
  ///   - options: How the file is imported.
  ///   - others: Tables that columns can refer to.
  /// - Throws: ``ImportError`` with the code `cannotReadFile`, `foreignContent` or `badHeader`.
  public init(
    ofFile path: String, table: TableSchema? = nil, options: ImportOptions = ImportOptions(),
    referringTo others: [TableSchema] = []
  ) throws(ImportError) {
    let schema = table ?? TableSchema(forFile: path)
    let records = try RecordSource(path: path, options: options, findsLayout: !schema.isOfReference)
    let header = try records.requireHeader()
    try schema.requireNames(of: records)
    var plan = try TablePlan(
      schema, header: header, path: path, choosing: options.columns,
      requiresSchemaColumns: options.requiresSchemaColumns)
    plan.isJSONLines = records.isJSONLines
    notes = plan.inferTypes(in: records, options, described: schema.columns, existing: [:])
    layout = CSVLayout(records, columns: header)
    let parents = (others + [schema]).map { ($0.name.lowercasedAsName, $0.key) }
    statements =
      [SQL.createTable(plan, parents: Dictionary(parents) { $1 })]
      + plan.indices.map { columns in
        SQL.createIndex(SQL.index(on: columns, of: plan.table, isOwn: true), on: columns, of: plan.table)
      }
    self.table = plan.table
  }
}
