public import HeadwayCSV

/// How a file is imported.
public struct ImportOptions: Sendable, Hashable {
  /// How many rows make a batch.
  ///
  /// Readers see rows arrive in whole batches, and a cancelled or killed import leaves whole batches. While the
  /// database is busy, several that wait are committed at once, at most 4,000 rows or four batches; each by itself if
  /// there is an observer of ``ImportOperation/onCommit(_:)``. 250 is what the practice's authors found smooth.
  public var batchSize: Int
  /// Whether the first malformed row ends the import with an error, instead of being rejected.
  public var isStrict: Bool
  /// The encoding of the file; nil to find it in its beginning.
  ///
  /// A byte order mark or zeros show UTF-16 or UTF-32. Other text is read as UTF-8, unless nearly all of its non-ASCII
  /// lines are invalid UTF-8, in the whole file, or in the part of a pipe that has been read. In that case, the
  /// encoding is detected from the characters if the package has the trait `Encodings`: for example Shift JIS, GB18030,
  /// EUC-JP or KOI8-R. Otherwise, and for the languages of Western Europe, it is Windows-1252. See ``TableReport/form``
  /// and ``TableReport/notes``.
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
  /// The texts of fields that have no value, such as `NULL`; empty fields have none either.
  ///
  /// Fields in quotes keep such a text, and so do strings in JSON Lines, unless ``nullTextsInQuotes`` is true.
  public var nullTexts: [String]
  /// Whether ``nullTexts`` mean no value in quotes too.
  public var nullTextsInQuotes: Bool
  /// How numbers are written, in columns whose type is a number or is found.
  ///
  /// In JSON Lines, this applies to strings only: a JSON number always has a decimal point.
  public var numberFormat: NumberFormat
  /// The columns of the file that are imported, in addition to those of the key; all if it is empty.
  public var columns: [String]
  /// The largest number of bytes in a record, from 1 to 2³⁰ − 1; a longer one is rejected.
  ///
  /// No line of a longer quoted field becomes a row. In a pipe, which can't be read again, that includes all lines
  /// behind a quote that is never closed; in a file, such a quote costs its own line.
  public var maximumRecordLength: Int
  /// The types of columns that are not described, in a table that the import makes.
  public var types: Types
  /// What becomes of the rows that the table has.
  public var existingRows: ExistingRows
  /// Whether it is an error if the file lacks a column that the table's description has, or the table of the database
  /// has one with another type.
  ///
  /// When false, what is described says how to read a column that is there.
  public var requiresDescribedColumns: Bool
  /// Whether columns of the file that the table lacks are added to a table that no import has created.
  ///
  /// When false, such a column is an error, ``ImportError/Code/unknownColumn``: its name might be misspelled, and the
  /// schema of an app's table is the app's. Columns are always added to tables that imports have created;
  /// ``TableReport/schemaChanges`` names them.
  public var addsColumns: Bool
  /// Whether the import succeeds if the table cannot have a single row of a file that has rows.
  ///
  /// When false, such an import fails with ``ImportError/Code/noRows``. In both cases the rows of the table stay as
  /// they are. An import that appends to a table with a key succeeds, because the table may have all rows already.
  public var allowsNoRows: Bool
  /// Whether an import that appends completes an earlier one of the same file that ended early.
  ///
  /// When false, all rows of the file are added.
  public var completesAppend: Bool

  /// What becomes of rows with more or fewer fields than there are columns.
  public enum RaggedRows: String, Sendable, Hashable, CaseIterable {
    /// They are rejected.
    ///
    /// Which of their fields is missing or too many can't be known. A delimiter at the end of all rows is no field.
    case reject
    /// Missing fields, taken to be the last ones, have no value; surplus ones are left out if they are empty, and else
    /// the row is rejected.
    case pad
  }

  /// The types of columns that are not described.
  public enum Types: String, Sendable, Hashable, CaseIterable {
    /// By the rows of the file's beginning: integer, real, numeric, or text.
    ///
    /// A value becomes a number only if it has exactly the value of its text: whole numbers of 64 bits, and fractions
    /// of at most 15 digits, which lose zeros at their end. `007`, `+1`, `1e5` and longer numbers stay text. A note in
    /// ``TableReport/notes`` names columns whose zeros can't be restored. If a later value does not fit, the column
    /// becomes `numeric` or `text`, with all values before; nothing is lost or rejected. Columns of the key, and those
    /// of files of the GTFS reference, are text.
    case found
    /// Text.
    case text
  }

  /// What becomes of the rows that a table has before an import.
  public enum ExistingRows: Sendable, Hashable {
    /// In a table with a key, rows with a key of the file are updated in place, and others stay.
    ///
    /// In a table without a key, rows that an earlier import of the same file has written are written again. It is an
    /// error, ``ImportError/Code/foreignRows``, if there are other rows, or the last row has changed. Rows are known
    /// by SQLite's row number. ``TableReport/removed`` counts rows that the file no longer has. A table to which others
    /// write needs a key.
    case update
    /// They stay, and the rows of the file are added behind them; in a table with a key, those whose key is not there.
    ///
    /// The next import of the same file completes one that ended early, exactly, even if other programs write to the
    /// table: each batch is committed with the number of its last record. If the first records of the file have changed
    /// or their rows are gone, the import fails with ``ImportError/Code/unfinishedAppend`` and adds nothing. The same
    /// holds for pipes of the same name. See ``ImportOptions/completesAppend``.
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
  ///   - nullTexts: The texts of fields that have no value.
  ///   - nullTextsInQuotes: Whether these mean no value in quotes too.
  ///   - numberFormat: How numbers are written.
  ///   - columns: The columns of the file that are imported; all if it is empty.
  ///   - maximumRecordLength: The largest number of bytes in a record.
  ///   - types: The types of columns that are not described.
  ///   - existingRows: What becomes of the rows that the table has.
  ///   - requiresDescribedColumns: Whether the file must have all columns that the table's description has.
  ///   - addsColumns: Whether columns are added to a table that no import has created.
  ///   - allowsNoRows: Whether the import succeeds if the table cannot have a single row of the file.
  ///   - completesAppend: Whether an append that ended early is completed.
  public init(
    batchSize: Int = 250, isStrict: Bool = false, encoding: TextEncoding? = nil, dialect: CSVDialect? = nil,
    delimiter: UInt8? = nil, quote: UInt8? = nil, escape: UInt8? = nil, comment: UInt8? = nil, hasHeader: Bool? = nil,
    skippedLines: Int? = nil, raggedRows: RaggedRows = .reject, nullTexts: [String] = [],
    nullTextsInQuotes: Bool = false, numberFormat: NumberFormat = NumberFormat(), columns: [String] = [],
    maximumRecordLength: Int = 16 << 20, types: Types = .found, existingRows: ExistingRows = .update,
    requiresDescribedColumns: Bool = false, addsColumns: Bool = false, allowsNoRows: Bool = false,
    completesAppend: Bool = true
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
    (self.nullTexts, self.nullTextsInQuotes) = (nullTexts, nullTextsInQuotes)
    (self.numberFormat, self.columns) = (numberFormat, columns)
    self.maximumRecordLength = maximumRecordLength
    self.types = types
    self.existingRows = existingRows
    self.requiresDescribedColumns = requiresDescribedColumns
    self.addsColumns = addsColumns
    self.allowsNoRows = allowsNoRows
    self.completesAppend = completesAppend
  }
}

/// How the bytes of a file mean characters.
public typealias TextEncoding = HeadwayCSV.TextEncoding
