#if SQLite
import GRDB
import Headway

/// Writes some batches of an import as one transaction, on the writing connection.
struct BatchWriting {
  private let batches: [RowBatch]
  private let operation: ImportOperation
  private let target: TargetTable

  /// A batch that was written, except for the rows that the table rejected.
  private struct Written {
    let batch: RowBatch
    let refused: [RefusedRow]
  }

  /// - Parameters:
  ///   - batches: The batches, in file order.
  ///   - operation: The operation that imports the file.
  ///   - target: The table of the import.
  init(_ batches: [RowBatch], _ operation: ImportOperation, _ target: TargetTable) {
    (self.batches, self.operation, self.target) = (batches, operation, target)
  }

  /// Writes and commits the batches and reports them to the import.
  ///
  /// Does nothing if the import was cancelled or has failed.
  ///
  /// - Parameter database: The connection that writes.
  /// - Throws: The error of the database; ``ImportError`` with the code `foreignRows` or `otherWriter`; or the error of
  ///   a rejected row, if the import is strict.
  func run(_ database: Database) throws {
    // After a batch of the table has failed, writing a later one would leave a gap.
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

  /// - Returns: The committed batches; nil if the transaction was rolled back because the import was cancelled.
  private func commit(_ database: Database) throws -> [Written]? {
    guard batches.contains(where: \.changesTable) else { return batches.map { Written(batch: $0, refused: []) } }
    let enforces = target.places.enforcesReferences
    if enforces { try database.execute(sql: "PRAGMA foreign_keys = ON") }
    defer { if enforces { try? database.execute(sql: "PRAGMA foreign_keys = OFF") } }
    // For each batch, by position, the rows that made a trigger end the transaction.
    var refused = batches.map { _ in [Int: String]() }
    while true {
      var batch = 0
      do {
        return try commit(refusing: refused, current: &batch, database)
      } catch let ended as TransactionEnded {
        // Try again without that row.
        refused[batch][ended.row.position] = ended.row.reason
      }
    }
  }

  private func commit(
    refusing known: [[Int: String]], current: inout Int, _ database: Database
  ) throws -> [Written]? {
    let stopsAtFirstMalformedRow = operation.options.stopsAtFirstMalformedRow
    var all: [Written]? = []
    let writer = target.writer
    var isCommitted = false
    writer.begin()
    defer { if isCommitted { writer.commit() } else { writer.rollback() } }
    try database.inTransaction(.immediate) {
      // SQLite then counts violations, and a row can refer to a later row.
      if target.places.enforcesReferences { try database.execute(sql: "PRAGMA defer_foreign_keys = ON") }
      for (position, batch) in batches.enumerated() {
        current = position
        try target.widen(batch.widenings, database)
        let refused = try writer.write(
          batch, refusing: known[position], stopsAtRefused: stopsAtFirstMalformedRow, while: { !operation.isCancelled },
          database)
        guard let refused else {
          all = nil
          return .rollback
        }
        all?.append(Written(batch: batch, refused: refused))
        if stopsAtFirstMalformedRow, let last = refused.last, !target.plan.isIgnored(last.reason) { break }
      }
      if target.places.enforcesReferences, !stopsAtFirstMalformedRow, let written = all {
        all = try retry(written, database)
      }
      try target.note(writer.advance(database), database)
      // The statements did not go through GRDB's interface, so its observations would not see them.
      if let region = try target.region(database) { try database.notifyChanges(in: region) }
      return .commit
    }
    isCommitted = all != nil
    return all
  }

  /// Writes rows again that refer to later rows.
  ///
  /// The last row is tried first, and the direction then alternates. If each row refers to the next one, a single pass
  /// in file order would write only one more row.
  private func retry(_ all: [Written], _ database: Database) throws -> [Written] {
    var all = all
    var count = -1
    var isBackward = true
    while case let left = all.reduce(0, { $0 + $1.refused.count }), left > 0, left != count {
      count = left
      for position in isBackward ? Array(all.indices.reversed()) : Array(all.indices) {
        let batch = all[position].batch
        let refused = isBackward ? all[position].refused.reversed() : all[position].refused
        let left = try target.writer.retry(refused, of: batch, database)
        all[position] = Written(batch: batch, refused: isBackward ? left.reversed() : left)
      }
      isBackward.toggle()
    }
    return all
  }

  private func report(_ all: [Written]) throws {
    var (rows, issues, endOffsets) = (0, [RowIssue](), [Int]())
    var failure: ImportError?
    var conversions = TextConversions()
    for written in all {
      let batch = written.batch
      let refused = written.refused.map { target.rejected(batch, $0) }
      let positions = Set(written.refused.map(\.position))
      if operation.options.stopsAtFirstMalformedRow, let end = written.refused.last?.position,
        let last = refused.last, last.status == .rejected
      {
        // A strict import ends here. Only rows of this batch that precede this one are in the database or ignored.
        rows += end - refused.count + 1
        conversions.count(in: batch, keepsEach: target.mayRefuseAtEnd) { $0 < end && !positions.contains($0) }
        issues += batch.issues.filter { $0.lineNumber < last.lineNumber } + refused
        failure = last.error(path: operation.file)
      } else {
        // A flagged row is in the database, and the rejected rows are not.
        let lines = Set(refused.map(\.lineNumber))
        rows += batch.count - refused.count
        conversions.count(in: batch, keepsEach: target.mayRefuseAtEnd) { !positions.contains($0) }
        issues += (batch.issues.filter { !lines.contains($0.lineNumber) } + refused).sorted {
          $0.lineNumber < $1.lineNumber
        }
        endOffsets.append(batch.endOffset)
      }
    }
    try operation.committed(rows: rows, issues: issues, endOffsets: endOffsets, conversions: conversions)
    if let failure { throw failure }
  }
}
#endif
