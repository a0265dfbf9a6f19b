public import HeadwayCSV

/// How a file is imported.
public struct ImportOptions: Sendable, Hashable {
  /// How many rows are committed at once.
  ///
  /// Readers see rows arrive in such steps, and a cancelled or killed import leaves whole batches. 250 is what the
  /// practice's authors found smooth; larger batches import a little faster.
  public var batchSize: Int
  /// Whether the first malformed row ends the import with an error, in place of going to the rejects.
  public var isStrict: Bool
  /// The delimiter and the quote; nil to find the delimiter in the beginning of the file.
  public var dialect: CSVDialect?
  /// Whether the first record names the columns.
  ///
  /// Without names they are `column_1`, `column_2` and so on.
  public var hasHeader: Bool
  /// What becomes of the rows that the table has.
  public var existingRows: ExistingRows

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
  ///   - dialect: The delimiter and the quote; nil to find the delimiter.
  ///   - hasHeader: Whether the first record names the columns.
  ///   - existingRows: What becomes of the rows that the table has.
  public init(
    batchSize: Int = 250, isStrict: Bool = false, dialect: CSVDialect? = nil, hasHeader: Bool = true,
    existingRows: ExistingRows = .update
  ) {
    precondition(batchSize > 0, "batchSize is \(batchSize): at least one row is committed at once.")
    self.batchSize = batchSize
    self.isStrict = isStrict
    self.dialect = dialect
    self.hasHeader = hasHeader
    self.existingRows = existingRows
  }
}
