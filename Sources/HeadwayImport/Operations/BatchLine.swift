#if SQLite
  import GRDB
  import Headway

  /// The batches of one import: one is being filled, some are on their way to the database.
  ///
  /// Used by the import's thread. The bound on how many are on their way is what keeps the memory constant when the
  /// database is slower than the parser.
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

    /// Waits until nothing is on its way any more, however it ended.
    func waitForAll() {
      for (_, writing) in onTheirWay { writing.waitUntilFinished() }
      onTheirWay = []
    }

    private var database: ImportDatabase { operation.database }

    private func takeBack() throws -> RowBatch {
      let (batch, writing) = onTheirWay.removeFirst()
      writing.waitUntilFinished()
      if let error = writing.error {
        // Those behind it see the failure and write nothing; they are waited for, since they use their batches.
        waitForAll()
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
        var refused: [RefusedRow]? = []
        if batch.count > 0 || !batch.rejectedOrdinals.isEmpty {
          try database.inTransaction(.immediate) {
            refused = try target.writer.write(
              batch, stopsAtRefused: operation.options.isStrict, while: { !operation.isCancelled })
            guard let refused else { return .rollback }
            try target.note(batch, without: refused, isStrict: operation.options.isStrict, database)
            // The statements did not go through GRDB's interface, so its observations would not see them.
            try database.notifyChanges(in: SQLRequest<Row>(sql: "SELECT * FROM \(SQL.name(target.storage.table))"))
            return .commit
          }
        }
        guard let refused else { return }
        let refusedRows = refused.map { target.rejected(batch, $0) }
        guard operation.options.isStrict, let end = refused.first?.position, let first = refusedRows.first else {
          // What is reported is in the database, and these are not.
          let lines = Set(refusedRows.map(\.line))
          let others = batch.rejects.filter { !lines.contains($0.line) }
          return try operation.committed(
            rows: batch.count - refused.count, rejects: (others + refusedRows).sorted { $0.line < $1.line },
            endOffset: batch.endOffset)
        }
        // A strict import ends here; of the batch, only what stands before is in the database.
        let rejects = batch.rejects.filter { $0.line < first.line } + [first]
        try operation.committed(rows: end, rejects: rejects, endOffset: 0)
        throw first.error(path: operation.file)
      } catch is OtherRows {
        target.hasFailed = true
        throw ImportError(otherRowsIn: target.plan.table, path: operation.file)
      } catch {
        target.hasFailed = true
        throw error
      }
    }
  }
#endif
