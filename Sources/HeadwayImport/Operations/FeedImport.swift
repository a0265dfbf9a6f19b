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
  /// Files of the GTFS reference get its tables, types, keys, references and indices; other `.txt` files, and columns
  /// that the reference does not know, are taken along as text. While one table is parsed, another is written.
  ///
  /// When one operation fails, the others are cancelled: what they have committed stays.
  public struct FeedImport: Sendable {
    /// The folder.
    public let folder: String
    /// One operation a table, in the order of the references; to be added to a queue.
    public let operations: [ImportOperation]
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
    ///   - rejects: Where rows go with which something is wrong; nil to count them only.
    /// - Throws: ``ImportError`` with the code `missingFiles`, naming the files that every feed must have and this one
    ///   has not, `cannotReadFile`, or `foreignRows`, if a table without a key has rows of another feed.
    public init(
      folder: String, into database: ImportDatabase, options: ImportOptions = ImportOptions(),
      rejects: RejectsFile? = nil
    ) throws {
      operations = try Self.tables(inFolder: folder).map { table in
        ImportOperation(
          file: "\(folder)/\(GTFSSchema.fileName(of: table.name))", table: table, into: database, options: options,
          rejects: rejects)
      }
      // Before anything is written: half of a feed over another one would be of no use.
      if options.existingRows == .update {
        let files = operations.filter { $0.table.key.isEmpty }.map { (table: $0.table.name, file: $0.file) }
        try database.requireOwnRows(of: files)
      }
      self.folder = folder
      progress = OperationProgress(totalUnitCount: 0)
      connect()
    }

    /// The tables of a feed, each after those to which it refers.
    ///
    /// Opens no file.
    ///
    /// - Parameter folder: The folder of the feed.
    /// - Returns: A table a file.
    /// - Throws: ``ImportError`` with the code `missingFiles` or `cannotReadFile`, as
    ///   ``init(folder:into:options:rejects:)``.
    public static func tables(inFolder folder: String) throws -> [TableSchema] {
      let files: [String]
      do {
        files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      } catch {
        throw ImportError(.cannotReadFile, path: folder, message: "The folder can't be read.", underlying: error)
      }
      let missing = GTFSSchema.missingFiles(present: Set(files))
      guard missing.isEmpty else {
        let names = missing.map(\.description).joined(separator: ", ")
        throw ImportError(.missingFiles, path: folder, message: "This is not a GTFS feed: there is no \(names).")
      }
      let tables = files.filter { isTable($0, in: folder) }.map { TableSchema(forFile: $0) }
      // The reference has no circle, and tables that it does not know refer to nothing.
      return TableSchema.loadOrder(of: tables) ?? tables
    }

    /// Whether a file of the folder is one to import.
    ///
    /// Not what systems hide there, not a folder, and not an optional file without a byte, which some feeds have in
    /// place of leaving it out.
    private static func isTable(_ name: String, in folder: String) -> Bool {
      guard name.hasSuffix(".txt"), !name.hasPrefix(".") else { return false }
      let path = ("\(folder)/\(name)" as NSString).resolvingSymlinksInPath
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      guard attributes?[.type] as? FileAttributeType != .typeDirectory else { return false }
      let isEmptyFile = attributes?[.type] as? FileAttributeType == .typeRegular && attributes?[.size] as? Int == 0
      return !isEmptyFile || GTFSSchema.requiredFiles.contains(name)
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
