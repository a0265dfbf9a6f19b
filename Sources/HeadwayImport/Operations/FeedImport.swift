#if SQLite
public import Headway

/// Imports a GTFS feed, a folder or a zip archive of CSV files, as operations on a queue: one per table, each after
/// those to which its table refers.
///
/// ```swift
/// let database = try ImportDatabase(path: "vbb.sqlite")
/// let feed = try FeedImport(folder: "vbb-2020", into: database)
/// let queue = OperationQueue()
/// queue.addOperations(feed.operations, waitUntilFinished: true)
/// for report in feed.reports { print(report.table, report.rows, report.rejected) }
/// ```
///
/// Files of the GTFS reference get its tables, types, keys, references and indices; other `.txt` files that look like
/// tables, and columns that the reference does not know, are taken along as text. While one table is parsed, another
/// is written.
///
/// When one operation fails, the others are cancelled: what they have committed stays.
public struct FeedImport: Sendable {
  /// The folder, the archive, or the folder in the archive.
  public let folder: String
  /// One operation a table, in the order of the references; to be added to a queue.
  public let operations: [ImportOperation]
  /// The names of `.txt` files that the reference does not know and that do not look like tables, as a `README.txt`.
  public let leftOut: [String]
  /// The progress of the whole, by bytes.
  ///
  /// Cancelling it cancels the operations.
  public let progress: OperationProgress

  /// Looks at the folder and makes the operations.
  ///
  /// - Parameters:
  ///   - folder: The folder of the feed or, with the trait `Compression`, a zip archive of it.
  ///   - database: The database.
  ///   - options: How the files are imported.
  ///   - tablePrefix: With what the name of each table begins, so that a database can have several feeds.
  ///   - rejectsFolder: The folder for rows with which something is wrong, a ``RejectsFile`` a table, called like the
  ///     table; nil to count them only.
  /// - Throws: ``ImportError`` with the code `missingFiles`, naming the files that every feed must have and this one
  ///   has not, `cannotReadFile`, `foreignContent`, or `foreignRows`, if a table without a key has rows of another
  ///   feed.
  public init(
    folder: String, into database: ImportDatabase, options: ImportOptions = ImportOptions(),
    tablePrefix: String = "", rejectsFolder: String? = nil
  ) throws {
    try self.init(
      FeedFiles(inFolder: folder), into: database, options: options, tablePrefix: tablePrefix,
      rejectsFolder: rejectsFolder)
  }

  /// Makes the operations for files that were looked at before.
  ///
  /// - Parameters:
  ///   - files: The files of the feed.
  ///   - database: The database.
  ///   - options: How the files are imported.
  ///   - tablePrefix: With what the name of each table begins.
  ///   - rejectsFolder: The folder for rows with which something is wrong; nil to count them only.
  /// - Throws: ``ImportError`` with the code `foreignRows`, if a table without a key has rows of another feed.
  public init(
    _ files: FeedFiles, into database: ImportDatabase, options: ImportOptions = ImportOptions(),
    tablePrefix: String = "", rejectsFolder: String? = nil
  ) throws {
    try self.init(
      files, tables: files.tables.map { $0.prefixed(tablePrefix) }, into: database, options: options,
      stopsAtFailure: true, rejects: { table in rejectsFolder.map { RejectsFile(forTable: table, inFolder: $0) } })
  }

  /// Makes the operations.
  ///
  /// - Parameters:
  ///   - files: The files of the feed.
  ///   - tables: The table of each file.
  ///   - database: The database.
  ///   - options: How the files are imported.
  ///   - stopsAtFailure: When one operation fails, the others are cancelled.
  ///   - rejects: Where rows go with which something is wrong, by the name of the table.
  /// - Throws: ``ImportError`` with the code `foreignRows`.
  init(
    _ files: FeedFiles, tables: [TableSchema], into database: ImportDatabase, options: ImportOptions,
    stopsAtFailure: Bool, rejects: (String) -> (any RejectedRowReceiver)?
  ) throws {
    let paths = files.tables.map { "\(files.folder)/\(GTFSSchema.fileName(of: $0.name))" }
    let run =
      options.existingRows == .append
      ? try database.appendingRun(
        of: zip(tables, paths).map { ($0.name, $1) }, completesLast: options.completesAppend) : nil
    operations = zip(tables, paths).enumerated().map { position, file in
      ImportOperation(
        readingFrom: file.1, into: file.0, of: database, options: options, rejects: rejects(file.0.name),
        run: run?.identifier, finishedEntry: run?.finished[position])
    }
    leftOut = files.leftOut
    // Before anything is written: half of a feed over another one would be of no use.
    if options.existingRows == .update {
      let withoutKey = operations.filter { $0.table.key.isEmpty }.map { (table: $0.table.name, file: $0.file) }
      try database.requireOwnRows(of: withoutKey, hasHeader: options.hasHeader ?? true)
    }
    folder = files.folder
    progress = OperationProgress(totalUnitCount: 0)
    connect(sizes: files.tables.map { files.sizes[$0.name] ?? 1 }, stopsAtFailure: stopsAtFailure)
  }

  /// What each operation has done so far.
  public var reports: [TableReport] { operations.map(\.report) }

  private func connect(sizes: [Int], stopsAtFailure: Bool) {
    let byTable = Dictionary(uniqueKeysWithValues: operations.map { ($0.table.name, $0) })
    for operation in operations {
      for parent in operation.table.dependencies.sorted() {
        if let parent = byTable[parent] { operation.addDependency(parent) }
      }
      guard stopsAtFailure else { continue }
      operation.onFailure { [progress] error in
        // A table without rows is no reason to have none of the others.
        if (error as? ImportError)?.code != .noRows { progress.cancel() }
      }
    }
    // Children are cancelled in the order of adding: the tables of which others wait come last, or those could begin
    // in between without the rows to which their own refer.
    var total: Int64 = 0
    for (operation, size) in zip(operations, sizes).reversed() {
      let units = Int64(max(1, size))
      total += units
      progress.addChild(operation.progress, withPendingUnitCount: units)
    }
    progress.totalUnitCount = total
  }
}
#endif
