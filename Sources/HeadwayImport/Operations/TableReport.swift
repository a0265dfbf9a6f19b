public import HeadwayCSV

/// The results of importing one file, so far or in total.
public struct TableReport: Sendable, Hashable {
  /// The table's name.
  public let table: String
  /// The path of the file.
  public let file: String
  /// The number of rows that are in the database now: those of committed batches.
  public internal(set) var rowCount = 0
  /// The number of rows that are not in the database; each is in the file of rejected rows.
  public internal(set) var rejectedRowCount = 0
  /// The number of rows that were ignored because the table already had a row with the same key, with
  /// ``ImportOptions/ExistingRowPolicy/ignore``.
  public internal(set) var ignoredRowCount = 0
  /// The number of rows that are both in the database and in the file of rejected rows, because they have a problem.
  public internal(set) var flaggedRowCount = 0
  /// The number of records at the beginning of the file that are not rows: lines before the header, or a header that
  /// can't be used.
  ///
  /// Each is in the file of rejected rows.
  public internal(set) var skippedRecordCount = 0
  /// Records at the beginning of the file that might be rows but were not imported as rows: additional header lines,
  /// and records before the header that are not comments; one sentence each, without a period.
  public internal(set) var headerNotes: [String] = []
  /// The number of existing rows that rows from the file have replaced: with
  /// ``ImportOptions/ExistingRowPolicy/replace``, and in a table without a key that is imported again.
  public internal(set) var replacedRowCount = 0
  /// The number of existing rows that were removed because the file has fewer rows.
  public internal(set) var removedRowCount = 0
  /// Columns and indices that the import has added to an existing table, and columns whose types it has changed; one
  /// sentence each, without a period.
  public internal(set) var schemaChanges: [String] = []
  /// Columns of an existing table whose values have become numbers with a different text, although the import does not
  /// describe them as numbers.
  ///
  /// The list is complete when the import has finished.
  ///
  /// Numbers are compared with their text as for ``ImportOptions/ColumnTypePolicy/inferred``: trailing zeros of a
  /// fraction count only if the values of the column have different numbers of decimal places.
  public internal(set) var convertedColumns: [ConvertedColumn] = []
  /// References that could not be checked because the table that they refer to is not in the database: one sentence for
  /// each column that has values.
  public internal(set) var uncheckedReferences: [String] = []
  /// Notes about the whole import, such as how the encoding was detected, or which numbers are kept as text; one
  /// sentence each, without a period.
  public internal(set) var notes: [String] = []
  /// The number of bytes of the file whose rows are committed.
  public internal(set) var committedByteCount = 0
  /// The size of the file in bytes; nil until the file is open, or if it is not a regular file.
  public internal(set) var fileSize: Int?
  /// The layout of the file; nil until the file is open.
  public internal(set) var layout: CSVLayout?
  /// The path of the file of rejected rows; nil if there are none, or if the import only counts them.
  public internal(set) var rejectedRowsPath: String?
  /// The time that the import has taken, from the start of the operation until it finished, or until now.
  public internal(set) var duration = Duration.zero
  /// Whether the whole file is in the database.
  public internal(set) var isComplete = false

  /// The number of rows imported per second.
  public var rowsPerSecond: Double {
    let seconds = duration / .seconds(1)
    return seconds > 0 ? Double(rowCount) / seconds : 0
  }
}
