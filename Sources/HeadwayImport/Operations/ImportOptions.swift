public import HeadwayCSV

/// How a file is imported.
public struct ImportOptions: Sendable, Hashable {
  /// How many rows make a batch.
  ///
  /// Readers see rows arrive in whole batches, and a cancelled or killed import leaves whole batches. While the
  /// database is busy, several that wait are committed at once, at most 4,000 rows or four batches; each by itself if
  /// there is an observer of ``ImportOperation/onCommit(_:)``. 250 is what the practice's authors found smooth.
  public var batchSize: Int
  /// Whether the first malformed row ends the import with an error, in place of going to the rejects.
  public var isStrict: Bool
  /// The encoding of the file; nil to find it in its beginning.
  ///
  /// Then text is taken for UTF-8, unless a byte order mark or zeros say UTF-16 or UTF-32, or the header or several
  /// lines are no UTF-8: that is read as Windows-1252. Look at ``TableReport/form``.
  public var encoding: TextEncoding?
  /// The delimiter, the quote and the line end; nil to find the delimiter and the line end in the file's beginning.
  public var dialect: CSVDialect?
  /// The delimiter, where the rest of the dialect is to be found.
  public var delimiter: UInt8?
  /// Whether the first record names the columns.
  ///
  /// Without names they are `column_1`, `column_2` and so on.
  public var hasHeader: Bool
  /// What becomes of the rows that the table has.
  public var existingRows: ExistingRows
  /// Whether it is an error if the file lacks a column that the table's description has, or the table of the database
  /// has one with another type.
  ///
  /// When false, what is described says how to read a column that is there.
  public var requiresDescribedColumns: Bool

  /// What becomes of the rows that a table has before an import.
  public enum ExistingRows: Sendable, Hashable {
    /// In a table with a key, rows with a key of the file are updated in place, and others stay.
    ///
    /// In a table without a key, rows that an earlier import of this very file has written are written anew, and it is
    /// an error, ``ImportError/Code/foreignRows``, if there are others.
    case update
    /// They stay, and the rows of the file are added behind them; in a table with a key, those whose key is not there.
    case append
    /// They give way to the rows of the file, in one transaction at the end of the import; so nothing has changed if it
    /// does not come to that.
    case replace
  }

  /// Creates options; the defaults suit most files.
  ///
  /// - Parameters:
  ///   - batchSize: How many rows are committed at once, 1 or more.
  ///   - isStrict: Whether the first malformed row ends the import.
  ///   - encoding: The encoding of the file; nil to find it.
  ///   - dialect: The delimiter, the quote and the line end; nil to find them.
  ///   - delimiter: The delimiter, where the rest of the dialect is to be found.
  ///   - hasHeader: Whether the first record names the columns.
  ///   - existingRows: What becomes of the rows that the table has.
  ///   - requiresDescribedColumns: Whether the file must have all columns that the table's description has.
  public init(
    batchSize: Int = 250, isStrict: Bool = false, encoding: TextEncoding? = nil, dialect: CSVDialect? = nil,
    delimiter: UInt8? = nil, hasHeader: Bool = true, existingRows: ExistingRows = .update,
    requiresDescribedColumns: Bool = false
  ) {
    precondition(batchSize > 0, "batchSize is \(batchSize): at least one row is committed at once.")
    self.batchSize = batchSize
    self.isStrict = isStrict
    self.encoding = encoding
    self.dialect = dialect
    self.delimiter = delimiter
    self.hasHeader = hasHeader
    self.existingRows = existingRows
    self.requiresDescribedColumns = requiresDescribedColumns
  }
}
