import Dispatch
import Synchronization

/// What operations say to their queue.
extension OperationQueue {
  final func operationBecameReady(
    _ operation: Operation, notifyingLater notifications: inout PendingNotifications
  ) {
    // Here and below, unretained in the closure, for which it would be retained each time.
    let reference = OperationReference(operation)
    update(notifyingLater: &notifications) { $0.becameReady(reference) }
  }

  /// As ``operationBecameReady(_:notifyingLater:)``, for several at once.
  final func operationsBecameReady(
    _ references: [OperationReference], notifyingLater notifications: inout PendingNotifications
  ) {
    guard !references.isEmpty else { return }
    update(notifyingLater: &notifications) { state in
      for reference in references { state.becameReady(reference) }
    }
  }

  /// An override of `isReady` holds the operation back.
  final func operationIsHeldBack(
    _ operation: Operation, notifyingLater notifications: inout PendingNotifications
  ) {
    update(notifyingLater: &notifications) { $0.admission.noteHeldBack(operation) }
  }

  final func operationWasCancelled(
    _ operation: Operation, notifyingLater notifications: inout PendingNotifications
  ) {
    let reference = OperationReference(operation)
    update(notifyingLater: &notifications) { state in
      reference._withUnsafeGuaranteedRef { state.admission.leave($0) }
    }
  }

  /// The operation's priority or quality of service was changed.
  final func operationChangedUrgency(_ operation: Operation) { update { $0.admission.urgencyChanged(operation) } }

  /// What the end of an operation has still to do for its queue, which it has left.
  struct Leaving {
    /// Operations that hold themselves back, and are to be asked again.
    let heldBack: [Operation]
    /// The operation's place of the limit is still taken, so that what becomes ready by its end has its turn: it is to
    /// be given up by ``releasePlace(notifyingLater:)``.
    let keepsPlace: Bool
    /// The operation has failed, which a handler is to be told: ``endReport()`` follows.
    let reportsFailure: Bool
  }

  /// The operation has finished, and leaves the queue.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - before: The state from which it ended.
  ///   - batch: The batch of the calling thread in which it ran, which is closed: what follows may take long.
  ///   - notifications: Takes what observers are to be notified of.
  /// - Returns: What is still to be done.
  final func operationFinished(
    _ operation: Operation, endedFrom before: OperationWord, closing batch: Batch?,
    notifyingLater notifications: inout PendingNotifications
  ) -> Leaving {
    // Before the operation leaves, so that a thread that waits for the queue to be empty finds the unit completed.
    _ = countUnit(of: operation)
    if let failure = operation.failure { noteFailure(failure) }
    let (reference, closed) = (OperationReference(operation), batch.map { Unmanaged.passUnretained($0) })
    // It may be in a batch of another thread's, which is closed then.
    let collects = closed != nil || operation.mayEndLater
    let hasBegun = before.phase == .executing
    let (member, leaving) = update(collectingBatches: collects, notifyingLater: &notifications) { state in
      let startedCount = state.admission.started
      closed?._withUnsafeGuaranteedRef { state.admission.close($0) }
      let isIn = reference._withUnsafeGuaranteedRef { $0.admission.place != .none }
      if closed == nil { reference._withUnsafeGuaranteedRef { state.admission.detach(ended: $0, hasBegun: hasBegun) } }
      let member = reference._withUnsafeGuaranteedRef { state.admission.finished($0) }
      if isIn { state.record { .finished(reference.operation) } }
      let keepsPlace = before.isEdged && state.admission.keepPlace(of: startedCount)
      let reportsFailure = before.hasFailed && state.failureHandler != nil
      if reportsFailure { state.reportCount += 1 }
      let heldBack = state.admission.nextHeldBack()
      return (member, Leaving(heldBack: heldBack, keepsPlace: keepsPlace, reportsFailure: reportsFailure))
    }
    member?.release()
    return leaving
  }

  /// Gives up the place of an operation that has left.
  final func releasePlace(notifyingLater notifications: inout PendingNotifications) {
    update(notifyingLater: &notifications) { $0.admission.releasePlace() }
  }
}

extension OperationQueue: PoolWork {
  /// A worker of a class has come, with one ticket; or, for nil, the queue's executor.
  package final func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool {
    run(by: workerClass.map { .pool($0) } ?? .executor, atMost: count)
  }

  /// A thread has come, with one ticket.
  final func run(by visitor: Visit.Visitor, atMost count: Int) -> Bool {
    var visit = Visit(of: self, by: visitor)
    return visit.run(atMost: count)
  }

  /// Called by whoever asked for a thread, the steward perhaps, which must not run users' code; and no worker may come.
  package final var hearsOfThreadLimit: Bool { true }

  package final func threadLimitWasReached(_ limit: Int) {
    DispatchQueue.global().async { self.update { $0.record { .threadLimitReached(limit: limit) } } }
  }
}
