extension CSVParser {
  /// A record that violates the rules, as the parser delivers it.
  ///
  /// Like ``CSVRecord``, it is borrowed: it and its bytes are valid until the closure returns.
  public struct MalformedRecord: ~Copyable {
    /// The defect and its position.
    public let error: CSVError

    /// The physical line where the record starts, starting at one and counted as in ``CSVRecord/lineNumber``.
    public let lineNumber: Int

    /// The number of the record, starting at one and counted together with the well-formed records.
    public let recordNumber: Int

    /// The offset of the record's first byte from the start of the stream, including a byte order mark.
    public let byteOffset: Int

    /// The record's unchanged bytes in the file, without the line ending.
    ///
    /// The bytes are valid until the closure returns.
    ///
    /// Unless ``isTruncated`` is true, nothing is omitted. Every byte of the stream is in the raw bytes of one record,
    /// in a line ending, in a skipped blank line, or in the byte order mark.
    public let rawBytes: UnsafeRawBufferPointer

    /// Whether ``rawBytes`` contains only the first part of a record longer than the maximum.
    ///
    /// The rest is skipped.
    public let isTruncated: Bool
  }
}
