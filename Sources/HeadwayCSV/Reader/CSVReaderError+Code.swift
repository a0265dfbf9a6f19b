extension CSVReaderError {
  /// The kinds of failure.
  ///
  /// A later version might add kinds, so include a default case when you compare.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private let phrase: String

    private init(_ phrase: String) { self.phrase = phrase }

    /// The file could not be opened or read.
    ///
    /// ``CSVReaderError/underlyingError`` is a `LineReaderError` that contains the reason.
    public static let cannotRead = Code("unreadable file")

    /// The file is not text but, for example, an image or a spreadsheet.
    public static let foreignContent = Code("content that is not CSV")

    /// The record that should name the columns is malformed, or a name is not UTF-8.
    public static let badHeader = Code("unusable header")

    /// A record violates the rules of CSV.
    ///
    /// ``CSVReaderError/underlyingError`` is a ``CSVError`` that contains the reason and the position.
    public static let malformedRecord = Code("malformed record")

    /// A row has more or fewer fields than there are columns, and the options reject such rows.
    public static let raggedRow = Code("row of another length")

    /// There is no column with that name or number.
    public static let noSuchColumn = Code("missing column")

    /// The row is too short to have a field in that column.
    public static let missingField = Code("missing field")

    /// A field does not represent a value of the requested type.
    public static let invalidValue = Code("invalid value")

    /// A field was requested as text but is not valid UTF-8.
    public static let invalidUTF8 = Code("invalid UTF-8")

    /// A type can't be decoded because it needs more than one field, such as a structure inside a structure.
    public static let unsupportedType = Code("unsupported type")

    /// The kind, as a noun phrase.
    public var description: String { phrase }
  }
}
