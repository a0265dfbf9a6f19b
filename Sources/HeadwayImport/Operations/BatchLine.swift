#if SQLite
import GRDB
import Headway
import Synchronization

/// The batches of one import: the batch that is being filled, and the batches in flight to the database.
///
/// Only the import's thread uses it. The bound on the batches in flight keeps memory use constant when the database is
/// slower than the parser.
///
/// Batches that wait for the database are committed together. A commit writes the pages that it has changed to the log,
/// which costs as much as inserting a hundred rows, and the next batch in line writes much the same pages. If an
/// observer is called at each commit, each batch is committed separately.
///
/// See `Docs/decisions/0004-import-pipeline.md`.
final class BatchLine {
  /// The largest number of batches and of rows that are committed together; two batches may always be committed
  /// together.
  private static let (mostBatches, mostRows) = (8, 2_000)
  /// The number of bytes in flight above which the parser waits: those of eight full batches.
  private static let mostBytesOnTheirWay = 8 * RowBatch.mostBytes

  private let operation: ImportOperation
  private let target: TargetTable
  private let mostTogether: Int
  private let writeName: String
  /// The batch that the parser fills.
  private(set) var filling: RowBatch
  private var onTheirWay: [WaitingBatch] = []
  private var bytesOnTheirWay = 0
  private let waiting = WaitingBatches()

  init(_ operation: ImportOperation, _ target: TargetTable) {
    self.operation = operation
    self.target = target
    mostTogether = max(2, min(Self.mostBatches, Self.mostRows / operation.options.batchSize))
    writeName = "write \(operation.table.name)"
    filling = Self.makeBatch(operation, target)
  }

  private static func makeBatch(_ operation: ImportOperation, _ target: TargetTable) -> RowBatch {
    RowBatch(columnCount: target.plan.columns.count, capacity: operation.options.batchSize)
  }

  /// Sends the current batch to the database and begins another one; waits while too many batches are in flight.
  ///
  /// - Throws: The error of a batch sent earlier.
  func handOver() throws {
    let next = WaitingBatch(batch: filling, byteCount: filling.byteCount)
    next.end.start()
    waiting.append(next)
    // Writes all batches that wait when the block runs. The blocks of those batches then find later batches, or none.
    database.write(writeName) { [operation, waiting, mostTogether] in
      waiting.takeNext(operation.isWatched ? 1 : mostTogether)
    } with: { [operation, target] batches, database in
      try BatchWriting(batches.map(\.batch), operation, target).run(database)
    } then: { batches, error in
      if let error { batches[0].end.recordError(error) }
      for batch in batches { batch.end.finish() }
    }
    onTheirWay.append(next)
    bytesOnTheirWay += next.byteCount
    var free: RowBatch?
    // While some batches are written, as many others can be filled.
    while onTheirWay.count >= 2 * mostTogether || bytesOnTheirWay > Self.mostBytesOnTheirWay {
      free = try takeBack()
    }
    free?.removeAll()
    filling = free ?? Self.makeBatch(operation, target)
  }

  /// Sends the last batch and waits until all batches are written.
  func finish() throws {
    if !filling.isEmpty, !operation.isCancelled { try handOver() }
    while !onTheirWay.isEmpty { _ = try takeBack() }
    filling.removeAll()
  }

  /// Sends issues that do not belong to a batch.
  func report(_ issues: [RowIssue]) throws {
    guard !issues.isEmpty else { return }
    filling.issues += issues
    try finish()
  }

  /// Waits until no batch is in flight, whether the batches were written or not.
  func waitForAll() {
    for batch in onTheirWay { batch.end.waitUntilFinished() }
    (onTheirWay, bytesOnTheirWay) = ([], 0)
  }

  private var database: ImportDatabase { operation.database }

  private func takeBack() throws -> RowBatch {
    let first = onTheirWay.removeFirst()
    bytesOnTheirWay -= first.byteCount
    if !first.end.isFinished { Trace.span("wait for the database") { first.end.waitUntilFinished() } }
    if let error = first.end.error {
      // The batches after it find that the import has failed and write nothing. This waits for them, because their
      // blocks still use them.
      waitForAll()
      throw error
    }
    return first.batch
  }
}

/// A batch in flight.
private struct WaitingBatch {
  let batch: RowBatch
  let byteCount: Int
  /// Finishes after the batch has been written or skipped.
  ///
  /// The operation is in no queue and starts before the batch is handed over: while the database is locked, the wait
  /// for it can be long. If batches were written together, the operation of the first batch has the error.
  let end = AsynchronousOperation()
}

/// Batches that wait for the database, in file order.
private final class WaitingBatches: Sendable {
  private let batches = Mutex<[WaitingBatch]>([])

  func append(_ batch: WaitingBatch) { batches.withLock { $0.append(batch) } }

  /// Removes and returns the batches to commit next; nil if there are none.
  func takeNext(_ most: Int) -> [WaitingBatch]? {
    batches.withLock { batches in
      let next = Array(batches.prefix(most))
      batches.removeFirst(next.count)
      return next.isEmpty ? nil : next
    }
  }
}
#endif
