import Synchronization

extension OperationQueue {
  /// Runs an operation that has been claimed.
  final func run(_ operation: Operation) {
    operation.noteStart(in: self)
    ThreadContext.run(operation, in: self) {
      operation.start()
      operation.endIfOverrideHasFinished()
    }
  }

  /// Runs the operations of a batch, on its thread; fewer than it has, if others reclaimed some.
  ///
  /// - Parameters:
  ///   - batch: The batch.
  ///   - worker: The worker whose thread this is.
  /// - Returns: How many were run.
  final func runAll(of batch: Batch, _ worker: Worker?) -> Int {
    var number = 0
    // The one whose effects are to be performed when the batch is closed.
    var last: Operation?
    let isLow = worker?.isOfLowClass == true
    ThreadContext.run(in: self, batch) { context in
      if batch.hasDeferredReleases { batch.releaseDeferredBeforeFirst() }
      // What the thread continues with has begun. The thread owns what it takes, and what it continues with.
      var next: OperationReference?
      var isOver = false
      while let reference = next ?? (isOver ? nil : batch.next()) {
        let isContinued = next != nil
        next = nil
        let course = reference._withUnsafeGuaranteedRef { operation -> Course in
          batch.noteCurrent(reference)
          if isLow { worker?.goOn(to: reference, in: self) }
          guard isContinued || operation.state.beginPlainly() else { return .notBegun }
          context.pointee.enter(reference)
          operation.noteStart(in: self)
          if operation.mayEndLater {
            operation.run()
            return batch.mainEnd.takePlace().map { .endedInMain($0) } ?? .goesOn
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
        case .goesOn:
          // What follows closes the batch.
          return batch.mainEnd.leave(unfinished: reference)
        case .endedInMain(let end):
          isOver = batch.yieldsToInbox || worker?.leavesSoon.load(ordering: .relaxed) == true
          guard end == .outside else { break }
          reference._withUnsafeGuaranteedRef { $0.releaseWork() }
          batch.free(reference)
          if !batch.comeBack() { isOver = true }
          continue
        }
        // Where the batch is closed by now, its end was no plain one, and the queue has heard.
        if !isContinued, batch.isActive, batch.hasToTakeLock {
          update(collectingBatches: true, leaving: &batch.effects) { _ in }
        }
        if !batch.effects.isEmpty {
          if next != nil {
            batch.effects.perform(besides: batch.executor)
          } else if !performEffects(of: reference, in: batch, context, isLast: isOver) {
            isOver = true
            if !batch.effects.isEmpty { last = reference.operation }
          }
        }
        if !release(reference, of: batch, continues: next != nil, isLast: isOver) { isOver = true }
      }
    }
    if let last { performEffects(of: last, closing: batch) }
    return number
  }

  /// What has become of an operation of a batch.
  private enum Course {
    case notBegun
    case ended
    /// It has ended, in its `main()`.
    case endedInMain(MainEnd.Place)
    /// Its `main()` has returned, and it goes on, or another thread has ended it.
    case goesOn
  }

  /// Closes the batch of the calling thread.
  final func close(_ batch: Batch) {
    update(collectingBatches: true) { $0.admission.close(batch) }
  }

  /// Performs what the end of an operation of a batch has left, between two operations.
  ///
  /// That may take long, and wait for others: see ``release(_:of:continues:isLast:)``.
  ///
  /// - Parameters:
  ///   - reference: The operation.
  ///   - batch: The batch.
  ///   - context: The thread's.
  ///   - isLast: The thread leaves the batch.
  /// - Returns: Whether the thread may go on with its batch. If not, and there are effects left, they are to be
  ///   performed when the batch is closed.
  private func performEffects(
    of reference: OperationReference, in batch: Batch, _ context: UnsafeMutablePointer<ThreadContext>, isLast: Bool
  ) -> Bool {
    submitCompletionBlock(of: reference, batch)
    guard !batch.effects.isEmpty else { return true }
    guard !isLast, !batch.keepsOrder, batch.leave() else { return false }
    var effects = batch.effects.take()
    if effects.notifiesEnd { context.pointee.enter(reference) } else { context.pointee.leaveQueue() }
    effects.perform()
    context.pointee.leave()
    context.pointee.enter(self)
    return batch.comeBack()
  }

  /// Hands a completion block that the thread was to run to another, if it may wait for what this thread has still to
  /// do or to release.
  private func submitCompletionBlock(of reference: OperationReference, _ batch: Batch) {
    guard let block = batch.effects.takeCompletionBlock(or: batch.hasDeferredReleases) else { return }
    reference.operation.submitCompletionBlock(block, self, batch.executor, batch.placement)
  }

  /// Closes a batch, and then performs what the end of its last operation has left: the thread holds nothing of the
  /// queue's meanwhile.
  private func performEffects(of operation: Operation, closing batch: Batch) {
    update(collectingBatches: true, leaving: &batch.effects) { $0.admission.close(batch) }
    let reference = OperationReference(operation)
    submitCompletionBlock(of: reference, batch)
    var effects = batch.effects.take()
    if effects.notifiesEnd {
      ThreadContext.run(operation, in: self) { effects.perform() }
    } else {
      effects.perform()
    }
  }

  /// Releases the work of an operation of a batch that has ended, the operation itself, and what the thread has kept of
  /// it, before the thread runs another, which may wait for what the last one held.
  ///
  /// All of that may run users' code. After the last operation it is left until the batch is closed, since others may
  /// wait until the queue is empty. Before that, the thread stays at the batch while it releases the work of an
  /// operation that runs no other code when it is freed: others may reclaim the rest of the batch, and a wait of
  /// Headway's closes it. For other operations it leaves the batch; where the number that may run is limited, and so
  /// the batch has a place, it closes the batch first.
  ///
  /// - Parameters:
  ///   - reference: The operation.
  ///   - batch: The batch.
  ///   - continues: The thread has begun the next one, and before that released the work of this one.
  ///   - isLast: The thread leaves the batch.
  /// - Returns: Whether the thread may go on with its batch.
  private func release(
    _ reference: OperationReference, of batch: Batch, continues: Bool, isLast: Bool
  ) -> Bool {
    guard batch.hasDeferredReleases || reference._withUnsafeGuaranteedRef({ $0.runsUserCodeWhenFreed }) else {
      guard continues || (!isLast && !batch.isExhausted) else {
        batch.deferRelease(ofLast: reference)
        return false
      }
      let goesOn = continues || reference._withUnsafeGuaranteedRef { batch.releaseWork(of: $0) }
      batch.deferRelease(ofPlain: reference)
      return goesOn
    }
    if continues {
      batch.deferRelease(of: reference)
      return false
    }
    guard !isLast, !batch.keepsOrder, batch.leave() else {
      batch.deferRelease(ofLast: reference)
      return false
    }
    reference._withUnsafeGuaranteedRef { $0.releaseWork() }
    batch.free(reference)
    batch.releaseDeferred()
    return batch.comeBack()
  }

  /// Runs an operation of a batch that does not start plainly: it was cancelled, say, or is observed; false if it can't
  /// be started, since it was given a dependency.
  ///
  /// Closes the batch, and gives up the ownership of the operation.
  private func runTaken(_ reference: OperationReference, of batch: Batch) -> Bool {
    var effects = Effects()
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
    effects.perform(besides: batch.executor)
    run(claimed)
    return true
  }

  /// The calling thread, to which `batch` belongs, is about to block: what it has not started is for others.
  ///
  /// Between two operations, the batch is closed, since what the thread waits for may need its place.
  final func threadBlocks(in batch: Batch) {
    guard batch.releasesWork else { return update(collectingBatches: true) { $0.admission.reclaim(batch) } }
    let next = batch.leaveToWait()
    update(collectingBatches: true) { state in
      state.admission.close(batch)
      if let next { state.becameReady(next) }
    }
    next?.release()
  }

  /// Looks for something to do for a while, without a lock.
  ///
  /// The thread is the queue's spinning worker and has a ticket, so no other is woken for the first operation that
  /// comes.
  final func spin(while condition: () -> Bool) {
    while !spinSignal.load(ordering: .acquiring), inbox.isEmpty, condition() {}
  }
}
