#if SQLite
import GRDB
import Headway

/// The writing of some batches of an import, as one transaction, on the writing connection.
struct BatchWriting {
  private let batches: [RowBatch]
  private let operation: ImportOperation
  private let target: TargetTable

  /// A batch that was written, as far as it could be.
  private struct Written {
    let batch: RowBatch
    let refused: [RefusedRow]
  }

  /// - Parameters:
  ///   - batches: The batches, in the order of the file.
  ///   - operation: The import.
  ///   - target: Its table.
  init(_ batches: [RowBatch], _ operation: ImportOperation, _ target: TargetTable) {
    (self.batches, self.operation, self.target) = (batches, operation, target)
  }

  /// Writes and commits them, and tells the import; nothing if that was cancelled, or has failed.
  ///
  /// - Parameter database: The writing connection.
  /// - Throws: What the database says, ``ImportError`` with the code `foreignRows` or `otherWriter`, or that of a row
  ///   that a strict import does not take.
  func run(_ database: Database) throws {
    // What comes after a failed batch of the same table would leave a gap.
    guard !operation.isCancelled, !target.hasFailed else { return }
    do {
      guard let written = try commit(database) else { return }
      try report(written)
    } catch is OtherRows {
      target.hasFailed = true
      throw ImportError(otherRowsIn: target.plan.table, path: operation.file, hasKey: target.plan.hasKey)
    } catch let conflict as AppendConflict {
      target.hasFailed = true
      throw target.error(conflict)
    } catch {
      target.hasFailed = true
      throw error
    }
  }

  /// - Returns: What was committed; nil if all was taken back, since the import was cancelled meanwhile.
  private func commit(_ database: Database) throws -> [Written]? {
    guard batches.contains(where: \.changesTable) else { return batches.map { Written(batch: $0, refused: []) } }
    // By batch and position, rows because of which triggers have ended the transaction.
    var refused = batches.map { _ in [Int: String]() }
    while true {
      var batch = 0
      do {
        return try commit(refusing: refused, current: &batch, database)
      } catch let ended as TransactionEnded {
        // Once more, without that row.
        refused[batch][ended.row.position] = ended.row.reason
      }
    }
  }

  private func commit(
    refusing known: [[Int: String]], current: inout Int, _ database: Database
  ) throws -> [Written]? {
    let isStrict = operation.options.isStrict
    var all: [Written]? = []
    let writer = target.writer
    var isCommitted = false
    writer.begin()
    defer { if isCommitted { writer.commit() } else { writer.rollback() } }
    try database.inTransaction(.immediate) {
      for (position, batch) in batches.enumerated() {
        current = position
        try target.widen(batch.widenings, database)
        let refused = try writer.write(
          batch, refusing: known[position], stopsAtRefused: isStrict, while: { !operation.isCancelled }, database)
        guard let refused else {
          all = nil
          return .rollback
        }
        all?.append(Written(batch: batch, refused: refused))
        if isStrict, !refused.isEmpty { break }
      }
      try target.note(writer.advance(database), database)
      // The statements did not go through GRDB's interface, so its observations would not see them.
      if let region = try target.region(database) { try database.notifyChanges(in: region) }
      return .commit
    }
    isCommitted = all != nil
    return all
  }

  private func report(_ all: [Written]) throws {
    var (rows, rejects, endOffsets) = (0, [RejectedRow](), [Int]())
    var failure: ImportError?
    var conversions = TextConversions()
    for written in all {
      let batch = written.batch
      let refused = written.refused.map { target.rejected(batch, $0) }
      if operation.options.isStrict, let end = written.refused.first?.position, let first = refused.first {
        // A strict import ends here; of the batch, only what comes before it is in the database.
        rows += end
        conversions.count(in: batch, keepsEach: target.mayRefuseAtEnd) { $0 < end }
        rejects += batch.rejects.filter { $0.line < first.line } + [first]
        failure = first.error(path: operation.file)
      } else {
        // What is reported is in the database, and these are not.
        let lines = Set(refused.map(\.line))
        rows += batch.count - refused.count
        let positions = Set(written.refused.map(\.position))
        conversions.count(in: batch, keepsEach: target.mayRefuseAtEnd) { !positions.contains($0) }
        rejects += (batch.rejects.filter { !lines.contains($0.line) } + refused).sorted { $0.line < $1.line }
        endOffsets.append(batch.endOffset)
      }
    }
    try operation.committed(rows: rows, rejects: rejects, endOffsets: endOffsets, conversions: conversions)
    if let failure { throw failure }
  }
}
#endif
