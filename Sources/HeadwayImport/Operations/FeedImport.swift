#if SQLite
public import Headway

/// Imports a GTFS feed, a folder or a zip archive of CSV files, as operations on a queue: one operation per table, each
/// after the tables that it refers to.
///
/// ```swift
/// let database = try ImportDatabase(path: "vbb.sqlite")
/// let feed = try FeedImport(folder: "vbb-2020", into: database)
/// let queue = OperationQueue()
/// queue.addOperations(feed.operations, waitUntilFinished: true)
/// for report in feed.reports { print(report.table, report.rowCount, report.rejectedRowCount) }
/// ```
///
/// Files of the GTFS reference get its tables, types, keys, references, and indices. Other `.txt` files that look like
/// tables, and columns that the reference does not list, are imported as text. While one table is parsed, another one
/// is written.
///
/// When one operation fails, all others are cancelled. The batches that they have committed stay.
public struct FeedImport: Sendable {
  /// The folder, the archive, or the folder in the archive.
  public let folder: String
  /// One operation per table.
  ///
  /// Referenced tables precede the tables that refer to them.
  ///
  /// Add them to a queue.
  public let operations: [ImportOperation]
  /// The names of `.txt` files that the reference does not list and that do not look like tables, such as `README.txt`.
  public let ignoredFiles: [String]
  /// The progress of the whole feed, in bytes.
  ///
  /// Cancelling it cancels the operations.
  public let progress: OperationProgress

  /// Examines the folder and creates the operations.
  ///
  /// - Parameters:
  ///   - folder: The folder of the feed or, with the trait `Compression`, a zip archive of it.
  ///   - database: The database to import into.
  ///   - options: How the files are imported.
  ///   - tablePrefix: The prefix of all table names, so that one database can hold several feeds.
  ///   - rejectedRowsFolder: The folder for rows that have problems: one ``RejectedRowsFile`` per table, with the
  ///     table's name. Pass nil to only count them.
  /// - Throws: ``ImportError`` with the code `missingFiles`, which names the required files that the feed lacks,
  ///   `cannotReadFile`, `foreignContent`, or `foreignRows`, if a table without a key has rows of another feed.
  public init(
    folder: String, into database: ImportDatabase, options: ImportOptions = ImportOptions(),
    tablePrefix: String = "", rejectedRowsFolder: String? = nil
  ) throws {
    try self.init(
      FeedFiles(inFolder: folder), into: database, options: options, tablePrefix: tablePrefix,
      rejectedRowsFolder: rejectedRowsFolder)
  }

  /// Creates the operations for files that were examined before.
  ///
  /// - Parameters:
  ///   - files: The files of the feed.
  ///   - database: The database to import into.
  ///   - options: How the files are imported.
  ///   - tablePrefix: The prefix of all table names.
  ///   - rejectedRowsFolder: The folder for rows that have problems; nil to only count them.
  /// - Throws: ``ImportError`` with the code `foreignRows`, if a table without a key has rows of another feed.
  public init(
    _ files: FeedFiles, into database: ImportDatabase, options: ImportOptions = ImportOptions(),
    tablePrefix: String = "", rejectedRowsFolder: String? = nil
  ) throws {
    try self.init(
      files, tables: files.tables.map { $0.prefixed(tablePrefix) }, into: database, options: options,
      stopsAtFailure: true,
      issueHandler: { table in rejectedRowsFolder.map { RejectedRowsFile(forTable: table, inFolder: $0) } })
  }

  /// Creates the operations.
  ///
  /// - Parameters:
  ///   - files: The files of the feed.
  ///   - tables: The table of each file.
  ///   - database: The database to import into.
  ///   - options: How the files are imported.
  ///   - stopsAtFailure: Whether the failure of one operation cancels all others.
  ///   - issueHandler: Returns the handler of rows that have problems, for the name of a table.
  /// - Throws: ``ImportError`` with the code `foreignRows`.
  init(
    _ files: FeedFiles, tables: [TableSchema], into database: ImportDatabase, options: ImportOptions,
    stopsAtFailure: Bool, issueHandler: (String) -> (any RowIssueHandler)?
  ) throws {
    let paths = files.tables.map { "\(files.folder)/\(GTFSSchema.fileName(forTable: $0.name))" }
    let run =
      options.existingRowPolicy == .append
      ? try database.appendingRun(
        of: zip(tables, paths).map { ($0.name, $1) }, completesLast: options.completesAppend) : nil
    operations = zip(tables, paths).enumerated().map { position, file in
      ImportOperation(
        readingFrom: file.1, into: file.0, of: database, options: options, issueHandler: issueHandler(file.0.name),
        run: run?.identifier, finishedEntry: run?.finished[position])
    }
    ignoredFiles = files.ignoredFiles
    // Checked before anything is written, because half of a feed on top of another one would be useless.
    if options.existingRowPolicy == .update {
      let withoutKey = operations.filter { $0.table.key.isEmpty }.map { (table: $0.table.name, file: $0.file) }
      try database.requireOwnRows(of: withoutKey, hasHeader: options.hasHeader ?? true)
    }
    folder = files.folder
    progress = OperationProgress(totalUnitCount: 0)
    connect(sizes: files.tables.map { files.sizes[$0.name] ?? 1 }, stopsAtFailure: stopsAtFailure)
  }

  /// The results of each operation so far.
  public var reports: [TableReport] { operations.map(\.report) }

  private func connect(sizes: [Int], stopsAtFailure: Bool) {
    let byTable = Dictionary(uniqueKeysWithValues: operations.map { ($0.table.name, $0) })
    for operation in operations {
      for parent in operation.table.dependencies.sorted() {
        if let parent = byTable[parent] { operation.addDependency(parent) }
      }
      guard stopsAtFailure else { continue }
      operation.failureHandler = { [progress] error in
        // If one table has no rows, the other tables can still be imported.
        if (error as? ImportError)?.code != .noRows { progress.cancel() }
      }
    }
    // Children are cancelled in insertion order. Referenced tables are cancelled last: if they were cancelled first, a
    // table that waits for them could begin without the rows that its own rows refer to.
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
