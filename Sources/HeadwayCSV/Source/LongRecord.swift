/// Determines whether a record that is longer than the maximum ends, and where.
///
/// The parser can't keep such a record, so it can't determine whether a quoted field in the record is closed, or
/// whether a stray quote has swallowed the rows after it. This type reads ahead and keeps nothing.
///
/// If the text can be read only once, there is no way back to those rows. In that case, each quote at the beginning of
/// a field opens it: bytes that might be the content of a field are never read as rows. The record then always has an
/// end: its line ending, the line ending after text that follows a closing quote, or the end of the text.
struct LongRecord {
  /// The size of a well-formed record.
  struct Extent {
    /// The number of bytes of the record, including its line ending.
    var length = 0
    /// The number of physical lines.
    var lines = 0
  }

  private enum Region {
    case fieldStart, unquoted, quoted, escaped, closingQuote
    /// After spaces behind a closing quote.
    case closed
    case carriageReturn, malformed
  }

  private let dialect: CSVDialect
  private let fieldCount: Int
  private let canGoBack: Bool
  private var region = Region.fieldStart
  private var fields = 1
  /// The bytes and lines of the record so far.
  private(set) var extent = Extent()
  /// Whether the record has ended or, if there is a way back, is malformed.
  private(set) var isDecided = false
  /// The record.
  ///
  /// Nil if it is malformed or has no end, and there is a way back.
  private(set) var found: Extent?

  /// - Parameters:
  ///   - dialect: The dialect of the file.
  ///   - fieldCount: The number of fields that the record must have. 0 if it is not known.
  ///   - canGoBack: Whether the text can be read again from the start of the record.
  init(_ dialect: CSVDialect, fieldCount: Int, canGoBack: Bool) {
    (self.dialect, self.fieldCount, self.canGoBack) = (dialect, fieldCount, canGoBack)
  }

  /// Whether a quoted field is open.
  var isOpen: Bool { region == .quoted || region == .escaped }

  /// Adds the next bytes, beginning with the start of the record.
  mutating func add(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      if isDecided { return }
      add(byte)
    }
  }

  /// Ends the record at the end of the file.
  mutating func finish() {
    if !isDecided { decide(!isOpen) }
  }

  private mutating func add(_ byte: UInt8) {
    if region == .carriageReturn, byte != UInt8(ascii: "\n") {
      guard !dialect.endsRecordsAtLoneCarriageReturn else {
        extent.lines += 1
        return decide(true)
      }
      region = .unquoted
    }
    extent.length += 1
    let isLineEnd = byte == UInt8(ascii: "\n")
    if isLineEnd { extent.lines += 1 }
    switch region {
    case .escaped: region = .quoted
    case .quoted:
      if byte == dialect.escape {
        region = .escaped
      } else if byte == dialect.quote {
        region = .closingQuote
      }
    case .closingQuote where byte == dialect.quote: region = .quoted
    case .malformed:
      if isLineEnd {
        decide(false)
      } else if byte == UInt8(ascii: "\r"), dialect.endsRecordsAtLoneCarriageReturn {
        region = .carriageReturn
      }
    case .fieldStart where byte == dialect.quote: region = .quoted
    case .fieldStart where byte == UInt8(ascii: " ") && dialect.skipsSpacesAfterDelimiter: break
    case .closingQuote where byte == UInt8(ascii: " ") && dialect.skipsSpacesAfterDelimiter: region = .closed
    case .closed where byte == UInt8(ascii: " "): break
    case .fieldStart, .unquoted, .closingQuote, .closed, .carriageReturn:
      if isLineEnd {
        decide(true)
      } else if byte == dialect.delimiter {
        fields += 1
        region = .fieldStart
      } else if byte == UInt8(ascii: "\r") {
        region = .carriageReturn
      } else if region == .closingQuote || region == .closed {
        if canGoBack { decide(false) } else { region = .malformed }
      } else {
        region = .unquoted
      }
    }
  }

  private mutating func decide(_ isWellFormed: Bool) {
    isDecided = true
    if !canGoBack || (isWellFormed && (fieldCount == 0 || fields == fieldCount)) { found = extent }
  }
}
