extension LineReader {
  /// How a file is read.
  ///
  /// ```swift
  /// LineReader(path: path, options: .init(lineEnding: .any, invalidUTF8Policy: .replace))
  /// ```
  public struct Options: Hashable, Sendable {
    /// The byte sequences that end a line.
    public enum LineEnding: Hashable, Sendable {
      /// LF, or CR followed by LF.
      ///
      /// Any other CR is part of the line.
      case lfOrCRLF
      /// LF, CR, or CR followed by LF, in any mixture.
      case any
      /// LF alone.
      ///
      /// Every CR is part of the line.
      case lf
    }

    /// How a line that is requested as a `String` is treated if it is not UTF-8.
    ///
    /// Lines that are read as bytes are not checked.
    public enum InvalidUTF8Policy: Hashable, Sendable {
      /// Throw a ``LineReaderError`` that has the number of the line and the position of the first wrong byte.
      case `throw`
      /// Replace invalid bytes with U+FFFD.
      case replace
    }

    /// The byte sequences that end a line.
    ///
    /// The default is `lfOrCRLF`.
    public var lineEnding: LineEnding

    /// The maximum length of a line in bytes, without its line ending.
    ///
    /// The default is 16 MiB, and the maximum is 1 GiB.
    ///
    /// Reading a longer line fails. The memory for a line grows up to this size.
    public var maxLineLength: Int

    /// The number of bytes that are read at a time.
    ///
    /// The default is 128 KiB, and the minimum is 4 KiB.
    public var chunkSize: Int

    /// How invalid UTF-8 is treated.
    ///
    /// By default, it is rejected.
    public var invalidUTF8Policy: InvalidUTF8Policy

    /// Whether a UTF-8 byte order mark at the start of the file is part of the first line.
    ///
    /// The default is false: the mark is omitted.
    public var keepsByteOrderMark: Bool

    /// Creates options.
    ///
    /// Omitted options keep their defaults.
    ///
    /// - Parameters:
    ///   - lineEnding: The byte sequences that end a line.
    ///   - maxLineLength: The maximum length of a line in bytes, up to 1 GiB.
    ///   - chunkSize: The number of bytes that are read at a time, at least 4 KiB.
    ///   - invalidUTF8Policy: How invalid UTF-8 is treated.
    ///   - keepsByteOrderMark: Whether a byte order mark is part of the first line.
    public init(
      lineEnding: LineEnding = .lfOrCRLF, maxLineLength: Int = 16 << 20, chunkSize: Int = 128 << 10,
      invalidUTF8Policy: InvalidUTF8Policy = .throw, keepsByteOrderMark: Bool = false
    ) {
      self.lineEnding = lineEnding
      self.maxLineLength = maxLineLength
      self.chunkSize = chunkSize
      self.invalidUTF8Policy = invalidUTF8Policy
      self.keepsByteOrderMark = keepsByteOrderMark
    }

    /// The largest size that positions of 32 bits can address safely, including a chunk's slack.
    static var largest: Int { 1 << 30 }
  }
}
