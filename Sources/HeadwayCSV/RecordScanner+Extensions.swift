// What dialects with an escape, or with spaces behind delimiters, need beside the scan's own rules.
extension RecordScanner.Progress {
  /// Takes in an escape, what follows it, and a quote behind spaces.
  ///
  /// - Returns: Whether that is all that is to be done with the byte.
  @inline(__always)
  mutating func passExtension(
    _ byte: UInt8, at index: Int, in start: UnsafeRawPointer, _ dialect: CSVDialect
  ) -> Bool {
    if byte == dialect.escape {
      if region == .quoted, index != escaped {
        escaped = index &+ 1
        fieldFlags |= FieldEnd.rewritten
        hasRewrittenFields = true
      }
      return true
    }
    guard byte == dialect.quote else { return false }
    if index == escaped, region == .quoted { return true }
    guard dialect.skipsSpacesAfterDelimiter, region == .unquoted, index > fieldStart, fieldStart > 0,
      isSpace(fieldStart..<index, in: start)
    else { return false }
    region = .quoted
    fieldFlags = FieldEnd.quoted | FieldEnd.rewritten
    hasRewrittenFields = true
    openingQuote = index
    linesBeforeOpeningQuote = innerLines
    return true
  }

  /// Notes that an unquoted field, which ends at an index, begins with spaces that are no part of it.
  @inline(__always)
  mutating func markSpaces(before end: Int, in start: UnsafeRawPointer, _ dialect: CSVDialect) {
    guard dialect.skipsSpacesAfterDelimiter, fieldFlags == 0, fieldStart > 0, fieldStart < end,
      isSpace(fieldStart..<fieldStart &+ 1, in: start)
    else { return }
    fieldFlags = FieldEnd.rewritten
    hasRewrittenFields = true
  }

  @inline(__always)
  private func isSpace(_ range: Range<Int>, in start: UnsafeRawPointer) -> Bool {
    range.allSatisfy { start.load(fromByteOffset: $0, as: UInt8.self) == UInt8(ascii: " ") }
  }
}
