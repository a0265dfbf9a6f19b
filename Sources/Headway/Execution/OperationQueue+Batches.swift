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
    ThreadContext.run(in: self, batch) { context in
      // Retained and begun: the queue releases it when it has been collected as finished.
      var next: OperationReference?
      var isOver = false
      while !isOver, let reference = next ?? batch.next() {
        let hasBegun = next != nil
        var isKept = false
        next = reference._withUnsafeGuaranteedRef { operation -> OperationReference? in
          // Somebody may have set the queue's progress since the batch was taken.
          guard hasBegun || trackedProgress == nil && operation.state.beginPlainly() else {
            context.pointee.leaveBatch()
            isOver = true
            if runTaken(operation, of: batch) { number += 1 }
            return nil
          }
          batch.noteCurrent(reference)
          number += 1
          context.pointee.enter(reference)
          operation.callMain()
          isKept = operation.runsUserCodeWhenFreed
          if isKept { batch.keep(hasBegun ? reference : reference.retain()) }
          isOver = batch.yieldsToInbox || worker?.leavesSoon.load(ordering: .relaxed) == true
          return operation.end(in: batch, isRetained: hasBegun || isKept, continues: !isOver && !isKept) {
            leftOvers.append($0)
          }
        }
        if hasBegun || isKept { context.pointee.leave() }
        if hasBegun, !isKept { reference.release() }
        if !leftOvers.isEmpty { isOver = true }
        // At the end of the batch, the visit releases it.
        if batch.hasKept, !isOver { isOver = batch.isAtEnd || !releaseKept(of: batch) }
      }
    }
    if !leftOvers.isEmpty {
      // They may run code of the user's: the thread holds nothing of the queue's meanwhile.
      update(collectingBatches: true) { $0.admission.close(batch) }
      for leftOver in leftOvers { leftOver() }
    }
    return number
  }

  /// Releases what the thread of a batch has kept of an operation that it has run, before it runs another, which may
  /// wait for what the last one held.
  ///
  /// Where the number that may run is limited, the batch has a place of the limit, which code that is called now must
  /// not keep from others: then that is left to the end of the batch.
  ///
  /// - Returns: Whether the thread may go on with its batch.
  private func releaseKept(of batch: Batch) -> Bool {
    guard !batch.keepsOrder else { return false }
    update(collectingBatches: true) { _ in }
    batch.releaseKept()
    return true
  }

  /// Runs an operation of a batch that does not start plainly: it was cancelled, say, or is observed; false if it can't
  /// be started, since it was given a dependency.
  ///
  /// Closes the batch.
  private func runTaken(_ operation: Operation, of batch: Batch) -> Bool {
    var notifications = PendingNotifications()
    let claimed = update(collectingBatches: true, notifyingLater: &notifications) { state -> Operation? in
      guard state.admission.claimTaken(operation, of: batch) else { return nil }
      state.record { .started(operation) }
      return operation
    }
    guard let claimed else {
      notifications.send()
      return false
    }
    notifications.send(besides: Worker.current.map { .pool($0.pool.workerClass) } ?? .executor)
    run(claimed)
    return true
  }

  /// The calling thread, to which `batch` belongs, is about to block: what it has not started is for others.
  final func threadBlocks(in batch: Batch) {
    update(collectingBatches: true) { $0.admission.reclaim(batch) }
  }

  /// Looks for something to do for a while, without a lock.
  ///
  /// The thread is the queue's spinning worker and has a ticket, so no other is woken for the first operation that
  /// comes.
  final func spin(while condition: () -> Bool) {
    while !spinSignal.load(ordering: .acquiring), inbox.isEmpty, condition() {}
  }
}
