extension CSVWriter {
  /// How a file is written.
  ///
  /// ```swift
  /// let german = CSVWriter.Options(dialect: CSVDialect(delimiter: UInt8(ascii: ";")), lineEnd: .crlf)
  /// ```
  public struct Options: Sendable, Hashable {
    /// What ends a row.
    public enum LineEnd: Sendable, Hashable {
      /// LF.
      case lf
      /// CR and LF, as RFC 4180 and Excel have it.
      case crlf
    }

    /// What becomes of a row that has more or fewer fields than there are columns.
    public typealias RaggedRows = CSVReader.Options.RaggedRows

    /// The delimiter, the quote, and what else a reader must know.
    public var dialect: CSVDialect

    /// What ends a row.
    public var lineEnd: LineEnd

    /// Whether the names of the columns come before the rows, where they are known.
    public var writesHeader: Bool

    /// What becomes of a row that has more or fewer fields than there are columns, or than the first row has.
    public var raggedRows: RaggedRows

    /// Creates options; the defaults are RFC 4180 but for the line end, which is LF.
    ///
    /// - Parameters:
    ///   - dialect: The delimiter, the quote, and what else a reader must know.
    ///   - lineEnd: What ends a row.
    ///   - writesHeader: Whether the names of the columns come before the rows.
    ///   - raggedRows: What becomes of a row that has more or fewer fields than there are columns.
    /// - Precondition: The delimiter, the quote and the escape differ, and none of them is CR or LF.
    public init(
      dialect: CSVDialect = CSVDialect(), lineEnd: LineEnd = .lf, writesHeader: Bool = true,
      raggedRows: RaggedRows = .report
    ) {
      self.dialect = dialect
      self.lineEnd = lineEnd
      self.writesHeader = writesHeader
      self.raggedRows = raggedRows
    }
  }
}
