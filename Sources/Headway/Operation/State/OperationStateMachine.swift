import Synchronization

/// The state machine of an operation: every transition, and nothing else.
///
/// Each transition is one atomic read-modify-write of the word. All of them acquire and release: whoever sees a state
/// also sees what was written before it was reached (the queue reference before `enqueued`, the error before
/// `finished`). Plain readings acquire.
struct OperationStateMachine: ~Copyable {
  private let word = Atomic<UInt64>(OperationWord.initial.rawValue)

  var current: OperationWord { OperationWord(rawValue: word.load(ordering: .acquiring)) }

  /// As ``current``, in one order with other steps: for a thread that has pushed an edge (``DependentStack``), or has
  /// said that it is at the operation (`Worker+Raising.swift`).
  var currentInOrder: OperationWord { OperationWord(rawValue: word.load(ordering: .sequentiallyConsistent)) }

  /// Applies `change` until it sticks, or returns without a change when `change` answers nil.
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

  // MARK: Into a queue

  /// Gives the caller the sole right to enqueue; returns the word that forbade it, or nil on success.
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

  /// As ``reserve()``, for a new operation that nobody else knows yet.
  ///
  /// - Parameter isEnqueued: As ``enqueue()`` as well.
  func reserveUnshared(isEnqueued: Bool) {
    let enqueued = isEnqueued ? OperationWord.enqueued : 0
    word.store(OperationWord.initial.rawValue | OperationWord.reserved | enqueued, ordering: .relaxed)
  }

  /// Publishes that the operation is about to be in its queue's inbox; false if it has ended, and so must not come
  /// there.
  ///
  /// Who ends it from now on has it leave the queue.
  func enqueue() -> Bool {
    assert(current.isReserved && !current.isEnqueued)
    return set(OperationWord.enqueued).phase != .finished
  }

  /// Publishes that the operation is in its queue's lists; returns the word as it was before, which may say that the
  /// operation has ended.
  ///
  /// Under the queue's lock.
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

  /// Publishes that the operation comes among the ready ones; returns the word, or nil if it has started already.
  ///
  /// Under the queue's lock.
  func markReady() -> OperationWord? {
    let before = set(OperationWord.wasReady)
    return before.phase == .pending ? before : nil
  }

  /// Takes a ready operation for starting.
  ///
  /// Under the queue's lock.
  func claim() -> Bool {
    update { word -> Void? in
      guard word.phase == .pending, word.isStartable else { return nil }
      word.phase = .starting
      return ()
    } != nil
  }

  // MARK: Running

  /// From pending in a queue to executing, in one step, if nothing out of the ordinary is to be done at the start.
  ///
  /// - Parameter ifNeverReady: It is to be started only if it has not been among the ready ones.
  /// - Returns: Whether it has been started.
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

  /// From executing to finished, settled and notified, in one step, if nothing else is to be done at the end.
  ///
  /// - Returns: Whether it has ended by that.
  func finishPlainly() -> Bool {
    let end = OperationPhase.finished.rawValue | OperationWord.settled | OperationWord.notified
    let plain = OperationPhase.executing.rawValue
    var old = word.load(ordering: .relaxed)
    while old & (OperationWord.endsSpecially | OperationWord.phaseMask) == plain {
      let (exchanged, original) = word.weakCompareExchange(
        expected: old, desired: old | end, ordering: .acquiringAndReleasing)
      if exchanged { return true }
      old = original
    }
    return false
  }

  /// From pending to finished, settled and notified, in one step, if the operation was cancelled and nothing else is to
  /// be done at the end.
  ///
  /// Under the queue's lock.
  ///
  /// - Returns: Whether it has ended by that.
  func finishCancelledPlainly() -> Bool {
    let end = OperationPhase.finished.rawValue | OperationWord.settled | OperationWord.notified
    let looked = OperationWord.phaseMask | OperationWord.cancelled | OperationWord.endsSpecially
    var old = word.load(ordering: .relaxed)
    while old & looked == OperationPhase.pending.rawValue | OperationWord.cancelled, old < OperationWord.oneDependency {
      let (exchanged, original) = word.weakCompareExchange(
        expected: old, desired: old | end, ordering: .acquiringAndReleasing)
      if exchanged { return true }
      old = original
    }
    return false
  }

  /// What `start()` must do.
  enum Beginning {
    /// Run the work; with the word as it was before.
    case run(OperationWord)
    case finishCancelled
    case alreadyFinished
    case misuse(OperationWord)
  }

  /// The transition that `start()` makes: from pending (by hand) or starting (by a queue) to executing.
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

  /// An override of `start()` has announced that the work runs.
  func announceExecuting() {
    _ = update { word -> Void? in
      guard word.isBeforeMain else { return nil }
      word.phase = .executing
      word.rawValue |= OperationWord.announcesExecuting
      return ()
    }
  }

  /// Ends the operation, from whatever phase; returns the word before, or nil when it had ended.
  func finish() -> OperationWord? {
    update { word -> OperationWord? in
      guard word.phase != .finished else { return nil }
      let old = word
      word.phase = .finished
      // A thread that adds a dependency at this moment sees that it has to be left.
      if old.unfinishedDependencies > 0 { word.rawValue |= OperationWord.dependenciesWereSeen }
      return old
    }
  }

  /// Takes an operation that was cancelled while in no queue, for starting; fails when a queue or `start()` has it.
  func claimUnqueued() -> Bool {
    update { word -> Void? in
      guard word.phase == .pending, !word.isReserved else { return nil }
      word.phase = .starting
      return ()
    } != nil
  }

  // MARK: Flags

  /// Cancels an operation that has not ended.
  ///
  /// - Parameter fails: It records a failure in the same step.
  /// - Returns: The word before, or nil when nothing changed.
  func cancel(fails: Bool = false) -> OperationWord? {
    update { word -> OperationWord? in
      guard word.phase != .finished, !word.isCancelled else { return nil }
      let old = word
      word.rawValue |= OperationWord.cancelled | (fails ? OperationWord.failed : 0)
      return old
    }
  }

  /// Cancels an operation that waits in its queue, if nobody has to hear of that but the queue.
  ///
  /// - Returns: Whether it is cancelled by that.
  func cancelPlainly() -> Bool {
    update { word -> Void? in
      guard word.phase == .pending, word.isEnqueued, !word.isCancelled, !word.isObserved, !word.hasCancellationHandlers
      else { return nil }
      word.rawValue |= OperationWord.cancelled
      return ()
    } != nil
  }

  /// Announces that dependents are released and the queue is left.
  ///
  /// - Parameters:
  ///   - isNotified: Nobody observes: all that waits may go on.
  ///   - isUnlinked: The links, which are closed, have no dependencies any more.
  /// - Returns: The word before.
  func settle(isNotified: Bool, isUnlinked: Bool) -> OperationWord {
    set(
      OperationWord.settled | (isNotified ? OperationWord.notified : 0) | (isUnlinked ? OperationWord.unlinked : 0))
  }

  /// Announces that the observers have been notified of the end; returns the word before.
  func markNotified() -> OperationWord { set(OperationWord.notified) }

  /// Records a failure; false when the operation has finished.
  func markFailed() -> Bool {
    update { word -> Void? in
      guard word.phase != .finished else { return nil }
      word.rawValue |= OperationWord.failed
      return ()
    } != nil
  }

  /// An operation that this one requires to succeed has not: it can't start any more until it is cancelled.
  ///
  /// - Returns: False if it has started, or was cancelled.
  func markPendingCancellation() -> Bool {
    update { word -> Void? in
      guard word.phase == .pending, !word.isCancelled, !word.hasPendingCancellation else { return nil }
      word.rawValue |= OperationWord.pendingCancellation
      return ()
    } != nil
  }

  /// Announces a waiter; returns the word before.
  func announceWaiter() -> OperationWord { set(OperationWord.hasWaiters) }

  /// Announces an observer.
  ///
  /// - Parameter skipsStart: It need not hear when the operation becomes ready, nor when it starts.
  /// - Returns: The word before.
  func announceObserver(skipsStart: Bool) -> OperationWord {
    set(skipsStart ? OperationWord.observed : OperationWord.observed | OperationWord.observesStart)
  }

  /// Announces that the end has to look into the links; returns the word before, or at the end.
  func announceLink() -> OperationWord { announceBeforeEnd(OperationWord.linked) }

  /// As ``announceLink()``, for who looks at the blocks or adds one.
  func announceSightOfBlocks() -> OperationWord {
    announceBeforeEnd(OperationWord.linked | OperationWord.blocksWereSeen)
  }

  /// Announces, under the lock of the links, that somebody looks at the dependencies.
  ///
  /// - Returns: Whether the caller may: the operation has not ended, or was ended by a thread that found in the word
  ///   that it had to take that lock.
  func announceSightOfDependencies() -> Bool {
    let word = announceBeforeEnd(OperationWord.dependenciesWereSeen)
    return word.phase != .finished || word.dependenciesWereSeen || word.isLinked
  }

  /// Announces that the operation has dependencies or dependents; returns the word before, or at the end.
  func announceEdges() -> OperationWord { announceBeforeEnd(OperationWord.edged) }

  /// Sets flags, unless they are set or the operation has ended; returns the word before.
  ///
  /// So the word before the end says whether the thread that ended it had to heed them.
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

  /// Announces a handler of cancellations; returns the word before.
  func announceCancellationHandler() -> OperationWord { set(OperationWord.hasCancellationHandlers) }

  /// Announces an object of the user's that is released with the operation.
  func announceUserObject() { _ = set(OperationWord.userObjects) }

  /// Announces details of which nothing else tells.
  func announceDetails() { _ = set(OperationWord.detailed) }

  /// Announces that the base's part of a start is over.
  func announceStarted() { _ = set(OperationWord.started) }

  /// Announces a thread priority.
  func announceThreadPriority() { _ = set(OperationWord.hasThreadPriority) }

  /// Says whether an override of `isReady` holds the operation back; returns the word after.
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

  /// Raises the quality of service; returns the word after, or nil when it is as high already, or has ended.
  func raiseQuality(level: Int) -> OperationWord? {
    update { word -> OperationWord? in
      guard word.qualityLevel < level, word.phase != .finished else { return nil }
      word.raisedQualityLevel = level
      return word
    }
  }

  /// As ``raiseQuality(level:)``, of an operation that has ended: for the threads that call what its end leads to.
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

  /// What comes of asking for a slot for a dependency.
  enum SlotClaim {
    /// The slot is the caller's; with the word before.
    case slot(Int, OperationWord)
    /// All slots have been given out.
    case full
    /// The operation has started, or ended.
    case late(OperationWord)
  }

  /// Gives out a slot for a dependency, and counts it.
  ///
  /// - Parameter isCounted: The dependency has not finished. Otherwise the caller has the lock of the links, and has
  ///   announced that it looks at the dependencies.
  /// - Returns: The slot, or why there is none.
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

  /// Counts one more dependency that has no slot.
  ///
  /// The caller has the lock of the links, and has announced that it looks at the dependencies.
  ///
  /// - Parameter isCounted: The dependency has not finished.
  /// - Returns: The word before, or nil when the operation has started.
  func addDependency(isCounted: Bool) -> OperationWord? {
    update { word -> OperationWord? in
      guard word.phase == .pending else { return nil }
      let old = word
      if isCounted {
        precondition(
          word.unfinishedDependencies < OperationWord.mostDependencies, "an operation has too many dependencies")
        word.rawValue += OperationWord.oneDependency
      }
      word.rawValue |= OperationWord.edged
      return old
    }
  }

  /// Counts one dependency less; returns the word after.
  func dependencyFinished() -> OperationWord {
    let (old, new) = word.subtract(OperationWord.oneDependency, ordering: .acquiringAndReleasing)
    assert(old >= OperationWord.oneDependency, "a dependency was counted down twice")
    return OperationWord(rawValue: new)
  }

  /// As ``dependencyFinished()``; calls `prepare` with the word as it will be before it is, and again when the word was
  /// changed meanwhile.
  func dependencyFinished(_ prepare: (OperationWord) -> Void) {
    _ = update { word -> Void? in
      assert(word.unfinishedDependencies > 0, "a dependency was counted down twice")
      word.rawValue -= OperationWord.oneDependency
      prepare(word)
      return ()
    }
  }
}
