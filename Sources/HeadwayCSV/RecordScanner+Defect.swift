extension RecordScanner {
  /// Stores the defect of the current record.
  mutating func setDefect(_ code: CSVError.Code, in input: UnsafeRawBufferPointer, detail: String? = nil) {
    let position: Int
    let lines: Int
    switch code {
    case .textAfterClosingQuote:
      position = progress.closingQuote + 1
      lines = progress.innerLines
    case .unclosedQuote:
      position = progress.openingQuote
      lines = progress.linesBeforeOpeningQuote
    default:
      position = 0
      lines = 0
    }
    // Long enough to identify the position, and short enough for a line of a log.
    let text = input[position...].prefix(32).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    defect = CSVError(
      code: code, lineNumber: lineNumber + lines, byteOffset: byteOffset + position,
      excerpt: String(decoding: text, as: UTF8.self),
      detail: detail)
  }

  /// Returns the first end of a physical line at or after a position.
  func firstLineEnd(in input: UnsafeRawBufferPointer, from position: Int) -> Ending? {
    for index in position..<input.count {
      let byte = input[index]
      if byte == UInt8(ascii: "\n") {
        let isPair = index > position && input[index - 1] == UInt8(ascii: "\r")
        return Ending(length: isPair ? index - 1 : index, consumed: index + 1)
      }
      if byte == UInt8(ascii: "\r") && dialect.endsRecordsAtLoneCarriageReturn {
        let isPair = index + 1 < input.count && input[index + 1] == UInt8(ascii: "\n")
        return Ending(length: index, consumed: index + (isPair ? 2 : 1))
      }
    }
    return nil
  }
}
