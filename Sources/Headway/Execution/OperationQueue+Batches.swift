import Synchronization

extension OperationQueue {
  /// Runs an operation that has been claimed.
  final func run(_ operation: Operation) {
    startUnit(of: operation)
    ThreadContext.run(operation, in: self) {
      operation.start()
      operation.endIfSubclassHasFinished()
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
    var leftOvers: [() -> Void] = []
    // The one that the left-overs are of.
    var last: Operation?
    ThreadContext.run(in: self, batch) { context in
      // What the thread continues with has begun. The thread owns what it takes, and what it continues with.
      var next: OperationReference?
      var isOver = false
      while let reference = next ?? (isOver ? nil : batch.next()) {
        let isContinued = next != nil
        next = nil
        let course = reference._withUnsafeGuaranteedRef { operation -> Course in
          batch.noteCurrent(reference)
          guard isContinued || operation.state.beginPlainly() else { return .notBegun }
          context.pointee.enter(reference)
          startUnit(of: operation)
          if operation.mayEndLater {
            operation.run()
            return batch.remainingEnd.takeEndInMain().map { .endedInMain($0) } ?? .goesOn
          }
          operation.callMain()
          isOver = isOver || batch.yieldsToInbox || worker?.leavesSoon.load(ordering: .relaxed) == true
          let continues = !isOver && !batch.isCareful && !operation.runsUserCodeWhenFreed
          next = operation.end(in: batch, isContinued: isContinued, continues: continues) { leftOvers.append($0) }
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
          return batch.remainingEnd.leave(unended: reference)
        case .endedInMain(let end):
          isOver = batch.yieldsToInbox || worker?.leavesSoon.load(ordering: .relaxed) == true
          guard end == .outside else { break }
          batch.free(reference)
          if !batch.comeBack() { isOver = true }
          continue
        }
        // Where the batch is closed by now, its end was no plain one, and the queue has heard.
        if !isContinued, batch.isActive, batch.hasToTakeLock, let notifications = collect() {
          if next == nil {
            leftOvers.append { notifications.send() }
          } else {
            notifications.send(besides: batch.executor)
          }
        }
        if !runUsersCode(after: reference, of: batch, context, isLast: isOver, &leftOvers) { isOver = true }
        if !leftOvers.isEmpty { (isOver, last) = (true, reference.operation) }
        if !release(reference, of: batch, continues: next != nil, isLast: isOver) { isOver = true }
      }
    }
    if let last {
      // They may run code of the user's: the thread holds nothing of the queue's meanwhile.
      var notifications = PendingNotifications()
      update(collectingBatches: true, notifyingLater: &notifications) { $0.admission.close(batch) }
      // What runs here may wait for this operation, of whose end this thread may have still to notify.
      NotificationContext.run(notifyingOf: last) {
        notifications.send()
        // What the next one waits for, the last one may hold.
        while !leftOvers.isEmpty { leftOvers.removeFirst()() }
      }
    }
    return number
  }

  /// What has become of an operation of a batch.
  private enum Course {
    case notBegun
    case ended
    /// It has ended, in its `main()`.
    case endedInMain(RemainingEnd.EndInMain)
    /// Its `main()` has returned, and it goes on, or another thread has ended it.
    case goesOn
  }

  /// Closes the batch of the calling thread.
  final func close(_ batch: Batch) {
    var notifications = PendingNotifications()
    update(collectingBatches: true, notifyingLater: &notifications) { $0.admission.close(batch) }
    notifications.send()
  }

  /// Notifies of the end of an operation of a batch, or runs its completion block.
  ///
  /// Either may take long, and wait for others: see ``release(_:of:isContinued:isLast:)``.
  ///
  /// - Parameters:
  ///   - reference: The operation.
  ///   - batch: The batch.
  ///   - context: The thread's.
  ///   - isLast: The thread leaves the batch.
  ///   - leftOvers: Takes what is to be done when the thread holds nothing of the queue's.
  /// - Returns: Whether the thread may go on with its batch.
  private func runUsersCode(
    after reference: OperationReference, of batch: Batch, _ context: UnsafeMutablePointer<ThreadContext>, isLast: Bool,
    _ leftOvers: inout [() -> Void]
  ) -> Bool {
    if let end = batch.remainingEnd.takeUntoldEnd() {
      let operation = reference.operation
      guard !isLast, leftOvers.isEmpty, !batch.keepsOrder, batch.leave() else {
        leftOvers.append { ThreadContext.run(operation, in: self) { operation.notify(of: end) } }
        return false
      }
      context.pointee.enter(reference)
      operation.notify(of: end)
      context.pointee.leave()
      return batch.comeBack()
    }
    guard let block = batch.remainingEnd.takeCompletionBlock() else { return true }
    guard leftOvers.isEmpty, !batch.hasKept else {
      // It may wait for what this thread has still to do.
      reference.operation.submitCompletionBlock(block, self, batch.executor, batch.placement)
      return true
    }
    guard !isLast, batch.leave() else {
      let operation = reference.operation
      leftOvers.append { operation.runCompletionBlock(block) }
      return false
    }
    context.pointee.leaveQueue()
    let operation = reference.operation
    operation.runCompletionBlock(consume block)
    context.pointee.enter(self)
    return batch.comeBack()
  }

  /// Releases an operation of a batch that has ended, and what the thread has kept of it, before the thread runs
  /// another, which may wait for what the last one held.
  ///
  /// If that may run users' code, and the queue has to hear first of what has finished, it is left to the end of the
  /// batch: where the number that may run is limited, since the batch has a place of the limit; and after the last one,
  /// since others may wait until the queue is empty. So it is with the work of the operation, too; but where the batch
  /// goes on, the thread stays in it meanwhile.
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
    guard batch.hasKept || reference._withUnsafeGuaranteedRef({ $0.runsUserCodeWhenFreed }) else {
      guard continues || (!isLast && !mustClose(batch)) else {
        batch.keep(ended: reference)
        return false
      }
      let goesOn = continues || batch.releaseWork(of: reference)
      batch.keep(plain: reference)
      return goesOn
    }
    guard !continues, !isLast, !batch.keepsOrder, batch.leave() else {
      batch.keep(ended: reference)
      return false
    }
    reference._withUnsafeGuaranteedRef { $0.releaseWork() }
    batch.free(reference)
    batch.releaseKept()
    return batch.comeBack()
  }

  /// Whether the thread is to close its batch before it releases the work of the operation that has ended.
  ///
  /// If so, and the number that may run is limited, the batch is closed when this returns.
  private func mustClose(_ batch: Batch) -> Bool {
    if batch.isCareful { return true }
    guard batch.isExhausted else { return false }
    guard batch.keepsOrder else { return true }
    // Where others wait for the place, another thread would be woken after each batch.
    var notifications = PendingNotifications()
    let isClosed = update(collectingBatches: true, notifyingLater: &notifications) {
      $0.admission.closeIfNothingWaits(batch)
    }
    notifications.send(besides: batch.executor)
    return isClosed
  }

  /// Another thread looks at what this one is about to release, or somebody observes the queue: collects its end.
  ///
  /// - Returns: What to notify of, when the thread holds nothing that others may wait for.
  private func collect() -> PendingNotifications? {
    var notifications = PendingNotifications()
    update(collectingBatches: true, notifyingLater: &notifications) { _ in }
    return notifications.isEmpty ? nil : notifications
  }

  /// Runs an operation of a batch that does not start plainly: it was cancelled, say, or is observed; false if it can't
  /// be started, since it was given a dependency.
  ///
  /// Closes the batch, and gives up the ownership of the operation.
  private func runTaken(_ reference: OperationReference, of batch: Batch) -> Bool {
    var notifications = PendingNotifications()
    let claimed = update(collectingBatches: true, notifyingLater: &notifications) { state -> Operation? in
      let operation = reference.operation
      guard state.admission.claimTaken(operation, of: batch) else { return nil }
      state.record { .started(operation) }
      return operation
    }
    guard let claimed else {
      notifications.send()
      return false
    }
    notifications.send(besides: batch.executor)
    run(claimed)
    return true
  }

  /// The calling thread, to which `batch` belongs, is about to block: what it has not started is for others.
  ///
  /// Between two operations, the batch is closed: what the thread waits for may need its place.
  final func threadBlocks(in batch: Batch) {
    guard batch.releasesWork else { return update(collectingBatches: true) { $0.admission.reclaim(batch) } }
    let held = batch.leaveToWait()
    update(collectingBatches: true) { state in
      state.admission.close(batch)
      if let held { state.becameReady(held) }
    }
    held?.release()
  }

  /// Looks for something to do for a while, without a lock.
  ///
  /// The thread is the queue's spinning worker and has a ticket, so no other is woken for the first operation that
  /// comes.
  final func spin(while condition: () -> Bool) {
    while !spinSignal.load(ordering: .acquiring), inbox.isEmpty, condition() {}
  }
}
