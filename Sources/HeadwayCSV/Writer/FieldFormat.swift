/// Formats fields and rows, with quotes only where a reader needs them.
struct FieldFormat {
  private let dialect: CSVDialect
  private let lineEnding: [UInt8]
  /// For each byte, whether a field that contains it gets quotes.
  private let isSpecial: [Bool]

  init(_ dialect: CSVDialect, _ lineEnding: CSVWriter.Options.LineEnding) {
    self.dialect = dialect
    self.lineEnding = lineEnding == .crlf ? [UInt8(ascii: "\r"), UInt8(ascii: "\n")] : [UInt8(ascii: "\n")]
    var isSpecial = [Bool](repeating: false, count: 256)
    for byte in [dialect.delimiter, dialect.quote, UInt8(ascii: "\r"), UInt8(ascii: "\n")] {
      isSpecial[Int(byte)] = true
    }
    self.isSpecial = isSpecial
  }

  /// Appends a field, with the delimiter before it.
  ///
  /// - Parameters:
  ///   - field: The content of the field.
  ///   - position: The position of the field in the row, starting at 0.
  ///   - isFirstRow: Whether the field is in the first record of the file.
  ///   - output: The buffer that the field is added to.
  func append(
    _ field: UnsafeRawBufferPointer, at position: Int, isFirstRow: Bool, to output: inout [UInt8]
  ) {
    if position > 0 { output.append(dialect.delimiter) }
    guard needsQuotes(field, at: position, isFirstRow: isFirstRow) else {
      output.append(contentsOf: field)
      return
    }
    output.append(dialect.quote)
    for byte in field {
      // A doubled escape also represents itself.
      if byte == dialect.quote || byte == dialect.escape { output.append(byte) }
      output.append(byte)
    }
    output.append(dialect.quote)
  }

  /// Ends the row that began at a position in the output.
  func endRow(from start: Int, in output: inout [UInt8]) {
    // A line without a byte is not a row.
    if output.count == start { output.append(contentsOf: [dialect.quote, dialect.quote]) }
    output.append(contentsOf: lineEnding)
  }

  private func needsQuotes(_ field: UnsafeRawBufferPointer, at position: Int, isFirstRow: Bool) -> Bool {
    guard let first = field.first else { return false }
    if position == 0 {
      if first == dialect.comment { return true }
      // Text that would be read as a byte order mark, or as the line that names the delimiter in Excel.
      if isFirstRow, field.starts(with: [0xEF, 0xBB, 0xBF]) || field.starts(with: "sep=".utf8) { return true }
    }
    if dialect.skipsSpacesAfterDelimiter, first == UInt8(ascii: " ") { return true }
    return isSpecial.withUnsafeBufferPointer { isSpecial in field.contains { isSpecial[Int($0)] } }
  }
}
