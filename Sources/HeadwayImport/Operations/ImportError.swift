import HeadwayLines

/// Why an import could not go on.
///
/// Rows that can't be imported are not errors. They are written to the rejects, see ``RejectedRow``.
public struct ImportError: Error, Sendable, CustomStringConvertible {
  /// What kind of thing went wrong.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case missingFiles, cannotReadFile, foreignContent, badHeader, malformedRow, foreignRows, unsuitableTable, database
      case cannotWriteRejects, otherWriter, unfinishedAppend, unknownColumn, noRows, lostRecords
    }

    private let kind: Kind

    private init(_ kind: Kind) { self.kind = kind }

    /// The folder is not a feed: files that every feed must have are missing.
    public static let missingFiles = Code(.missingFiles)
    /// A file could not be opened or read; ``ImportError/underlying`` says why.
    public static let cannotReadFile = Code(.cannotReadFile)
    /// The file is not text, but for example an image; or it is compressed, and damaged; or the archive in which it is
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
    /// The table of the database does not fit: it has another key, a column has another type, or it is a view, or one
    /// of SQLite's or Headway's own tables.
    public static let unsuitableTable = Code(.unsuitableTable)
    /// An earlier import that appended the same file ended early, and it cannot be known which rows are missing,
    /// because the file or the table has changed.
    ///
    /// Nothing is added. See ``ImportOptions/completesAppend``.
    public static let unfinishedAppend = Code(.unfinishedAppend)
    /// The file has a column that the table lacks, and no import has created the table.
    ///
    /// See ``ImportOptions/addsColumns``.
    public static let unknownColumn = Code(.unknownColumn)
    /// The file has rows, but the table cannot have a single one of them; nothing has changed.
    ///
    /// See ``ImportOptions/allowsNoRows``.
    public static let noRows = Code(.noRows)
    /// The database refused; ``ImportError/underlying`` is its error.
    public static let database = Code(.database)
    /// The file of rejected rows could not be written.
    public static let cannotWriteRejects = Code(.cannotWriteRejects)

    /// A record of the file is neither the header, nor in the table, nor in the rejects: a fault in Headway.
    ///
    /// Each import checks that before its last transaction. What was committed stays.
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

  /// The file, the line, what happened, and what to do about it.
  public var description: String {
    let reason = underlyingOutsideMessage.map { " (\($0))" } ?? ""
    return text + reason + (remedy.map { " \($0)" } ?? "")
  }

  /// The file, the line and what happened.
  package var text: String {
    let place = line.map { "\(path), line \($0)" } ?? path
    return "\(place): \(message)"
  }

  /// The error below, unless ``message`` has its words.
  package var underlyingOutsideMessage: (any Error)? { underlying is LineReaderError ? nil : underlying }

  /// The options of the library that avoid the error; those of the tool have other names.
  private var remedy: String? {
    switch code {
    case .foreignRows: "Set `existingRows` of `ImportOptions` to `.append` or `.replace`, or describe a key."
    case .unknownColumn: "Correct the file, or set `addsColumns` of `ImportOptions`."
    case .unfinishedAppend: "To add all rows, set `completesAppend` of `ImportOptions` to false."
    default: nil
    }
  }
}

extension ImportError {
  /// Another program has added rows while an import was adding its own.
  init(otherRowsIn table: String, path: String, hasKey: Bool) {
    let what = "Another program has added rows to the table \(table) during the import"
    if hasKey {
      self.init(.otherWriter, path: path, message: "\(what), with keys of the file: import it again to complete it.")
    } else {
      self.init(.foreignRows, path: path, message: "\(what), which has no key.")
    }
  }
  #if SQLite
  /// The file has columns that the table lacks.
  init(columns missing: [String], missingIn table: ExistingTable, header: [String], path: String) {
    let inFile = Set(header.map(\.lowercasedAsName))
    let free = table.storedColumnNames.filter { !inFile.contains($0.lowercasedAsName) }
    let advice =
      missing.map { name in
        "no column \(name)\(Spelling.nearest(to: name, among: free).map { " (the nearest is \($0))" } ?? "")"
      }.joined(separator: ", and ")
    let others = free.isEmpty ? " Its columns are \(table.columnNames.joined(separator: ", "))." : ""
    self.init(.unknownColumn, path: path, line: 1, message: "The table \(table.name) has \(advice).\(others)")
  }
  #endif
}
