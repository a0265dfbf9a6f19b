/// A well-formed record, seen while the parser hands it out.
///
/// A record is a view of the caller's bytes. It cannot be copied and is only ever borrowed, so it cannot outlive the
/// closure that receives it; the pointers that it gives out are valid until that closure returns. Keep what you need as
/// strings or as copied bytes. Bytes are bytes: NUL and invalid UTF-8 are handed out as they stand in the file.
public struct CSVRecord: ~Copyable {
  @usableFromInline let start: UnsafeRawPointer
  @usableFromInline let length: Int
  @usableFromInline let ends: UnsafePointer<FieldEnd>
  @usableFromInline let unescaped: UnescapedFieldsView

  /// The number of fields, at least one.
  ///
  /// The parser takes ragged rows as they are.
  public let count: Int

  /// The 1-based physical line on which the record starts.
  ///
  /// Every LF ends a physical line, inside quotes too, and CRLF counts once. A CR without LF ends one only in a dialect
  /// that ends records there (``CSVDialect/endsRecordsAtLoneCarriageReturn``).
  public let line: Int

  /// The 1-based number of the record: a header counts, a malformed record counts, a skipped blank line does not.
  public let ordinal: Int

  /// The offset of the record's first byte from the start of the stream, a byte order mark included.
  public let byteOffset: Int

  /// Whether a field that is not quoted has a quote in it, as `12" screen`.
  ///
  /// It is data; but where a delimiter has been lost before a quoted field, the delimiters inside that divide it.
  public let hasStrayQuotes: Bool

  init(
    start: UnsafeRawPointer, length: Int, ends: UnsafePointer<FieldEnd>, count: Int, unescaped: UnescapedFieldsView,
    line: Int, ordinal: Int, byteOffset: Int, hasStrayQuotes: Bool
  ) {
    self.start = start
    self.length = length
    self.ends = ends
    self.count = count
    self.unescaped = unescaped
    self.line = line
    self.ordinal = ordinal
    self.byteOffset = byteOffset
    self.hasStrayQuotes = hasStrayQuotes
  }

  /// The record as it is in the file, without its line end; valid until the closure returns.
  @inlinable
  public var rawBytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: start, count: length)
  }
}
