extension Admission {
  var hasBatches: Bool { !batches.isEmpty }

  /// Fills a batch with operations that can start now, and that a thread will run one after another.
  ///
  /// Leaves enough operations for other threads.
  ///
  /// - Parameters:
  ///   - batch: The batch to fill. It is empty and not active.
  ///   - mostCount: How many operations to take at most.
  ///   - indivisible: How many operations are not worth sharing.
  ///   - now: The current time, in nanoseconds of uptime.
  ///   - isFit: Returns whether an operation can be in a batch.
  /// - Returns: False if there is no such operation. ``next(for:)`` may have one.
  mutating func fill(
    _ batch: Batch, atMost mostCount: Int, indivisible: Int, at now: UInt64, where isFit: (Operation) -> Bool
  ) -> Bool {
    let workerClass = batch.workerClass
    let hasCancelled = !cancelled.isEmpty || !cancelledWithinLimit.isEmpty
    guard !hasCancelled || workerClass != .normal, !startsNone, started < limit else { return false }
    let share = max(1, indivisible, readyCount(workerClass) / (2 * ProcessorCount.usable))
    let most = min(share, mostCount, Batch.capacity)
    // A batch takes no second turn of a key. If the queue has a limit, the order of turns is visible, so a batch takes
    // none.
    let (takesAll, policy, end) = (aloneCount == 0, policy, limit == .max ? nextSequence : 0)
    while batch.count < most {
      if !waitingBlocks.isEmpty { takeBlocks(into: batch, atMost: most) }
      guard batch.count < most else { break }
      makeOperationsIfNext()
      guard let list = nextList(for: workerClass),
        let (operation, level) = first.ready.popFirst(
          list, where: { isFit($0) && (takesAll || !$0.mayLeaveBatch) && policy?.mayTake($0, before: end) != false })
      else { break }
      operation._withUnsafeGuaranteedRef { operation in
        if limit != .max, !first.ready.urgent.isZero { raiseToFloor(operation) }
        if operation.admission.isRepresentative { policy?.take(operation, into: batch, &self) }
        members.take(operation)
      }
      batch.append(operation, level: level)
    }
    guard batch.count > 0 else { return false }
    batch.raisedClass = floor
    batch.begin(
      atMost: mostCount,
      mayContinue: order == .priority && first.ready.isEmpty && waitingBlocks.isEmpty && later.isEmpty && !hasCancelled,
      keepsOrder: limit != .max, at: now)
    batches.insert(batch)
    return true
  }

  /// Closes a batch because its thread has reached its end, or leaves it.
  ///
  /// Call this on that thread.
  mutating func close(_ batch: Batch) {
    let unfinished = batch.mainEnd.takeUnfinished()
    if let unfinished, unfinished._withUnsafeGuaranteedRef({ $0.admission.place == .taken }) {
      // The queue takes over the ownership from the thread here.
      unfinished._withUnsafeGuaranteedRef { detach($0, from: batch) }
    } else {
      // Another thread has finished the operation in the meantime.
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

  /// Detaches an operation that a thread has begun in its batch and that can end after its ``Operation/main()``.
  ///
  /// It runs on its own from now on, and the batch is closed.
  private mutating func detach(_ operation: Operation, from batch: Batch) {
    remove(batch)
    members.takeBack(operation, behind: nil)
    _ = begin(operation)
    // The operations that follow are probably of the same kind, and would not benefit from a batch.
    aloneCount = Self.mostAlone
  }

  /// Detaches an operation that has ended and leaves the queue.
  ///
  /// If a batch contains it, the caller is a thread other than the batch's own.
  ///
  /// - Parameters:
  ///   - operation: The operation that has ended.
  ///   - hasBegun: Whether the operation had been started. In that case, the results that its batch's thread had
  ///     published before have been collected. If not, that thread may be publishing. It closes the batch itself when
  ///     it finds that the operation has ended.
  mutating func detach(ended operation: Operation, hasBegun: Bool) {
    guard operation.admission.place == .taken else { return }
    if hasBegun {
      var batch: Batch?
      batches.forEach { if $0.isRunning(operation) { batch = $0 } }
      // The batch's thread may continue in `main()`. It must not occupy a concurrency slot in the meantime.
      if let batch { remove(batch) }
      aloneCount = Self.mostAlone
    } else {
      reclaimBatches()
      // Operations that a thread has taken can't be reclaimed.
      guard operation.admission.place == .taken else { return }
    }
    _ = OperationReference(operation).retain()
    members.takeBack(operation, behind: nil)
    operation.admission.place = .waiting
  }

  // MARK: Collecting

  /// Removes finished operations of batches from the counts of the queue.
  ///
  /// - Parameters:
  ///   - isObserved: Whether `body` is called for each operation.
  ///   - body: Called with each operation that a thread continued with. The caller must release it when no lock is
  ///     held. If `isObserved` is true, `body` is also called for the other operations, which the threads own. It
  ///     receives such an operation only if it is alive.
  mutating func collectFinished(
    isObserved: Bool, _ body: (borrowing Admission, OperationReference?, _ isContinued: Bool) -> Void
  ) {
    batches.forEach { batch in
      while let next = batch.nextFinished(isSingle: isObserved) {
        switch next {
        case .taken(let count, let operation):
          members.removeTaken(count)
          // The operations were in the first segment, which only grows.
          first.unfinished -= count
          if !batch.shares.isEmpty { policy?.collectShares(of: batch, in: &self) }
          if isObserved { body(self, operation, false) }
        case .continued(let operation):
          _ = operation._withUnsafeGuaranteedRef { finished($0) }
          body(self, operation, true)
        }
      }
    }
  }

  /// Notes the operations that batches have made ready, for ``collectNewlyReady(_:)``.
  ///
  /// ``collectFinished(isObserved:_:)`` must be called in between. A thread publishes that an operation has finished,
  /// and then the operations that became ready as a result. Therefore, when an operation is noted here, the operations
  /// that it waited for are collected before it.
  mutating func noteNewlyReady() { batches.forEach { $0.noteNewlyReady() } }

  /// Adds the noted operations to the ready ones.
  ///
  /// - Parameter body: Called with each operation, and whether it became ready to start. The caller must release it
  ///   when no lock is held.
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

  /// Returns the operations in batches that have not been started to the ready ones.
  mutating func reclaimBatches() { batches.forEach { reclaim($0) } }

  /// Reclaims batches that have taken longer than intended: one of their operations takes long, or their thread is
  /// blocked.
  mutating func reclaimBatches(begunBefore time: UInt64) {
    batches.forEach { if $0.beginTime < time { reclaim($0) } }
  }

  mutating func reclaimBatches(lessUrgentThan level: Int) {
    batches.forEach { if $0.lowestLevel < level { reclaim($0) } }
  }

  /// Reclaims batches that contain less urgent operations.
  ///
  /// If the queue has a limit, this includes operations that were added later: if one operation runs at a time, that
  /// order is visible.
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
      insertReady(operation, word, level: level)
    }
    // Batches that were taken later have their turn after these operations.
    if batches.count > 1 { reclaimBatches(lessUrgentThan: highest) }
  }

  /// Starts an operation of a batch that does not start plainly, if it can start.
  ///
  /// The operation counts separately. Therefore, the batch, whose results have all been collected, is closed. The queue
  /// takes over the ownership. If another thread has finished the operation, the batch's thread keeps it.
  mutating func claimTaken(_ operation: Operation, of batch: Batch) -> Bool {
    close(batch)
    guard operation.admission.place == .taken else {
      batch.deferRelease(of: OperationReference(operation))
      return false
    }
    members.takeBack(operation, behind: nil)
    if operation.hasGate, policy?.mayStart(operation, at: .min, in: &self) == false {
      // The operations that follow probably need the same resources.
      aloneCount = Self.mostAlone
      return false
    }
    if operation.state.claim() {
      _ = begin(operation)
      return true
    }
    if operation.hasGate { policy?.failToStart(operation, in: &self) }
    // A dependency was added to the operation, or its own `isReady` holds it back.
    operation.admission.place = .waiting
    noteHeldBack(operation)
    if operation.state.current.isStartable { becameReady(operation) }
    return false
  }
}
