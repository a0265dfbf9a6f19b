/// The operations of a queue between two barriers.
struct AdmissionSegment {
  /// The sequence number of the first operation that belongs here.
  let firstSequence: UInt64
  /// How many operations of the segment have not finished, except the barrier.
  var unfinished = 0
  var ready = ReadyByClass()
  /// All operations before this segment have been raised to this class, for operations of this segment.
  var passedClass = WorkerClass.background
  /// The barrier at the end.
  ///
  /// The list of members owns it.
  var barrier: OperationReference?
  /// Whether the barrier has finished.
  ///
  /// A barrier that was cancelled may have finished before its turn.
  var barrierHasFinished = false

  init(firstSequence: UInt64) { self.firstSequence = firstSequence }
}

extension Admission {
  /// Changes the segment of an operation.
  ///
  /// A barrier belongs to the segment that it ends. O(1) without barriers, otherwise O(log *barriers*).
  mutating func withSegment(of operation: Operation, _ change: (inout AdmissionSegment) -> Void) {
    guard !later.isEmpty, let position = laterPosition(of: operation) else { return change(&first) }
    change(&later[position])
  }

  /// The position of an operation's segment among the later ones, or nil for the first segment.
  func laterPosition(of operation: Operation) -> Int? {
    guard !later.isEmpty else { return nil }
    let sequence = operation.queueLinks.sequence
    guard sequence >= later[0].firstSequence else { return nil }
    var (low, high) = (0, later.count - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if later[middle].firstSequence <= sequence { low = middle } else { high = middle - 1 }
    }
    return low
  }

  /// Passes barriers that have finished, because they hold back no operation: the segment after such a barrier joins
  /// the first.
  ///
  /// The first segment is empty if the barrier had its turn, but not if the barrier was cancelled.
  mutating func passFinishedBarriers() {
    while first.barrierHasFinished, let next = later.popFirst() {
      first.unfinished += next.unfinished
      if let policy { policy.appendReady(next.ready, to: &self) } else { first.ready.append(next.ready) }
      first.barrier = next.barrier
      first.barrierHasFinished = next.barrierHasFinished
      if !batches.isEmpty, let level = first.ready.highestLevel {
        batches.forEach { $0.stopContinuing() }
        reclaimBatches(lessUrgentThan: level)
      }
    }
  }
}
