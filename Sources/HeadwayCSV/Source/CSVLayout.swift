/// The layout of a file: its encoding, its dialect and its columns, as specified or detected from its beginning.
public struct CSVLayout: Sendable, Hashable {
  /// The encoding.
  ///
  /// UTF-8 if the beginning of the file is ASCII. If other characters follow, their encoding is detected when they are
  /// read.
  public let encoding: CSVTextEncoding
  /// Whether the encoding is a guess, based on the characters of the text.
  public let isEncodingAssumed: Bool
  /// Whether the file is JSON Lines, one object per line, and not CSV.
  ///
  /// Only an import reads such files. In that case, ``dialect`` has no meaning, and each member is a column.
  public let isJSONLines: Bool
  /// The dialect: the delimiter, the quote and so on.
  public let dialect: CSVDialect
  /// The column names.
  public let columns: [String]
  /// The physical line, counted from 1, where the header begins.
  ///
  /// Nil if there is no header, or if it can't be used.
  public let headerLineNumber: Int?
  /// The number of records that together name the columns.
  ///
  /// 0 if there are none.
  public let headerRecordCount: Int
  /// The reason that the header can't be used.
  ///
  /// Nil if it can be used, or if there is no header. If there is a reason, the columns are called `column_1` and so
  /// on.
  public let headerProblem: String?
  /// The names in the file of columns that were renamed because another column has the same name, by their new names.
  public let renamedColumns: [String: String]
  /// Whether rows end with a delimiter, which is then not a field.
  public let endsRowsWithDelimiter: Bool

  /// Creates the layout of a file whose header has been read.
  ///
  /// - Parameters:
  ///   - source: The records of the file.
  ///   - columns: The column names, in file order.
  package init(_ source: RecordSource, columns: [String]) {
    let layout = source.layout
    isJSONLines = source.isJSONLines
    (encoding, isEncodingAssumed) = (source.encoding, source.isEncodingAssumed)
    (dialect, self.columns) = (source.dialect, columns)
    (headerLineNumber, renamedColumns) = (source.headerLineNumber, source.renamedColumns)
    headerRecordCount = layout.hasHeader ? layout.headerRecordCount : 0
    headerProblem = layout.unusableHeader?.reason
    endsRowsWithDelimiter = layout.endsRowsWithDelimiter
  }
}
