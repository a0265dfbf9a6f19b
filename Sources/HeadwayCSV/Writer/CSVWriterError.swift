internal import HeadwayLines

/// An error that describes why a CSV file, or a row of it, could not be written.
///
/// ```swift
/// do {
///   let writer = try CSVWriter(path: "/backup/stations.csv", columns: ["id", "name"])
///   try writer.write(["1", "Zoo"])
///   try writer.finish()
/// } catch where error.code == .diskFull {
///   print("No room: \(error)")
/// }
/// ```
///
/// After an error about the file, nothing else can be written. After an error about a row, that row is not written, and
/// others can follow.
public struct CSVWriterError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure, for decisions in code.
  public let code: Code

  /// The path of the file, as the caller specified it.
  public let path: String

  /// The number of the row, starting at one and not counting the header.
  ///
  /// Nil if the error does not concern a row.
  public let rowNumber: Int?

  /// The column's name.
  ///
  /// Nil if the error does not concern a column.
  public let columnName: String?

  /// A description of the error for people, as one or more sentences, without the position and the system's reason.
  public let context: String

  /// The `errno` of the system call that failed, or nil if none failed.
  public let systemErrorNumber: Int32?

  /// The error that a type threw while it was encoded.
  public let underlyingError: (any Error)?

  init(
    _ code: Code, path: String, rowNumber: Int? = nil, columnName: String? = nil, context: String,
    systemErrorNumber: Int32? = nil, underlyingError: (any Error)? = nil
  ) {
    self.code = code
    self.path = path
    self.rowNumber = rowNumber
    self.columnName = columnName
    self.context = context
    self.systemErrorNumber = systemErrorNumber
    self.underlyingError = underlyingError
  }

  /// The system's description of ``systemErrorNumber``.
  public var systemErrorDescription: String? { systemErrorNumber.map(Platform.text(of:)) }

  /// One line for people: the file, the row, the column, what happened, and the system's reason if the rest does not
  /// include it.
  public var description: String {
    var place = path
    if let rowNumber { place += ", row \(rowNumber)" }
    if let columnName { place += ", column \(columnName)" }
    let reason = includesReason ? nil : systemErrorDescription
    return "\(place): \(context)" + (reason.map { " (\($0))" } ?? "")
  }
}

extension CSVWriterError {
  /// The kinds of failure.
  ///
  /// A later version might add kinds, so include a default case when you compare.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private let phrase: String

    private init(_ phrase: String) { self.phrase = phrase }

    /// The folder of the file does not exist.
    public static let folderNotFound = Code("missing folder")

    /// The path names a directory.
    public static let isDirectory = Code("directory")

    /// The process does not have permission to write the file, or to write into its folder.
    public static let permissionDenied = Code("file without permission")

    /// The device is full, or the user's quota is exceeded.
    public static let diskFull = Code("full disk")

    /// The file could not be created or written for another reason.
    ///
    /// See ``CSVWriterError/systemErrorNumber``.
    public static let cannotWrite = Code("file that can't be written")

    /// A row has more or fewer fields than there are columns.
    public static let raggedRow = Code("row of another length")

    /// A value has a key that is not a column.
    public static let noSuchColumn = Code("missing column")

    /// A value can't be written, such as a number that is not finite.
    public static let invalidValue = Code("invalid value")

    /// A type can't be encoded because it needs more than one field, such as a structure inside a structure.
    public static let unsupportedType = Code("unsupported type")

    /// The kind, as a noun phrase.
    public var description: String { phrase }
  }
}
