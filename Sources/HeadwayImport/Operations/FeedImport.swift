#if SQLite
  import Foundation
  public import Headway

  /// Imports a GTFS feed, a folder of CSV files, as operations on a queue: one a table, each after those to which its
  /// table refers.
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
    /// The folder.
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
    ///   - folder: The folder of the feed.
    ///   - database: The database.
    ///   - options: How the files are imported.
    ///   - rejectsFolder: The folder for rows with which something is wrong, a ``RejectsFile`` a table, called like the
    ///     table; nil to count them only.
    /// - Throws: ``ImportError`` with the code `missingFiles`, naming the files that every feed must have and this one
    ///   has not, `cannotReadFile`, or `foreignRows`, if a table without a key has rows of another feed.
    public init(
      folder: String, into database: ImportDatabase, options: ImportOptions = ImportOptions(),
      rejectsFolder: String? = nil
    ) throws {
      try self.init(
        FeedFiles(inFolder: folder), into: database, options: options, rejectsFolder: rejectsFolder)
    }

    /// Makes the operations for files that were looked at before.
    ///
    /// - Parameters:
    ///   - files: The files of the feed.
    ///   - database: The database.
    ///   - options: How the files are imported.
    ///   - rejectsFolder: The folder for rows with which something is wrong; nil to count them only.
    /// - Throws: ``ImportError`` with the code `foreignRows`, if a table without a key has rows of another feed.
    public init(
      _ files: FeedFiles, into database: ImportDatabase, options: ImportOptions = ImportOptions(),
      rejectsFolder: String? = nil
    ) throws {
      operations = files.tables.map { table in
        ImportOperation(
          file: "\(files.folder)/\(GTFSSchema.fileName(of: table.name))", table: table, into: database,
          options: options,
          rejects: rejectsFolder.map { RejectsFile(forTable: table.name, inFolder: $0) })
      }
      leftOut = files.leftOut
      // Before anything is written: half of a feed over another one would be of no use.
      if options.existingRows == .update {
        let withoutKey = operations.filter { $0.table.key.isEmpty }.map { (table: $0.table.name, file: $0.file) }
        try database.requireOwnRows(of: withoutKey, hasHeader: options.hasHeader)
      }
      folder = files.folder
      progress = OperationProgress(totalUnitCount: 0)
      connect()
    }

    /// What each operation has done so far.
    public var reports: [TableReport] { operations.map(\.report) }

    private func connect() {
      let byTable = Dictionary(uniqueKeysWithValues: operations.map { ($0.table.name, $0) })
      var total: Int64 = 0
      for operation in operations {
        for parent in operation.table.dependencies.sorted() {
          if let parent = byTable[parent] { operation.addDependency(parent) }
        }
        let attributes = try? FileManager.default.attributesOfItem(atPath: operation.file)
        let size = max(1, (attributes?[.size] as? Int64) ?? 1)
        total += size
        progress.addChild(operation.progress, withPendingUnitCount: size)
        operation.onFailure { [progress] in progress.cancel() }
      }
      progress.totalUnitCount = total
    }
  }
#endif
