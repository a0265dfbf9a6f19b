/// The state machine of the parser, which finds one record after another in the caller's bytes.
///
/// Positions are relative to the start of the current record, which is the start of the caller's bytes in the next
/// call, too. Therefore, the state of an incomplete record stays valid, and scanning resumes after the last scanned
/// byte. Each byte is scanned once, however small the pieces of the input are.
///
/// ## The limit on a record's length
/// A decision never depends on how the input is divided into pieces. It depends only on the record's *window*: its
/// first `maxLength` bytes, and two more for a CRLF. A record without a line ending in its window is too long. This
/// requires no byte after the window.
///
/// ## Going back after an unclosed quote
/// The bytes after the line of the opening quote are scanned a second time, as separate records. This costs at most one
/// more pass over the input. No quote in the window closed the field, so every run of quotes after the opening one has
/// an even length. If such a run is read as the start of a field, it never leaves the field open. The second pass
/// therefore finds no further unclosed quote before the end of the window. (Going back to the line where the *record*
/// starts has no such bound: a file of lines `b","` would be read again from every line.)
///
/// ## Long quoted fields
/// If a quote is open at the end of the window, the window does not show whether it is closed later or is a stray
/// quote. A caller that can read the file again reads ahead (``LongRecord``). If the record is well-formed, it is
/// delivered as too long, and skipped completely; otherwise the quote counts as unclosed. A caller that reads a pipe
/// skips the record itself. Without such a caller, the quote counts as unclosed.
struct RecordScanner: ~Copyable {
  /// The part of the stream that is being read.
  enum Phase {
    /// Nothing has been consumed, and a byte order mark might follow.
    ///
    /// This phase ends when there are enough bytes to decide.
    case streamStart
    /// A record is being read, or about to be.
    case records
    /// A line is being skipped: a comment, a line before the first record, or the rest of a truncated record.
    ///
    /// This phase ends after the line ending.
    case skippingLine
    /// The rest of a record that is longer than the maximum is being skipped.
    ///
    /// Its length is known.
    case skippingRecord
  }

  /// The region that the last bytes of a record belong to.
  enum Region {
    /// The start of a field, or a field without quotes.
    ///
    /// Delimiters and line endings are structure.
    case unquoted
    /// Inside quotes.
    ///
    /// Only a quote ends this region.
    case quoted
    /// After a quote in a quoted field.
    ///
    /// Another quote doubles it, a delimiter or a line ending closes the field, and anything else is malformed.
    case closingQuote
    /// After a defect.
    ///
    /// Only a line ending ends this region.
    case malformed
  }

  /// The state of an incomplete record.
  struct Progress {
    /// The position where scanning resumes.
    var position = 0
    var region = Region.unquoted
    var fieldStart = 0
    var fieldFlags: UInt32 = 0
    var fieldCount = 0
    var hasRewrittenFields = false
    /// Whether a field that is not quoted contains a quote.
    var hasStrayQuotes = false
    /// The number of physical lines that ended inside the record's quotes.
    var innerLines = 0
    /// The last quote that opened a field, and the number of inner lines before it.
    var openingQuote = 0
    var linesBeforeOpeningQuote = 0
    /// The last quote that might have closed a field.
    var closingQuote = 0
    /// The position after the last escape.
    var escaped = -1
  }

  /// The record to be delivered.
  struct Delivery {
    /// The start of the record in the caller's bytes.
    var start = 0
    var length = 0
    var fieldCount = 0
    var lineNumber = 0
    var recordNumber = 0
    var byteOffset = 0
    var isTruncated = false
    var hasStrayQuotes = false
  }

  /// The state of a record whose quotes are open at the end of its window.
  enum LongQuote {
    /// The caller has not read ahead.
    case unknown
    /// The record is malformed, or has no end.
    case stray
    /// The record is well-formed.
    case closed(LongRecord.Extent)
    /// The caller has skipped the record: the bytes after its window are those that follow the record.
    ///
    /// Its quotes might be open at the end of the text.
    case passedOver(LongRecord.Extent, isOpen: Bool)
  }

  let dialect: CSVDialect
  let structural: StructuralBytes
  let maxLength: Int
  /// The number of lines that still have to be skipped before the first record.
  var skippedLineCount: Int

  var table = FieldTable()
  var unescaped = UnescapedFields()
  var delivery = Delivery()
  /// The defect of the malformed record to be delivered.
  var defect: CSVError?

  /// Whether the caller sets ``longQuote`` when the scanner ``awaitsLongQuote``.
  var decidesLongQuotes = false
  var longQuote = LongQuote.unknown
  var awaitsLongQuote = false
  /// The rest of a long record that is being skipped.
  var skipped = LongRecord.Extent()

  var phase = Phase.streamStart
  var progress = Progress()
  /// The line and the stream offset of the first unconsumed byte, and the number of delivered records.
  var lineNumber = 1
  var byteOffset = 0
  var recordCount = 0

  init(dialect: CSVDialect, maxLength: Int, skippedLineCount: Int) {
    self.dialect = dialect
    self.maxLength = maxLength
    self.skippedLineCount = skippedLineCount
    structural = StructuralBytes(dialect)
  }
}
