public import HeadwayCSV

/// What a CSV file is like: what was said of it, and what was found.
public struct FileForm: Sendable, Hashable {
  /// The encoding.
  public let encoding: TextEncoding
  /// The delimiter, the quote and the line end.
  public let dialect: CSVDialect
  /// The names of the columns.
  public let columns: [String]

  /// Looks at the beginning of a file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - options: What is known of it.
  /// - Throws: ``ImportError`` with the code `cannotReadFile`, `foreignContent` or `badHeader`.
  public init(ofFile path: String, options: ImportOptions = ImportOptions()) throws(ImportError) {
    let source = try RecordSource(path: path, options: options)
    let columns = try source.requireHeader()
    _ = try TablePlan(TableSchema(name: "", columns: []), header: columns, path: path)
    self.init(source, columns: columns)
  }

  init(_ source: RecordSource, columns: [String]) {
    (encoding, dialect, self.columns) = (source.encoding, source.dialect, columns)
  }
}
