extension Admission {
  var hasBatches: Bool { !batches.isEmpty }

  /// Gives a thread operations to run one after the other: those that may start now, as many as leave enough for
  /// others.
  ///
  /// - Parameters:
  ///   - batch: The batch, which is empty and not among the active ones.
  ///   - mostCount: How many at most.
  ///   - indivisible: So many are not worth sharing out.
  ///   - now: When the thread takes them, in nanoseconds of uptime.
  ///   - isFit: Whether an operation may go into a batch.
  /// - Returns: False if there is none; ``next(for:)`` may have one.
  mutating func fill(
    _ batch: Batch, atMost mostCount: Int, indivisible: Int, at now: UInt64, where isFit: (Operation) -> Bool
  ) -> Bool {
    let workerClass = batch.workerClass
    let hasCancelled = !cancelled.isEmpty || !cancelledWithinLimit.isEmpty
    guard !hasCancelled || workerClass != .normal, !isSuspended, started < limit else { return false }
    let share = max(1, indivisible, first.ready.count(workerClass) / (2 * ProcessorCount.usable))
    let most = min(share, mostCount, Batch.capacity)
    let mayEndLater = aloneCount == 0
    while batch.count < most, let list = nextList(for: workerClass),
      let (operation, level) = first.ready.popFirst(list, where: { isFit($0) && (mayEndLater || !$0.mayEndLater) })
    {
      operation._withUnsafeGuaranteedRef { operation in
        if limit != .max, !first.ready.urgent.isZero { raiseToFloor(operation) }
        members.take(operation)
      }
      batch.append(operation, level: level)
    }
    guard batch.count > 0 else { return false }
    batch.raisedClass = floor
    batch.begin(
      atMost: mostCount,
      mayContinue: order == .priority && first.ready.isEmpty && later.isEmpty && !hasCancelled,
      keepsOrder: limit != .max, at: now)
    batches.insert(batch)
    return true
  }

  /// A thread has come to the end of its batch, or leaves it; to be called by that thread.
  mutating func close(_ batch: Batch) {
    let unfinished = batch.mainEnd.takeUnfinished()
    if let unfinished, unfinished._withUnsafeGuaranteedRef({ $0.admission.place == .taken }) {
      // The thread's ownership is the queue's from here on.
      unfinished._withUnsafeGuaranteedRef { detach($0, from: batch) }
    } else {
      // Another thread has ended it meanwhile.
      if let unfinished { batch.deferRelease(of: unfinished) }
      remove(batch)
    }
  }

  private mutating func remove(_ batch: Batch) {
    guard batch.isActive else { return }
    reclaim(batch)
    batches.remove(batch)
  }

  // MARK: Ending later

  /// An operation that a thread has begun in its batch, and that may end after its ``Operation/main()``, runs by itself
  /// from now on; the batch is closed.
  private mutating func detach(_ operation: Operation, from batch: Batch) {
    remove(batch)
    members.takeBack(operation, behind: nil)
    _ = begin(operation)
    // Some that follow are probably of its kind: a batch would be of no use to them.
    aloneCount = Self.mostAlone
  }

  /// An operation has ended, and leaves; if it is in a batch, on another thread than that of the batch.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - hasBegun: It had been started. Then what its batch's thread had published before that has been collected; if
  ///     not, that thread may be publishing, and closes the batch itself, when it finds that the operation has ended.
  mutating func detach(ended operation: Operation, hasBegun: Bool) {
    guard operation.admission.place == .taken else { return }
    if hasBegun {
      var batch: Batch?
      batches.forEach { if $0.isRunning(operation) { batch = $0 } }
      // What its thread does in `main()` after this, it does without a place of the limit.
      if let batch { remove(batch) }
      aloneCount = Self.mostAlone
    } else {
      reclaimBatches()
      // What a thread has taken can't be reclaimed.
      guard operation.admission.place == .taken else { return }
    }
    _ = OperationReference(operation).retain()
    members.takeBack(operation, behind: nil)
    operation.admission.place = .waiting
  }

  // MARK: Collecting

  /// Counts the operations of batches that have finished as such.
  ///
  /// - Parameters:
  ///   - isObserved: Whether `body` is called for each.
  ///   - body: Called with each with which a thread continued, which is to be released, once no lock is held; and, if
  ///     `isObserved`, for each of the others, which the threads own, with the operation if it is alive.
  mutating func collectFinished(
    isObserved: Bool, _ body: (Admission, OperationReference?, _ isContinued: Bool) -> Void
  ) {
    batches.forEach { batch in
      while let next = batch.nextFinished(isSingle: isObserved) {
        switch next {
        case .taken(let count, let operation):
          members.removeTaken(count)
          // They were in the first segment, which only grows.
          first.unfinished -= count
          if isObserved { body(self, operation, false) }
        case .continued(let operation):
          _ = operation._withUnsafeGuaranteedRef { finished($0) }
          body(self, operation, true)
        }
      }
    }
  }

  /// Takes down what became ready by the operations of batches, for ``collectNewlyReady(_:)``.
  ///
  /// In between comes ``collectFinished(isObserved:_:)``: a thread publishes that an operation has finished, then what
  /// became ready by that. So whatever is taken down here has those before it that it waited for.
  mutating func noteNewlyReady() { batches.forEach { $0.noteNewlyReady() } }

  /// Puts what was taken down as ready among the ready.
  ///
  /// - Parameter body: Called with each, and whether it came among the ready by that. It is to be released, once no
  ///   lock is held.
  mutating func collectNewlyReady(_ body: (OperationReference, _ isReady: Bool) -> Void) {
    batches.forEach { batch in
      while let reference = batch.nextReadied() {
        let isReady = reference._withUnsafeGuaranteedRef { operation in
          let place = operation.admission.place
          becameReady(operation)
          return place != operation.admission.place
        }
        body(reference, isReady)
      }
      if batch.isEnded { batches.remove(batch) }
    }
  }

  // MARK: Reclaiming

  /// Puts what is in batches, and has not been started, back among the ready.
  mutating func reclaimBatches() { batches.forEach { reclaim($0) } }

  /// The same for batches that have been under way for longer than they were meant to be: an operation there takes
  /// long, or its thread is blocked.
  mutating func reclaimBatches(begunBefore time: UInt64) {
    batches.forEach { if $0.beginTime < time { reclaim($0) } }
  }

  mutating func reclaimBatches(lessUrgentThan level: Int) {
    batches.forEach { if $0.lowestLevel < level { reclaim($0) } }
  }

  /// Where the number that may run is limited, those that were added later too: where one runs at a time, that order
  /// can be seen.
  mutating func reclaimBatches(behind operation: Operation, _ level: Int) {
    guard limit != .max else { return reclaimBatches(lessUrgentThan: level) }
    let sequence = operation.queueLinks.sequence
    batches.forEach { batch in
      if batch.lowestLevel < level || (batch.lowestLevel == level && batch.lastSequence > sequence) { reclaim(batch) }
    }
  }

  mutating func reclaimBatches(with operation: Operation) {
    if operation.admission.place == .taken { reclaimBatches() }
  }

  mutating func reclaim(_ batch: Batch) {
    var highest = 0
    var last: OperationReference?
    batch.reclaim { operation in
      let word = operation.state.current
      let level = readyLevel(of: word)
      highest = max(highest, level)
      members.takeBack(operation, behind: last)
      last = OperationReference(operation)
      operation.admission.place = .ready
      operation.admission.workerClass = workerClass(of: operation)
      // It was in the first segment, which only grows.
      first.ready.insert(operation, level: level)
      if word.hasQuality { noteUrgency(of: operation, word) }
    }
    // Other batches, taken later, are behind that.
    if batches.count > 1 { reclaimBatches(lessUrgentThan: highest) }
  }

  /// Starts an operation of a batch that could not be started plainly, if it can be started.
  ///
  /// It counts by itself; so the batch, all of which has been collected, is closed. The queue takes over the ownership,
  /// or the thread keeps it if another has ended the operation.
  mutating func claimTaken(_ operation: Operation, of batch: Batch) -> Bool {
    close(batch)
    guard operation.admission.place == .taken else {
      batch.deferRelease(of: OperationReference(operation))
      return false
    }
    members.takeBack(operation, behind: nil)
    if operation.state.claim() {
      _ = begin(operation)
      return true
    }
    // It was given a dependency, or holds itself back.
    operation.admission.place = .waiting
    noteHeldBack(operation)
    if operation.state.current.isStartable { becameReady(operation) }
    return false
  }
}
