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

  /// Creates options; the defaults suit most files.
  ///
  /// - Parameters:
  ///   - batchSize: How many rows are committed at once, 1 or more.
  ///   - isStrict: Whether the first malformed row ends the import.
  ///   - dialect: The delimiter and the quote; nil to find the delimiter.
  ///   - hasHeader: Whether the first record names the columns.
  public init(batchSize: Int = 250, isStrict: Bool = false, dialect: CSVDialect? = nil, hasHeader: Bool = true) {
    precondition(batchSize > 0, "batchSize is \(batchSize): at least one row is committed at once.")
    self.batchSize = batchSize
    self.isStrict = isStrict
    self.dialect = dialect
    self.hasHeader = hasHeader
  }
}
