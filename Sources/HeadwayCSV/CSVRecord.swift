/// A well-formed record, as the parser delivers it.
///
/// A record is a view of the caller's bytes. It can't be copied and is only borrowed, so it can't outlive the closure
/// that receives it. Its pointers are valid until that closure returns. Keep the data that you need as strings or as
/// copied bytes. Bytes are not interpreted: NUL and invalid UTF-8 are delivered as they are in the file.
public struct CSVRecord: ~Copyable {
  @usableFromInline let start: UnsafeRawPointer
  @usableFromInline let length: Int
  @usableFromInline let ends: UnsafePointer<FieldEnd>
  @usableFromInline let unescaped: UnescapedFieldsView

  /// The number of fields, at least one.
  ///
  /// The parser delivers ragged rows unchanged.
  public let count: Int

  /// The physical line where the record starts, starting at one.
  ///
  /// Every LF ends a physical line, even inside quotes, and CRLF counts once. A CR without LF ends a line only if it
  /// ends a record in the dialect (``CSVDialect/endsRecordsAtLoneCarriageReturn``).
  public let lineNumber: Int

  /// The number of the record, starting at one.
  ///
  /// A header and malformed records count; skipped blank lines do not.
  public let recordNumber: Int

  /// The offset of the record's first byte from the start of the stream, including a byte order mark.
  public let byteOffset: Int

  /// Whether a field that is not quoted contains a quote, such as `12" screen`.
  ///
  /// Such a quote is data. But if the delimiter before a quoted field has been lost, the delimiters inside that field
  /// divide it.
  public let hasStrayQuotes: Bool

  init(
    start: UnsafeRawPointer, length: Int, ends: UnsafePointer<FieldEnd>, count: Int, unescaped: UnescapedFieldsView,
    lineNumber: Int, recordNumber: Int, byteOffset: Int, hasStrayQuotes: Bool
  ) {
    self.start = start
    self.length = length
    self.ends = ends
    self.count = count
    self.unescaped = unescaped
    self.lineNumber = lineNumber
    self.recordNumber = recordNumber
    self.byteOffset = byteOffset
    self.hasStrayQuotes = hasStrayQuotes
  }

  /// The unchanged bytes of the record in the file, without its line ending.
  ///
  /// The bytes are valid until the closure returns.
  @inlinable
  public var rawBytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: start, count: length)
  }
}
