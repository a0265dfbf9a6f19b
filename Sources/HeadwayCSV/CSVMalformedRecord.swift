/// A record that breaks the rules, seen while the parser hands it out.
///
/// Like ``CSVRecord`` it is borrowed: it and the bytes it gives out are valid until the closure returns.
public struct CSVMalformedRecord: ~Copyable {
  /// What is wrong, and where.
  public let error: CSVError

  /// The 1-based physical line on which the record starts, counted as in ``CSVRecord/line``.
  public let line: Int

  /// The 1-based number of the record, counted together with the well-formed ones.
  public let ordinal: Int

  /// The offset of the record's first byte from the start of the stream, a byte order mark included.
  public let byteOffset: Int

  /// The record as it stands in the file, without its line end; valid until the closure returns.
  ///
  /// Nothing is left out unless ``isTruncated`` says so: every byte of the stream is in the raw bytes of one record, in
  /// a line end, in a skipped blank line, or in the byte order mark.
  public let rawBytes: UnsafeRawBufferPointer

  /// Whether ``rawBytes`` are only the first part of a record longer than the maximum; the rest is skipped.
  public let isTruncated: Bool
}
