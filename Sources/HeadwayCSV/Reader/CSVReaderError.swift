internal import HeadwayLines

/// An error that describes why a CSV file, or a row of it, could not be read.
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
/// Every row before the position in the error has been delivered. When reading is cancelled, `CancellationError` is
/// thrown.
public struct CSVReaderError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure, for decisions in code.
  public let code: Code

  /// The path of the file, as the caller specified it.
  public let path: String

  /// The physical line where the record starts, starting at one.
  ///
  /// For a malformed record, the line of the defect.
  ///
  /// Nil if the file could not be read.
  public let lineNumber: Int?

  /// The number of the row, starting at one and not counting the header.
  ///
  /// Nil if the error does not concern a row.
  public let rowNumber: Int?

  /// The column's name.
  ///
  /// Nil if the error does not concern a column.
  public let columnName: String?

  /// The content of the field, repaired to valid Unicode and cut off after 80 characters.
  ///
  /// Nil if the error does not concern a field.
  public let field: String?

  /// A description of the error for people, as one or more sentences, without the position.
  public let context: String

  /// The cause of the error: a `LineReaderError` for the file, a ``CSVError`` for a malformed record, or the error that
  /// a type threw while it was decoded.
  public let underlyingError: (any Error)?

  init(
    _ code: Code, path: String, lineNumber: Int? = nil, rowNumber: Int? = nil, columnName: String? = nil,
    field: String? = nil, context: String, underlyingError: (any Error)? = nil
  ) {
    self.code = code
    self.path = path
    self.lineNumber = lineNumber
    self.rowNumber = rowNumber
    self.columnName = columnName
    self.field = field
    self.context = context
    self.underlyingError = underlyingError
  }

  init(reading error: LineReaderError) {
    self.init(.cannotRead, path: error.path, context: error.context, underlyingError: error)
  }

  /// One line for people: the file, the line, the row, the column, and the reason.
  public var description: String {
    // The underlying error already contains the file and the position.
    if let error = underlyingError as? LineReaderError { return "\(error)" }
    var place = path
    if let lineNumber { place += ":\(lineNumber)" }
    if let rowNumber { place += ", row \(rowNumber)" }
    if let columnName { place += ", column \(columnName)" }
    return "\(place): \(context)"
  }
}
