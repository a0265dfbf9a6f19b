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
  /// Rows of the table in whose places are rows of the file, where a table without a key was imported again, or rows
  /// were to be replaced.
  public internal(set) var replaced = 0
  /// Rows that the table had and has no more, because the file lacks them, or has fewer.
  public internal(set) var removed = 0
  /// What has changed of the table beside its rows, and what else should be known of the import; a sentence each,
  /// without a capital letter and a period.
  public internal(set) var notes: [String] = []
  /// References that could not be checked, since the table to which they lead is not in the database: a sentence for
  /// each column that has values.
  public internal(set) var uncheckedReferences: [String] = []
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
