import Synchronization

extension OperationQueue {
  /// Runs an operation that has been claimed.
  final func run(_ operation: Operation) {
    if operation.gateKind == .other, operation.resumeFromPause() { return }
    // Also for a cancelled operation whose subclass has code to run, or that no visit has ended.
    operation.note(.started(isBatched: false), in: self)
    ThreadContext.run(operation, in: self) {
      guard let instruments = instruments(of: operation), !operation.state.current.isCancelled else {
        return operation.startInQueue()
      }
      instruments.start(operation, in: self) { operation.startInQueue() }
    }
  }

  /// Runs the operations of a batch on its thread.
  ///
  /// If other threads reclaim some, it runs only the rest.
  ///
  /// - Parameters:
  ///   - batch: The batch to run.
  ///   - worker: The worker that owns the calling thread, if there is one.
  /// - Returns: The number of operations that were run.
  final func runAll(of batch: Batch, _ worker: Worker?) -> Int {
    var number = 0
    // The operation whose effects are performed when the batch is closed.
    var last: Operation?
    let isLow = worker?.isOfLowClass == true
    ThreadContext.run(in: self, batch) { context in
      if batch.hasDeferredReleases { batch.releaseDeferredBeforeFirst() }
      // An operation that the thread continues with has already begun. The thread owns the operations that it takes and
      // the operations that it continues with.
      var next: OperationReference?
      var isOver = false
      while let reference = next ?? (isOver ? nil : batch.next()) {
        let isContinued = next != nil
        next = nil
        let course = reference._withUnsafeGuaranteedRef { operation -> Course in
          batch.noteCurrent(reference)
          worker?.running.store(UInt(bitPattern: reference.toOpaque()), ordering: .relaxed)
          if isLow { worker?.switchOperation(to: reference, in: self) }
          guard isContinued || operation.beginPlainly(in: batch) else { return .notBegun }
          context.pointee.enter(reference)
          operation.note(.started(isBatched: true), in: self)
          if operation.mayEndLater {
            operation.run()
            return batch.mainEnd.takeSide().map { .endedInMain($0) } ?? .continuesAfterMain
          }
          operation.callMain()
          isOver = isOver || batch.yieldsToInbox || worker?.leavesSoon.load(ordering: .relaxed) == true
          let continues = !isOver && !operation.runsUserCodeWhenFreed
          next = operation.end(in: batch, isContinued: isContinued, continues: continues)
          return .ended
        }
        if case .notBegun = course {
          batch.withdrawCurrent()
          context.pointee.leaveBatch()
          if runTaken(reference, of: batch) { number += 1 }
          return
        }
        number += 1
        context.pointee.leave()
        switch course {
        case .notBegun, .ended: break
        case .continuesAfterMain:
          // The code that follows closes the batch.
          return batch.mainEnd.leave(unfinished: reference)
        case .endedInMain(let end):
          isOver = batch.yieldsToInbox || worker?.leavesSoon.load(ordering: .relaxed) == true
          guard end == .outside else { break }
          reference._withUnsafeGuaranteedRef { $0.releaseWork() }
          batch.free(reference)
          if !batch.returnFromUserCode() { isOver = true }
          continue
        }
        // If the batch is closed by now, the operation did not end plainly, and the queue was notified.
        if !isContinued, batch.isActive, batch.hasToTakeLock {
          update(collectingBatches: true, leaving: &batch.effects) { _ in }
        }
        if !batch.effects.isEmpty {
          if next != nil {
            batch.effects.submit(to: batch.executor)
          } else if !performEffects(of: reference, in: batch, context, isLast: isOver) {
            isOver = true
            if !batch.effects.isEmpty { last = reference.operation }
          }
        }
        if !release(reference, of: batch, continues: next != nil, isLast: isOver) { isOver = true }
      }
    }
    worker?.running.store(0, ordering: .relaxed)
    if let last { performEffects(of: last, closing: batch) }
    batch.endCompletions()
    return number
  }

  /// The result of running an operation of a batch.
  private enum Course {
    case notBegun
    case ended
    /// The operation has ended in its `main()`.
    case endedInMain(MainEnd.Side)
    /// Its `main()` has returned, and it continues, or another thread has ended it.
    case continuesAfterMain
  }

  /// Closes the batch of the calling thread.
  final func closeBatch(_ batch: Batch) {
    update(collectingBatches: true) { $0.admission.close(batch) }
  }

  /// Performs the effects that remain after the end of an operation of a batch, between two operations.
  ///
  /// The effects can take long and can wait for other threads: see ``release(_:of:continues:isLast:)``.
  ///
  /// - Parameters:
  ///   - reference: The operation that has ended.
  ///   - batch: The batch of the calling thread.
  ///   - context: The context of the calling thread.
  ///   - isLast: Whether the thread leaves the batch.
  /// - Returns: Whether the thread may continue with its batch. If not, the remaining effects must be performed when
  ///   the batch is closed.
  private func performEffects(
    of reference: OperationReference, in batch: Batch, _ context: UnsafeMutablePointer<ThreadContext>, isLast: Bool
  ) -> Bool {
    submitCompletionBlock(of: reference, batch, or: batch.hasDeferredReleases)
    guard !batch.effects.isEmpty else { return true }
    guard !isLast, !batch.keepsOrder, batch.leave() else { return false }
    var effects = batch.effects.take()
    if effects.notifiesEnd { context.pointee.enter(reference) } else { context.pointee.leaveQueue() }
    effects.perform()
    context.pointee.leave()
    context.pointee.enter(self)
    return batch.returnFromUserCode()
  }

  /// Passes the completion block to another thread if it may wait for something that this thread still has to do or
  /// release.
  private func submitCompletionBlock(of reference: OperationReference, _ batch: Batch, or otherwise: Bool) {
    guard let block = batch.effects.takeCompletionBlock(or: otherwise) else { return }
    reference.operation.submitCompletionBlock(consume block, in: batch)
  }

  /// Closes a batch, then performs the effects that remain after the end of its last operation.
  ///
  /// While the thread performs them, it holds neither the lock nor a slot of the queue.
  private func performEffects(of operation: Operation, closing batch: Batch) {
    update(collectingBatches: true, leaving: &batch.effects) { $0.admission.close(batch) }
    // The operation and its work are released after the completion block has run, as between two operations.
    submitCompletionBlock(of: OperationReference(operation), batch, or: batch.hasFurtherReleases)
    var effects = batch.effects.take()
    if effects.notifiesEnd {
      ThreadContext.run(operation, in: self) { effects.perform() }
    } else {
      effects.perform()
    }
  }

  /// Releases an operation of a batch that has ended, its work, and everything that the thread has kept for it.
  ///
  /// This happens before the thread runs another operation, which may wait for an object that the last operation held.
  ///
  /// All of these releases can run user code, so they happen in different ways:
  ///
  /// - After the last operation, they are deferred until the batch is closed, because other threads may wait until the
  ///   queue is empty.
  /// - Before that, if only the operation's work can run user code, the thread stays in the batch while it releases
  ///   that work. Other threads can reclaim the rest of the batch, and a wait in one of Headway's functions closes it.
  /// - For all other operations, the thread leaves the batch temporarily. If the queue has a limit, and so the batch
  ///   occupies a concurrency slot, the thread closes the batch first.
  ///
  /// - Parameters:
  ///   - reference: The operation that has ended.
  ///   - batch: The batch of the calling thread.
  ///   - continues: Whether the thread has released the work of this operation and then begun the next operation.
  ///   - isLast: Whether the thread leaves the batch.
  /// - Returns: Whether the thread may continue with its batch.
  @inline(__always)
  private func release(
    _ reference: OperationReference, of batch: Batch, continues: Bool, isLast: Bool
  ) -> Bool {
    guard batch.hasDeferredReleases || reference._withUnsafeGuaranteedRef({ $0.runsUserCodeWhenFreed }) else {
      guard continues || (!isLast && !batch.isExhausted) else {
        batch.deferRelease(ofLast: reference)
        return false
      }
      let staysInBatch = continues || reference._withUnsafeGuaranteedRef { batch.releaseWork(of: $0) }
      batch.deferRelease(ofPlain: reference)
      return staysInBatch
    }
    if continues {
      batch.deferRelease(of: reference)
      return false
    }
    guard !isLast, !batch.keepsOrder, batch.leave() else {
      batch.deferRelease(ofLast: reference)
      return false
    }
    // A thread that holds the lock might access the operation.
    if batch.hasToTakeLock {
      // Its steps run on another thread, because this one counts as inside the queue.
      var effects = Effects()
      update(collectingBatches: true, leaving: &effects) { _ in }
      effects.submit(to: batch.executor)
    }
    reference._withUnsafeGuaranteedRef { $0.releaseWork() }
    batch.free(reference)
    batch.releaseDeferred()
    return batch.returnFromUserCode()
  }

  /// Runs an operation of a batch that does not start plainly, for example because it was cancelled or is observed.
  ///
  /// Returns false if the operation can't start, because a dependency was added to it. Closes the batch and gives up
  /// ownership of the operation.
  private func runTaken(_ reference: OperationReference, of batch: Batch) -> Bool {
    var effects = batch.effects.take()
    let claimed = update(collectingBatches: true, leaving: &effects) { state -> Operation? in
      let operation = reference.operation
      guard state.admission.claimTaken(operation, of: batch) else { return nil }
      state.record { .started(operation) }
      return operation
    }
    guard let claimed else {
      effects.perform()
      return false
    }
    effects.submit(to: batch.executor)
    run(claimed)
    return true
  }

  /// Gives the unstarted operations of the batch to other threads, because the batch's thread, which calls this, is
  /// about to block.
  ///
  /// Between two operations, this closes the batch, because the thread may wait for an operation that needs its
  /// concurrency slot.
  final func threadBlocks(in batch: Batch) {
    guard batch.releasesWork else { return update(collectingBatches: true) { $0.admission.reclaim(batch) } }
    let next = batch.leaveToWait()
    update(collectingBatches: true) { state in
      state.admission.close(batch)
      if let next { state.becameReady(next) }
    }
    next?.release()
  }

  /// Waits for work for a while, without a lock.
  ///
  /// The thread is the queue's spinning worker and has a ticket, so no other worker is woken for the first operation
  /// that is added.
  final func spin(while condition: () -> Bool) {
    while !spinSignal.load(ordering: .acquiring), inbox.isEmpty, condition() {}
  }
}
