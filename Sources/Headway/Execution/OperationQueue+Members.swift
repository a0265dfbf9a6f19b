import Dispatch
import Synchronization

/// What operations say to their queue.
extension OperationQueue {
  /// An override of `isReady` holds the operation back.
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

  /// The operation's priority or quality of service was changed.
  ///
  /// - Returns: Operations that the queue has raised because of that.
  final func operationChangedUrgency(_ operation: Operation) -> [Admission.Raised] {
    update { state in
      state.admission.urgencyChanged(operation)
      return state.admission.takeRaised()
    }
  }

  /// The operation's priority was changed.
  final func priorityChanged(of operation: Operation) { update { $0.admission.urgencyChanged(operation) } }

  /// A caller of a class waits until the queue is empty, or holds less, and its waiter is in the list.
  ///
  /// Operations that are added are raised, too, until no caller waits.
  final func raiseAll(to workerClass: WorkerClass) {
    guard workerClass != .background else { return }
    let reported = update(collectingBatches: true) { state -> [Operation] in
      guard state.isAwaited else { return [] }
      state.admission.beginAwaiting(workerClass)
      return state.reports.isEmpty ? [] : state.reports.values
    }
    for operation in reported { operation.raiseReports(level: workerClass.raisingLevel) }
  }

  /// As ``raiseAll(to:)-(WorkerClass)``, for a caller that is a task of this priority.
  @Sendable final func raiseAll(to priority: TaskPriority) {
    raiseAll(to: WorkerClass(raisingLevel: QualityOfService(priority).level))
  }

  /// Adds a waiter that is the current task, and raises what the queue holds to its priority.
  ///
  /// - Parameter add: Puts the waiter into its list; false if there is nothing to wait for.
  /// - Returns: What `add` returns.
  final func raiseAll(adding add: () -> Bool) -> Bool {
    guard add() else { return false }
    raiseAll(to: Task.currentPriority)
    return true
  }

  /// The operation has finished, and leaves the queue.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - before: The state from which it ended.
  ///   - closed: The batch of the calling thread in which it ran, which is closed: what follows may take long.
  ///   - effects: Takes what may run users' code.
  /// - Returns: What the operation keeps until its dependents are released: ``settle(_:leaving:)`` follows.
  final func operationFinished(
    _ operation: Operation, endedFrom before: OperationWord, closing closed: Unmanaged<Batch>?,
    leaving effects: inout Effects
  ) -> Admission.Settling {
    if let failure = operation.failure { noteFailure(failure) }
    let reference = OperationReference(operation)
    // It may be in a batch of another thread's, which is closed then.
    let collects = closed != nil || operation.mayEndLater
    let hasBegun = before.phase == .executing
    let (member, heldBack, settling, reportsFailure) = update(collectingBatches: collects, leaving: &effects) { state in
      let startedCount = state.admission.started
      closed?._withUnsafeGuaranteedRef { state.admission.close($0) }
      let isIn = reference._withUnsafeGuaranteedRef { $0.admission.place != .none }
      if closed == nil { reference._withUnsafeGuaranteedRef { state.admission.detach(ended: $0, hasBegun: hasBegun) } }
      let member = reference._withUnsafeGuaranteedRef { state.admission.finished($0) }
      if isIn { state.record { .finished(reference.operation) } }
      let settling = before.isEdged ? state.admission.beginSettling(startedBefore: startedCount) : .nothing
      let reportsFailure = before.hasFailed && state.failureHandler != nil
      if reportsFailure { state.reports.append(reference.operation, ObjectIdentifier(reference.operation)) }
      let heldBack = state.admission.nextHeldBack()
      return (member, heldBack, settling, reportsFailure)
    }
    member?.release()
    effects.ask(heldBack)
    if reportsFailure { effects.reportFailure() }
    return settling
  }

  /// The dependents of an operation that has left are released.
  final func settle(_ settling: Admission.Settling, leaving effects: inout Effects) {
    update(leaving: &effects) { $0.admission.end(settling) }
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

  /// Called by whoever asked for a thread, the pool manager perhaps, which must not run users' code; and no worker may
  /// come.
  package final var reportsThreadLimit: Bool { true }

  package final func threadLimitWasReached(_ limit: Int) {
    DispatchQueue.global().async { self.update { $0.record { .threadLimitReached(limit: limit) } } }
  }
}
