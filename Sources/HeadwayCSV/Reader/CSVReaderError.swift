internal import HeadwayLines

/// Why a CSV file, or a row of it, could not be read.
///
/// ```swift
/// do {
///   try CSVReader(path: "stations.csv").forEachRow { row in
///     print(try row.value("height", as: Double.self))
///   }
/// } catch let error as CSVReaderError where error.code == .invalidValue {
///   print("Line \(error.lineNumber ?? 0): \(error.columnName ?? "") is \(error.field ?? "")")
/// }
/// ```
///
/// Every row before the place that the error names has been handed out. A reading that is cancelled throws
/// `CancellationError`.
public struct CSVReaderError: Error, Sendable {
  /// What went wrong, for a program to decide on.
  public let code: Code

  /// The file, as it was named.
  public let path: String

  /// The physical line, counted from one, on which the record starts; of a malformed record, that of the defect.
  ///
  /// Nil when the file could not be read.
  public let lineNumber: Int?

  /// The number of the row, counted from one, the header not included; nil when no row is concerned.
  public let rowNumber: Int?

  /// The name of the column, where one is concerned.
  public let columnName: String?

  /// What the field holds, repaired to valid Unicode and cut after 80 characters; nil where no field is concerned.
  public let field: String?

  /// What is wrong, as a sentence for a person.
  public let message: String

  /// The error below: of the file a `LineReaderError`, of a malformed record a ``CSVError``, or what a type threw that
  /// was decoded.
  public let underlyingError: (any Error)?

  init(
    _ code: Code, path: String, lineNumber: Int? = nil, rowNumber: Int? = nil, columnName: String? = nil,
    field: String? = nil, message: String, underlyingError: (any Error)? = nil
  ) {
    self.code = code
    self.path = path
    self.lineNumber = lineNumber
    self.rowNumber = rowNumber
    self.columnName = columnName
    self.field = field
    self.message = message
    self.underlyingError = underlyingError
  }

  init(reading error: LineReaderError) {
    self.init(.cannotRead, path: error.path, message: "The file can't be read.", underlyingError: error)
  }
}

extension CSVReaderError: CustomStringConvertible {
  /// One line for a person: the file, the line, the row, the column, and what is wrong.
  public var description: String {
    // It names the file and the place itself.
    if let error = underlyingError as? LineReaderError { return "\(error)" }
    var place = path
    if let lineNumber { place += ", line \(lineNumber)" }
    if let rowNumber { place += ", row \(rowNumber)" }
    if let columnName { place += ", column \(columnName)" }
    return "\(place): \(message)"
  }
}
