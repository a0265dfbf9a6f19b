import Synchronization

extension Operation {
  /// Finishes the operation, if it has not ended.
  ///
  /// Called after the work is done, on the thread that did it.
  final func end() {
    note(.ending, in: nil)
    if let (before, isLogged) = finishLogged() { conclude(from: before, isLogged: isLogged, closing: nil) }
  }

  /// Finishes the operation after the base class's part of `start()`, unless the subclass overrides `isFinished` and
  /// returns false.
  final func endUnlessOverrideContinues() {
    guard overridesIsFinished else { return end() }
    state.announceStarted()
    if isFinished { end() }
  }

  /// Finishes the operation after ``start()`` if a subclass's `isFinished` returns true, although the subclass has not
  /// posted the change.
  final func endIfOverrideHasFinished() {
    if overridesIsFinished, state.current.phase != .finished, isFinished { end() }
  }

  /// The place where an operation ends.
  private enum EndSite {
    /// On the thread of the batch that ran it.
    ///
    /// The queue is notified when it next collects the results of the batch.
    case batch(Unmanaged<Batch>, isContinued: Bool)
    /// Outside a batch.
    ///
    /// If the calling thread has a batch, that batch is closed.
    case byItself(closing: Unmanaged<Batch>?)

    var batch: Unmanaged<Batch>? { if case .batch(let batch, _) = self { batch } else { nil } }
  }

  /// Performs all steps that follow the end of the operation, except steps that can run user code.
  ///
  /// The steps, in this order:
  /// 1. The operation leaves its queue.
  /// 2. If the operation did not succeed, the dependents that require its success are kept from starting.
  /// 3. The dependents are counted down.
  /// 4. The completion block is passed to the pool.
  /// 5. The threads that wait only for these steps wake.
  /// 6. The queues of the dependents are notified.
  ///
  /// The remaining steps are appended to the effects. Called once, with no lock held.
  ///
  /// See `Docs/decisions/0031-one-end.md`.
  ///
  /// - Parameters:
  ///   - before: The state before the operation ended.
  ///   - site: The place where it ends.
  ///   - home: The queue that holds the operation, or nil. The caller keeps it alive.
  ///   - isLogged: Whether the end is in the event log.
  ///   - continues: True if the thread of the batch may continue with an operation that becomes ready.
  ///   - effects: Receives the steps that can run user code.
  ///   - release: Takes ownership of the dependencies of the operation.
  /// - Returns: The operation that the thread of the batch continues with, retained. It has begun, and the queue has
  ///   not been notified.
  @inline(__always)
  private func conclude(
    from before: OperationWord, at site: EndSite, in home: Unmanaged<OperationQueue>?, isLogged: Bool, continues: Bool,
    _ effects: inout Effects, releasing release: (borrowing OperationEnding) -> Void
  ) -> OperationReference? {
    // This comes before the operation leaves the queue, so that a thread that waits until the queue is empty finds the
    // unit of the progress completed, and the completion block counted.
    noteFinished(in: home, &effects)
    if before.isLinked {
      if let batch = site.batch {
        batch._withUnsafeGuaranteedRef { $0.beginCompletions() }
      } else {
        home?._withUnsafeGuaranteedRef { $0.beginCompletion() }
      }
    }
    // The operation leaves the queue, which records its end, before any thread can see a dependent as ready.
    let settling = leave(home, from: before, at: site, isLogged: isLogged, &effects)
    var ending = closeLinks(endedFrom: before, reportsFailure: effects.reportsFailure)
    if let batch = site.batch { batch._withUnsafeGuaranteedRef { $0.endSettling() } }
    let isNotified = !before.isObserved && ending.pendingCancellations.isEmpty
    handOverCompletionBlock(of: &ending, from: before, isNotified: isNotified, at: site, home, &effects)
    if effects.reportsFailure { countReport() }
    wakeWaiters(
      settledFrom: state.settle(isNotified: isNotified, hasReleasedLinks: ending.hasReleasedLinks),
      isNotified: isNotified)
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

  /// Performs all steps that follow the end of an operation outside a batch.
  ///
  /// Called once, with no lock held.
  ///
  /// - Parameters:
  ///   - before: The state before the operation ended.
  ///   - isLogged: Whether the end is in the event log.
  ///   - batch: The batch of the calling thread, if it ran the operation. It is closed.
  private func conclude(from before: OperationWord, isLogged: Bool, closing batch: Batch?) {
    // An operation that ends early still has edges in the stacks of its dependencies. It must remove them first (rule 1
    // of ``Links``).
    let early = before.unfinishedDependencies > 0 ? leaveDependencies() : []
    // A queue owns itself as long as it holds operations. From here on, this reference owns it. A thread that reads the
    // queue from the operation has retained it by the time the links are closed (`Operation.queue`).
    let queue = before.isEnqueued ? queueLinks.home?.takeUnretainedValue() : nil
    let home = queue.map { Unmanaged.passUnretained($0) }
    var effects = Effects(leaving: home)
    var dependencies = TakenDependencies()
    _ = conclude(
      from: before, at: .byItself(closing: batch.map { .passUnretained($0) }), in: home, isLogged: isLogged,
      continues: false, &effects
    ) { dependencies = $0.dependencies }
    effects.perform()
    if before.phase != .executing { abandonWork() }
    releaseWork()
    // The dependencies have finished and released their own dependencies, so this does not recurse.
    dependencies.forEach { $0.release() }
    ReleasedChain.release(early)
    withExtendedLifetime(queue) {}
  }

  /// Removes the operation from its queue.
  ///
  /// - Returns: Everything that the queue keeps until the dependents are counted down.
  private func leave(
    _ home: Unmanaged<OperationQueue>?, from before: OperationWord, at site: EndSite, isLogged: Bool,
    _ effects: inout Effects
  ) -> Admission.Settling {
    guard let home else { return .nothing }
    switch site {
    case .batch(let batch, let isContinued):
      return batch._withUnsafeGuaranteedRef { batch in
        batch.beginSettling()
        if !isLogged, let log = home._withUnsafeGuaranteedRef({ $0.listenedLog }) { record({ .finished($0) }, in: log) }
        publish(in: batch, isContinued: isContinued, isSettled: false, leaving: &effects)
        if batch.hasToTakeLock {
          home._withUnsafeGuaranteedRef { $0.update(collectingBatches: true, leaving: &effects) { _ in } }
        }
        return .nothing
      }
    case .byItself(let batch):
      return home._withUnsafeGuaranteedRef {
        $0.operationFinished(self, endedFrom: before, isLogged: isLogged, closing: batch, leaving: &effects)
      }
    }
  }

  /// Takes everything that the end must process out of the links, then counts down the dependents.
  ///
  /// Takes the lock of the links only if another thread might need it. A thread that has read the links has announced
  /// that before the operation ended. A thread with a raised nice value always uses the lock, because the pool manager
  /// then does this work, and other threads may wait until the dependents are counted down.
  private func closeLinks(endedFrom before: OperationWord, reportsFailure: Bool) -> OperationEnding {
    if before.endsByEdgesAlone, !Guarded<Void>.isLow { return OperationEnding(closingEdgesOf: self) }
    return links.withLock {
      OperationEnding(closing: &$0, of: self, endedFrom: before, reportsFailure: reportsFailure)
    }
  }

  /// Passes the completion block to a thread, before waiting threads wake: they may depend on its effects.
  ///
  /// The thread of a batch runs the block itself only if no other steps follow. Otherwise the block could wait for
  /// observers, or observers for the block.
  private func handOverCompletionBlock(
    of ending: inout OperationEnding, from before: OperationWord, isNotified: Bool, at site: EndSite,
    _ home: Unmanaged<OperationQueue>?, _ effects: inout Effects
  ) {
    guard let block = ending.takeCompletionBlock() else {
      if before.isLinked, site.batch == nil { home?._withUnsafeGuaranteedRef { $0.endCompletion() } }
      return
    }
    // Not consumed in a closure, which would keep a reference. The objects that the block captures must be released
    // where it has run.
    guard let batch = site.batch else { return submitCompletionBlock(consume block, home?.takeUnretainedValue()) }
    let isAlone = isNotified && effects.isEmpty && !ending.runsUserCodeWhenReleased
    if isAlone, batch._withUnsafeGuaranteedRef({ $0.runsCompletionBlocks }) {
      effects.run(consume block, of: self)
    } else {
      submitCompletionBlock(consume block, in: batch.takeUnretainedValue())
    }
  }

  /// Makes the dependents ready in the batch of the calling thread or in their queues.
  ///
  /// - Parameters:
  ///   - ready: The dependents to make ready. This method takes ownership of them.
  ///   - batch: The batch of the calling thread.
  ///   - continues: True if the thread may continue with one of the dependents.
  ///   - effects: Receives the steps that can run user code.
  /// - Returns: The operation that the thread continues with.
  private func handOn(
    _ ready: borrowing ReadyDependents, in batch: Batch, continues: Bool, _ effects: inout Effects
  ) -> OperationReference? {
    if continues, let only = ready.only, only._withUnsafeGuaranteedRef({ batch.mayBegin(newlyReady: $0) }) {
      // The work of the operation is released before the next operation begins. If the release waits for something, the
      // batch is closed, and the queue is notified of the next operation.
      guard batch.releaseWork(of: self, awaitedBy: only) else { return nil }
      if only._withUnsafeGuaranteedRef({ batch.begin(newlyReady: $0) }) {
        if let log = batch.home?._withUnsafeGuaranteedRef({ $0.listenedLog }) {
          only._withUnsafeGuaranteedRef { $0.record({ .ready($0) }, in: log) }
        }
        return only
      }
    }
    var others = ReadyDependents()
    ready.forEach { if !batch.publish(newlyReady: $0) { others.append($0) } }
    if !others.isEmpty { Self.handOn(others, holding: batch.home, &effects) }
    return nil
  }

  /// Makes the dependents ready in their queues.
  ///
  /// - Parameters:
  ///   - ready: The dependents to make ready. This method takes ownership of them.
  ///   - held: A queue that the caller keeps alive.
  ///   - effects: Receives the steps that can run user code.
  private static func handOn(
    _ ready: borrowing ReadyDependents, holding held: Unmanaged<OperationQueue>?, _ effects: inout Effects
  ) {
    guard !ready.isEmpty else { return }
    notifyQueues(of: ready, holding: held, leaving: &effects)
    ready.forEach { reference in
      reference._withUnsafeGuaranteedRef { operation in
        if !operation.isPlainBlock, operation.overridesIsReady { effects.evaluateReadiness(of: [operation]) }
        if operation.state.current.isObserved { effects.notify(operation.readinessChange, of: operation) }
        if operation.runsUserCodeWhenFreed { effects.release(operation) }
      }
      reference.release()
    }
  }

  /// Notifies the observers that the operation has ended, then wakes the threads and tasks that wait for the
  /// notifications.
  final func notifyEnd(from before: OperationWord, _ observers: ObserverList?) {
    guard let observers else { return observersWereNotified() }
    // If another thread is notifying the observers at this moment, that thread also delivers these changes.
    observers.notify(of: self, ending: self) { notify in
      // Another thread may be about to notify the observers of an earlier change. That change must be delivered first,
      // and only once.
      if before.isCancelled { notify(ObservedChange(.isCancelled, true)) }
      notify(ObservedChange(.isReady))
      if before.phase == .executing {
        if !before.announcesExecuting { notify(ObservedChange(.isExecuting, true)) }
        notify(ObservedChange(.isExecuting, false))
      }
      notify(ObservedChange(.isFinished, true))
    }
  }

  /// Wakes the threads and tasks that wait until the observers have been notified of the end.
  final func observersWereNotified() {
    wakeWaiters(notifiedFrom: state.markNotified())
    releaseDependencies(readBy: .observers)
  }

  // MARK: Releasing work

  /// Keeps a user object that the operation needs for ``main()``, so that it is released after the operation has ended.
  ///
  /// Called in ``main()`` by classes of other modules, which can't override ``releaseWork()``.
  package final func keepUntilEnd(_ work: any Sendable) {
    links.withLock { links in
      _ = state.announceLink()
      links.detailsCreatedIfNeeded.pointee.rareDetailsCreatedIfNeeded.finishedBlocks.append { _ = work }
    }
  }

  /// Releases the objects that ``keepUntilEnd(_:)`` has kept.
  final func releaseRetainedWork() {
    guard state.current.isLinked else { return }
    let kept = links.withLock { $0.details?.pointee.rareDetails?.takeBlocks() }
    withExtendedLifetime(kept) {}  // Released after the lock.
  }

  // MARK: In a batch

  /// Finishes the operation if it has not ended, in ``main()`` or later, on any thread.
  ///
  /// If this is called in `main()`, in the batch of the calling thread, the queue is notified when it next collects the
  /// results of the batch.
  ///
  /// - Parameter mayContinue: True if user code in `main()` can continue after this call, and take long.
  final func endInMainOrLater(mayContinue: Bool) {
    guard let batch = ThreadContext.batch(runningInnermost: self) else { return end() }
    batch._withUnsafeGuaranteedRef { batch in
      guard !endPlainly(in: batch, mayContinue: mayContinue), let (before, isLogged) = finishLogged() else { return }
      batch.withdrawCurrent()
      batch.mainEnd.noteEnd(isOutside: false)
      conclude(from: before, isLogged: isLogged, closing: batch)
    }
  }

  /// Finishes the operation in `main()`, unless the end requires special handling.
  private func endPlainly(in batch: Batch, mayContinue: Bool) -> Bool {
    // While user code continues, the batch must not occupy a concurrency slot.
    let followers = batch.home?._withUnsafeGuaranteedRef { $0.following } ?? []
    if followers.contains(.trace) { note(.ending, in: nil) }
    guard let queue = batch.home, !(mayContinue && batch.keepsOrder),
      followers.isDisjoint(with: .ofEachEnd) || !queue._withUnsafeGuaranteedRef({ $0.needsEachEnd }),
      finishPlainly(in: queue, followedBy: followers)
    else { return false }
    batch.publishTaken(settled: !mayContinue)
    // Another thread may be waiting until the queue is empty.
    if batch.hasToTakeLock || (mayContinue && !batch.leave()) {
      batch.mainEnd.noteEnd(isOutside: false)
      queue._withUnsafeGuaranteedRef { $0.closeBatch(batch) }
    } else {
      batch.mainEnd.noteEnd(isOutside: mayContinue)
    }
    return true
  }

  /// Finishes an operation that `batch` has run, on the thread that owns the batch.
  ///
  /// Unlike with ``end()``, the queue is notified when it next collects the results of the batch. The steps that can
  /// run user code are left to the caller, in the effects of the batch. The caller owns the operation.
  ///
  /// - Parameters:
  ///   - batch: The batch that has run the operation.
  ///   - isContinued: True if the thread continued with the operation; false if it had taken it from the queue.
  ///   - continues: True if the thread may continue with an operation that becomes ready.
  /// - Returns: The operation that the thread continues with, retained. It has begun, and the queue has not been
  ///   notified.
  final func end(in batch: Batch, isContinued: Bool, continues: Bool) -> OperationReference? {
    let home = batch.home
    let followers = home?._withUnsafeGuaranteedRef { $0.following } ?? []
    if followers.contains(.trace) { note(.ending, in: nil) }
    if followers.isDisjoint(with: .ofEachEnd) || home?._withUnsafeGuaranteedRef({ $0.needsEachEnd }) != true,
      finishPlainly(in: home, followedBy: followers, withCompletionBlock: batch.runsCompletionBlocks)
    {
      // No other thread accesses the block from now on.
      if state.current.isLinked,
        let block = OperationLayout.details(of: OperationReference(self)).pointee.completionBlock.take()
      {
        batch.beginCompletions()
        batch.effects.run(consume block, of: self)
      }
      publish(in: batch, isContinued: isContinued, isSettled: true, leaving: &batch.effects)
      return nil
    }
    guard let (before, isLogged) = finishLogged() else { return nil }
    guard !before.hasFailed, !(before.isCancelled && before.isLinked && hasSuccessDependents) else {
      batch.withdrawCurrent()
      conclude(from: before, isLogged: isLogged, closing: batch)
      return nil
    }
    let reference = Unmanaged.passUnretained(batch)
    var effects = Effects(in: reference)
    let next = conclude(
      from: before, at: .batch(reference, isContinued: isContinued), in: home, isLogged: isLogged, continues: continues,
      &effects
    ) { $0.releaseDependencies(in: batch) }
    if !effects.isEmpty { batch.leave(effects.take()) }
    return next
  }

  /// Whether there are dependents that require the operation, which has finished, to succeed.
  private var hasSuccessDependents: Bool { links.withLock { $0.details?.pointee.successDependents != nil } }

  @inline(__always)
  private func publish(in batch: Batch, isContinued: Bool, isSettled: Bool, leaving effects: inout Effects) {
    // Before the queue counts the end. A thread that pins the batch may find the operation finished a moment earlier.
    if gateKind == .ofBatches { releaseResources(in: batch, leaving: &effects) }
    isContinued ? batch.publish(continued: OperationReference(self)) : batch.publishTaken(settled: isSettled)
  }
}

// The end in one step with its event, for the listeners of the queue.
extension Operation {
  /// Finishes the operation in one step, if nothing else is required, and records the end for the listeners.
  ///
  /// Both happen in one step for all readers of the log. A thread that finds the operation finished adds its own events
  /// after this event. A listener that receives this event finds the operation finished.
  @inline(__always)
  final func finishPlainly(
    in home: Unmanaged<OperationQueue>?, followedBy followers: Followers, withCompletionBlock: Bool = false
  ) -> Bool {
    if followers.contains(.log), let log = home?._withUnsafeGuaranteedRef({ $0.listenedLog }) {
      return log.appendAndWake(.finished(self)) { state.finishPlainly(withCompletionBlock: withCompletionBlock) }
    }
    guard state.finishPlainly(withCompletionBlock: withCompletionBlock) else { return false }
    // A listener may have begun in the meantime, and found the operation unfinished. It sets its bit, then reads the
    // operation. This thread finishes the operation, then loads the bits once more (`Models/events.pml`).
    if let home, home._withUnsafeGuaranteedRef({ $0.followingInOrder.contains(.log) }) { recordFinished(in: home) }
    return true
  }

  @inline(never)
  private final func recordFinished(in home: Unmanaged<OperationQueue>) {
    home._withUnsafeGuaranteedRef { $0.listenedLog }?.appendAndWake(.finished(self))
  }

  /// Finishes the operation, and records that for the listeners in the same step, as
  /// ``finishPlainly(in:followedBy:withCompletionBlock:)`` does.
  ///
  /// - Returns: The state before the operation ended, and whether the end is in the log; nil if it had ended.
  final func finishLogged() -> (before: OperationWord, isLogged: Bool)? {
    // Another thread can finish the operation, and the queue can be freed then, so this retains the queue.
    guard EventLog.isUsed.load(ordering: .relaxed), let log = queue?.listenedLog else {
      return state.finish().map { ($0, false) }
    }
    var before: OperationWord?
    let isLogged = log.appendAndWake(.finished(self)) {
      before = state.finish()
      // If it has not been added yet, it has no other events.
      return before?.isListed == true
    }
    return before.map { ($0, isLogged) }
  }
}
