public import HeadwayCSV

/// How a table is written as CSV.
public struct ExportOptions: Sendable, Hashable {
  /// The columns to write, in this order; empty for all, in the order of the table.
  public var columns: [String]
  /// The text that stands for `NULL`; empty by default, as for an empty text.
  ///
  /// An import of CSV reads an empty field as `NULL`, whatever this text is.
  public var nullText: String
  /// The delimiter, the line ends, and whether the names of the columns come first.
  public var csv: CSVWriter.Options

  /// Creates options.
  ///
  /// - Parameters:
  ///   - columns: The columns to write; empty for all.
  ///   - nullText: The text that stands for `NULL`.
  ///   - csv: How the file is written.
  public init(columns: [String] = [], nullText: String = "", csv: CSVWriter.Options = CSVWriter.Options()) {
    (self.columns, self.nullText, self.csv) = (columns, nullText, csv)
  }
}
