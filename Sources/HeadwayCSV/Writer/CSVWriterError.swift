/// Why a CSV file, or a row of it, could not be written.
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
/// After an error about the file nothing more can be written. After one about a row, that row is left out, and others
/// may follow.
public struct CSVWriterError: Error, Sendable {
  /// What went wrong, for a program to decide on.
  public let code: Code

  /// The file, as it was named.
  public let path: String

  /// The number of the row, counted from one, the header not included; nil when no row is concerned.
  public let rowNumber: Int?

  /// The name of the column, where one is concerned.
  public let columnName: String?

  /// What is wrong, as a sentence for a person.
  public let message: String

  /// The `errno` of the system call that failed, or nil when none did.
  public let errorNumber: Int32?

  /// What a type threw that was to be encoded.
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
  /// One line for a person: the file, the row, the column, and what is wrong.
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
  /// A later version may add some: keep a default case when you compare.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case folderNotFound, isDirectory, permissionDenied, diskFull, cannotWrite
      case raggedRow, noSuchColumn, invalidValue, unsupportedType
    }

    private let kind: Kind

    private init(_ kind: Kind) { self.kind = kind }

    /// The folder of the file is not there.
    public static let folderNotFound = Code(.folderNotFound)

    /// The path names a directory.
    public static let isDirectory = Code(.isDirectory)

    /// The process may not write the file, or not into its folder.
    public static let permissionDenied = Code(.permissionDenied)

    /// There is no room on the device, or the user may not have more of it.
    public static let diskFull = Code(.diskFull)

    /// The file could not be created or written for another reason.
    ///
    /// See ``CSVWriterError/errorNumber``.
    public static let cannotWrite = Code(.cannotWrite)

    /// A row has more or fewer fields than there are columns.
    public static let raggedRow = Code(.raggedRow)

    /// A value has a key that is no column.
    public static let noSuchColumn = Code(.noSuchColumn)

    /// A value can't be written, such as a number that is not finite.
    public static let invalidValue = Code(.invalidValue)

    /// A type was to be encoded that takes more than a field, such as a structure inside a structure.
    public static let unsupportedType = Code(.unsupportedType)

    /// The name of the code.
    public var description: String { kind.rawValue }
  }
}
