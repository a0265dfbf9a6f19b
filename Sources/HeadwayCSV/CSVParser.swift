/// A streaming CSV parser on bytes (RFC 4180, and what real files need beyond it).
///
/// Bytes are pushed in, as many as there are; every complete record is handed to a closure as a view of these bytes,
/// without a copy and without an allocation. Malformed records are handed out too, in their place among the others, and
/// parsing goes on behind them: nothing is dropped in silence.
///
/// ```swift
/// var parser = CSVParser()
/// let text: [UInt8] = Array("id,name\n1,\"Zoo, Berlin\"\n".utf8)
/// _ = text.withUnsafeBytes { bytes in
///   parser.parse(bytes, isFinal: true) { record in
///     print(record.line, record.fields)
///     return .continue
///   } malformed: { record in
///     print(record.error)
///     return .continue
///   }
/// }
/// ```
///
/// ## What is a record
/// - Fields are separated by the dialect's delimiter; a field may be empty. Rows of different lengths are delivered as
///   they are. The first record is one like any other: whether it is a header is the caller's to know.
/// - A field whose first byte is a quote extends to the closing quote, over delimiters and line ends, and a doubled
///   quote in it stands for one. A quote anywhere else in a field is data.
/// - LF and CRLF end a record; a lone CR by option (``CSVDialect/endsRecordsAtLoneCarriageReturn``), else it is data.
///   The last record needs no line end.
/// - A blank line is skipped, or by option a record of one empty field (``CSVDialect/keepsBlankLines``).
/// - A UTF-8 byte order mark at the start of the stream is removed. All other bytes are data, NUL and invalid UTF-8
///   among them.
///
/// ## What is a malformed record
/// - `textAfterClosingQuote`: the record extends to the next line end behind the defect.
/// - `unclosedQuote`, found at the end of the stream or where the record passes the maximum length: the record ends
///   with the line on which the quote opened, and parsing resumes with the next line. So one stray quote does not take
///   the rest of the file with it.
/// - `recordTooLong`: its first ``maximumRecordLength`` bytes are delivered, the rest of the line is skipped without
///   being buffered.
///
/// ## The caller's buffer
/// What a call does not consume must come first in the next call, with more bytes behind it. At most
/// ``maximumRecordLength`` + 1 bytes are ever left over, so a buffer of ``maximumRecordLength`` + 2 bytes
/// (``requiredCapacity``) always has room to go on, and none larger is needed; one that grows to it on demand serves
/// best.
///
/// A parser reads one stream. It runs on the caller's thread, holds no lock and may be sent to another thread.
public struct CSVParser: ~Copyable {
  /// The dialect that the parser reads.
  public let dialect: CSVDialect

  /// The largest number of bytes in a record, quotes and delimiters included, its line end not.
  public let maximumRecordLength: Int

  var scanner: RecordScanner

  /// Makes a parser for one stream.
  ///
  /// - Parameters:
  ///   - dialect: How the file is written.
  ///   - maximumRecordLength: The largest number of bytes in a record, from 1 to 2³⁰ − 1.
  ///   - skippedLines: How many physical lines at the start of the stream are no records; they count as lines.
  public init(dialect: CSVDialect = CSVDialect(), maximumRecordLength: Int = 16 << 20, skippedLines: Int = 0) {
    precondition(dialect.isUsable, "A dialect's delimiter, quote and escape must differ and be neither CR nor LF")
    precondition((1..<(1 << 30)).contains(maximumRecordLength), "A record's maximum length must be in 1..<(1 << 30)")
    self.dialect = dialect
    self.maximumRecordLength = maximumRecordLength
    scanner = RecordScanner(dialect: dialect, maximumLength: maximumRecordLength, skippedLines: skippedLines)
  }

  /// The buffer that suffices for every stream: the bytes that can be left over, and one more.
  public var requiredCapacity: Int {
    maximumRecordLength + 2
  }

  /// The offset of the first byte not consumed from the start of the stream.
  public var byteOffset: Int {
    scanner.byteOffset
  }

  /// The 1-based physical line of the first byte not consumed.
  public var line: Int {
    scanner.line
  }

  /// The number of records handed out, malformed ones included.
  public var recordCount: Int {
    scanner.recordCount
  }
}

// A parser owns its buffers alone (it cannot be copied, and frees them when it ends), and the pointers to them leave it
// only inside records, which cannot outlive a call of `parse`. So nothing is shared between threads when it is sent.
extension CSVParser: @unchecked Sendable {}
