#if SQLite && Jobs
import Foundation
import Headway
import HeadwayImport
import HeadwayJobs
import HeadwayLines

/// The import of one file, as a durable job.
///
/// The job stores which file is imported and how. The command has created the operation that imports the file.
struct ImportFileJob: OperationJob, Hashable {
  static let kind: JobKind = "headway.import-file"
  // A crash means only that a process was killed, and not that the file is invalid.
  static let options: JobOptions = [.retry(.never), .maxCrashCount(.max)]

  /// The operations of the command, by the names of their tables.
  @TaskLocal static var operations: [String: ImportOperation] = [:]

  var file: String
  var table: String
  /// The size of the file, or of the archive that contains it, in bytes.
  var size: Int?
  /// The modification date of the file or archive.
  var changed: Date?
  var options: String

  init(_ operation: ImportOperation) {
    file = URL(fileURLWithPath: operation.file).standardizedFileURL.path
    table = operation.table.name
    options = String(describing: operation.options)
    let attributes = try? FileManager.default.attributesOfItem(
      atPath: ArchivePath(operation.file)?.archive ?? operation.file)
    size = (attributes?[.size] as? NSNumber)?.intValue
    // The date is rounded to seconds, because the stored form has only milliseconds.
    changed = (attributes?[.modificationDate] as? Date).map {
      Date(timeIntervalSince1970: $0.timeIntervalSince1970.rounded())
    }
  }

  func makeOperation(in context: JobContext) throws -> Headway.Operation {
    guard let operation = Self.operations[table] else {
      throw JobOutcome.discard("The running command does not import \(file).")
    }
    // The operation was cancelled because another one failed.
    guard !operation.isCancelled, !operation.isFinished else { throw JobOutcome.discard("The import was cancelled.") }
    return operation
  }
}
#endif
