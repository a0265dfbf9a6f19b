public import HeadwayCSV

extension CSVLayout {
  /// Reads the beginning of a file as an import does.
  ///
  /// If an import finds other characters than ASCII later, it detects their encoding then, and names it in
  /// ``TableReport/notes``.
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
    _ = try TablePlan(TableSchema(name: "", columns: []), header: columns, path: path, choosing: options.columns)
    self.init(source, columns: columns)
  }
}

/// The layout of a file: its encoding, its dialect and its columns, as specified or detected from its beginning.
public typealias CSVLayout = HeadwayCSV.CSVLayout
