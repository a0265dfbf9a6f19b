import HeadwayLines

#if SQLite
import GRDB
#endif

/// The reason why an import could not continue.
///
/// Rows that can't be imported are not errors. They go to a ``RejectedRowsFile``; see ``RowIssue``.
public struct ImportError: Error, Sendable, CustomStringConvertible {
  /// The kinds of failure.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private let phrase: String

    private init(_ phrase: String) { self.phrase = phrase }

    /// The folder is not a feed: files that every feed must have are missing.
    public static let missingFiles = Code("missing files")
    /// A file could not be opened or read; ``ImportError/underlyingError`` is the reason.
    public static let cannotReadFile = Code("unreadable file")
    /// The file is not text, but an image, for example; it is compressed and damaged; or its archive is damaged,
    /// encrypted, or inconsistent.
    public static let foreignContent = Code("content that can't be imported")
    /// The first line does not name the columns: it is missing, it contains a name twice, or it lacks a key column.
    public static let badHeader = Code("unusable header")
    /// A row is malformed, and the import stops at the first such row.
    public static let malformedRow = Code("malformed row")
    /// A table without a key contains rows that were not written by an earlier import of the same file.
    ///
    /// The import would remove or overwrite these rows.
    ///
    /// See ``ImportOptions/ExistingRowPolicy``.
    public static let foreignRows = Code("rows of another origin")
    /// The table was empty, and during the import another program has written rows with keys of the file into it.
    ///
    /// The committed batches stay. Import the file again to complete it.
    public static let otherWriter = Code("rows of another program")
    /// The table of the database is unsuitable: it has another key, a column has another type, or it is a view or an
    /// internal table of SQLite or Headway.
    public static let unsuitableTable = Code("unsuitable table")
    /// An earlier import that appended the same file ended early, and the missing rows can't be determined, because the
    /// file or the table has changed.
    ///
    /// Nothing is added. See ``ImportOptions/completesAppend``.
    public static let unfinishedAppend = Code("unfinished append")
    /// The file has a column that the table lacks, and no import has created the table.
    ///
    /// See ``ImportOptions/addsColumns``.
    public static let unknownColumn = Code("unknown column")
    /// The file has rows, but all of them were rejected; nothing has changed.
    ///
    /// See ``ImportOptions/allowsNoRows``.
    public static let noRows = Code("file without a usable row")
    /// Rows of other tables refer to rows that the import would remove; nothing has changed.
    public static let brokenReferences = Code("broken references")
    /// The database reported an error, which is ``ImportError/underlyingError``.
    public static let database = Code("database error")
    /// The file of rejected rows could not be written.
    public static let cannotWriteRejectedRows = Code("unwritable file of rejected rows")

    /// A record of the file is neither the header, nor in the table, nor among the rejected rows.
    ///
    /// This indicates a bug in Headway.
    ///
    /// Each import checks this before its last transaction. The committed batches stay.
    public static let lostRecords = Code("lost records")

    /// The kind, as a noun phrase.
    public var description: String { phrase }
  }

  /// The kind of error.
  public let code: Code
  /// The file or database concerned.
  public let path: String
  /// The line in the file, counted from 1, if the error has one.
  public let lineNumber: Int?
  /// A description of the error for people, as one or more sentences, without the position.
  public let context: String
  /// The underlying error, if any.
  public let underlyingError: (any Error)?

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: The kind of error.
  ///   - path: The file or database concerned.
  ///   - lineNumber: The line in the file.
  ///   - context: What happened, as one or more sentences for people.
  ///   - underlyingError: The error that caused this error.
  public init(_ code: Code, path: String, lineNumber: Int? = nil, context: String, underlyingError: (any Error)? = nil)
  {
    self.code = code
    self.path = path
    self.lineNumber = lineNumber
    self.context = context
    self.underlyingError = underlyingError
  }

  /// The file, the line, the error, and how to resolve it.
  public var description: String {
    let reason = underlyingErrorOutsideContext.map { " (\($0))" } ?? ""
    return text + reason + (remedy.map { " \($0)" } ?? "")
  }

  /// The file, the line and the error.
  package var text: String {
    let place = lineNumber.map { "\(path):\($0)" } ?? path
    return "\(place): \(context)"
  }

  /// The underlying error, unless ``context`` already contains its text.
  package var underlyingErrorOutsideContext: (any Error)? {
    guard let underlyingError else { return nil }
    if let error = underlyingError as? LineReaderError {
      // Its description begins with the path, which the description of this error also contains.
      let texts = [error.context, error.systemErrorDescription].compactMap { $0 }
      return error.code == .fileNotFound || texts.contains(where: context.contains) ? nil : underlyingError
    }
    var texts = ["\(underlyingError)"]
    #if SQLite
    if let message = (underlyingError as? DatabaseError)?.message { texts.append(message) }
    #endif
    return texts.contains(where: context.contains) ? nil : underlyingError
  }

  /// The options of the library that avoid the error; the options of the tool have other names.
  private var remedy: String? {
    switch code {
    case .foreignRows: "Set `existingRowPolicy` of `ImportOptions` to `.append` or `.replace`, or describe a key."
    case .unknownColumn: "Correct the file, or set `addsColumns` of `ImportOptions`."
    case .unfinishedAppend: "To add all rows, set `completesAppend` of `ImportOptions` to false."
    default: nil
    }
  }
}

extension ImportError {
  /// Creates the error for rows that another program has added while an import was adding its own.
  init(otherRowsIn table: String, path: String, hasKey: Bool) {
    let what = "Another program has added rows to the table \(table) during the import"
    if hasKey {
      self.init(.otherWriter, path: path, context: "\(what), with keys of the file: import it again to complete it.")
    } else {
      self.init(.foreignRows, path: path, context: "\(what), which has no key.")
    }
  }
  #if SQLite
  /// Creates the error for columns of the file that the table lacks.
  init(columns missing: [String], missingIn table: ExistingTable, header: [String], path: String) {
    let inFile = Set(header.map(\.lowercasedAsName))
    let free = table.storedColumnNames.filter { !inFile.contains($0.lowercasedAsName) }
    let advice =
      missing.map { name in
        "no column \(name)\(Spelling.nearest(to: name, among: free).map { " (the nearest is \($0))" } ?? "")"
      }.joined(separator: ", and ")
    let others = free.isEmpty ? " Its columns are \(table.columnNames.joined(separator: ", "))." : ""
    self.init(.unknownColumn, path: path, lineNumber: 1, context: "The table \(table.name) has \(advice).\(others)")
  }
  #endif
}
