import Headway

/// A streaming CSV parser for bytes (RFC 4180, and extensions that real files need).
///
/// You pass the available bytes to the parser. It passes every complete record to a closure as a view of these bytes,
/// without a copy and without an allocation. It also delivers malformed records, in file order, and continues after
/// them: nothing is dropped silently.
///
/// ```swift
/// var parser = CSVParser()
/// let text: [UInt8] = Array("id,name\n1,\"Zoo, Berlin\"\n".utf8)
/// _ = text.withUnsafeBytes { bytes in
///   parser.parse(bytes, isFinal: true) { record in
///     print(record.lineNumber, record.fields)
///     return .continue
///   } malformed: { record in
///     print(record.error)
///     return .continue
///   }
/// }
/// ```
///
/// ## Records
/// - Fields are separated by the dialect's delimiter. A field can be empty. Rows are delivered unchanged, even if their
///   field counts differ. The first record is treated like any other: the caller knows whether it is a header.
/// - A field whose first byte is a quote extends to the closing quote, including delimiters and line endings, and a
///   doubled quote in it represents one quote. A quote anywhere else in a field is data.
/// - LF and CRLF end a record. A lone CR is data, unless ``CSVDialect/endsRecordsAtLoneCarriageReturn`` is set. The
///   last record does not need a line ending.
/// - A blank line is skipped, unless ``CSVDialect/keepsBlankLines`` makes it a record of one empty field.
/// - A UTF-8 byte order mark at the start of the stream is removed. All other bytes are data, including NUL and invalid
///   UTF-8.
///
/// ## Malformed records
/// - `textAfterClosingQuote`: The record extends to the next line ending after the defect.
/// - `unclosedQuote`: The record ends with the line of the opening quote, and parsing resumes with the next line.
///   Therefore, one stray quote does not swallow the rest of the file. This defect is detected at the end of the
///   stream, or when the record exceeds the maximum length.
/// - `recordTooLong`: The first ``maxRecordLength`` bytes are delivered. The rest of the line is skipped without
///   being buffered.
///
/// ## The caller's buffer
/// Bytes that a call does not consume must be passed first in the next call, followed by more bytes. At most
/// ``maxRecordLength`` + 1 bytes are ever left over. Therefore, a buffer of ``maxRecordLength`` + 2 bytes
/// (``requiredCapacity``) always has room for one more byte, and no larger buffer is needed. A buffer that grows to
/// this size on demand is the best choice.
///
/// A parser reads one stream. It runs on the caller's thread, holds no lock, and can be sent to another thread.
public struct CSVParser: ~Copyable {
  /// The dialect that the parser reads.
  public let dialect: CSVDialect

  /// The maximum number of bytes in a record, including quotes and delimiters, but not its line ending.
  public let maxRecordLength: Int

  var scanner: RecordScanner

  /// Creates a parser for one stream.
  ///
  /// - Parameters:
  ///   - dialect: The format of the file.
  ///   - maxRecordLength: The maximum number of bytes in a record, from 1 to 2³⁰ − 1.
  ///   - skippedLineCount: The number of physical lines at the start of the stream that are not records. They count as
  ///     lines.
  public init(dialect: CSVDialect = CSVDialect(), maxRecordLength: Int = 16 << 20, skippedLineCount: Int = 0) {
    dialect.requireUsable()
    require(
      (1..<(1 << 30)).contains(maxRecordLength),
      "CSVParser: a maximum record length of \(maxRecordLength). Use 1 byte to 2³⁰ − 1 bytes.")
    require(skippedLineCount >= 0, "CSVParser: \(skippedLineCount) lines are skipped. Use 0 or more.")
    self.dialect = dialect
    self.maxRecordLength = maxRecordLength
    scanner = RecordScanner(dialect: dialect, maxLength: maxRecordLength, skippedLineCount: skippedLineCount)
  }

  /// The buffer size that is sufficient for every stream: the bytes that can be left over, and one more.
  public var requiredCapacity: Int {
    maxRecordLength + 2
  }

  /// The offset of the first unconsumed byte from the start of the stream.
  public var byteOffset: Int {
    scanner.byteOffset
  }

  /// The physical line of the first unconsumed byte, starting at one.
  public var lineNumber: Int {
    scanner.lineNumber
  }

  /// The number of delivered records, including malformed ones.
  public var recordCount: Int {
    scanner.recordCount
  }
}

// A parser is the only owner of its buffers: it can't be copied, and frees them when it is destroyed. Pointers to the
// buffers leave it only inside records, which can't outlive a call of `parse`. Therefore, no memory is shared between
// threads when a parser is sent.
extension CSVParser: @unchecked Sendable {}
