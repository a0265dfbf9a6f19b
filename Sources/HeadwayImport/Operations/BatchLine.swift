#if SQLite
import GRDB
import Headway
import Synchronization

/// The batches of one import: one is being filled, some are on their way to the database.
///
/// Used by the import's thread. The bound on how many are on their way is what keeps the memory constant when the
/// database is slower than the parser.
///
/// Batches that wait for the database are committed together: a commit writes the pages that it has changed to the
/// log, and costs as much as inserting a hundred rows; the other one in the line writes much the same pages. If
/// somebody is called at each commit, each batch is committed by itself.
final class BatchLine {
  /// How many batches are committed together at most, and how many rows, unless two batches are more.
  private static let (mostBatches, mostRows) = (8, 2_000)
  /// How many bytes of rows are on their way when the parser has to wait: those of eight full batches.
  private static let mostBytesOnTheirWay = 8 * RowBatch.mostBytes

  private let operation: ImportOperation
  private let target: TargetTable
  private let mostTogether: Int
  /// The batch that the parser fills.
  private(set) var filling: RowBatch
  private var onTheirWay: [WaitingBatch] = []
  private var bytesOnTheirWay = 0
  private let waiting = WaitingBatches()

  init(_ operation: ImportOperation, _ target: TargetTable) {
    self.operation = operation
    self.target = target
    mostTogether = max(2, min(Self.mostBatches, Self.mostRows / operation.options.batchSize))
    filling = Self.makeBatch(operation, target)
  }

  private static func makeBatch(_ operation: ImportOperation, _ target: TargetTable) -> RowBatch {
    RowBatch(columnCount: target.plan.columns.count, capacity: operation.options.batchSize)
  }

  /// Sends the batch to the database and begins another; waits when too many are on their way.
  ///
  /// - Throws: The error of a batch sent earlier.
  func handOver() throws {
    let next = WaitingBatch(batch: filling, byteCount: filling.byteCount)
    waiting.append(next)
    // Writes what waits by then; those behind it find what came later, or nothing.
    database.write { [operation, waiting, mostTogether] in
      waiting.takeNext(operation.isWatched ? 1 : mostTogether)
    } with: { [operation, target] batches, database in
      try BatchWriting(batches.map(\.batch), operation, target).run(database)
    } then: { batches, error in
      if let error { batches[0].end.recordError(error) }
      for batch in batches { batch.end.start() }
    }
    onTheirWay.append(next)
    bytesOnTheirWay += next.byteCount
    var free: RowBatch?
    // As many again can be filled while some are written.
    while onTheirWay.count >= 2 * mostTogether || bytesOnTheirWay > Self.mostBytesOnTheirWay {
      free = try takeBack()
    }
    free?.removeAll()
    filling = free ?? Self.makeBatch(operation, target)
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
    for batch in onTheirWay { batch.end.waitUntilFinished() }
    (onTheirWay, bytesOnTheirWay) = ([], 0)
  }

  private var database: ImportDatabase { operation.database }

  private func takeBack() throws -> RowBatch {
    let first = onTheirWay.removeFirst()
    bytesOnTheirWay -= first.byteCount
    first.end.waitUntilFinished()
    if let error = first.end.error {
      // Those behind it see the failure and write nothing; they are waited for, since they use their batches.
      waitForAll()
      throw error
    }
    return first.batch
  }
}

/// A batch on its way.
private struct WaitingBatch {
  let batch: RowBatch
  let byteCount: Int
  /// In no queue: started, and so ended, when the batch has been written, or was not; with the error of the writing,
  /// for the first batch of those that were written together.
  let end = BlockOperation()
}

/// Batches that wait for the database, in the order of the file.
private final class WaitingBatches: Sendable {
  private let batches = Mutex<[WaitingBatch]>([])

  func append(_ batch: WaitingBatch) { batches.withLock { $0.append(batch) } }

  /// Takes out what is to be committed next; nil if there is none.
  func takeNext(_ most: Int) -> [WaitingBatch]? {
    batches.withLock { batches in
      let next = Array(batches.prefix(most))
      batches.removeFirst(next.count)
      return next.isEmpty ? nil : next
    }
  }
}
#endif
