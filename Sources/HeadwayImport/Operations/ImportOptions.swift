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
  /// How the file is written; nil to find that in its beginning.
  public var dialect: CSVDialect?
  /// The delimiter, where the rest of the dialect is to be found.
  public var delimiter: UInt8?
  /// The quote, where the rest of the dialect is to be found.
  public var quote: UInt8?
  /// The byte that escapes a quote, where the rest of the dialect is to be found.
  public var escape: UInt8?
  /// The first byte of lines that are comments; nil if there are none, or ``dialect`` says it.
  ///
  /// Comments before the header are found in any case.
  public var comment: UInt8?
  /// Whether the first record names the columns; nil to find out, which takes it for a header in case of doubt.
  ///
  /// Without names they are `column_1`, `column_2` and so on. A file of the GTFS reference has a header.
  public var hasHeader: Bool?
  /// How many lines come before the header, or the first row if there is no header; nil to find out.
  public var skippedLines: Int?
  /// What becomes of rows with more or fewer fields than there are columns.
  public var raggedRows: RaggedRows
  /// The text of fields, not in quotes, that have no value; nil if only empty ones have none.
  public var nullText: String?
  /// The types of columns that are not described, in a table that the import makes.
  public var types: Types
  /// What becomes of the rows that the table has.
  public var existingRows: ExistingRows
  /// Whether it is an error if the file lacks a column that the table's description has, or the table of the database
  /// has one with another type.
  ///
  /// When false, what is described says how to read a column that is there.
  public var requiresDescribedColumns: Bool
  /// Whether a table that no import has made gets the columns that the file has and it lacks.
  ///
  /// When false, such a column is an error, ``ImportError/Code/unknownColumn``: its name may be misspelt, and the table
  /// may be that of an app. Tables that imports have made get them in either case; ``TableReport/notes`` names them.
  public var addsColumns: Bool
  /// Whether it is no error if not one row of a file with rows can be taken.
  ///
  /// When false, such an import fails with ``ImportError/Code/noRows`` and has changed nothing. An import that appends to
  /// a table with a key does not fail so, because all its rows may be there.
  public var allowsNoRows: Bool

  /// What becomes of rows with more or fewer fields than there are columns.
  public enum RaggedRows: Sendable, Hashable {
    /// They are rejected.
    ///
    /// Which of their fields is missing or too many can't be known. A delimiter at the end of all rows is no field.
    case reject
    /// Missing fields, taken to be the last ones, have no value; surplus ones are left out if they are empty, and else
    /// the row is rejected.
    case pad
  }

  /// The types of columns that are not described.
  public enum Types: Sendable, Hashable {
    /// By the rows of the file's beginning: integer, real, numeric, or text.
    ///
    /// A value becomes a number only if the same text can be made of that again, as of no `007`, `+1`, `1.10`, `1e5`,
    /// and no number beyond 64 bits. Where one comes later that the column's type does not keep, the column becomes
    /// `numeric` or `text`, with the text of all values before; nothing is lost or rejected. Columns of the key, and
    /// those of files of the GTFS reference, are text.
    case found
    /// Text.
    case text
  }

  /// What becomes of the rows that a table has before an import.
  public enum ExistingRows: Sendable, Hashable {
    /// In a table with a key, rows with a key of the file are updated in place, and others stay.
    ///
    /// In a table without a key, rows that an earlier import of this very file has written are written anew, and it is
    /// an error, ``ImportError/Code/foreignRows``, if there are others, or the last row is not as it was. Rows are known
    /// by SQLite's row number. ``TableReport/removed`` counts rows that the file has no more. A table to which others
    /// write needs a key.
    case update
    /// They stay, and the rows of the file are added behind them; in a table with a key, those whose key is not there.
    ///
    /// An import that ended early is completed by the next of the same file, exactly, whatever else writes to the
    /// table: the history has the last record of each committed batch. It is an error,
    /// ``ImportError/Code/unfinishedAppend``, if that is not known any more. What was read of a pipe is not known again.
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
  ///   - dialect: How the file is written; nil to find that.
  ///   - delimiter: The delimiter, where the rest of the dialect is to be found.
  ///   - quote: The quote, where the rest of the dialect is to be found.
  ///   - escape: The byte that escapes a quote, where the rest of the dialect is to be found.
  ///   - comment: The first byte of lines that are comments.
  ///   - hasHeader: Whether the first record names the columns; nil to find out.
  ///   - skippedLines: How many lines come before the header; nil to find out.
  ///   - raggedRows: What becomes of rows with more or fewer fields than there are columns.
  ///   - nullText: The text of fields, not in quotes, that have no value.
  ///   - types: The types of columns that are not described.
  ///   - existingRows: What becomes of the rows that the table has.
  ///   - requiresDescribedColumns: Whether the file must have all columns that the table's description has.
  ///   - addsColumns: Whether a table that no import has made gets columns that it lacks.
  ///   - allowsNoRows: Whether it is no error if not one row can be taken.
  public init(
    batchSize: Int = 250, isStrict: Bool = false, encoding: TextEncoding? = nil, dialect: CSVDialect? = nil,
    delimiter: UInt8? = nil, quote: UInt8? = nil, escape: UInt8? = nil, comment: UInt8? = nil, hasHeader: Bool? = nil,
    skippedLines: Int? = nil, raggedRows: RaggedRows = .reject, nullText: String? = nil, types: Types = .found,
    existingRows: ExistingRows = .update, requiresDescribedColumns: Bool = false, addsColumns: Bool = false,
    allowsNoRows: Bool = false
  ) {
    precondition(batchSize > 0, "batchSize is \(batchSize): at least one row is committed at once.")
    self.batchSize = batchSize
    self.isStrict = isStrict
    self.encoding = encoding
    self.dialect = dialect
    self.delimiter = delimiter
    (self.quote, self.escape, self.comment) = (quote, escape, comment)
    self.hasHeader = hasHeader
    self.skippedLines = skippedLines
    self.raggedRows = raggedRows
    self.nullText = nullText
    self.types = types
    self.existingRows = existingRows
    self.requiresDescribedColumns = requiresDescribedColumns
    (self.addsColumns, self.allowsNoRows) = (addsColumns, allowsNoRows)
  }
}

/// How the bytes of a file mean characters.
public typealias TextEncoding = HeadwayCSV.TextEncoding
