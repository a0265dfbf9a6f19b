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
  ///
  /// - Returns: What is to be raised further because of that.
  final func operationChangedUrgency(_ operation: Operation) -> [Admission.Raised] {
    update { state in
      state.admission.urgencyChanged(operation)
      return state.admission.takeRaised()
    }
  }

  /// The operation's priority was changed: another may come before it, or not any more.
  final func priorityChanged(of operation: Operation) { update { $0.admission.urgencyChanged(operation) } }

  /// The class to which an operation's dependencies are raised since others wait for the operation.
  final func urgency(behind operation: Operation) -> WorkerClass {
    guard raisesOthers.load(ordering: .relaxed) else { return .background }
    return state.withLock { $0.admission.urgency(behind: operation) }
  }

  /// Something of a class waits until the queue is empty, or holds less.
  ///
  /// The waiter is in its list already: what is added is raised too, until there is none.
  final func raiseAll(to workerClass: WorkerClass) {
    guard workerClass != .background else { return }
    update(collectingBatches: true) { $0.admission.beginAwaiting(workerClass) }
  }

  /// As ``raiseAll(to:)-(WorkerClass)``, for a task of this priority.
  @Sendable final func raiseAll(to priority: TaskPriority) {
    raiseAll(to: WorkerClass(raisingLevel: QualityOfService(priority).level))
  }

  /// Adds a waiter that is the current task, and raises what the queue holds to its priority.
  ///
  /// - Parameter add: Puts the waiter into its list; false if there is nothing to wait for.
  final func raiseAll(adding add: () -> Bool) -> Bool {
    guard add() else { return false }
    raiseAll(to: Task.currentPriority)
    return true
  }

  /// The operation has finished, and leaves the queue.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - hasBegun: It had been started.
  ///   - batch: The batch of the calling thread in which it ran, which is closed: what follows may take long.
  ///   - notifications: Takes what observers are to be notified of.
  /// - Returns: Operations that hold themselves back, and are to be asked again.
  final func operationFinished(
    _ operation: Operation, hasBegun: Bool, closing batch: Batch?,
    notifyingLater notifications: inout PendingNotifications
  ) -> [Operation] {
    // Before the operation leaves, so that a thread that waits for the queue to be empty finds the unit completed.
    _ = countUnit(of: operation)
    if let failure = operation.failure { noteFailure(failure) }
    let (reference, closed) = (OperationReference(operation), batch.map { Unmanaged.passUnretained($0) })
    // It may be in a batch of another thread's, which is closed then.
    let collects = closed != nil || operation.mayEndLater
    let (member, heldBack) = update(collectingBatches: collects, notifyingLater: &notifications) { state in
      closed?._withUnsafeGuaranteedRef { state.admission.close($0) }
      let isIn = reference._withUnsafeGuaranteedRef { $0.admission.place != .none }
      if closed == nil { reference._withUnsafeGuaranteedRef { state.admission.detach(ended: $0, hasBegun: hasBegun) } }
      let member = reference._withUnsafeGuaranteedRef { state.admission.finished($0) }
      if isIn { state.record { .finished(reference.operation) } }
      return (member, state.admission.nextHeldBack())
    }
    member?.release()
    return heldBack
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
