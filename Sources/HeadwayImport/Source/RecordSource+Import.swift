import HeadwayCSV

extension RecordSource.Options {
  /// What import options say of a file.
  init(_ options: ImportOptions, findsLayout: Bool) {
    self.init()
    (encoding, dialect, delimiter) = (options.encoding, options.dialect, options.delimiter)
    (quote, escape, comment) = (options.quote, options.escape, options.comment)
    (hasHeader, skippedLines) = (options.hasHeader, options.skippedLines)
    self.findsLayout = findsLayout
    namesSurplusFields = true
    doubtsHeaderOfOtherWidth = options.raggedRows == .reject
    keepsSample = findsLayout && options.types == .found
    acceptsJSONLines = true
    maximumRecordLength = options.maximumRecordLength
    nameKey = { $0.lowercasedAsName }
  }
}

extension RecordSource {
  /// One fewer than SQLite takes (`SQLITE_MAX_COLUMN`), which counts the row's number.
  private static let mostColumns = 1_999

  /// Opens a file and finds in its beginning what the options do not say.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - options: What is known of it.
  ///   - findsLayout: Whether the place of the header and the types of columns are to be found.
  ///   - knownColumns: The names of the columns that the table has, if it is there.
  /// - Throws: ``ImportError`` with the code `cannotReadFile` or `foreignContent`.
  convenience init(
    path: String, options: ImportOptions, findsLayout: Bool, knownColumns: [String] = []
  ) throws(ImportError) {
    var options = Options(options, findsLayout: findsLayout)
    options.knownNames = knownColumns
    do { try self.init(FileBytes(path: path), options) } catch {
      throw ImportError(error)
    }
  }

  /// The names of the fields: those of the header, or made up from their number.
  ///
  /// Nil when there is no record.
  func readHeader() throws(ImportError) -> [String]? {
    let names: [String]?
    do { names = try header() } catch { throw ImportError(error) }
    if let names, names.count > Self.mostColumns {
      throw ImportError(
        .badHeader, path: path, line: headerLine ?? 1,
        message: "There are \(names.count) columns, and an import into SQLite takes \(Self.mostColumns) at most.")
    }
    return names
  }

  /// The names of the fields, where there must be some.
  func requireHeader() throws(ImportError) -> [String] {
    guard let header = try readHeader() else {
      throw ImportError(.badHeader, path: path, line: 1, message: "The file has no header: it is empty.")
    }
    return header
  }
}
