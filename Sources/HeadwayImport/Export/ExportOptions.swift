public import HeadwayCSV

/// Options for writing a table as CSV.
public struct ExportOptions: Sendable, Hashable {
  /// The columns to write, in this order; empty for all columns, in table order.
  public var columns: [String]
  /// The text for `NULL`; empty by default, as for an empty text.
  ///
  /// An import of CSV reads an empty field as `NULL`, regardless of this text.
  public var nullText: String
  /// The delimiter, the line endings, and whether to write the column names.
  public var csv: CSVWriter.Options

  /// Creates options.
  ///
  /// - Parameters:
  ///   - columns: The columns to write; empty for all columns.
  ///   - nullText: The text for `NULL`.
  ///   - csv: The format of the file.
  public init(columns: [String] = [], nullText: String = "", csv: CSVWriter.Options = CSVWriter.Options()) {
    (self.columns, self.nullText, self.csv) = (columns, nullText, csv)
  }
}
