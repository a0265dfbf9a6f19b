import HeadwayCSV

/// The rules of `CSVParser`, written for clarity and not for speed: character by character over a complete input, with
/// lines found by counting from the start.
struct ReferenceParser {
  var dialect = CSVDialect()
  var maxRecordLength = 16 << 20

  /// How reading a record ended.
  private struct Attempt {
    var fields: [ParsedRecord.Field] = []
    /// Where the record's line end starts; the end of the input or of the window if there is none.
    var end: Int
    /// The first byte of the text behind a closing quote.
    var textAfterQuote: Int?
    /// The opening quote of a field that is not closed.
    var openQuote: Int?
  }

  func records(of input: [UInt8]) -> [ParsedRecord] {
    var records: [ParsedRecord] = []
    var start = input.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    while start < input.count {
      let blank = lineEndLength(in: input, at: start)
      if blank > 0 && !dialect.keepsBlankLines {
        start += blank
        continue
      }
      if input[start] == dialect.comment {
        while start < input.count && lineEndLength(in: input, at: start) == 0 { start += 1 }
        start += lineEndLength(in: input, at: start)
        continue
      }
      let attempt = read(input, from: start)
      var record = ParsedRecord(
        lineNumber: line(of: start, in: input), recordNumber: records.count + 1, byteOffset: start, rawBytes: [])
      var end = attempt.end
      func fail(_ code: CSVError.Code, at position: Int) {
        record.defect = .init(code: code, lineNumber: line(of: position, in: input), byteOffset: position)
      }
      if let quote = attempt.openQuote {
        end = quote
        while end < attempt.end && lineEndLength(in: input, at: end) == 0 { end += 1 }
        fail(.unclosedQuote, at: quote)
      } else if let position = attempt.textAfterQuote {
        fail(.textAfterClosingQuote, at: position)
      }
      if end - start > maxRecordLength {
        if record.defect?.code != .textAfterClosingQuote { fail(.recordTooLong, at: start) }
        record.isTruncated = true
        record.rawBytes = Array(input[start..<(start + maxRecordLength)])
        end = start + maxRecordLength
        while end < input.count && lineEndLength(in: input, at: end) == 0 { end += 1 }
      } else {
        record.rawBytes = Array(input[start..<end])
      }
      if record.defect == nil { record.fields = attempt.fields }
      records.append(record)
      start = end + lineEndLength(in: input, at: end)
    }
    return records
  }

  /// Reads a record, but no further than its window: the maximum length and two bytes.
  private func read(_ input: [UInt8], from start: Int) -> Attempt {
    let window = min(input.count, start + maxRecordLength + 2)
    let isCut = start + maxRecordLength + 2 <= input.count
    var attempt = Attempt(end: window)
    var position = start
    while true {
      // One field.
      var field = ParsedRecord.Field(bytes: [], isQuoted: false)
      // The position after its closing quote.
      var closing = position
      if dialect.skipsSpacesAfterDelimiter && position > start {
        while position < window && input[position] == 0x20 { position += 1 }
      }
      if position < window && input[position] == dialect.quote {
        field.isQuoted = true
        attempt.openQuote = position
        position += 1
        while position < window {
          let next = position + 1 < window ? input[position + 1] : nil
          if let escape = dialect.escape, input[position] == escape, let next, [escape, dialect.quote].contains(next) {
            field.bytes.append(next)
            position += 2
          } else if input[position] != dialect.quote {
            field.bytes.append(input[position])
            position += 1
          } else if isInWord(position, of: input[..<window]) {
            field.bytes.append(dialect.quote)
            position += 1
          } else if isCut && position + 1 == window {
            // It is not known yet whether the quote is doubled.
            return attempt
          } else if next == dialect.quote {
            field.bytes.append(dialect.quote)
            position += 2
          } else {
            attempt.openQuote = nil
            position += 1
            break
          }
        }
        if attempt.openQuote != nil { return attempt }
        closing = position
        if dialect.skipsSpacesAfterDelimiter {
          while position < window && input[position] == 0x20 { position += 1 }
        }
      }
      let afterQuote = position
      while position < window && input[position] != dialect.delimiter && lineEndLength(in: input, at: position) == 0 {
        if field.isQuoted {
          // A CR as the window's last byte might be half of a CRLF.
          let isUndecided = isCut && position == afterQuote && position + 1 == window && input[position] == 0x0D
          attempt.textAfterQuote = isUndecided ? nil : closing
          while position < window && lineEndLength(in: input, at: position) == 0 { position += 1 }
          attempt.end = position
          return attempt
        }
        field.bytes.append(input[position])
        position += 1
      }
      attempt.fields.append(field)
      if position == window || input[position] != dialect.delimiter {
        attempt.end = position
        return attempt
      }
      position += 1
    }
  }

  /// Whether a byte is an apostrophe between two letters, with a space behind it or not.
  private func isInWord(_ position: Int, of input: ArraySlice<UInt8>) -> Bool {
    func isLetter(_ byte: UInt8) -> Bool { byte >= 0x80 || Character(Unicode.Scalar(byte)).isLetter }
    guard input[position] == UInt8(ascii: "'"), isLetter(input[position - 1]) else { return false }
    let rest = input[(position + 1)...].prefix(2)
    return rest.first.map(isLetter) == true || (rest.first == 0x20 && rest.dropFirst().first.map(isLetter) == true)
  }

  private func lineEndLength(in input: [UInt8], at position: Int) -> Int {
    guard position < input.count else { return 0 }
    if input[position] == 0x0A { return 1 }
    guard input[position] == 0x0D else { return 0 }
    if position + 1 < input.count && input[position + 1] == 0x0A { return 2 }
    return dialect.endsRecordsAtLoneCarriageReturn ? 1 : 0
  }

  private func line(of position: Int, in input: [UInt8]) -> Int {
    var line = 1
    var index = 0
    while index < position {
      let length = lineEndLength(in: input, at: index)
      line += length > 0 ? 1 : 0
      index += max(length, 1)
    }
    return line
  }
}
