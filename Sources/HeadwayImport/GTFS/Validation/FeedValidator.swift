#if SQLite
import Foundation
public import Headway
import Synchronization

/// Finds errors and oddities in a GTFS feed: checks files, fields, and rows against the conditions of the reference.
///
/// ```swift
/// let validator = try FeedValidator(folder: "vbb-2020")
/// OperationQueue().addOperations(validator.operations, waitUntilFinished: true)
/// for issue in validator.issues { print(issue) }
/// ```
///
/// The feed is imported into a temporary database, which the validator queries. The database needs about as much disk
/// space as the feed and is removed when the validator is released.
public final class FeedValidator: Sendable {
  /// The operations of the validator: one import per table, followed by the queries.
  ///
  /// Add them to a queue.
  public let operations: [Headway.Operation]
  /// The imports among ``operations``.
  public let imports: [ImportOperation]
  /// The progress of the imports, in bytes.
  ///
  /// Cancelling it cancels the imports.
  public let progress: OperationProgress

  private let examination: FeedExamination
  private let temporaryFolder: TemporaryFolder

  /// Examines the folder and creates the operations.
  ///
  /// - Parameters:
  ///   - folder: The folder of the feed or, with the trait `Compression`, a zip archive of it.
  ///   - options: How the files are read.
  /// - Throws: ``ImportError`` with the code `missingFiles`, if none of the files belongs to a feed, `cannotReadFile`,
  ///   `foreignContent`, or `database`, if nothing can be written to the folder for temporary files.
  public init(folder: String, options: ImportOptions = ImportOptions()) throws {
    let source = try SourceFolder(path: folder)
    let files = try FeedFiles(source, requiresFiles: !source.isFeed)
    temporaryFolder = try TemporaryFolder()
    let database = try ImportDatabase(path: "\(temporaryFolder.path)/feed.sqlite")
    let issues = CollectedRowIssues()
    var options = options
    options.allowsNoRows = true
    // The tables have neither keys nor references, so that rows are imported even if they violate the rules.
    let imported = try FeedImport(
      files, tables: files.tables.map(\.unconstrained), into: database, options: options, stopsAtFailure: false,
      issueHandler: { _ in issues })
    examination = FeedExamination(
      files, present: Set(source.files.map(\.name)), imports: imported.operations, issues, database)
    imports = imported.operations
    progress = imported.progress
    for operation in imports { examination.addDependency(operation) }
    operations = imports + [examination]
  }

  /// The issues, errors first, sorted by file.
  ///
  /// Empty until the operations have finished, or if they were cancelled.
  public var issues: [FeedIssue] { examination.issues }
}

/// A folder that is removed when the instance is released.
private final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("headway-check-\(UUID().uuidString)").path
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw ImportError(.database, path: path, context: "A temporary folder can't be created.", underlyingError: error)
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

extension TableSchema {
  /// The table without its key and references, and with an index instead of the key.
  fileprivate var unconstrained: TableSchema {
    var table = self
    for position in columns.indices { table.columns[position].reference = nil }
    if !key.isEmpty { table.indices.append(key) }
    table.key = []
    return table
  }
}
#endif
