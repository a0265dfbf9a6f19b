/// A header with a damaged quote or delimiter.
enum DamagedHeader {
  /// Returns the column names, if they are clear.
  ///
  /// Each delimiter ends a name, and stray quotes are removed. If that produces too few names, each stretch between
  /// quotes is also a name, because a delimiter was lost there. A header that the dialect's delimiter does not divide
  /// might have a different delimiter. No name may look like a value, and there must be as many names as the rows have
  /// fields.
  ///
  /// - Parameters:
  ///   - line: The line of the header.
  ///   - dialect: The dialect of the file.
  ///   - count: The number of fields that the rows have.
  ///   - mayHaveSpaces: Whether spaces can be the delimiters, because the record after the header is certainly a row.
  /// - Returns: The names without quotes and blanks around them. Nil if they are not clear.
  static func names(of line: [UInt8], _ dialect: CSVDialect, count: Int, mayHaveSpaces: Bool) -> [String]? {
    guard count > 1 else { return nil }
    let others = [";", "\t", "|", ","].map { UInt8(ascii: $0 as Unicode.Scalar) } + (mayHaveSpaces ? [0x20] : [])
    for delimiter in [dialect.delimiter] + others where delimiter != dialect.quote {
      let isUsual = delimiter == dialect.delimiter
      for endsAtQuote in isUsual ? [false, true] : [false] {
        let parts = parts(of: line, delimiter, dialect.quote, endsAtQuote: endsAtQuote)
        guard parts.count == count, parts.allSatisfy({ !$0.isEmpty && ValueKind($0) == nil }) else { continue }
        let names = parts.compactMap { part in part.withUnsafeBytes { String(validating: $0, as: UTF8.self) } }
        return names.count == count ? names.map(\.trimmingBlanks) : nil
      }
    }
    return nil
  }

  private static func parts(
    of line: [UInt8], _ delimiter: UInt8, _ quote: UInt8, endsAtQuote: Bool
  ) -> [[UInt8]] {
    var parts: [[UInt8]] = []
    for piece in line.split(separator: delimiter, omittingEmptySubsequences: false) {
      guard endsAtQuote, piece.contains(quote) else {
        parts.append(piece.filter { $0 != quote })
        continue
      }
      // Each stretch between quotes is a name, because there is no delimiter between the quotes.
      parts += piece.split(separator: quote).map { Array($0) }
    }
    return parts
  }
}
