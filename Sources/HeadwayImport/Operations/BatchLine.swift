#if SQLite
  import GRDB
  import Headway

  /// The batches of one import: one is being filled, some are on their way to the database.
  ///
  /// Used by the import's thread. The bound on how many are on their way is what keeps the memory constant when the database
  /// is slower than the parser.
  final class BatchLine {
    private static let mostOnTheirWay = 4

    private let operation: ImportOperation
    private let target: TargetTable
    /// The batch that the parser fills.
    private(set) var filling: RowBatch
    private var onTheirWay: [(batch: RowBatch, writing: Headway.Operation)] = []

    init(_ operation: ImportOperation, _ target: TargetTable) {
      self.operation = operation
      self.target = target
      filling = Self.makeBatch(operation, target)
    }

    private static func makeBatch(_ operation: ImportOperation, _ target: TargetTable) -> RowBatch {
      RowBatch(columnCount: target.plan.columns.count, capacity: operation.options.batchSize)
    }

    /// Sends the batch to the database and begins another; waits when too many are on their way.
    ///
    /// - Throws: The error of a batch sent earlier.
    func handOver() throws {
      let writing = database.write { [operation, target, filling] database in
        try Self.write(filling, operation, target, database)
      }
      onTheirWay.append((filling, writing))
      if onTheirWay.count < Self.mostOnTheirWay {
        filling = Self.makeBatch(operation, target)
      } else {
        filling = try takeBack()
        filling.removeAll()
      }
    }

    /// Sends what is left, and waits until all is written.
    func finish() throws {
      if !filling.isEmpty, !operation.isCancelled { try handOver() }
      while !onTheirWay.isEmpty { _ = try takeBack() }
      filling.removeAll()
    }

    /// Sends entries for the rejects that belong to no batch.
    func report(_ rows: [RejectedRow]) throws {
      guard !rows.isEmpty else { return }
      filling.rejects += rows
      try finish()
    }

    private var database: ImportDatabase { operation.database }

    private func takeBack() throws -> RowBatch {
      let (batch, writing) = onTheirWay.removeFirst()
      writing.waitUntilFinished()
      if let error = writing.error {
        // Those behind it see the failure and write nothing; they are waited for, since they use their batches.
        for other in onTheirWay { other.writing.waitUntilFinished() }
        onTheirWay = []
        throw error
      }
      return batch
    }

    /// Writes one batch as one transaction, on the writing connection.
    private static func write(
      _ batch: RowBatch, _ operation: ImportOperation, _ target: TargetTable, _ database: Database
    ) throws {
      // What comes after a failed batch of the same table would leave a gap.
      guard !operation.isCancelled, !target.hasFailed else { return }
      do {
        var rejects = batch.rejects
        var rows = 0
        var isCommitted = true
        if batch.count > 0 {
          try database.inTransaction(.immediate) {
            guard let duplicates = try target.writer.write(batch, while: { !operation.isCancelled }) else {
              isCommitted = false
              return .rollback
            }
            rows = batch.count - duplicates.count
            let duplicateRows = duplicates.map { target.duplicate(batch, $0) }
            if operation.options.isStrict, let first = duplicateRows.first { throw first.error(path: operation.file) }
            rejects = (rejects + duplicateRows).sorted { $0.line < $1.line }
            // The statements did not go through GRDB's interface, so its observations would not see them.
            try database.notifyChanges(in: Table(target.plan.table))
            return .commit
          }
        }
        if isCommitted { try operation.committed(rows: rows, rejects: rejects, endOffset: batch.endOffset) }
      } catch {
        target.hasFailed = true
        throw error
      }
    }
  }
#endif
