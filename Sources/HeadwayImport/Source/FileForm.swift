public import HeadwayCSV

/// The form of a CSV file, as specified or detected.
public struct FileForm: Sendable, Hashable {
  /// The encoding; UTF-8 if the beginning of the file is ASCII.
  ///
  /// If an import finds other characters later, it detects their encoding then, and names it in ``TableReport/notes``.
  public let encoding: TextEncoding
  /// Whether the encoding is a guess, based on the characters of the text.
  public let isEncodingAssumed: Bool
  /// Whether the file is JSON Lines, one object per line, and not CSV.
  ///
  /// In that case, ``dialect`` has no meaning, and the names of members are the columns.
  public let isJSONLines: Bool
  /// The dialect: the delimiter, the quote and so on.
  public let dialect: CSVDialect
  /// The names of the columns.
  public let columns: [String]
  /// The physical line, counted from 1, where the header begins; nil if there is no header, or it can't be used.
  public let headerLine: Int?
  /// The number of records that together name the columns; 0 if there are none.
  public let headerRecords: Int
  /// The reason that the header can't be used; nil if it can be used, or if there is no header.
  ///
  /// If there is a reason, the columns are called `column_1` and so on.
  public let headerProblem: String?
  /// The names in the file of columns that were renamed because another column has the same name, by their new names.
  public let renamedColumns: [String: String]
  /// Whether rows end with a delimiter, which is then not a field.
  public let endsRowsWithDelimiter: Bool

  /// Reads the beginning of a file.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - table: The description of the table; nil to derive it from the file's name.
  ///   - options: The known properties of the file.
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
