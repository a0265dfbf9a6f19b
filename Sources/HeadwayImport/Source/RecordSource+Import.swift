import HeadwayCSV

extension RecordSource.Options {
  /// The properties of a file that import options specify.
  init(_ options: ImportOptions, findsLayout: Bool) {
    self.init()
    (encoding, dialect, delimiter) = (options.encoding, options.dialect, options.delimiter)
    (quote, escape, comment) = (options.quote, options.escape, options.comment)
    (hasHeader, skippedLineCount) = (options.hasHeader, options.skippedLineCount)
    self.findsLayout = findsLayout
    namesSurplusFields = true
    doubtsHeaderOfOtherWidth = options.raggedRowPolicy == .reject
    keepsSample = findsLayout && options.columnTypePolicy == .inferred
    acceptsJSONLines = true
    maxRecordLength = options.maxRecordLength
    nameKey = { $0.lowercasedAsName }
  }
}

extension RecordSource {
  /// Opens a file and detects the properties that the options do not specify from its beginning.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - options: The known properties of the file.
  ///   - findsLayout: Whether the position of the header and the types of columns are detected.
  ///   - knownColumns: The names of the existing table's columns; empty if there is no table.
  ///   - isCancelled: Called before each read, and ten times per second while a read waits for the writer of a FIFO. If
  ///     it returns true, reading throws an error whose cause is a `CancellationError`.
  /// - Throws: ``ImportError`` with the code `cannotReadFile` or `foreignContent`.
  convenience init(
    path: String, options: ImportOptions, findsLayout: Bool, knownColumns: [String] = [],
    isCancelled: (@Sendable () -> Bool)? = nil
  ) throws(ImportError) {
    var options = Options(options, findsLayout: findsLayout)
    options.knownNames = knownColumns
    do { try self.init(FileBytes(path: path, isCancelled: isCancelled), options) } catch {
      throw ImportError(error)
    }
  }

  /// The field names: from the header, or generated from their position.
  ///
  /// Nil if the file has no record.
  func readHeader() throws(ImportError) -> [String]? {
    do { return try header() } catch { throw ImportError(error) }
  }

  /// The field names; throws if there are none.
  func requireHeader() throws(ImportError) -> [String] {
    guard let header = try readHeader() else {
      let skipped = layout.skippedLineCount
      let context = skipped == 0 ? "it is empty." : "it has at most \(skipped) lines, and these are skipped."
      throw ImportError(.badHeader, path: path, lineNumber: 1, context: "The file has no header: \(context)")
    }
    return header
  }
}
