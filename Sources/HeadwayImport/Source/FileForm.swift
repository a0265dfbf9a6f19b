public import HeadwayCSV

/// What a CSV file is like: what was said of it, and what was found.
public struct FileForm: Sendable, Hashable {
  /// The encoding; UTF-8 if the beginning of the file is ASCII.
  ///
  /// An import that finds other characters later finds their encoding then, and names it in ``TableReport/notes``.
  public let encoding: TextEncoding
  /// Whether the encoding is a guess, by the characters of the text.
  public let isEncodingAssumed: Bool
  /// Whether it is JSON Lines, one object per line, and not CSV.
  ///
  /// Then ``dialect`` means nothing, and the names of members are the columns.
  public let isJSONLines: Bool
  /// How it is written: the delimiter, the quote and so on.
  public let dialect: CSVDialect
  /// The names of the columns.
  public let columns: [String]
  /// The physical line, counted from 1, on which the header begins; nil if there is none, or one that can't be used.
  public let headerLine: Int?
  /// How many records together name the columns; 0 if none does.
  public let headerRecords: Int
  /// Why the header can't be used, so that columns are called `column_1` and so on; nil if it can, or there is none.
  public let headerProblem: String?
  /// By names of columns that were changed, because another column has the same, those that they have in the file.
  public let renamedColumns: [String: String]
  /// Whether a delimiter ends the rows, which is no field then.
  public let endsRowsWithDelimiter: Bool

  /// Looks at the beginning of a file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - table: What is known of the table; nil for what its name says.
  ///   - options: What is known of the file.
  /// - Throws: ``ImportError`` with the code `cannotReadFile`, `foreignContent` or `badHeader`.
  public init(
    ofFile path: String, table: TableSchema? = nil, options: ImportOptions = ImportOptions()
  ) throws(ImportError) {
    let table = table ?? TableSchema(forFile: path)
    let source = try RecordSource(path: path, options: options, findsLayout: !table.isOfReference)
    let columns = try source.requireHeader()
    try table.requireNames(of: source)
    _ = try TablePlan(TableSchema(name: "", columns: []), header: columns, path: path)
    self.init(source, columns: columns)
  }

  init(_ source: RecordSource, columns: [String]) {
    let layout = source.layout
    isJSONLines = source.isJSONLines
    (encoding, isEncodingAssumed) = (source.encoding, source.isEncodingAssumed)
    (dialect, self.columns) = (source.dialect, columns)
    (headerLine, renamedColumns) = (source.headerLine, source.renamedColumns)
    headerRecords = layout.hasHeader ? layout.headerRecords : 0
    headerProblem = layout.unusableHeader?.reason
    endsRowsWithDelimiter = layout.endsRowsWithDelimiter
  }
}
