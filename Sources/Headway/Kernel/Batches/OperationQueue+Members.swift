import Dispatch
import Synchronization

/// Notifications from operations to their queue.
extension OperationQueue {
  /// Records that an override of `isReady` holds the operation back.
  final func operationIsHeldBack(
    _ operation: Operation, leaving effects: inout Effects
  ) {
    update(leaving: &effects) { $0.admission.noteHeldBack(operation) }
  }

  final func operationWasCancelled(
    _ operation: Operation, leaving effects: inout Effects
  ) {
    let reference = OperationReference(operation)
    update(leaving: &effects) { state in
      reference._withUnsafeGuaranteedRef { state.admission.leave($0) }
    }
  }

  /// Creates the operations of blocks that have none, before a critical section that needs all operations.
  ///
  /// Holds the lock for a limited time in each step. Blocks that are added in the meantime might still have none.
  final func makeOperations() {
    var end: UInt64?
    while true {
      let isComplete = update { state in
        let before = end ?? state.admission.nextSequence
        end = before
        state.admission.makeOperations(atMost: MemberSlices.size)
        return state.admission.waitingBlocks.firstSequence.map { $0 >= before } ?? true
      }
      if isComplete { return }
    }
  }

  /// The operations of the queue, in insertion order, excluding blocks that have no operation yet.
  ///
  /// The blocks that have none have not started, and no other code has a reference to their operations.
  final var madeOperations: [Operation] { update(collectingBatches: true) { $0.admission.madeOperations } }

  /// Records a change of the operation's priority or quality of service.
  ///
  /// - Returns: Operations that the queue has raised as a result.
  final func operationChangedUrgency(_ operation: Operation) -> [Admission.Raised] {
    update { state in
      state.admission.urgencyChanged(operation)
      return state.admission.takeRaised()
    }
  }

  /// Records a change of the operation's priority.
  final func priorityChanged(of operation: Operation) { update { $0.admission.urgencyChanged(operation) } }

  /// Raises all operations of the queue for a caller that waits until the queue is empty or holds fewer operations.
  ///
  /// The caller's waiter must be in the list. Operations added later are also raised, until no caller waits.
  final func raiseAll(to workerClass: WorkerClass) {
    guard workerClass != .background else { return }
    if workerClass.isMoreUrgent(than: knownQuality.workerClass) { makeOperations() }
    let reported = update(collectingBatches: true) { state -> [Operation] in
      guard state.isAwaited else { return [] }
      state.admission.beginAwaiting(workerClass)
      return state.reports.isEmpty ? [] : state.reports.values
    }
    for operation in reported { operation.raiseReports(level: workerClass.raisingLevel) }
  }

  /// Raises all operations of the queue for a caller that is a task of this priority; see
  /// ``raiseAll(to:)-(WorkerClass)``.
  @Sendable final func raiseAll(to priority: TaskPriority) {
    raiseAll(to: WorkerClass(raisingLevel: QualityOfService(priority).level))
  }

  /// Adds a waiter for the current task and raises the queue's operations to the task's priority.
  ///
  /// - Parameter add: Adds the waiter to its list; returns false if there is nothing to wait for.
  /// - Returns: The result of `add`.
  final func raiseAll(adding add: () -> Bool) -> Bool {
    guard add() else { return false }
    raiseAll(to: Task.currentPriority)
    return true
  }

  /// Removes an operation from the queue after it has finished.
  ///
  /// - Parameters:
  ///   - operation: The operation that has finished.
  ///   - before: The operation's state before it ended.
  ///   - isLogged: Whether the end is in the log of events.
  ///   - closed: The batch of the calling thread, if the operation ran in it. It is closed, because the next steps can
  ///     take long.
  ///   - effects: Receives the steps that can run user code.
  /// - Returns: The resources that the operation keeps until its dependents are released. ``settle(_:leaving:)`` must
  ///   follow.
  final func operationFinished(
    _ operation: Operation, endedFrom before: OperationWord, isLogged: Bool, closing closed: Unmanaged<Batch>?,
    leaving effects: inout Effects
  ) -> Admission.Settling {
    if let failure = operation.failure { noteFailure(of: operation, failure, leaving: &effects) }
    let reference = OperationReference(operation)
    // It may be in a batch of another thread, which is closed in that case.
    let collects = closed != nil || operation.mayEndLater
    let hasBegun = before.phase == .executing
    let (member, heldBack, settling, reportsFailure) = update(collectingBatches: collects, leaving: &effects) { state in
      let startedCount = state.admission.started
      closed?._withUnsafeGuaranteedRef { state.admission.close($0) }
      let isIn = reference._withUnsafeGuaranteedRef { $0.admission.place != .none }
      if closed == nil { reference._withUnsafeGuaranteedRef { state.admission.detach(ended: $0, hasBegun: hasBegun) } }
      let member = reference._withUnsafeGuaranteedRef { state.admission.finished($0) }
      if isIn { state.record(isLogged: isLogged) { .finished(reference.operation) } }
      let settling = before.isEdged ? state.admission.beginSettling(startedBefore: startedCount) : .nothing
      let reportsFailure = before.hasFailed && state.failureHandler != nil
      if reportsFailure { state.reports.append(reference.operation, ObjectIdentifier(reference.operation)) }
      let heldBack = state.admission.nextHeldBack()
      return (member, heldBack, settling, reportsFailure)
    }
    member?.release()
    effects.evaluateReadiness(of: heldBack)
    if reportsFailure { effects.reportFailure() }
    return settling
  }

  /// Records that the dependents of an operation that left the queue have been released.
  final func settle(_ settling: Admission.Settling, leaving effects: inout Effects) {
    update(leaving: &effects) { $0.admission.end(settling) }
  }
}

extension OperationQueue: PoolWork {
  /// Serves the queue with a worker that has one ticket, or with the queue's executor if `workerClass` is nil.
  package final func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool {
    run(by: workerClass.map { .pool($0) } ?? .executor, atMost: count)
  }

  /// Serves the queue with a visitor that has one ticket.
  final func run(by visitor: Visit.Visitor, atMost count: Int) -> Bool {
    var visit = Visit(of: self, by: visitor)
    return visit.run(atMost: count)
  }

  /// Always true: ``threadLimitWasReached(_:)`` records an event.
  ///
  /// The event is recorded on another thread, because the thread that requested a worker calls this method. That thread
  /// can be the pool manager, which must not run user code; and no worker may be available.
  package final var reportsThreadLimit: Bool { true }

  package final func threadLimitWasReached(_ limit: Int) {
    DispatchQueue.global().async { self.update { $0.record { .threadLimitReached(limit: limit) } } }
  }
}
