/// Why an import could not go on.
///
/// Rows that can't be taken are not errors: they go to the rejects, see ``RejectedRow``.
public struct ImportError: Error, Sendable, CustomStringConvertible {
  /// What kind of thing went wrong.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case missingFiles, cannotReadFile, foreignContent, badHeader, malformedRow, foreignRows, unsuitableTable, database
      case cannotWriteRejects, otherWriter, lostRecords
    }

    private let kind: Kind

    private init(_ kind: Kind) { self.kind = kind }

    /// The folder is no feed: files that every feed must have are not there.
    public static let missingFiles = Code(.missingFiles)
    /// A file could not be opened or read; ``ImportError/underlying`` says why.
    public static let cannotReadFile = Code(.cannotReadFile)
    /// The file is no text, but for instance an image; or it is compressed, and damaged; or the archive in which it is
    /// is damaged, encrypted, or can't be what it seems.
    public static let foreignContent = Code(.foreignContent)
    /// The first line does not name the columns: it is missing, a name stands twice, or a key column is not there.
    public static let badHeader = Code(.badHeader)
    /// A row is malformed and the import is strict.
    public static let malformedRow = Code(.malformedRow)
    /// A table without a key has rows that no earlier import of the same file has written, and that would be lost.
    ///
    /// See ``ImportOptions/ExistingRows``.
    public static let foreignRows = Code(.foreignRows)
    /// Another program has written rows with keys of the file into its table, which was empty, during the import; what
    /// was committed stays, and a second import of the file completes it.
    public static let otherWriter = Code(.otherWriter)
    /// The table of the database does not fit: it has another key, a column another type, or it is none of yours.
    public static let unsuitableTable = Code(.unsuitableTable)
    /// The database refused; ``ImportError/underlying`` is its error.
    public static let database = Code(.database)
    /// The file of rejected rows could not be written.
    public static let cannotWriteRejects = Code(.cannotWriteRejects)

    /// A record of the file is neither the header, nor in the table, nor in the rejects: a fault in Headway.
    ///
    /// Each import checks that at its end. What was committed stays.
    public static let lostRecords = Code(.lostRecords)

    /// The name of the code.
    public var description: String { kind.rawValue }
  }

  /// What kind of thing went wrong.
  public let code: Code
  /// The file or database concerned.
  public let path: String
  /// The line in the file, counted from 1, where there is one.
  public let line: Int?
  /// What happened, for a person.
  public let message: String
  /// The error below, if there was one.
  public let underlying: (any Error)?

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: What kind of thing went wrong.
  ///   - path: The file or database concerned.
  ///   - line: The line in the file.
  ///   - message: What happened, for a person.
  ///   - underlying: The error below.
  public init(_ code: Code, path: String, line: Int? = nil, message: String, underlying: (any Error)? = nil) {
    self.code = code
    self.path = path
    self.line = line
    self.message = message
    self.underlying = underlying
  }

  /// The file, the line and what happened.
  public var description: String {
    let place = line.map { "\(path), line \($0)" } ?? path
    return underlying.map { "\(place): \(message) (\($0))" } ?? "\(place): \(message)"
  }
}

extension ImportError {
  /// Somebody else has added rows while an import was adding its own.
  init(otherRowsIn table: String, path: String, hasKey: Bool) {
    let what = "Somebody else has added rows to the table \(table) meanwhile"
    if hasKey {
      self.init(.otherWriter, path: path, message: "\(what), with keys of the file: import it again to complete it.")
    } else {
      self.init(.foreignRows, path: path, message: "\(what), which has no key.")
    }
  }
}
