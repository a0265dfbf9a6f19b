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
  /// The operation is in its queue's lists, or in its inbox, or is about to be: the queue owns it.
  ///
  /// Never cleared.
  static let enqueued: UInt64 = 1 << 4
  /// Threads or tasks wait for the end; the thread that ends the operation must wake them.
  static let hasWaiters: UInt64 = 1 << 5
  /// The end has reached all that must not wait for users' code: dependents are released, the queue is left.
  static let settled: UInt64 = 1 << 6
  /// An override of ``Operation/isReady`` answered false when it was last asked.
  static let heldBack: UInt64 = 1 << 7
  static let priorityShift: UInt64 = 8
  static let priorityMask: UInt64 = 0b111 << priorityShift
  /// Somebody observes: a thread that changes what can be observed must notify.
  static let observed: UInt64 = 1 << 11
  /// Somebody wants to be called on cancellation.
  static let hasCancellationHandlers: UInt64 = 1 << 12
  /// A thread priority was set.
  static let hasThreadPriority: UInt64 = 1 << 13
  /// The subclass announces itself when it executes and when not.
  static let announcesExecuting: UInt64 = 1 << 14
  /// The links hold what the end must deal with, or a thread has looked for the queue through them.
  ///
  /// Set under the lock of the links, not after the end, and never cleared.
  static let linked: UInt64 = 1 << 15
  /// The level of the quality of service that was set, and of that to which dependents raise it.
  static let ownQualityShift: UInt64 = 16
  static let raisedQualityShift: UInt64 = 20
  static let qualityMask: UInt64 = 0b111
  /// A thread has looked at the blocks of a block operation, under the lock of the links, before it began.
  static let blocksWereSeen: UInt64 = 1 << 19
  /// The operation has ended, and its links hold nothing any more that a release has to deal with.
  static let unlinked: UInt64 = 1 << 23
  /// The operation is in its queue's lists.
  ///
  /// Set under the queue's lock, never cleared.
  static let listed: UInt64 = 1 << 24
  /// The operation has been among the ready ones of its queue, and so may be in a batch.
  ///
  /// Set under the queue's lock, never cleared.
  static let wasReady: UInt64 = 1 << 25
  /// An operation that this one requires to succeed has not, and is about to cancel this one, which can't start until
  /// then.
  static let pendingCancellation: UInt64 = 1 << 26
  /// An error was recorded, before the end.
  static let failed: UInt64 = 1 << 27
  /// The end has been announced to all, observers included.
  static let notified: UInt64 = 1 << 28
  /// The operation has, or has had, objects of users' that are released with it.
  static let userObjects: UInt64 = 1 << 29
  /// The base's part of a start is over, and the subclass is to say when the operation has finished.
  static let started: UInt64 = 1 << 30
  /// Somebody observes when the operation becomes ready, or when it starts.
  static let observesStart: UInt64 = 1 << 31
  /// The links have details of which no other flag tells.
  static let detailed: UInt64 = 1 << 32
  /// The operation has dependencies, or others that depend on it.
  ///
  /// Never cleared.
  static let edged: UInt64 = 1 << 33
  /// A thread has looked at the dependencies, under the lock of the links, before the operation ended; or it has ended
  /// before all of them had.
  ///
  /// Not set after the end, and never cleared.
  static let dependenciesWereSeen: UInt64 = 1 << 34
  /// How many slots for dependencies have been given out.
  private static let slotShift: UInt64 = 35
  private static let slotMask: UInt64 = 0b11
  private static let dependencyShift: UInt64 = 37
  /// The highest bits count the dependencies that have not finished.
  static let oneDependency: UInt64 = 1 << dependencyShift
  /// As many as can be counted, apart from those that other threads are adding.
  static let mostDependencies = 1 << 26
  /// Of an operation that has run in a queue, and of which nothing out of the ordinary was asked, apart from
  /// ``wasReady``.
  private static let endOfPlain =
    OperationPhase.finished.rawValue | initial.rawValue | reserved | enqueued | listed | settled | notified

  static let initial = OperationWord(rawValue: UInt64(QueuePriority.normal.level) << priorityShift)

  /// Where one of these is set, an operation can't be started without further thought.
  static let startsSpecially = cancelled | heldBack | observesStart | hasThreadPriority | pendingCancellation
  /// Where one of these is set, more is to be done at the end than to say so.
  static let endsSpecially = endsUnderLock | hasWaiters | edged
  /// Where one of these is set, the end has to look into the links.
  static let endsUnderLock = linked | observed | hasCancellationHandlers | failed

  var phase: OperationPhase {
    get { OperationPhase(rawValue: rawValue & Self.phaseMask)! }
    set { rawValue = rawValue & ~Self.phaseMask | newValue.rawValue }
  }
  /// Whether its work has not begun, and may yet.
  var isBeforeMain: Bool { rawValue & Self.phaseMask < OperationPhase.executing.rawValue }
  var isCancelled: Bool { rawValue & Self.cancelled != 0 }
  var isReserved: Bool { rawValue & Self.reserved != 0 }
  var isEnqueued: Bool { rawValue & Self.enqueued != 0 }
  var isListed: Bool { rawValue & Self.listed != 0 }
  var hasWaiters: Bool { rawValue & Self.hasWaiters != 0 }
  var isSettled: Bool { rawValue & Self.settled != 0 }
  var isNotified: Bool { rawValue & Self.notified != 0 }
  /// Whether a goal is reached; whether the end was reported, the word does not say.
  func hasReached(_ goal: WaitingGoal) -> Bool { goal == .settled ? isSettled : isNotified }
  /// It has run in a queue, and nothing out of the ordinary was asked of it: its links are those of a new one.
  var hasEndedPlainly: Bool { rawValue & ~Self.wasReady == Self.endOfPlain }
  /// Whether releasing the operation may run users' code, apart from that of its class.
  var hasUserObjects: Bool { rawValue & (Self.userObjects | Self.failed | Self.observed) != 0 }
  /// A queue, or `start()`, has begun with it, and it has not finished.
  var isRunning: Bool { phase == .starting || phase == .executing }
  var hasPendingCancellation: Bool { rawValue & Self.pendingCancellation != 0 }
  /// What ``Operation/isFinished`` says, which overrides may ask.
  var saysFinished: Bool { phase == .finished || rawValue & Self.started != 0 }
  /// It was cancelled before a queue had it, or when it was started by hand.
  var endedInNoQueue: Bool { phase == .finished && isCancelled && !isReserved }
  var hasFailed: Bool { rawValue & Self.failed != 0 }
  var unfinishedDependencies: Int { Int(rawValue >> Self.dependencyShift) }
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
  /// It may have dependencies, or have had others that depend on it.
  var isEdged: Bool { rawValue & Self.edged != 0 }
  var isLinked: Bool { rawValue & Self.linked != 0 }
  /// It may have dependencies with which a release has to deal.
  var mayHaveDependencies: Bool { rawValue & (Self.edged | Self.unlinked) == Self.edged }
  var dependenciesWereSeen: Bool { rawValue & Self.dependenciesWereSeen != 0 }
  /// At the end, nothing but dependencies and dependents is to be dealt with, and nobody else may look at these.
  var endsByEdgesAlone: Bool {
    rawValue & (Self.endsUnderLock | Self.dependenciesWereSeen | Self.detailed) == 0 && unfinishedDependencies == 0
  }
  /// How many slots for dependencies have been given out.
  var slotCount: Int {
    get { Int(rawValue >> Self.slotShift & Self.slotMask) }
    set { rawValue = rawValue & ~(Self.slotMask << Self.slotShift) | UInt64(newValue) << Self.slotShift }
  }
  var blocksWereSeen: Bool { rawValue & Self.blocksWereSeen != 0 }
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

  /// Whether that is not 0.
  var hasQuality: Bool {
    rawValue & (Self.qualityMask << Self.ownQualityShift | Self.qualityMask << Self.raisedQualityShift) != 0
  }

  private mutating func setField(_ shift: UInt64, _ level: Int) {
    rawValue = rawValue & ~(Self.qualityMask << shift) | UInt64(level) << shift
  }

  /// No dependency keeps it from starting.
  ///
  /// A cancelled operation ignores its dependencies, and one that has finished has released them: one that finished
  /// without having been started may not have seen all of them finish.
  var isReady: Bool { (unfinishedDependencies == 0 && !hasPendingCancellation) || isCancelled || phase == .finished }

  /// Nothing but its queue keeps it from starting.
  var isStartable: Bool { isReady && (!isHeldBack || isCancelled) }

  /// The same, and it has neither been started nor cancelled.
  var isWaitingForItsTurn: Bool { phase == .pending && !isCancelled && isStartable }

  /// After a count-down: that was the last dependency.
  var becameReady: Bool { isReady && !isCancelled && phase == .pending }
  /// After a count-down: that was the last dependency, and the queue has to be notified. (A cancelled operation was
  /// ready before, and its queue knows.)
  var becameReadyInQueue: Bool { becameReady && isEnqueued }
}
