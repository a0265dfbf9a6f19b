/// What a queue holds between two barriers.
struct AdmissionSegment {
  /// The number of the first operation that belongs here.
  let firstSequence: UInt64
  /// The operations here that have not finished, the barrier not counted.
  var unfinished = 0
  var ready = ReadyByClass()
  /// All operations before this segment have been raised to this class for operations of this one.
  var passedClass = WorkerClass.background
  /// The barrier at the end, owned by the list of members.
  var barrier: OperationReference?
  /// The barrier has finished: cancelled, if that was before its turn.
  var barrierHasFinished = false

  init(firstSequence: UInt64) { self.firstSequence = firstSequence }

  /// Puts all ready operations into the lists of the classes that they belong to now.
  mutating func sortReady(by placement: Placement) {
    var old = ready
    ready = ReadyByClass()
    for workerClass in WorkerClass.allCases {
      while let (reference, level) = old.first(workerClass) {
        _ = old.popFirst(workerClass)
        reference._withUnsafeGuaranteedRef { operation in
          operation.admission.workerClass = placement.workerClass(of: operation)
          ready.insert(operation, level: level)
          ready.count(operation, asUrgent: placement.urgency(of: operation.state.current))
        }
      }
    }
  }
}

extension Admission {
  /// Changes the segment to which an operation belongs.
  ///
  /// A barrier belongs to the segment that it ends. Without barriers there is one; else O(log *barriers*).
  mutating func withSegment(of operation: Operation, _ change: (inout AdmissionSegment) -> Void) {
    guard !later.isEmpty, let position = laterPosition(of: operation) else { return change(&first) }
    change(&later[position])
  }

  /// Which of the later segments an operation belongs to; nil for the first one.
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

  /// A barrier that has finished holds nothing back: the segment after it joins the first, which is empty when the
  /// barrier had its turn, and is not when it was cancelled.
  mutating func passFinishedBarriers() {
    while first.barrierHasFinished, let next = later.popFirst() {
      first.unfinished += next.unfinished
      first.ready.append(next.ready)
      first.barrier = next.barrier
      first.barrierHasFinished = next.barrierHasFinished
      if !batches.isEmpty, let level = first.ready.highestLevel {
        batches.forEach { $0.stopContinuing() }
        reclaimBatches(lessUrgentThan: level)
      }
    }
  }
}
