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
public struct CSVWriterError: Error, Sendable {
  /// The kind of failure, for decisions in code.
  public let code: Code

  /// The path of the file, as the caller specified it.
  public let path: String

  /// The number of the row, starting at one and not counting the header.
  ///
  /// Nil if the error does not concern a row.
  public let rowNumber: Int?

  /// The name of the column.
  ///
  /// Nil if the error does not concern a column.
  public let columnName: String?

  /// The reason, as a sentence for people.
  public let message: String

  /// The `errno` of the system call that failed, or nil if none failed.
  public let errorNumber: Int32?

  /// The error that a type threw while it was encoded.
  public let underlyingError: (any Error)?

  init(
    _ code: Code, path: String, rowNumber: Int? = nil, columnName: String? = nil, message: String,
    errorNumber: Int32? = nil, underlyingError: (any Error)? = nil
  ) {
    self.code = code
    self.path = path
    self.rowNumber = rowNumber
    self.columnName = columnName
    self.message = message
    self.errorNumber = errorNumber
    self.underlyingError = underlyingError
  }
}

extension CSVWriterError: CustomStringConvertible {
  /// One line for people: the file, the row, the column, and the reason.
  public var description: String {
    var place = path
    if let rowNumber { place += ", row \(rowNumber)" }
    if let columnName { place += ", column \(columnName)" }
    return "\(place): \(message)"
  }
}

extension CSVWriterError {
  /// The kinds of failure.
  ///
  /// A later version might add kinds, so include a default case when you compare.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case folderNotFound, isDirectory, permissionDenied, diskFull, cannotWrite
      case raggedRow, noSuchColumn, invalidValue, unsupportedType
    }

    private let kind: Kind

    private init(_ kind: Kind) { self.kind = kind }

    /// The folder of the file does not exist.
    public static let folderNotFound = Code(.folderNotFound)

    /// The path names a directory.
    public static let isDirectory = Code(.isDirectory)

    /// The process does not have permission to write the file, or to write into its folder.
    public static let permissionDenied = Code(.permissionDenied)

    /// The device is full, or the user's quota is exceeded.
    public static let diskFull = Code(.diskFull)

    /// The file could not be created or written for another reason.
    ///
    /// See ``CSVWriterError/errorNumber``.
    public static let cannotWrite = Code(.cannotWrite)

    /// A row has more or fewer fields than there are columns.
    public static let raggedRow = Code(.raggedRow)

    /// A value has a key that is not a column.
    public static let noSuchColumn = Code(.noSuchColumn)

    /// A value can't be written, such as a number that is not finite.
    public static let invalidValue = Code(.invalidValue)

    /// A type can't be encoded because it needs more than one field, such as a structure inside a structure.
    public static let unsupportedType = Code(.unsupportedType)

    /// The name of the code.
    public var description: String { kind.rawValue }
  }
}
