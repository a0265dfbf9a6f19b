import Synchronization

extension Operation {
  /// Ends the operation, if it has not ended.
  ///
  /// Called when the work is done, on the thread that did it.
  final func end() {
    if let before = state.finish() { conclude(from: before) }
  }

  /// The base's part of a start is over: ends the operation, unless a subclass says that it goes on.
  final func endUnlessSubclassGoesOn() {
    guard overridesIsFinished else { return end() }
    state.announceStarted()
    if isFinished { end() }
  }

  /// After ``start()``, by which a subclass may have finished without having posted the change.
  final func endIfSubclassHasFinished() {
    if overridesIsFinished, state.current.phase != .finished, isFinished { end() }
  }

  /// Does all that follows the end.
  ///
  /// In this order: dependents that required success are kept from starting if it was none; dependents are released;
  /// the queue is left; the threads wake that wait for no more than that; the completion block goes to the pool. Then
  /// what may take as long as users' code likes: operations that override ``isReady`` are asked; dependents that
  /// required success are cancelled; observers are notified; and all others that wait wake. Called once, with no lock
  /// held.
  ///
  /// - Parameters:
  ///   - before: The state from which the operation ended.
  ///   - batch: The batch of the calling thread in which it ran.
  private func conclude(from before: OperationWord, in batch: Batch? = nil) {
    // An operation that ends early is still in the lists of what it waited for: out of there first (rule 1 of Links).
    let early = before.unfinishedDependencies > 0 ? leaveDependencies() : []
    let ending = closeLinks(endedFrom: before)
    conclude(ending, from: before, in: batch)
    ReleasedChain.release(early)
  }

  /// Takes what the end has to deal with, and releases the dependents.
  ///
  /// Without the lock of the links where nobody may need it: a thread that has looked there has announced that before
  /// the end. A thread with a raised nice value has the lock taken, since others may wait for the count-down.
  private func closeLinks(endedFrom before: OperationWord) -> OperationEnding {
    if before.endsByEdgesAlone, !Guarded<Void>.isLow { return OperationEnding(closingEdgesOf: self) }
    return links.withLock { OperationEnding(closing: &$0, of: self, endedFrom: before) }
  }

  private func conclude(_ ending: consuming OperationEnding, from before: OperationWord, in batch: Batch?) {
    // Until it has left it, the queue that holds the operation owns itself.
    let home = before.isEnqueued ? queueLinks.home : nil
    let queue = home?.takeUnretainedValue()
    var notifications = PendingNotifications()
    // Those that override `isReady` are asked below.
    Self.tellQueues(of: ending.ready, holding: home, notifyingLater: &notifications)
    let hasBegun = before.phase == .executing
    let heldBack =
      queue?.operationFinished(self, hasBegun: hasBegun, closing: batch, notifyingLater: &notifications) ?? []
    let isNotified = !before.isObserved && ending.doomed.isEmpty
    wakeWaiters(
      settledFrom: state.settle(isNotified: isNotified, isUnlinked: ending.isUnlinked), isNotified: isNotified)
    submitCompletionBlock(ending.takeCompletionBlock(), queue)
    // From here on nothing is left to do that others need, and users' code runs, which may wait for this operation.
    if isNotified {
      // Such a wait returns at once, so nobody asks what this thread is doing.
      callUsersCode(ending, from: before, isNotified: true, queue, heldBack, notifications)
    } else {
      NotificationContext.run(notifyingOf: self) {
        callUsersCode(ending, from: before, isNotified: false, queue, heldBack, notifications)
      }
    }
  }

  private func callUsersCode(
    _ ending: borrowing OperationEnding, from before: OperationWord, isNotified: Bool, _ queue: OperationQueue?,
    _ heldBack: [Operation], _ notifications: PendingNotifications
  ) {
    // First what other operations may wait for: observers and handlers may take as long as they like.
    ending.ready.forEach { reference in
      reference._withUnsafeGuaranteedRef { if $0.overridesIsReady { $0.reconsiderReadiness() } }
    }
    for operation in heldBack { operation.reconsiderReadiness() }
    if before.hasFailed, let queue, failure != nil { queue.endAfterFailure() }
    cancelDoomed(ending.doomed)
    if !notifications.isEmpty { notifications.send(after: queue) }
    queue?.trackedProgress?._withUnsafeGuaranteedRef { $0.notifyIfFurther() }
    ending.ready.forEach { $0._withUnsafeGuaranteedRef { $0.notifyIfObserved([$0.readinessChange]) } }
    if before.hasFailed, let error { queue?.reportFailure(of: self, error) }
    if !isNotified { notifyEnd(from: before, ending.observers) }
    if before.phase != .executing { releaseWork() }
    ending.release()
  }

  /// Notifies the observers of the end; and then wakes those who wait for that.
  private func notifyEnd(from before: OperationWord, _ observers: ObserverList?) {
    guard let observers else { return observersWereNotified() }
    // If another thread is notifying them at this moment, that one goes on with this.
    observers.notify(of: self, ending: self) { notify in
      // What led here another thread may be about to notify of; it must come first, and comes once.
      if before.isCancelled { notify(ObservedChange(.isCancelled, true)) }
      notify(ObservedChange(.isReady))
      if before.phase == .executing {
        if !before.announcesExecuting { notify(ObservedChange(.isExecuting, true)) }
        notify(ObservedChange(.isExecuting, false))
      }
      notify(ObservedChange(.isFinished, true))
    }
  }

  /// Notifies those of the end whom a batch has left to be notified.
  final func notify(of end: UntoldEnd) {
    guard end.before.isObserved else { return notifyProgress(of: end) }
    NotificationContext.run(notifyingOf: self) {
      notifyProgress(of: end)
      notifyEnd(from: end.before, end.observers)
    }
  }

  private func notifyProgress(of end: UntoldEnd) { end.progress?._withUnsafeGuaranteedRef { $0.notifyIfFurther() } }

  /// Wakes those who wait until the observers have been notified of the end.
  final func observersWereNotified() { wakeWaiters(notifiedFrom: state.markNotified()) }

  // MARK: In a batch

  /// Ends the operation, if it has not ended: in ``main()``, or after that, on whatever thread.
  ///
  /// In the batch of the calling thread, in `main()`, the queue hears of it when it next collects the results of the
  /// batch.
  ///
  /// - Parameter mayGoOn: What users do in `main()` may go on after this, and take long.
  final func endInMainOrLater(mayGoOn: Bool) {
    guard let batch = ThreadContext.batch(runningInnermost: self) else { return end() }
    if endPlainly(in: batch, mayGoOn: mayGoOn) { return }
    guard let before = state.finish() else { return }
    batch.withdrawCurrent()
    batch.remainingEnd.noteEndInMain(isOutside: false)
    conclude(from: before, in: batch)
  }

  /// Ends the operation in `main()`, if nothing else is to be done for that.
  private func endPlainly(in batch: Batch, mayGoOn: Bool) -> Bool {
    // While users' code goes on, the batch must have no place of a limit.
    guard let queue = batch.home, !(mayGoOn && batch.keepsOrder),
      queue._withUnsafeGuaranteedRef({ $0.trackedProgress }) == nil, state.finishPlainly()
    else { return false }
    batch.publishTaken()
    // Others may wait until the queue is empty.
    if batch.hasToTakeLock || (mayGoOn && !batch.leave()) {
      batch.remainingEnd.noteEndInMain(isOutside: false)
      queue._withUnsafeGuaranteedRef { $0.close(batch) }
    } else {
      batch.remainingEnd.noteEndInMain(isOutside: mayGoOn)
    }
    return true
  }

  /// Ends an operation that `batch` has run, on the thread to which the batch belongs.
  ///
  /// As ``end()``; but the queue hears of it when it next collects the results of the batch, and to notify observers
  /// is left to the caller, by way of the batch. The caller owns the operation.
  ///
  /// - Parameters:
  ///   - batch: The batch.
  ///   - isContinued: The thread has continued with the operation; otherwise it had taken it.
  ///   - continues: The thread may continue with what becomes ready.
  ///   - tellReady: Called with the operations that became ready and of which their queues have to hear at once; it
  ///     takes over the ownership.
  ///   - leave: Takes what is to be done next, when the thread holds nothing of the queue's, since it may take long.
  /// - Returns: The operation with which the thread continues, retained; it has begun, and the queue has not heard of
  ///   it.
  final func end(
    in batch: Batch, isContinued: Bool, continues: Bool,
    tellReady: (borrowing ReadyDependents, Unmanaged<OperationQueue>?, inout PendingNotifications) -> Void =
      Operation.tellReady,
    leaving leave: (@escaping () -> Void) -> Void
  ) -> OperationReference? {
    let queue = batch.home
    if queue?._withUnsafeGuaranteedRef({ $0.trackedProgress }) == nil, state.finishPlainly() {
      publish(in: batch, isContinued: isContinued)
      return nil
    }
    guard let before = state.finish() else { return nil }
    var ending = closeLinks(endedFrom: before)
    guard !before.hasFailed, ending.doomed.isEmpty, !ending.ready.haveToBeAsked
    else {
      batch.withdrawCurrent()
      conclude(ending, from: before, in: batch)
      return nil
    }
    // Before the operation leaves, so that a thread that waits for the queue to be empty finds the unit completed.
    let progress = queue?._withUnsafeGuaranteedRef { $0.countUnit(of: self) }
    let isNotified = !before.isObserved
    let word = state.settle(isNotified: isNotified, isUnlinked: ending.isUnlinked)
    publish(in: batch, isContinued: isContinued)
    var later = PendingNotifications()
    var next = ending.ready.only
    // Not if users' code is to run first.
    let completionBlock = ending.takeCompletionBlock()
    let runsUserCode =
      !isNotified || progress != nil || completionBlock != nil || ending.hasDependenciesToKeep
      || ending.runsUserCodeWhenReleased
    if !continues || runsUserCode || next?._withUnsafeGuaranteedRef({ batch.begin(readied: $0) }) != true {
      next = nil
      var untold = ReadyDependents()
      ending.ready.forEach { if !batch.publish(readied: $0) { untold.append($0) } }
      if !untold.isEmpty { tellReady(untold, queue, &later) }
    }
    wakeWaiters(settledFrom: word, isNotified: isNotified)
    if let completionBlock {
      // Observers may wait for what it does, and it for them.
      if isNotified, progress == nil, batch.runsCompletionBlocks {
        batch.remainingEnd.leave(completionBlock)
      } else {
        submitCompletionBlock(completionBlock, batch.home?.takeUnretainedValue(), batch.executor, batch.placement)
      }
    }
    ending.releaseDependencies(in: batch)
    if ending.runsUserCodeWhenReleased || !later.isEmpty {
      // Captured as a value: a captured variable would be an allocation for each operation.
      let rare = ending.rare
      leave { [later] in
        // Those who are notified may wait for this operation, of whose end this thread has still to notify.
        if isNotified { later.send() } else { NotificationContext.run(notifyingOf: self) { later.send() } }
        withExtendedLifetime(rare) {}
      }
    }
    if !isNotified || progress != nil {
      batch.remainingEnd.leave(UntoldEnd(before: before, observers: ending.observers, progress: progress))
    }
    return next
  }

  private func publish(in batch: Batch, isContinued: Bool) {
    if isContinued { batch.publish(continued: OperationReference(self)) } else { batch.publishTaken() }
  }

  /// Makes operations ready in their queues, and releases them, or leaves that to the notifications.
  ///
  /// `held` is a queue that the caller keeps alive.
  static func tellReady(
    _ ready: borrowing ReadyDependents, holding held: Unmanaged<OperationQueue>?,
    _ notifications: inout PendingNotifications
  ) {
    tellQueues(of: ready, holding: held, notifyingLater: &notifications)
    ready.forEach { reference in
      reference._withUnsafeGuaranteedRef { operation in
        if operation.state.current.isObserved { notifications.append(operation.readinessChange, of: operation) }
        if operation.runsUserCodeWhenFreed { notifications.keep(operation) }
      }
      reference.release()
    }
  }
}

/// The end of an operation in a batch, of which somebody is to be notified.
struct UntoldEnd {
  let before: OperationWord
  let observers: ObserverList?
  /// That of the queue, which keeps it alive.
  let progress: Unmanaged<OperationProgress>?
}
