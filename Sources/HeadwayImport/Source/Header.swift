import HeadwayCSV

/// The names of a file's columns.
enum Header {
  /// One fewer than SQLite takes (`SQLITE_MAX_COLUMN`), which counts the row's number.
  private static let mostColumns = 1_999

  /// The names of the fields: those of the first record, or made up from their number.
  ///
  /// - Parameters:
  ///   - record: The first record.
  ///   - isHeader: It has the names.
  ///   - path: The file, for errors.
  /// - Returns: The names, without blanks around them; `column_1` and so on where there is none.
  /// - Throws: ``ImportError`` with the code `badHeader`.
  static func names(
    of record: borrowing CSVRecord, isHeader: Bool, path: String
  ) throws(ImportError) -> [String] {
    let line = record.line
    func failure(_ message: String) -> ImportError { ImportError(.badHeader, path: path, line: line, message: message) }
    guard record.count <= mostColumns else {
      throw failure("There are \(record.count) columns, and an import into SQLite takes \(mostColumns) at most.")
    }
    guard isHeader else { return (1...record.count).map { "column_\($0)" } }
    var names: [String] = []
    for position in 0..<record.count {
      guard let text = String(validating: record.unsafeBytes(at: position), as: UTF8.self) else {
        throw failure("The name of column \(position + 1) is not valid UTF-8: say which encoding the file has.")
      }
      let name = text.trimmingBlanks
      guard !name.utf8.contains(0) else {
        throw failure("The name of column \(position + 1) has a NUL character: is the file in UTF-16?")
      }
      names.append(name.isEmpty ? "column_\(position + 1)" : name)
    }
    return names
  }
}

extension String {
  fileprivate var trimmingBlanks: String {
    var name = Substring(self)
    while name.first == " " { name.removeFirst() }
    while name.last == " " { name.removeLast() }
    return String(name)
  }
}
