#if SQLite && Jobs
import Foundation
import Headway
import HeadwayImport
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite

/// An import whose files are durable jobs.
///
/// No matter when the process ends, the same command imports the files that are not in the database yet. The jobs are
/// in a store next to the database and wait for each other in the same way as the tables refer to each other. The store
/// is removed when all files have been imported.
struct DurableImport {
  /// The operations of the files that are not in the database yet.
  let operations: [ImportOperation]
  /// The files that an earlier command has imported.
  let finishedFiles: [String]

  private let path: String
  private let lock: DurableLock
  private let target: ImportDatabase
  private let store: SQLiteJobStore
  private let jobs: Jobs
  private let worker: JobWorker
  private let ids: [JobID]

  /// Continues a stored import, or stores a new one if the stored jobs are missing or don't match the operations.
  ///
  /// - Parameters:
  ///   - operations: The operations for all files. They must not be in a queue.
  ///   - target: The database of the operations.
  ///   - queue: The queue that runs the operations.
  /// - Throws: `JobError`, or an ``ImportError`` if another process imports into the database.
  init(_ operations: [ImportOperation], into target: ImportDatabase, on queue: Headway.OperationQueue) async throws {
    self.target = target
    path = "\(target.path).import-jobs"
    lock = try DurableLock(besideDatabase: target.path)
    store = try SQLiteJobStore(path: path)
    jobs = Jobs(store)
    // After the first signal, the files that are being imported stop at their next batch.
    worker = JobWorker(
      jobs, kinds: [ImportFileJob.self], name: "headway import", gracePeriod: .zero, cancellationPeriod: .seconds(60))
    worker.serve(on: queue)

    // Jobs of a process that was killed are no longer running.
    _ = try await store.rescue()
    let stored = try await jobs.jobs(limit: .max)
    let finished = try Self.finishedTables(stored, operations, target)
    if finished != nil {
      ids = stored.map(\.id)
      _ = try await jobs.perform(.retry(.all))
    } else {
      _ = try await jobs.perform(.cancel(.all))
      _ = try await jobs.perform(.delete(.all))
      ids = try await Self.enqueue(operations, jobs)
    }
    let isFinished = { (operation: ImportOperation) in finished?.contains(operation.table.name) == true }
    self.operations = operations.filter { !isFinished($0) }
    finishedFiles = operations.filter(isFinished).map(\.file)
    Self.separate(operations)
    for operation in operations where isFinished(operation) {
      operation.progress.totalUnitCount = 1
      operation.progress.completedUnitCount = 1
    }
  }

  /// Returns the tables whose files have been imported; nil if the stored jobs don't match the operations.
  private static func finishedTables(
    _ stored: [JobRecord], _ operations: [ImportOperation], _ target: ImportDatabase
  ) throws -> Set<String>? {
    let wanted = operations.map(ImportFileJob.init)
    let found = try stored.map { try $0.payload.decode(ImportFileJob.self) }
    guard Set(found) == Set(wanted) else { return nil }
    let finished = Set(zip(stored, found).filter { $0.0.state == .succeeded }.map(\.1.table))
    // The database might have been replaced in the meantime.
    for operation in operations where finished.contains(operation.table.name) {
      guard try target.hasFinished(operation) else { return nil }
    }
    return finished
  }

  /// Stores a job for each operation, with the same dependencies.
  private static func enqueue(_ operations: [ImportOperation], _ jobs: Jobs) async throws -> [JobID] {
    var batch = JobBatch()
    var entries: [String: JobBatch.Entry<Void>] = [:]
    for operation in operations {
      entries[operation.table.name] = batch.add(ImportFileJob(operation))
    }
    for operation in operations {
      guard let entry = entries[operation.table.name] else { continue }
      for case let parent as ImportOperation in operation.dependencies {
        if let parent = entries[parent.table.name] { batch.addDependency(parent, to: entry) }
      }
    }
    return try await jobs.enqueue(batch).ids
  }

  /// Removes the dependencies of the operations, because the store has them instead.
  private static func separate(_ operations: [ImportOperation]) {
    for operation in operations {
      for parent in operation.dependencies { operation.removeDependency(parent) }
    }
  }

  /// Runs the operations until all jobs have ended, or ``stop()`` is called, and checks that the database has their
  /// tables.
  ///
  /// - Throws: `JobError`, or ``ImportError`` with the code `otherWriter`.
  func run() async throws {
    let byTable = Dictionary(operations.map { ($0.table.name, $0) }) { first, _ in first }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await ImportFileJob.$operations.withValue(byTable) { try await worker.run() } }
      group.addTask {
        // Errors of the operations are reported at the end of the import.
        for id in ids { try? await jobs.handle(id: id, of: ImportFileJob.self).untilSucceeded() }
        worker.stop()
      }
      try await group.next()
      worker.stop()
      group.cancelAll()
      try await group.waitForAll()
    }
    for operation in operations where operation.report.isComplete {
      guard try target.hasFinished(operation) else {
        throw ImportError(
          .otherWriter, path: operation.file,
          context: "Another program has removed the table \(operation.table.name) or its history during the import.")
      }
    }
  }

  /// Stops the operations at their next batch.
  ///
  /// Their jobs remain in the store.
  func stop() { worker.stop() }

  /// Closes the store, which is removed if all files have been imported.
  ///
  /// - Returns: Whether the same command would continue the import.
  /// - Throws: `JobError`.
  func end() async throws -> Bool {
    defer { lock.remove() }
    let records = try await jobs.jobs(limit: .max)
    await store.close()
    guard records.allSatisfy({ $0.state == .succeeded }) else { return true }
    for suffix in ["", "-wal", "-shm", "-headway"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    return false
  }
}
#endif
