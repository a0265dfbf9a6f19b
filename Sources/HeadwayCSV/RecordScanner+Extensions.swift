// Additional rules of dialects that have an escape, spaces after delimiters, or an apostrophe as the quote.
extension RecordScanner.Progress {
  /// Processes an escape and the byte after it, a quote after spaces, and an apostrophe in a word.
  ///
  /// - Returns: Whether the byte needs no further processing.
  @inline(__always)
  mutating func passExtension(
    _ byte: UInt8, at index: Int, in start: UnsafeRawPointer, _ dialect: CSVDialect
  ) -> Bool {
    if dialect.quote == apostrophe {
      if region == .closingQuote, isInText(closingQuote, in: start, before: index) { region = .quoted }
      if byte == apostrophe, region == .unquoted, index > fieldStart, isLetter(index &- 1, in: start) { return true }
    }
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

  /// Records that the unquoted field before an index begins with spaces, which are not part of the field.
  @inline(__always)
  mutating func markSpaces(before end: Int, in start: UnsafeRawPointer, _ dialect: CSVDialect) {
    guard dialect.skipsSpacesAfterDelimiter, fieldFlags == 0, fieldStart > 0, fieldStart < end,
      isSpace(fieldStart..<fieldStart &+ 1, in: start)
    else { return }
    fieldFlags = FieldEnd.rewritten
    hasRewrittenFields = true
  }

  /// Passes over the spaces between a closing quote and the end of a field, which are not part of the field.
  @inline(__always)
  mutating func passSpaces(before end: Int, in start: UnsafeRawPointer, _ dialect: CSVDialect) {
    guard dialect.skipsSpacesAfterDelimiter, region == .closingQuote, closingQuote &+ 1 < end,
      isSpace(closingQuote &+ 1..<end, in: start)
    else { return }
    closingQuote = end &- 1
    fieldFlags |= FieldEnd.rewritten
    hasRewrittenFields = true
  }

  private var apostrophe: UInt8 { UInt8(ascii: "'") }

  /// Whether an apostrophe follows a letter and precedes another, with or without a space in between, as in `kids'
  /// shoes`.
  ///
  /// Such an apostrophe does not close a quoted field.
  @inline(__always)
  private func isInText(_ index: Int, in start: UnsafeRawPointer, before end: Int) -> Bool {
    guard index &+ 1 < end, isLetter(index &- 1, in: start) else { return false }
    if isLetter(index &+ 1, in: start) { return true }
    return index &+ 2 < end && isSpace(index &+ 1..<index &+ 2, in: start) && isLetter(index &+ 2, in: start)
  }

  /// Whether a byte is an ASCII letter, or part of a non-ASCII character.
  @inline(__always)
  private func isLetter(_ index: Int, in start: UnsafeRawPointer) -> Bool {
    let byte = start.load(fromByteOffset: index, as: UInt8.self)
    return byte >= 0x80 || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  @inline(__always)
  func isSpace(_ range: Range<Int>, in start: UnsafeRawPointer) -> Bool {
    range.allSatisfy { start.load(fromByteOffset: $0, as: UInt8.self) == UInt8(ascii: " ") }
  }
}
