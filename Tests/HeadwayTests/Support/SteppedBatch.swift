import Testing

@testable import Headway

/// A batch whose thread is the test, which performs its steps one by one.
struct SteppedBatch {
  let queue: OperationQueue
  let batch = Batch()

  /// Fills the batch, like a visit.
  ///
  /// - Parameters:
  ///   - queue: The queue to take operations from.
  ///   - count: The largest number of operations.
  ///   - kept: An operation that the thread must release before it begins.
  init(of queue: OperationQueue, atMost count: Int, keeping kept: Headway.Operation? = nil) {
    self.queue = queue
    if let kept { batch.deferRelease(of: .passRetained(kept)) }
    queue.update { [batch] state in
      batch.reset(for: queue, state.executor, state.admission.placement, .normal)
      var left = count
      _ = state.admission.fill(batch, atMost: Batch.capacity, indivisible: count, at: 0) { operation in
        left -= 1
        return left >= 0 && operation.fitsBatch
      }
    }
  }

  /// Takes the next operation, which must be `operation`, and begins it.
  func begin(_ operation: Headway.Operation) {
    let reference = batch.next()
    #expect(reference?.operation === operation)
    let hasBegun = operation.state.beginPlainly()
    #expect(hasBegun)
    batch.noteCurrent(OperationReference(operation))
  }

  /// Finishes the operation that was begun last, then releases it.
  ///
  /// - Returns: Whether the thread continues with an operation.
  @discardableResult
  func end(_ operation: Headway.Operation, continues: Bool = false) -> Bool {
    let next = operation.end(in: batch, isContinued: false, continues: continues)
    OperationReference(operation).release()
    return next != nil
  }

  /// Closes the batch and releases the objects that its thread has kept.
  func close() {
    queue.update(collectingBatches: true) { $0.admission.close(batch) }
    batch.release()
  }
}
