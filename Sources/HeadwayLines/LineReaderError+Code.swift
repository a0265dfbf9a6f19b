extension LineReaderError {
  /// The kinds of failure.
  ///
  /// A later version might add kinds, so include a default case when you compare.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Value: Hashable {
      case fileNotFound, isDirectory, permissionDenied, cannotOpen
      case truncated, inputOutputError, damaged, encrypted, expandsTooFar, unsafeName
      case lineTooLong, invalidUTF8
    }

    private let value: Value

    /// There is no file with this name.
    public static var fileNotFound: Code { Code(value: .fileNotFound) }

    /// The path names a directory.
    public static var isDirectory: Code { Code(value: .isDirectory) }

    /// The process does not have permission to read the file.
    public static var permissionDenied: Code { Code(value: .permissionDenied) }

    /// The file could not be opened for another reason, such as too many open files.
    ///
    /// See ``LineReaderError/errorNumber``.
    public static var cannotOpen: Code { Code(value: .cannotOpen) }

    /// The file became shorter while it was being read.
    ///
    /// Its remaining content has been delivered. The exception is a last line without a line end, because it is the
    /// rest of a line that was cut off.
    public static var truncated: Code { Code(value: .truncated) }

    /// The system could not read from the file.
    public static var inputOutputError: Code { Code(value: .inputOutputError) }

    /// The file is compressed, and its content can't be unpacked, for example because its end is missing.
    public static var damaged: Code { Code(value: .damaged) }

    /// The file is in an archive and is encrypted.
    public static var encrypted: Code { Code(value: .encrypted) }

    /// The file is in an archive that would expand to more than 64 MiB and more than 200 times its size.
    ///
    /// No text does.
    public static var expandsTooFar: Code { Code(value: .expandsTooFar) }

    /// An archive contains a file whose name leads out of the archive's folder, or two files with the same name.
    public static var unsafeName: Code { Code(value: .unsafeName) }

    /// A line is longer than ``LineReader/Options/maxLineLength``.
    public static var lineTooLong: Code { Code(value: .lineTooLong) }

    /// A line was requested as a `String`, but is not valid UTF-8.
    public static var invalidUTF8: Code { Code(value: .invalidUTF8) }

    /// The kind in words.
    public var description: String {
      switch value {
      case .fileNotFound: "no such file"
      case .isDirectory: "is a directory"
      case .permissionDenied: "permission denied"
      case .cannotOpen: "cannot be opened"
      case .truncated: "became shorter while it was read"
      case .inputOutputError: "cannot be read"
      case .damaged: "is damaged: it can't be unpacked further"
      case .encrypted: "is encrypted"
      case .expandsTooFar: "would expand to more than 200 times its size"
      case .unsafeName: "is not a safe name for a file of an archive, or stands twice there"
      case .lineTooLong: "line too long"
      case .invalidUTF8: "invalid UTF-8"
      }
    }
  }
}
