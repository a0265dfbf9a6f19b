import Synchronization

/// Where an operation stands on its one-way road.
enum OperationPhase: UInt64 {
  /// Not started: it waits for dependencies, for its queue, or for somebody to call `start()`.
  case pending = 0
  /// Its queue has taken it and is about to call `start()`, or has called a `start()` that has not reported yet.
  case starting = 1
  /// Its work runs.
  case executing = 2
  /// It has ended. Nothing leads out.
  case finished = 3
}

/// One reading of an operation's state word.
///
/// The word holds all that must change together, so that a single atomic instruction decides every race: for instance
/// between a worker that starts the operation and a thread that gives it one more dependency.
struct OperationWord {
  var rawValue: UInt64

  static let phaseMask: UInt64 = 0b11
  /// `cancel()` has been called.
  static let cancelled: UInt64 = 1 << 2
  /// A queue has the sole right to take the operation in, and is doing so or has.
  static let reserved: UInt64 = 1 << 3
  /// The operation stands in its queue's books, or in its inbox, or is about to: the queue owns it.
  ///
  /// Never cleared.
  static let enqueued: UInt64 = 1 << 4
  /// Somebody waits for the end; the one who settles must wake them.
  static let hasWaiters: UInt64 = 1 << 5
  /// The end has been announced: dependents and observers told, the queue left.
  static let settled: UInt64 = 1 << 6
  /// An override of ``Operation/isReady`` answered false when it was last asked.
  static let heldBack: UInt64 = 1 << 7
  static let priorityShift: UInt64 = 8
  static let priorityMask: UInt64 = 0b111 << priorityShift
  /// Somebody observes; whoever changes what can be observed must tell.
  static let observed: UInt64 = 1 << 11
  /// Somebody wants to be called on cancellation.
  static let hasCancellationHandlers: UInt64 = 1 << 12
  /// A thread priority was set.
  static let hasThreadPriority: UInt64 = 1 << 13
  /// The subclass announces itself when it executes and when not.
  static let announcesExecuting: UInt64 = 1 << 14
  /// The links hold what the end must deal with, or somebody has looked for the queue through them.
  ///
  /// Set under the lock of the links, never cleared.
  static let linked: UInt64 = 1 << 15
  /// The level of the quality of service that was set, and of that to which dependents raise it.
  static let ownQualityShift: UInt64 = 16
  static let raisedQualityShift: UInt64 = 20
  static let qualityMask: UInt64 = 0b111
  /// The operation stands in its queue's books.
  ///
  /// Set under the queue's lock, never cleared.
  static let booked: UInt64 = 1 << 24
  /// The operation has stood among the ready ones of its queue, and so may stand in a run.
  ///
  /// Set under the queue's lock, never cleared.
  static let offered: UInt64 = 1 << 25
  /// The upper half counts the dependencies that have not finished.
  static let oneDependency: UInt64 = 1 << 32

  static let initial = OperationWord(rawValue: UInt64(QueuePriority.normal.level) << priorityShift)

  /// Where one of these is set, an operation can't be started without further thought.
  static let startsSpecially = cancelled | heldBack | observed | hasThreadPriority
  /// Where one of these is set, more is to be done at the end than to say so.
  static let endsSpecially = linked | hasWaiters | observed | hasCancellationHandlers

  var phase: OperationPhase {
    get { OperationPhase(rawValue: rawValue & Self.phaseMask)! }
    set { rawValue = rawValue & ~Self.phaseMask | newValue.rawValue }
  }
  var isCancelled: Bool { rawValue & Self.cancelled != 0 }
  var isReserved: Bool { rawValue & Self.reserved != 0 }
  var isEnqueued: Bool { rawValue & Self.enqueued != 0 }
  var isBooked: Bool { rawValue & Self.booked != 0 }
  var hasWaiters: Bool { rawValue & Self.hasWaiters != 0 }
  var isSettled: Bool { rawValue & Self.settled != 0 }
  var unfinishedDependencies: Int { Int(rawValue >> 32) }
  /// The queue priority as a level from 0 (very low) to 4 (very high).
  var priorityLevel: Int {
    get { Int((rawValue & Self.priorityMask) >> Self.priorityShift) }
    set { rawValue = rawValue & ~Self.priorityMask | UInt64(newValue) << Self.priorityShift }
  }
  var isHeldBack: Bool { rawValue & Self.heldBack != 0 }
  var isObserved: Bool { rawValue & Self.observed != 0 }
  var hasCancellationHandlers: Bool { rawValue & Self.hasCancellationHandlers != 0 }
  var hasThreadPriority: Bool { rawValue & Self.hasThreadPriority != 0 }
  var startsSpecially: Bool { rawValue & Self.startsSpecially != 0 }
  var isLinked: Bool { rawValue & Self.linked != 0 }
  var announcesExecuting: Bool { rawValue & Self.announcesExecuting != 0 }
  var ownQualityLevel: Int {
    get { Int(rawValue >> Self.ownQualityShift & Self.qualityMask) }
    set { setField(Self.ownQualityShift, newValue) }
  }
  var raisedQualityLevel: Int {
    get { Int(rawValue >> Self.raisedQualityShift & Self.qualityMask) }
    set { setField(Self.raisedQualityShift, newValue) }
  }
  /// The higher of the two levels.
  var qualityLevel: Int { max(ownQualityLevel, raisedQualityLevel) }

  private mutating func setField(_ shift: UInt64, _ level: Int) {
    rawValue = rawValue & ~(Self.qualityMask << shift) | UInt64(level) << shift
  }

  /// No dependency keeps it from starting.
  ///
  /// A cancelled operation ignores its dependencies, and one that has finished has let go of them: one that finished
  /// without having been started may not have seen all of them finish.
  var isReady: Bool { unfinishedDependencies == 0 || isCancelled || phase == .finished }

  /// Nothing but its queue keeps it from starting.
  var isStartable: Bool { isReady && (!isHeldBack || isCancelled) }
}

/// The state machine of an operation: every transition, and nothing else.
///
/// Each transition is one atomic read-modify-write of the word. All of them acquire and release: whoever sees a state
/// also sees what was written before it was reached (the queue reference before `enqueued`, the error before
/// `finished`). Plain readings acquire.
struct OperationStateMachine: ~Copyable {
  private let word = Atomic<UInt64>(OperationWord.initial.rawValue)

  var current: OperationWord { OperationWord(rawValue: word.load(ordering: .acquiring)) }

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

  /// Publishes that the operation is about to be in its queue's inbox.
  func enqueue() {
    assert(current.isReserved && !current.isEnqueued)
    _ = set(OperationWord.enqueued)
  }

  /// Publishes that the operation is in its queue's books; returns the word as it then was.
  ///
  /// Under the queue's lock.
  func book() -> OperationWord {
    assert(current.isReserved && !current.isBooked)
    return set(OperationWord.enqueued | OperationWord.booked)
  }

  /// Publishes that the operation comes among the ready ones; returns the word, or nil if it has started already.
  ///
  /// Under the queue's lock.
  func offer() -> OperationWord? {
    let before = set(OperationWord.offered)
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
  /// - Parameter isUnoffered: It is to be started only if it has not stood among the ready ones.
  /// - Returns: Whether it has been started.
  func beginPlainly(isUnoffered: Bool = false) -> Bool {
    let obstacles =
      OperationWord.phaseMask | OperationWord.startsSpecially | (isUnoffered ? OperationWord.offered : 0)
    var old = word.load(ordering: .relaxed)
    while old & obstacles == 0, old < OperationWord.oneDependency {
      let (exchanged, original) = word.weakCompareExchange(
        expected: old, desired: old | OperationPhase.executing.rawValue, ordering: .acquiringAndReleasing)
      if exchanged { return true }
      old = original
    }
    return false
  }

  /// From executing to finished and settled, in one step, if nothing else is to be done at the end.
  func finishPlainly() -> Bool {
    var old = word.load(ordering: .relaxed)
    while old & OperationWord.endsSpecially == 0 {
      let (exchanged, original) = word.weakCompareExchange(
        expected: old, desired: old | OperationPhase.finished.rawValue | OperationWord.settled,
        ordering: .acquiringAndReleasing)
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
      guard word.phase == .pending || word.phase == .starting else { return nil }
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

  /// Cancels an operation that has not ended; returns the word before, or nil when nothing changed.
  func cancel() -> OperationWord? {
    update { word -> OperationWord? in
      guard word.phase != .finished, !word.isCancelled else { return nil }
      let old = word
      word.rawValue |= OperationWord.cancelled
      return old
    }
  }

  /// Announces that the end has been told; returns the word before.
  func settle() -> OperationWord { set(OperationWord.settled) }

  /// Announces a waiter; returns the word before.
  func announceWaiter() -> OperationWord { set(OperationWord.hasWaiters) }

  /// Announces an observer; returns the word before.
  func announceObserver() -> OperationWord { set(OperationWord.observed) }

  /// Announces that the end has to look into the links; returns the word before.
  func announceLink() -> OperationWord { set(OperationWord.linked) }

  /// Announces a handler of cancellations; returns the word before.
  func announceCancellationHandler() -> OperationWord { set(OperationWord.hasCancellationHandlers) }

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

  func setPriority(level: Int) -> OperationWord? {
    update { word -> OperationWord? in
      guard word.priorityLevel != level else { return nil }
      word.priorityLevel = level
      return word
    }
  }

  // MARK: Dependencies

  /// Counts one more dependency; returns the word before, or nil when the operation has started.
  func addDependency() -> OperationWord? {
    update { word -> OperationWord? in
      guard word.phase == .pending else { return nil }
      let old = word
      word.rawValue += OperationWord.oneDependency
      word.rawValue |= OperationWord.linked
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
