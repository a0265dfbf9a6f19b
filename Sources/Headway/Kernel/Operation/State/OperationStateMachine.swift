import Synchronization

/// The state machine of an operation.
///
/// It contains all transitions, and nothing else.
///
/// Each transition is one atomic read-modify-write operation on the state word, which acquires and releases. A thread
/// that reads a state therefore also reads everything written earlier: the queue reference before `enqueued`, and the
/// error before `finished`. Plain reads acquire.
///
/// See `Docs/decisions/0002-one-word-of-state.md`.
struct OperationStateMachine: ~Copyable {
  private let word = Atomic<UInt64>(OperationWord.initial.rawValue)

  var current: OperationWord { OperationWord(rawValue: word.load(ordering: .acquiring)) }

  /// Like ``current``, but in a total order with other steps.
  ///
  /// For a thread that has pushed an edge (``DependentStack``), has pinned a batch, or has announced that it runs the
  /// operation (`Worker+Raising.swift`).
  var currentInOrder: OperationWord { OperationWord(rawValue: word.load(ordering: .sequentiallyConsistent)) }

  /// Applies `change` until the exchange succeeds, or returns nil without a change if `change` returns nil.
  private func update<Answer>(_ change: (inout OperationWord) -> Answer?) -> Answer? {
    var old = word.load(ordering: .acquiring)
    while true {
      var new = OperationWord(rawValue: old)
      guard let answer = change(&new) else { return nil }
      let (exchanged, original) = word.weakCompareExchange(
        expected: old, desired: new.rawValue, ordering: .acquiringAndReleasing)
      if exchanged { return answer }
      old = original
    }
  }

  private func set(_ flag: UInt64) -> OperationWord {
    OperationWord(rawValue: word.bitwiseOr(flag, ordering: .acquiringAndReleasing).oldValue)
  }

  // MARK: Entering a queue

  /// Gives the caller the sole right to enqueue the operation.
  ///
  /// - Returns: The word that prevents it, or nil on success.
  func reserve() -> OperationWord? {
    var refusal: OperationWord?
    _ = update { word -> Void? in
      guard word.phase == .pending, !word.isReserved else {
        refusal = word
        return nil
      }
      refusal = nil
      word.rawValue |= OperationWord.reserved
      return ()
    }
    return refusal
  }

  /// Like ``reserve()``, for a new operation that no other thread has a reference to.
  ///
  /// - Parameter isEnqueued: True to do the same as ``enqueue()`` in this step.
  func reserveUnshared(isEnqueued: Bool) {
    let enqueued = isEnqueued ? OperationWord.enqueued : 0
    word.store(OperationWord.initial.rawValue | OperationWord.reserved | enqueued, ordering: .relaxed)
  }

  /// Marks a ready operation as reserved, enqueued, and listed, before any other thread has a reference to it.
  func listUnshared() {
    let entered = OperationWord.reserved | OperationWord.enqueued | OperationWord.listed
    word.store(OperationWord.initial.rawValue | entered | OperationWord.wasReady, ordering: .relaxed)
  }

  /// Publishes that the operation is about to be in its queue's inbox.
  ///
  /// A thread that finishes the operation from now on also removes it from the queue.
  ///
  /// - Returns: False if the operation has ended, and must not be pushed to the inbox.
  func enqueue() -> Bool {
    assert(current.isReserved && !current.isEnqueued)
    return set(OperationWord.enqueued).phase != .finished
  }

  /// Publishes that the operation is in its queue's lists.
  ///
  /// Called under the queue's lock.
  ///
  /// - Returns: The word before the change. The operation may have ended by then.
  func markListed(isBarrier: Bool) -> OperationWord {
    assert(current.isReserved && !current.isListed)
    var old = OperationWord(rawValue: word.load(ordering: .relaxed))
    while true {
      let ready = !isBarrier && old.isWaitingForItsTurn ? OperationWord.wasReady : 0
      let (exchanged, original) = word.weakCompareExchange(
        expected: old.rawValue, desired: old.rawValue | OperationWord.enqueued | OperationWord.listed | ready,
        ordering: .acquiringAndReleasing)
      if exchanged { return old }
      old = OperationWord(rawValue: original)
    }
  }

  /// Publishes that the operation is added to the list of ready operations.
  ///
  /// Called under the queue's lock.
  ///
  /// - Returns: The word before the change, or nil if the operation has already started.
  func markReady() -> OperationWord? {
    let before = set(OperationWord.wasReady)
    return before.phase == .pending ? before : nil
  }

  /// Claims a ready operation, to start it.
  ///
  /// Called under the queue's lock.
  func claim() -> Bool {
    update { word -> Void? in
      guard word.phase == .pending, word.isStartable else { return nil }
      word.phase = .starting
      return ()
    } != nil
  }

  // MARK: Running

  /// Changes the phase from pending in a queue to executing in one step, unless the start requires special handling.
  ///
  /// - Parameter ifNeverReady: True to start the operation only if it has not been in the list of ready operations.
  /// - Returns: True if the operation has been started.
  func beginPlainly(ifNeverReady: Bool = false) -> Bool {
    let obstacles =
      OperationWord.phaseMask | OperationWord.startsSpecially | (ifNeverReady ? OperationWord.wasReady : 0)
    var old = word.load(ordering: .relaxed)
    while old & obstacles == 0, old < OperationWord.oneDependency {
      let (exchanged, original) = word.weakCompareExchange(
        expected: old, desired: old | OperationPhase.executing.rawValue, ordering: .acquiringAndReleasing)
      if exchanged { return true }
      old = original
    }
    return false
  }

  /// Changes the state from executing to finished, settled, and notified in one step, unless the end requires special
  /// handling.
  ///
  /// - Parameter withCompletionBlock: True if the caller takes the completion block afterwards.
  /// - Returns: True if this has finished the operation.
  func finishPlainly(withCompletionBlock: Bool = false) -> Bool {
    let end = OperationPhase.finished.rawValue | OperationWord.settled | OperationWord.notified
    let obstacles = OperationWord.endsSpecially & ~(withCompletionBlock ? OperationWord.completes : 0)
    var old = word.load(ordering: .relaxed)
    while old & (obstacles | OperationWord.phaseMask) == OperationPhase.executing.rawValue {
      // In one order with threads that pin the batch: see `Batch.publishTaken(settled:)`.
      let (exchanged, original) = word.weakCompareExchange(
        expected: old, desired: old | end, ordering: .sequentiallyConsistent)
      if exchanged { return true }
      old = original
    }
    return false
  }

  /// Changes the state from pending to finished, settled, and notified in one step, if the operation was cancelled and
  /// its end requires no special handling.
  ///
  /// Called under the queue's lock.
  ///
  /// - Returns: True if this has finished the operation.
  func finishCancelledPlainly() -> Bool {
    let end = OperationPhase.finished.rawValue | OperationWord.settled | OperationWord.notified
    // Without edges, only calls that have stopped the operation are counted.
    let looked = OperationWord.phaseMask | OperationWord.cancelled | OperationWord.endsSpecially
    var old = word.load(ordering: .relaxed)
    while old & looked == OperationPhase.pending.rawValue | OperationWord.cancelled {
      let (exchanged, original) = word.weakCompareExchange(
        expected: old, desired: old | end, ordering: .acquiringAndReleasing)
      if exchanged { return true }
      old = original
    }
    return false
  }

  /// The action that `start()` must perform.
  enum Beginning {
    /// Run the work.
    ///
    /// The value is the word before the transition.
    case run(OperationWord)
    case finishCancelled
    case alreadyFinished
    case misuse(OperationWord)
  }

  /// Performs the transition of `start()`: from pending (a manual start) or starting (in a queue) to executing.
  func begin() -> Beginning {
    var obstacle = Beginning.alreadyFinished
    let beginning = update { word -> Beginning? in
      switch word.phase {
      case .finished:
        obstacle = .alreadyFinished
        return nil
      case .executing:
        obstacle = .misuse(word)
        return nil
      case .pending:
        guard !word.isReserved, word.isStartable else {
          obstacle = .misuse(word)
          return nil
        }
      case .starting:
        break
      }
      if word.isCancelled { return .finishCancelled }
      let before = word
      word.phase = .executing
      return .run(before)
    }
    return beginning ?? obstacle
  }

  /// Notes that an override of `start()` has announced that the work runs.
  func announceExecuting() {
    _ = update { word -> Void? in
      guard word.isBeforeMain else { return nil }
      word.phase = .executing
      word.rawValue |= OperationWord.announcesExecuting
      return ()
    }
  }

  /// Finishes the operation, from any phase.
  ///
  /// - Returns: The word before the change, or nil if the operation had already ended.
  func finish() -> OperationWord? {
    update { word -> OperationWord? in
      guard word.phase != .finished else { return nil }
      let old = word
      word.phase = .finished
      // A thread that is adding a dependency at this moment finds this flag and takes the edge out again.
      if old.unfinishedDependencies > 0 { word.rawValue |= OperationWord.dependenciesWereRead }
      return old
    }
  }

  /// Claims an operation that was cancelled in no queue, to start it.
  ///
  /// - Returns: False if a queue or `start()` has it.
  func claimUnqueued() -> Bool {
    update { word -> Void? in
      guard word.phase == .pending, !word.isReserved else { return nil }
      word.phase = .starting
      return ()
    } != nil
  }

  /// Claims an operation that a closed queue has reserved and does not accept, to end it.
  ///
  /// - Returns: False if it has ended.
  func claimRejected() -> Bool {
    update { word -> Void? in
      guard word.phase == .pending else { return nil }
      word.phase = .starting
      return ()
    } != nil
  }

  // MARK: Flags

  /// Cancels an operation that has not ended.
  ///
  /// - Parameter fails: True to record a failure in the same step.
  /// - Returns: The word before the change, or nil if nothing changed.
  func cancel(fails: Bool = false) -> OperationWord? {
    update { word -> OperationWord? in
      guard word.phase != .finished, !word.isCancelled else { return nil }
      let old = word
      word.rawValue |= OperationWord.cancelled | (fails ? OperationWord.failed : 0)
      return old
    }
  }

  /// Cancels an operation that waits in its queue, if only the queue has to be notified.
  ///
  /// - Returns: True if this has cancelled the operation.
  func cancelPlainly() -> Bool {
    update { word -> Void? in
      guard word.phase == .pending, word.isEnqueued, !word.isCancelled, !word.isObserved, !word.hasCancellationHandlers
      else { return nil }
      word.rawValue |= OperationWord.cancelled
      return ()
    } != nil
  }

  /// Publishes that the dependents are counted down and that the operation has left its queue.
  ///
  /// - Parameters:
  ///   - isNotified: True if there are no observers, so all waiters can continue.
  ///   - hasReleasedLinks: True if the links, which are closed, have no dependencies left.
  /// - Returns: The word before the change.
  func settle(isNotified: Bool, hasReleasedLinks: Bool) -> OperationWord {
    set(
      OperationWord.settled | (isNotified ? OperationWord.notified : 0)
        | (hasReleasedLinks ? OperationWord.linksReleased : 0))
  }

  /// Publishes that the observers have been notified of the end; returns the word before.
  func markNotified() -> OperationWord { set(OperationWord.notified) }

  /// Records a failure; returns false if the operation has finished.
  func markFailed() -> Bool {
    update { word -> Void? in
      guard word.phase != .finished else { return nil }
      word.rawValue |= OperationWord.failed
      return ()
    } != nil
  }

  /// Notes that a required dependency did not succeed: another thread is about to cancel the operation, which can't
  /// start until then.
  ///
  /// - Returns: False if the operation has started or was cancelled, or another thread is about to cancel it.
  func markPendingCancellation() -> Bool {
    update { word -> Void? in
      guard word.phase == .pending, !word.isCancelled, !word.hasPendingCancellation else { return nil }
      word.rawValue |= OperationWord.pendingCancellation
      return ()
    } != nil
  }

  /// Stops the operation: it can't start before ``dependencyFinished()`` is called, as if it had another dependency.
  ///
  /// This is a count and not a flag, because several calls can stop the operation at the same time.
  ///
  /// - Returns: False if the operation has started, was cancelled, or is in no queue.
  func stop() -> Bool {
    update { word -> Void? in
      guard word.phase == .pending, !word.isCancelled, word.isReserved else { return nil }
      word.rawValue += OperationWord.oneDependency
      return ()
    } != nil
  }

  /// Announces a waiter; returns the word before.
  func announceWaiter() -> OperationWord { set(OperationWord.hasWaiters) }

  /// Announces an observer.
  ///
  /// - Parameter skipsStart: True if the observer need not be notified when the operation becomes ready or starts.
  /// - Returns: The word before the change.
  func announceObserver(skipsStart: Bool) -> OperationWord {
    set(skipsStart ? OperationWord.observed : OperationWord.observed | OperationWord.observesStart)
  }

  /// Announces that the thread that finishes the operation must read the links; returns the word before, or the final
  /// word.
  func announceLink() -> OperationWord { announceBeforeEnd(OperationWord.linked) }

  /// Like ``announceLink()``, for the first completion block, if the links hold nothing else.
  func announceCompletionBlock() -> OperationWord { announceBeforeEnd(OperationWord.completes) }

  /// Like ``announceLink()``, for a thread that reads the blocks or adds one.
  func announceReadOfBlocks() -> OperationWord {
    announceBeforeEnd(OperationWord.linked | OperationWord.blocksWereRead)
  }

  /// Announces, under the lock of the links, that a thread reads the dependencies.
  ///
  /// - Returns: True if the caller may read them: the operation has not ended, or its word made the thread that ended
  ///   it take that lock.
  func announceReadOfDependencies() -> Bool {
    let word = announceBeforeEnd(OperationWord.dependenciesWereRead)
    return word.phase != .finished || word.dependenciesWereRead || word.isLinked
  }

  /// Announces that the operation has dependencies or dependents; returns the word before, or the final word.
  func announceEdges() -> OperationWord { announceBeforeEnd(OperationWord.edged) }

  /// Sets flags, unless they are already set or the operation has ended; returns the word before.
  ///
  /// As a result, the word before the operation ended shows whether the thread that ended it had to heed the flags.
  private func announceBeforeEnd(_ flags: UInt64) -> OperationWord {
    var old = word.load(ordering: .acquiring)
    while OperationWord(rawValue: old).phase != .finished, old & flags != flags {
      let (exchanged, original) = word.weakCompareExchange(
        expected: old, desired: old | flags, ordering: .acquiringAndReleasing)
      if exchanged { break }
      old = original
    }
    return OperationWord(rawValue: old)
  }

  /// Announces a cancellation handler; returns the word before.
  func announceCancellationHandler() -> OperationWord { set(OperationWord.hasCancellationHandlers) }

  /// Announces a user object that is released with the operation.
  func announceUserObject() { _ = set(OperationWord.userObjects) }

  /// Announces details that no other flag indicates.
  func announceDetails() { _ = set(OperationWord.detailed) }

  /// Announces that the base class's part of `start()` is done.
  func announceStarted() { _ = set(OperationWord.started) }

  /// Announces a thread priority.
  func announceThreadPriority() { _ = set(OperationWord.hasThreadPriority) }

  /// Records whether an override of `isReady` holds the operation back; returns the word after.
  func setHeldBack(_ isHeldBack: Bool) -> OperationWord {
    let word =
      isHeldBack
      ? word.bitwiseOr(OperationWord.heldBack, ordering: .acquiringAndReleasing).newValue
      : word.bitwiseAnd(~OperationWord.heldBack, ordering: .acquiringAndReleasing).newValue
    return OperationWord(rawValue: word)
  }

  /// Sets the quality of service; returns the word after.
  func setQuality(level: Int) -> OperationWord {
    update { word -> OperationWord? in
      word.ownQualityLevel = level
      return word
    }!
  }

  /// Raises the quality of service; returns the word after, or nil if the level is already as high or the operation has
  /// ended.
  func raiseQuality(level: Int) -> OperationWord? {
    update { word -> OperationWord? in
      guard word.qualityLevel < level, word.phase != .finished else { return nil }
      word.raisedQualityLevel = level
      return word
    }
  }

  /// Like ``raiseQuality(level:)``, for an operation that has ended: raises the threads that notify its observers or
  /// report its end.
  func raiseQualityOfReports(level: Int) -> OperationWord? {
    update { word -> OperationWord? in
      guard word.qualityLevel < level, word.phase == .finished else { return nil }
      word.raisedQualityLevel = level
      return word
    }
  }

  func setPriority(level: Int) -> OperationWord? {
    update { word -> OperationWord? in
      guard word.priorityLevel != level else { return nil }
      word.priorityLevel = level
      return word
    }
  }

  // MARK: Dependencies

  /// The result of claiming a slot for a dependency.
  enum SlotClaim {
    /// The caller has the slot with this number.
    ///
    /// The second value is the word before.
    case slot(Int, OperationWord)
    /// All slots have been assigned.
    case full
    /// The operation has started or ended.
    case late(OperationWord)
  }

  /// Assigns a slot for a dependency and counts the dependency.
  ///
  /// - Parameter isCounted: True if the dependency has not finished. Otherwise, the caller holds the lock of the links,
  ///   and has announced that it reads the dependencies.
  /// - Returns: The slot, or the reason why there is none.
  func claimSlot(isCounted: Bool) -> SlotClaim {
    var old = OperationWord(rawValue: word.load(ordering: .relaxed))
    while true {
      guard old.phase == .pending else { return .late(current) }
      guard old.slotCount < DependencySlot.count else { return .full }
      var new = old
      new.slotCount += 1
      new.rawValue |= OperationWord.edged
      if isCounted { new.rawValue += OperationWord.oneDependency }
      let (exchanged, original) = word.weakCompareExchange(
        expected: old.rawValue, desired: new.rawValue, ordering: .acquiringAndReleasing)
      if exchanged { return .slot(old.slotCount, old) }
      old = OperationWord(rawValue: original)
    }
  }

  /// Counts another dependency, which has no slot.
  ///
  /// The caller holds the lock of the links and has announced that it reads the dependencies.
  ///
  /// - Parameter isCounted: True if the dependency has not finished.
  /// - Returns: The word before the change, or nil if the operation has started.
  func addDependency(isCounted: Bool) -> OperationWord? {
    update { word -> OperationWord? in
      guard word.phase == .pending else { return nil }
      let old = word
      if isCounted {
        require(
          word.unfinishedDependencies < OperationWord.mostDependencies,
          "An operation has \(word.unfinishedDependencies) unfinished dependencies: use fewer.")
        word.rawValue += OperationWord.oneDependency
      }
      word.rawValue |= OperationWord.edged
      return old
    }
  }

  /// Decrements the count of unfinished dependencies; returns the word after.
  func dependencyFinished() -> OperationWord {
    let (old, new) = word.subtract(OperationWord.oneDependency, ordering: .acquiringAndReleasing)
    assert(old >= OperationWord.oneDependency, "a dependency was counted down twice")
    return OperationWord(rawValue: new)
  }

  /// Like ``dependencyFinished()``, but first calls `prepare` with the new word.
  ///
  /// If another thread changes the word in the meantime, it calls `prepare` again.
  func dependencyFinished(_ prepare: (OperationWord) -> Void) {
    _ = update { word -> Void? in
      assert(word.unfinishedDependencies > 0, "a dependency was counted down twice")
      word.rawValue -= OperationWord.oneDependency
      prepare(word)
      return ()
    }
  }
}
