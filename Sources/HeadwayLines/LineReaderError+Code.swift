extension LineReaderError {
  /// The kinds of failure.
  ///
  /// A later version might add kinds, so include a default case when you compare.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private let phrase: String
    let sentence: String

    private init(_ phrase: String, _ sentence: String) { (self.phrase, self.sentence) = (phrase, sentence) }

    /// There is no file with this name.
    public static let fileNotFound = Code("missing file", "There is no such file.")

    /// The path names a directory.
    public static let isDirectory = Code("directory", "This is a directory.")

    /// The process does not have permission to read the file.
    public static let permissionDenied = Code("file without permission", "The file may not be read.")

    /// The file could not be opened for another reason, such as too many open files.
    ///
    /// See ``LineReaderError/systemErrorNumber``.
    public static let cannotOpen = Code("file that can't be opened", "The file can't be opened.")

    /// The file can't be followed, because it is not a regular file, or because its size is not known.
    ///
    /// Only readers that follow a file report this error.
    public static let cannotFollow = Code(
      "file that can't be followed", "The file can't be followed, because it is not a regular file with a size.")

    /// The file became shorter while it was being read.
    ///
    /// Its remaining content has been delivered. The exception is a last line without a line ending, because it is the
    /// rest of a line that was cut off.
    public static let truncated = Code("file that became shorter", "The file became shorter while it was read.")

    /// The system could not read from the file.
    public static let inputOutputError = Code("input or output error", "The file can't be read.")

    /// The file is compressed, and its content can't be unpacked, for example because its end is missing.
    public static let damaged = Code("damaged file", "The file is damaged: it can't be unpacked further.")

    /// The file is in an archive and is encrypted.
    public static let encrypted = Code("encrypted file", "The file is encrypted.")

    /// The file is in an archive that would expand to more than 64 MiB and more than 200 times its size.
    ///
    /// No text does.
    public static let expandsTooFar = Code(
      "archive that expands too far", "The archive would expand to more than 200 times its size.")

    /// An archive contains a file whose name leads out of the archive's folder, or two files with the same name.
    public static let unsafeName = Code(
      "unsafe name in an archive", "The archive has a file with an unsafe name, or two files with this name.")

    /// A line is longer than ``LineReader/Options/maxLineLength``.
    public static let lineTooLong = Code("line over the maximum length", "The line is too long.")

    /// A line was requested as a `String` but is not valid UTF-8.
    public static let invalidUTF8 = Code("invalid UTF-8", "The line is not valid UTF-8.")

    /// The kind, as a noun phrase.
    public var description: String { phrase }
  }
}
