import Headway
public import HeadwayCSV

/// Options for importing a file.
public struct ImportOptions: Sendable, Hashable {
  /// The number of rows in a batch.
  ///
  /// Readers see rows arrive in whole batches, and a cancelled or killed import leaves whole batches. While the
  /// database is busy, several batches that wait are committed together: at most eight batches and 2,000 rows, or two
  /// batches if these have more rows. Each batch is committed separately if there is a
  /// ``ImportOperation/commitHandler``. The default, 250, is the size that the practice's authors found smooth.
  public var batchSize: Int { didSet { Self.requireBatchSize(batchSize) } }
  /// Whether the import fails at the first malformed row, instead of rejecting the row.
  public var stopsAtFirstMalformedRow: Bool
  /// The encoding of the file; nil to detect it.
  ///
  /// A byte order mark or zeros indicate UTF-16 or UTF-32. Other text is read as UTF-8, unless nearly all of its
  /// non-ASCII lines are invalid UTF-8, in the whole file, or in the part of a pipe that has been read. In that case,
  /// the encoding is detected from the characters if the package has the trait `Encodings`: for example Shift JIS,
  /// GB18030, EUC-JP or KOI8-R. Otherwise, and for the languages of Western Europe, it is Windows-1252. See
  /// ``TableReport/layout`` and ``TableReport/notes``.
  public var encoding: CSVTextEncoding?
  /// The dialect of the file; nil to detect it.
  public var dialect: CSVDialect?
  /// The delimiter, if the rest of the dialect is detected.
  public var delimiter: UInt8?
  /// The quote, if the rest of the dialect is detected.
  public var quote: UInt8?
  /// The byte that escapes a quote, if the rest of the dialect is detected.
  public var escape: UInt8?
  /// The first byte of comment lines; nil if there are none, or if ``dialect`` has it.
  ///
  /// Comments before the header are always detected.
  public var comment: UInt8?
  /// Whether the first record names the columns; nil to detect it, which treats the record as a header when in doubt.
  ///
  /// Columns without names are called `column_1`, `column_2` and so on. A file of the GTFS reference has a header.
  public var hasHeader: Bool?
  /// The number of lines before the header, or before the first row if there is no header; nil to detect it.
  public var skippedLineCount: Int?
  /// How rows with more or fewer fields than columns are treated.
  public var raggedRowPolicy: RaggedRowPolicy
  /// The strings that represent a missing value, such as `NULL`.
  ///
  /// An empty field has no value either. In JSON Lines, however, an empty string is a value.
  ///
  /// A quoted field, or a string in JSON Lines, keeps such a text, unless ``nullTextsInQuotes`` is true.
  public var nullTexts: [String]
  /// Whether ``nullTexts`` also apply in quotes.
  public var nullTextsInQuotes: Bool
  /// The format of numbers, in columns whose type is a number or is inferred.
  ///
  /// In JSON Lines, this applies to strings only: a JSON number always has a decimal point.
  public var numberFormat: NumberFormat
  /// The columns of the file to import, in addition to the key columns; empty for all columns.
  public var columns: [String]
  /// The largest number of bytes in a record, from 1 to 2³⁰ − 1; a longer one is rejected.
  ///
  /// No line of a longer quoted field becomes a row. A pipe can't be read again, so there this includes all lines after
  /// a quote that is never closed; in a file, such a quote loses only its own line.
  public var maxRecordLength: Int
  /// The types of columns that are not described, in a table that the import creates.
  public var columnTypePolicy: ColumnTypePolicy
  /// How existing rows in the table are treated.
  public var existingRowPolicy: ExistingRowPolicy
  /// Whether the import fails if the file lacks a column of the table's description, or if the table of the database
  /// has a described column with another type.
  ///
  /// When false, the description only specifies how to read the columns that exist.
  public var requiresSchemaColumns: Bool
  /// Whether columns of the file that the table lacks are added to a table that no import has created.
  ///
  /// When false, the import fails at such a column with ``ImportError/Code/unknownColumn``: its name might be
  /// misspelled, and the schema of an app's table belongs to the app. Columns are always added to tables that imports
  /// have created; ``TableReport/schemaChanges`` lists them.
  public var addsColumns: Bool
  /// Whether the import succeeds if the table cannot have a single row of a file that has rows.
  ///
  /// When false, such an import fails with ``ImportError/Code/noRows``. In both cases the rows in the table stay as
  /// they are. An import that appends to a table with a key succeeds, because the table might have all rows already.
  public var allowsNoRows: Bool
  /// Whether an import that appends completes an earlier one of the same file that ended early.
  ///
  /// When false, all rows from the file are added.
  public var completesAppend: Bool

  /// How rows with more or fewer fields than columns are treated.
  public enum RaggedRowPolicy: String, Sendable, Hashable, CaseIterable {
    /// The rows are rejected.
    ///
    /// It can't be known which of their fields is missing or surplus. A delimiter at the end of all rows is not a
    /// field.
    case reject
    /// Missing fields are assumed to be the last fields of the row and have no value.
    ///
    /// Surplus fields are ignored if they are empty; otherwise the row is rejected.
    case pad
  }

  /// The types of columns that are not described.
  public enum ColumnTypePolicy: String, Sendable, Hashable, CaseIterable {
    /// The types inferred from the rows at the beginning of the file: integer, real, numeric, or text.
    ///
    /// A value becomes a number only if it has exactly the value of its text: whole numbers of 64 bits, and fractions
    /// of at most 15 digits, which lose their trailing zeros. `007`, `+1`, `1e5` and longer numbers stay text. A note
    /// in ``TableReport/notes`` names columns whose zeros can't be restored. If a later value does not fit, the column
    /// becomes `numeric` or `text`, including all earlier values; nothing is lost or rejected. Key columns, and columns
    /// of files in the GTFS reference, are text.
    case inferred
    /// All columns are text.
    case text
  }

  /// How an import treats rows that are already in the table.
  public enum ExistingRowPolicy: Sendable, Hashable {
    /// In a table with a key, rows whose key is in the file are updated in place, and other rows stay. Columns that the
    /// file does not have keep their values. In JSON Lines, a column keeps its value if a line has no member for it;
    /// `null` removes the value.
    ///
    /// In a table without a key, rows that an earlier import of the same file has written are written again. If there
    /// are other rows, or the last row has changed, the import fails with ``ImportError/Code/foreignRows``. Rows are
    /// identified by SQLite's row number. ``TableReport/removedRowCount`` counts rows that the file no longer has. A
    /// table that other programs write to needs a key.
    case update
    /// Existing rows stay, and the rows from the file are added after them.
    ///
    /// In a table with a key, only rows whose key does not exist yet are added.
    ///
    /// If an import ends early, the next import of the same file completes it exactly, even if other programs write to
    /// the table. This is possible because each batch is committed with the number of its last record. If the first
    /// records of the file have changed, or their rows no longer exist, the import fails with
    /// ``ImportError/Code/unfinishedAppend`` and adds nothing. This also applies to pipes with the same name. See
    /// ``ImportOptions/completesAppend``.
    case append
    /// Existing rows stay, and rows from the file whose key already exists are ignored.
    ///
    /// ``TableReport/ignoredRowCount`` counts these rows; they are not among the rejected rows. The table needs a key.
    case ignore
    /// The rows from the file replace the existing rows, in one transaction at the end of the import.
    ///
    /// If the import fails or is cancelled before this transaction, nothing has changed.
    case replace

    /// Whether existing rows stay as they are.
    var keepsRows: Bool { self == .append || self == .ignore }
  }

  private static func requireBatchSize(_ size: Int) {
    require(size > 0, "ImportOptions: batchSize is \(size): use 1 or more.")
  }

  /// Creates options; the defaults suit most files.
  ///
  /// - Parameters:
  ///   - batchSize: The number of rows in a batch, 1 or more.
  ///   - stopsAtFirstMalformedRow: Whether the import fails at the first malformed row.
  ///   - encoding: The encoding of the file; nil to detect it.
  ///   - dialect: The dialect of the file; nil to detect it.
  ///   - delimiter: The delimiter, if the rest of the dialect is detected.
  ///   - quote: The quote, if the rest of the dialect is detected.
  ///   - escape: The byte that escapes a quote, if the rest of the dialect is detected.
  ///   - comment: The first byte of comment lines.
  ///   - hasHeader: Whether the first record names the columns; nil to detect it.
  ///   - skippedLineCount: The number of lines before the header; nil to detect it.
  ///   - raggedRowPolicy: How rows with more or fewer fields than columns are treated.
  ///   - nullTexts: The strings that represent a missing value.
  ///   - nullTextsInQuotes: Whether these strings also apply in quotes.
  ///   - numberFormat: The format of numbers.
  ///   - columns: The columns of the file to import; empty for all columns.
  ///   - maxRecordLength: The largest number of bytes in a record.
  ///   - columnTypePolicy: The types of columns that are not described.
  ///   - existingRowPolicy: How existing rows in the table are treated.
  ///   - requiresSchemaColumns: Whether the file must have all columns of the table's description.
  ///   - addsColumns: Whether columns are added to a table that no import has created.
  ///   - allowsNoRows: Whether the import succeeds if the table cannot have a single row of the file.
  ///   - completesAppend: Whether an append that ended early is completed.
  public init(
    batchSize: Int = 250, stopsAtFirstMalformedRow: Bool = false, encoding: CSVTextEncoding? = nil,
    dialect: CSVDialect? = nil,
    delimiter: UInt8? = nil, quote: UInt8? = nil, escape: UInt8? = nil, comment: UInt8? = nil, hasHeader: Bool? = nil,
    skippedLineCount: Int? = nil, raggedRowPolicy: RaggedRowPolicy = .reject, nullTexts: [String] = [],
    nullTextsInQuotes: Bool = false, numberFormat: NumberFormat = NumberFormat(), columns: [String] = [],
    maxRecordLength: Int = 16 << 20, columnTypePolicy: ColumnTypePolicy = .inferred,
    existingRowPolicy: ExistingRowPolicy = .update,
    requiresSchemaColumns: Bool = false, addsColumns: Bool = false, allowsNoRows: Bool = false,
    completesAppend: Bool = true
  ) {
    Self.requireBatchSize(batchSize)
    self.batchSize = batchSize
    self.stopsAtFirstMalformedRow = stopsAtFirstMalformedRow
    self.encoding = encoding
    self.dialect = dialect
    self.delimiter = delimiter
    (self.quote, self.escape, self.comment) = (quote, escape, comment)
    self.hasHeader = hasHeader
    self.skippedLineCount = skippedLineCount
    self.raggedRowPolicy = raggedRowPolicy
    (self.nullTexts, self.nullTextsInQuotes) = (nullTexts, nullTextsInQuotes)
    (self.numberFormat, self.columns) = (numberFormat, columns)
    self.maxRecordLength = maxRecordLength
    self.columnTypePolicy = columnTypePolicy
    self.existingRowPolicy = existingRowPolicy
    self.requiresSchemaColumns = requiresSchemaColumns
    self.addsColumns = addsColumns
    self.allowsNoRows = allowsNoRows
    self.completesAppend = completesAppend
  }
}

/// The encoding of text: how bytes represent characters.
public typealias CSVTextEncoding = HeadwayCSV.CSVTextEncoding
