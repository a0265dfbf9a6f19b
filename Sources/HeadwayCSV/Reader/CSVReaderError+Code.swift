extension CSVReaderError {
  /// The kinds of failure.
  ///
  /// A later version might add kinds, so include a default case when you compare.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case cannotRead, foreignContent, badHeader, malformedRecord, raggedRow
      case noSuchColumn, missingField, invalidValue, invalidUTF8, unsupportedType
    }

    private let kind: Kind

    private init(_ kind: Kind) { self.kind = kind }

    /// The file could not be opened or read.
    ///
    /// ``CSVReaderError/underlyingError`` is a `LineReaderError` that contains the reason.
    public static let cannotRead = Code(.cannotRead)

    /// The file is not text but, for example, an image or a spreadsheet.
    public static let foreignContent = Code(.foreignContent)

    /// The record that should name the columns is malformed, or a name is not UTF-8.
    public static let badHeader = Code(.badHeader)

    /// A record violates the rules of CSV.
    ///
    /// ``CSVReaderError/underlyingError`` is a ``CSVError`` that contains the reason and the position.
    public static let malformedRecord = Code(.malformedRecord)

    /// A row has more or fewer fields than there are columns, and the options specify that this is an error.
    public static let raggedRow = Code(.raggedRow)

    /// There is no column with that name or number.
    public static let noSuchColumn = Code(.noSuchColumn)

    /// The row is too short to have a field in that column.
    public static let missingField = Code(.missingField)

    /// A field does not represent a value of the requested type.
    public static let invalidValue = Code(.invalidValue)

    /// A field was requested as text but is not valid UTF-8.
    public static let invalidUTF8 = Code(.invalidUTF8)

    /// A type can't be decoded because it needs more than one field, such as a structure inside a structure.
    public static let unsupportedType = Code(.unsupportedType)

    /// The name of the code.
    public var description: String { kind.rawValue }
  }
}
