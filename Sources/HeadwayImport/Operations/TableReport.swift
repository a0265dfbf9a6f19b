/// What an import of one file has done, so far or in all.
public struct TableReport: Sendable, Hashable {
  /// The table.
  public let table: String
  /// The file.
  public let file: String
  /// Rows that are in the database now: those of committed batches.
  public internal(set) var rows = 0
  /// Rows that are not in the database; each is in the rejects.
  public internal(set) var rejected = 0
  /// Rows that are in the database and about which the rejects have something to say.
  public internal(set) var reported = 0
  /// Records at the beginning of the file that are no rows: lines before the header, or a header that can't be used.
  ///
  /// Each is in the rejects.
  public internal(set) var skipped = 0
  /// Rows that the table had before and that rows of the file have replaced: with
  /// ``ImportOptions/ExistingRows/replace``, and in a table without a key that is imported again.
  public internal(set) var replaced = 0
  /// Rows that the table had before and no longer has, because the file has fewer.
  public internal(set) var removed = 0
  /// Columns and indices that the import has added to a table that existed, and columns whose types it has changed; a
  /// sentence each, without a full stop.
  public internal(set) var schemaChanges: [String] = []
  /// Columns of a table that existed whose values have become numbers with another text, although the import does not
  /// describe them as numbers; complete at the end.
  ///
  /// Numbers are compared with their text as for ``ImportOptions/Types/found``: zeros at the end of a fraction count
  /// only if the values of the column have different numbers of decimals.
  public internal(set) var convertedColumns: [ConvertedColumn] = []
  /// References that could not be checked, since the table to which they lead is not in the database: a sentence for
  /// each column that has values.
  public internal(set) var uncheckedReferences: [String] = []
  /// What should be known about the whole: how the encoding was found, numbers that are kept as text, and so on; a
  /// sentence each, without a full stop.
  public internal(set) var notes: [String] = []
  /// Bytes of the file whose rows are committed.
  public internal(set) var bytes = 0
  /// Bytes of the file; nil while it is not open, or when it is not a regular file.
  public internal(set) var size: Int?
  /// What the file is like; nil while it is not open.
  public internal(set) var form: FileForm?
  /// Where the rejected and reported rows are; nil if there are none, or nobody wanted them.
  public internal(set) var rejectsPath: String?
  /// How long the import has taken, from the operation's start to its end, or to this moment.
  public internal(set) var duration = Duration.zero
  /// Whether the whole file is in the database.
  public internal(set) var isComplete = false

  /// Rows a second.
  public var rowsPerSecond: Double {
    let seconds = duration / .seconds(1)
    return seconds > 0 ? Double(rows) / seconds : 0
  }
}
