extension CSVWriter {
  /// How a file is written.
  ///
  /// ```swift
  /// let german = CSVWriter.Options(dialect: CSVDialect(delimiter: UInt8(ascii: ";")), lineEnding: .crlf)
  /// ```
  public struct Options: Sendable, Hashable {
    /// The byte sequence that ends a row.
    public enum LineEnding: Sendable, Hashable {
      /// LF alone, as in Unix files.
      case lf
      /// CR and LF, as in RFC 4180 and Excel.
      case crlf
    }

    /// How to treat a row that has more or fewer fields than there are columns.
    public typealias RaggedRowPolicy = CSVReader.Options.RaggedRowPolicy

    /// The delimiter, the quote, and the other properties of the format.
    public var dialect: CSVDialect

    /// The byte sequence that ends a row.
    public var lineEnding: LineEnding

    /// Whether the column names are written before the rows, if they are known.
    public var writesHeader: Bool

    /// How to treat a row that has more or fewer fields than there are columns, or than the first row has.
    public var raggedRowPolicy: RaggedRowPolicy

    /// Creates options.
    ///
    /// The defaults follow RFC 4180, except for the line ending, which is LF.
    ///
    /// - Parameters:
    ///   - dialect: The delimiter, the quote, and the other properties of the format.
    ///   - lineEnding: The byte sequence that ends a row.
    ///   - writesHeader: Whether the column names are written before the rows.
    ///   - raggedRowPolicy: How to treat a row that has more or fewer fields than there are columns.
    /// - Precondition: The delimiter, the quote and the escape differ, and none of them is CR or LF.
    public init(
      dialect: CSVDialect = CSVDialect(), lineEnding: LineEnding = .lf, writesHeader: Bool = true,
      raggedRowPolicy: RaggedRowPolicy = .throw
    ) {
      self.dialect = dialect
      self.lineEnding = lineEnding
      self.writesHeader = writesHeader
      self.raggedRowPolicy = raggedRowPolicy
    }
  }
}
