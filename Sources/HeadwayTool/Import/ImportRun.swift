#if SQLite
import Headway
import HeadwayImport

/// How the operations of an import run: in a queue, or as durable jobs.
struct ImportRun: Sendable {
  /// The operations that have something to import.
  let operations: [ImportOperation]
  /// Cancels the operations, which stop at their next batch.
  let stop: @Sendable () -> Void
  /// Runs the operations.
  let untilFinished: @Sendable () async throws -> Void
  /// Called after the database was closed.
  ///
  /// Returns whether the same command would continue the import.
  let end: @Sendable () async throws -> Bool

  /// Runs the operations in a queue.
  init(_ operations: [ImportOperation], on queue: OperationQueue) {
    self.operations = operations
    stop = { queue.cancelAllOperations() }
    untilFinished = {
      queue.addOperations(operations, waitUntilFinished: false)
      try await queue.untilAllOperationsAreFinished()
    }
    end = { false }
  }

  #if Jobs
  /// Runs the operations as durable jobs.
  init(_ durable: DurableImport) {
    operations = durable.operations
    stop = { durable.stop() }
    untilFinished = { try await durable.run() }
    end = { try await durable.end() }
  }
  #endif
}
#endif
