/// The names of a file's columns.
enum Header {
  /// Returns the fields of a header, without blanks around them.
  ///
  /// - Parameters:
  ///   - record: The record that might contain names.
  ///   - isHeader: Whether the record contains names. If false, the names are empty, and there are as many as fields.
  ///   - quote: The quote that can enclose names, even after blanks.
  ///   - path: The path of the file, for errors.
  /// - Returns: The names, one per field.
  /// - Throws: ``CSVReaderError`` with the code `badHeader`.
  static func fields(
    of record: borrowing CSVRecord, isHeader: Bool, quote: UInt8, path: String
  ) throws(CSVReaderError) -> [String] {
    let lineNumber = record.lineNumber
    func failure(_ message: String) -> CSVReaderError {
      CSVReaderError(.badHeader, path: path, lineNumber: lineNumber, context: message)
    }
    guard isHeader else { return Array(repeating: "", count: record.count) }
    var fields: [String] = []
    for position in 0..<record.count {
      guard let text = String(validating: record.unsafeBytes(at: position), as: UTF8.self) else {
        let isBinary = record.rawBytes.contains(0)
        let advice = isBinary ? "this might not be a text file" : "specify the encoding of the file"
        throw failure("The name of column \(position + 1) is not valid UTF-8: \(advice).")
      }
      guard !text.utf8.contains(0) else {
        throw failure("The name of column \(position + 1) has a NUL character: is the file in UTF-16?")
      }
      let name = text.trimmingBlanks
      fields.append(record.wasQuoted(at: position) ? name : name.withoutQuotes(quote))
    }
    return fields
  }

  /// Returns the names that several records form together: the parts of each name one after the other, or `column_1`
  /// and so on if there are none.
  static func names(of records: [[String]]) -> [String] {
    (records.first ?? []).indices.map { column in
      var parts: [String] = []
      for record in records where column < record.count && !record[column].isEmpty && parts.last != record[column] {
        parts.append(record[column])
      }
      return parts.isEmpty ? name(ofColumn: column + 1) : parts.joined(separator: " ")
    }
  }

  /// Returns the name of a column that has none.
  static func name(ofColumn number: Int) -> String { "column_\(number)" }

  /// Returns the names with a number after each name that another column already has.
  ///
  /// - Parameters:
  ///   - names: The names, which can contain duplicates.
  ///   - key: Returns the part of a name that determines whether two names are the same.
  /// - Returns: The names, and a dictionary from each changed name to the original one.
  static func distinct(_ names: [String], by key: (String) -> String) -> (names: [String], renamed: [String: String]) {
    let given = Set(names.map(key))
    var (taken, distinct, renamed) = (Set<String>(), [String](), [String: String]())
    for name in names {
      var (candidate, number) = (name, 1)
      while taken.contains(key(candidate)) || (number > 1 && given.contains(key(candidate))) {
        number += 1
        candidate = "\(name)_\(number)"
      }
      taken.insert(key(candidate))
      distinct.append(candidate)
      if number > 1 { renamed[candidate] = name }
    }
    return (distinct, renamed)
  }
}

extension String {
  /// The name without blanks around it.
  var trimmingBlanks: String {
    var name = Substring(self)
    while name.first == " " { name.removeFirst() }
    while name.last == " " { name.removeLast() }
    return String(name)
  }

  /// Returns the name without quotes, if it is enclosed in a pair of quotes and contains no others.
  fileprivate func withoutQuotes(_ quote: UInt8) -> String {
    guard utf8.count > 2, utf8.first == quote, utf8.last == quote, utf8.count(where: { $0 == quote }) == 2 else {
      return self
    }
    return String(Substring(utf8.dropFirst().dropLast())).trimmingBlanks
  }
}
