extension LineReader {
  /// How a file is read.
  ///
  /// ```swift
  /// LineReader(path: path, options: .init(lineEnds: .any, invalidUTF8: .repair))
  /// ```
  public struct Options: Hashable, Sendable {
    /// What ends a line.
    public enum LineEnds: Hashable, Sendable {
      /// LF, or CR followed by LF.
      ///
      /// A CR elsewhere is part of the line.
      case lfOrCRLF
      /// LF, CR, or CR followed by LF, in any mixture.
      case any
      /// LF alone.
      ///
      /// Every CR is part of the line.
      case lf
    }

    /// What to do when a line that is wanted as a `String` is not UTF-8.
    ///
    /// Lines as bytes are not looked at.
    public enum InvalidUTF8: Hashable, Sendable {
      /// Throw a ``LineReaderError`` that has the line's number and the place of the first wrong byte.
      case report
      /// Put U+FFFD in the place of what is wrong.
      case repair
    }

    /// What ends a line.
    ///
    /// `lfOrCRLF` by default.
    public var lineEnds: LineEnds

    /// The number of bytes a line may have, its end not counted.
    ///
    /// 16 MiB by default, 1 GiB at most.
    ///
    /// A longer line is an error. The memory for a line grows with it up to this size.
    public var maximumLineLength: Int

    /// How many bytes are read at a time.
    ///
    /// 128 KiB by default, 4 KiB at least.
    public var chunkSize: Int

    /// What to do about invalid UTF-8.
    ///
    /// Reported by default.
    public var invalidUTF8: InvalidUTF8

    /// Whether a UTF-8 byte order mark at the start of the file is part of the first line.
    ///
    /// False by default: it is left out.
    public var keepsByteOrderMark: Bool

    /// Creates options.
    ///
    /// What is not said is as each property's documentation tells.
    ///
    /// - Parameters:
    ///   - lineEnds: What ends a line.
    ///   - maximumLineLength: The number of bytes a line may have.
    ///   - chunkSize: How many bytes are read at a time.
    ///   - invalidUTF8: What to do about invalid UTF-8.
    ///   - keepsByteOrderMark: Whether a byte order mark is part of the first line.
    public init(
      lineEnds: LineEnds = .lfOrCRLF, maximumLineLength: Int = 16 << 20, chunkSize: Int = 128 << 10,
      invalidUTF8: InvalidUTF8 = .report, keepsByteOrderMark: Bool = false
    ) {
      self.lineEnds = lineEnds
      self.maximumLineLength = maximumLineLength
      self.chunkSize = chunkSize
      self.invalidUTF8 = invalidUTF8
      self.keepsByteOrderMark = keepsByteOrderMark
    }

    /// What positions of 32 bits reach safely, a chunk's slack included.
    static var largest: Int { 1 << 30 }
  }
}
