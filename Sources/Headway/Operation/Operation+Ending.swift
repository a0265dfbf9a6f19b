import Synchronization

extension Operation {
  /// Ends the operation, if it has not ended.
  ///
  /// Called when the work is done, on the thread that did it.
  final func end() {
    if let before = state.finish() { conclude(from: before, closing: nil) }
  }

  /// The base's part of a start is over: ends the operation, unless a subclass says that it goes on.
  final func endUnlessSubclassGoesOn() {
    guard overridesIsFinished else { return end() }
    state.announceStarted()
    if isFinished { end() }
  }

  /// After ``start()``, by which a subclass may have finished without having posted the change.
  final func endIfOverrideHasFinished() {
    if overridesIsFinished, state.current.phase != .finished, isFinished { end() }
  }

  /// Where an operation ends.
  private enum EndSite {
    /// On the thread of the batch in which it ran: the queue hears of it when it next collects the results of the
    /// batch.
    case batch(Unmanaged<Batch>, isContinued: Bool)
    /// By itself.
    ///
    /// The batch, if there is one, is that of the calling thread, which is closed.
    case byItself(closing: Unmanaged<Batch>?)

    var batch: Unmanaged<Batch>? { if case .batch(let batch, _) = self { batch } else { nil } }
  }

  /// Does all that follows the end, but for what may run users' code.
  ///
  /// In this order: the operation leaves its queue; dependents that required success are kept from starting if it was
  /// none; dependents are counted down; the completion block goes to the pool; the threads wake that wait for no more
  /// than that; the queues of the dependents hear. The rest is in the effects. Called once, with no lock held.
  ///
  /// - Parameters:
  ///   - before: The state from which the operation ended.
  ///   - site: Where it ends.
  ///   - home: The queue that holds it, if one does, which the caller keeps alive.
  ///   - continues: The thread of the batch may continue with what becomes ready.
  ///   - effects: Takes what may run users' code.
  ///   - release: Takes over the dependencies of the operation.
  /// - Returns: The operation with which the thread of the batch continues, retained; it has begun, and the queue has
  ///   not heard of it.
  @inline(__always)
  private func conclude(
    from before: OperationWord, at site: EndSite, in home: Unmanaged<OperationQueue>?, continues: Bool,
    _ effects: inout Effects, releasing release: (borrowing OperationEnding) -> Void
  ) -> OperationReference? {
    // Before it leaves, so that a thread that waits for the queue to be empty finds the unit completed, and knows of
    // the completion block.
    if let progress = home?._withUnsafeGuaranteedRef({ $0.countUnit(of: self) }) { effects.notify(progress) }
    if before.isLinked { home?._withUnsafeGuaranteedRef { $0.beginCompletion() } }
    // It leaves the queue, and its end is recorded, before a dependent can be seen as ready.
    let settling = leave(home, from: before, at: site, &effects)
    var ending = closeLinks(endedFrom: before)
    if let batch = site.batch { batch._withUnsafeGuaranteedRef { $0.endSettling() } }
    let isNotified = !before.isObserved && ending.pendingCancellations.isEmpty
    handOverCompletionBlock(of: &ending, from: before, isNotified: isNotified, at: site, home, &effects)
    if effects.reportsFailure { countReport() }
    wakeWaiters(
      settledFrom: state.settle(isNotified: isNotified, isUnlinked: ending.isUnlinked), isNotified: isNotified)
    effects.append(endOf: self, in: home, from: before, ending, isNotified: isNotified)
    var next: OperationReference?
    if let batch = site.batch {
      let continues = continues && effects.isEmpty && !ending.hasDependenciesToKeep
      next = batch._withUnsafeGuaranteedRef { handOn(ending.ready, in: $0, continues: continues, &effects) }
    } else {
      Self.handOn(ending.ready, holding: home, &effects)
    }
    if settling != .nothing { home?._withUnsafeGuaranteedRef { $0.settle(settling, leaving: &effects) } }
    release(ending)
    return next
  }

  /// Does all that follows the end of an operation by itself.
  ///
  /// Called once, with no lock held.
  ///
  /// - Parameters:
  ///   - before: The state from which the operation ended.
  ///   - batch: The batch of the calling thread in which it ran, which is closed.
  private func conclude(from before: OperationWord, closing batch: Batch?) {
    // An operation that ends early is still in the lists of what it waited for: out of there first (rule 1 of Links).
    let early = before.unfinishedDependencies > 0 ? leaveDependencies() : []
    // Until it has left it, the queue that holds the operation owns itself; from here on, this does. A thread that
    // looks for the queue by way of the operation has got it when the links are closed (`Operation.queue`).
    let queue = before.isEnqueued ? queueLinks.home?.takeUnretainedValue() : nil
    let home = queue.map { Unmanaged.passUnretained($0) }
    var effects = Effects(leaving: home)
    var dependencies = TakenDependencies()
    _ = conclude(
      from: before, at: .byItself(closing: batch.map { .passUnretained($0) }), in: home, continues: false, &effects
    ) { dependencies = $0.dependencies }
    effects.perform()
    if before.phase != .executing { abandonWork() }
    releaseWork()
    // They have finished and so released theirs: that is no recursion.
    dependencies.forEach { $0.release() }
    ReleasedChain.release(early)
    withExtendedLifetime(queue) {}
  }

  /// Leaves the queue.
  ///
  /// - Returns: What the queue keeps until the dependents are released.
  private func leave(
    _ home: Unmanaged<OperationQueue>?, from before: OperationWord, at site: EndSite, _ effects: inout Effects
  ) -> Admission.Settling {
    guard let home else { return .nothing }
    switch site {
    case .batch(let batch, let isContinued):
      return batch._withUnsafeGuaranteedRef { batch in
        batch.beginSettling()
        publish(in: batch, isContinued: isContinued)
        if batch.hasToTakeLock {
          home._withUnsafeGuaranteedRef { $0.update(collectingBatches: true, leaving: &effects) { _ in } }
        }
        return .nothing
      }
    case .byItself(let batch):
      return home._withUnsafeGuaranteedRef {
        $0.operationFinished(self, endedFrom: before, closing: batch, leaving: &effects)
      }
    }
  }

  /// Takes what the end has to deal with, and releases the dependents.
  ///
  /// Without the lock of the links where nobody may need it: a thread that has looked there has announced that before
  /// the end. A thread with a raised nice value has the lock taken, since others may wait for the count-down.
  private func closeLinks(endedFrom before: OperationWord) -> OperationEnding {
    if before.endsByEdgesAlone, !Guarded<Void>.isLow { return OperationEnding(closingEdgesOf: self) }
    return links.withLock { OperationEnding(closing: &$0, of: self, endedFrom: before) }
  }

  /// Hands the completion block to a thread, before threads that wait go on: they may look for what it does.
  ///
  /// The thread of a batch runs it itself if nothing else follows: observers may wait for what it does, and it for
  /// them.
  private func handOverCompletionBlock(
    of ending: inout OperationEnding, from before: OperationWord, isNotified: Bool, at site: EndSite,
    _ home: Unmanaged<OperationQueue>?, _ effects: inout Effects
  ) {
    guard let block = ending.takeCompletionBlock() else {
      if before.isLinked { home?._withUnsafeGuaranteedRef { $0.endCompletion() } }
      return
    }
    // Consumed in no closure, which would keep a reference: what the block captures is released where it has run.
    guard let batch = site.batch else { return submitCompletionBlock(consume block, home?.takeUnretainedValue()) }
    let isAlone = isNotified && effects.isEmpty && !ending.runsUserCodeWhenReleased
    if isAlone, batch._withUnsafeGuaranteedRef({ $0.runsCompletionBlocks && !$0.hasDeferredReleases }) {
      effects.run(consume block, of: self, in: home)
    } else {
      let (executor, placement) = batch._withUnsafeGuaranteedRef { ($0.executor, $0.placement) }
      submitCompletionBlock(consume block, home?.takeUnretainedValue(), executor, placement)
    }
  }

  /// Makes the dependents ready with the batch of the calling thread, or in their queues.
  ///
  /// - Parameters:
  ///   - ready: The dependents, whose ownership this takes over.
  ///   - batch: The batch.
  ///   - continues: The thread may continue with one of them.
  ///   - effects: Takes what may run users' code.
  /// - Returns: The operation with which the thread continues.
  private func handOn(
    _ ready: borrowing ReadyDependents, in batch: Batch, continues: Bool, _ effects: inout Effects
  ) -> OperationReference? {
    if continues, let only = ready.only, only._withUnsafeGuaranteedRef({ batch.mayBegin(newlyReady: $0) }) {
      // What the operation held for its work is released before the next one begins. If that waits for something, the
      // batch is closed, and the queue is told of the next one.
      guard batch.releaseWork(of: self, awaitedBy: only) else { return nil }
      if only._withUnsafeGuaranteedRef({ batch.begin(newlyReady: $0) }) { return only }
    }
    var others = ReadyDependents()
    ready.forEach { if !batch.publish(newlyReady: $0) { others.append($0) } }
    if !others.isEmpty { Self.handOn(others, holding: batch.home, &effects) }
    return nil
  }

  /// Makes dependents ready in their queues.
  ///
  /// - Parameters:
  ///   - ready: The dependents, whose ownership this takes over.
  ///   - held: A queue that the caller keeps alive.
  ///   - effects: Takes what may run users' code.
  private static func handOn(
    _ ready: borrowing ReadyDependents, holding held: Unmanaged<OperationQueue>?, _ effects: inout Effects
  ) {
    guard !ready.isEmpty else { return }
    notifyQueues(of: ready, holding: held, leaving: &effects)
    ready.forEach { reference in
      reference._withUnsafeGuaranteedRef { operation in
        if !operation.isPlainBlock, operation.overridesIsReady { effects.ask([operation]) }
        if operation.state.current.isObserved { effects.notify(operation.readinessChange, of: operation) }
        if operation.runsUserCodeWhenFreed { effects.release(operation) }
      }
      reference.release()
    }
  }

  /// Notifies the observers of the end; and then wakes those who wait for that.
  final func notifyEnd(from before: OperationWord, _ observers: ObserverList?) {
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

  /// Wakes those who wait until the observers have been notified of the end.
  final func observersWereNotified() { wakeWaiters(notifiedFrom: state.markNotified()) }

  // MARK: Releasing work

  /// Keeps what the user gave the operation for ``main()``, so that it is released after the end.
  ///
  /// Called in ``main()``, by classes of other modules, which can't override ``releaseWork()``.
  package final func keepUntilEnd(_ work: any Sendable) {
    links.withLock { links in
      _ = state.announceLink()
      links.detailsCreatedIfNeeded.rareDetailsCreatedIfNeeded.finishedBlocks.append { _ = work }
    }
  }

  /// Releases what ``keepUntilEnd(_:)`` has kept.
  final func releaseRetainedWork() {
    guard state.current.isLinked else { return }
    let kept = links.withLock { $0.details?.rareDetails?.takeBlocks() }
    withExtendedLifetime(kept) {}  // Released after the lock.
  }

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
    batch.mainEnd.noteEnd(isOutside: false)
    conclude(from: before, closing: batch)
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
      batch.mainEnd.noteEnd(isOutside: false)
      queue._withUnsafeGuaranteedRef { $0.close(batch) }
    } else {
      batch.mainEnd.noteEnd(isOutside: mayGoOn)
    }
    return true
  }

  /// Ends an operation that `batch` has run, on the thread to which the batch belongs.
  ///
  /// As ``end()``; but the queue hears of it when it next collects the results of the batch, and what may run users'
  /// code is left to the caller, in the effects of the batch. The caller owns the operation.
  ///
  /// - Parameters:
  ///   - batch: The batch.
  ///   - isContinued: The thread has continued with the operation; otherwise it had taken it.
  ///   - continues: The thread may continue with what becomes ready.
  /// - Returns: The operation with which the thread continues, retained; it has begun, and the queue has not heard of
  ///   it.
  final func end(in batch: Batch, isContinued: Bool, continues: Bool) -> OperationReference? {
    let home = batch.home
    if home?._withUnsafeGuaranteedRef({ $0.trackedProgress }) == nil, state.finishPlainly() {
      publish(in: batch, isContinued: isContinued)
      return nil
    }
    guard let before = state.finish() else { return nil }
    guard !before.hasFailed, !(before.isCancelled && before.isLinked && hasSuccessDependents) else {
      batch.withdrawCurrent()
      conclude(from: before, closing: batch)
      return nil
    }
    let reference = Unmanaged.passUnretained(batch)
    var effects = Effects(in: reference)
    let next = conclude(
      from: before, at: .batch(reference, isContinued: isContinued), in: home, continues: continues, &effects
    ) { $0.releaseDependencies(in: batch) }
    if !effects.isEmpty { batch.leave(effects.take()) }
    return next
  }

  /// Whether dependents require the operation, which has finished, to succeed.
  private var hasSuccessDependents: Bool { links.withLock { $0.details?.successDependents != nil } }

  private func publish(in batch: Batch, isContinued: Bool) {
    if isContinued { batch.publish(continued: OperationReference(self)) } else { batch.publishTaken() }
  }
}
