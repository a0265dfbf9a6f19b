/// The parser's state machine: finds one record after another in the caller's bytes.
///
/// Positions are relative to the start of the current record, which is also where the caller's bytes start in the next
/// call. So a record that is not complete yet keeps what was learnt about it, and scanning resumes behind the last byte
/// seen: each byte is looked at once, however small the pieces in which the input comes.
///
/// ## The limit on a record's length
/// A decision never depends on how the input is cut, only on the record's *window*: its first `maximumLength` bytes,
/// and two more for a CRLF. A record without a line end in there is too long. No byte behind the window is needed to
/// say so.
///
/// ## Going back after an unclosed quote
/// The bytes behind the line of the opening quote are scanned a second time, as records of their own. That costs at
/// most one more pass over the input: no quote in the window closed the field, so every run of quotes behind the
/// opening one is of even length, and such a run never leaves a field open when it is read as the start of one. The
/// second pass therefore finds no further unclosed quote before the end of the window. (Going back to the line on which
/// the *record* starts has no such bound: a file of lines `b","` would be read again from every line.)
///
/// ## Long quoted fields
/// The window does not show whether a quote that is open at its end is closed later, or is a stray one. A caller that
/// can read the file once more reads ahead (``LongRecord``): a record that is well-formed is handed out as too long,
/// and passed over whole; otherwise the quote counts as unclosed. A caller that reads a pipe passes over the record
/// itself. Without such a caller, the quote counts as unclosed.
struct RecordScanner: ~Copyable {
  /// Which part of the stream is being read.
  enum Phase {
    /// Nothing was consumed: a byte order mark may come. Left when there are bytes to tell.
    case streamStart
    /// A record is being read, or about to be.
    case records
    /// A line is passed over: a comment, one before the first record, or the rest of a truncated record. Left behind
    /// its line end.
    case skippingLine
    /// The rest of a record that is longer than the maximum is passed over; its length is known.
    case skippingRecord
  }

  /// What the last bytes of a record belong to.
  enum Region {
    /// The start of a field, or a field without quotes. Delimiters and line ends are structure.
    case unquoted
    /// Inside quotes. Only a quote leads out.
    case quoted
    /// Behind a quote in a quoted field: another one doubles it, a delimiter or a line end closes the field, all else
    /// is malformed.
    case closingQuote
    /// Behind a defect. Only a line end leads out.
    case malformed
  }

  /// What is known about a record that is not complete.
  struct Progress {
    /// Where scanning resumes.
    var position = 0
    var region = Region.unquoted
    var fieldStart = 0
    var fieldFlags: UInt32 = 0
    var fieldCount = 0
    var hasRewrittenFields = false
    /// A field that is not quoted has a quote in it.
    var hasStrayQuotes = false
    /// The physical lines that ended inside the record's quotes.
    var innerLines = 0
    /// The last quote that opened a field, and the inner lines before it.
    var openingQuote = 0
    var linesBeforeOpeningQuote = 0
    /// The last quote that may have closed a field.
    var closingQuote = 0
    /// The byte behind the last escape.
    var escaped = -1
  }

  /// The record to be handed out.
  struct Delivery {
    /// The record's start in the caller's bytes.
    var start = 0
    var length = 0
    var fieldCount = 0
    var line = 0
    var ordinal = 0
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
    /// The caller has passed over the record: behind its window comes what follows it. Its quotes may be open at the
    /// end of the text.
    case passedOver(LongRecord.Extent, isOpen: Bool)
  }

  let dialect: CSVDialect
  let structural: StructuralBytes
  let maximumLength: Int
  /// How many lines are still to be skipped before the first record.
  var skippedLines: Int

  var table = FieldTable()
  var unescaped = UnescapedFields()
  var delivery = Delivery()
  /// The defect of the malformed record to be handed out.
  var defect: CSVError?

  /// Whether the caller sets ``longQuote`` when the scanner ``awaitsLongQuote``.
  var decidesLongQuotes = false
  var longQuote = LongQuote.unknown
  var awaitsLongQuote = false
  /// The rest of a long record that is passed over.
  var skipped = LongRecord.Extent()

  var phase = Phase.streamStart
  var progress = Progress()
  /// The line and the stream offset of the first byte not consumed, and the number of records handed out.
  var line = 1
  var byteOffset = 0
  var recordCount = 0

  init(dialect: CSVDialect, maximumLength: Int, skippedLines: Int) {
    self.dialect = dialect
    self.maximumLength = maximumLength
    self.skippedLines = skippedLines
    structural = StructuralBytes(dialect)
  }
}
