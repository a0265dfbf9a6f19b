/// A value that was read from an operation's state word.
///
/// The word holds everything that must change together, so that a single atomic instruction decides every race. An
/// example is the race between a worker that starts the operation and a thread that adds a dependency to it.
struct OperationWord {
  var rawValue: UInt64

  static let phaseMask: UInt64 = 0b11
  /// `cancel()` has been called.
  static let cancelled: UInt64 = 1 << 2
  /// A queue has the sole right to accept the operation and is accepting it or has accepted it.
  static let reserved: UInt64 = 1 << 3
  /// The operation is in its queue's lists or inbox, or is about to be, and the queue owns it.
  ///
  /// Never cleared.
  static let enqueued: UInt64 = 1 << 4
  /// Threads or tasks wait for the operation to finish.
  ///
  /// The thread that ends it must wake them.
  static let hasWaiters: UInt64 = 1 << 5
  /// Everything that must not wait for user code is done: the dependents are counted down, and the operation has left
  /// its queue.
  static let settled: UInt64 = 1 << 6
  /// An override of ``Operation/isReady`` returned false when it was last evaluated.
  static let heldBack: UInt64 = 1 << 7
  static let priorityShift: UInt64 = 8
  static let priorityMask: UInt64 = 0b111 << priorityShift
  /// The operation has observers.
  ///
  /// A thread that changes an observable property must notify them.
  static let observed: UInt64 = 1 << 11
  /// The operation has cancellation handlers.
  static let hasCancellationHandlers: UInt64 = 1 << 12
  /// A thread priority was set.
  static let hasThreadPriority: UInt64 = 1 << 13
  /// The subclass itself announces changes of `isExecuting`.
  static let announcesExecuting: UInt64 = 1 << 14
  /// The links hold something that the thread that finishes the operation must process, or a thread has read the queue
  /// through them.
  ///
  /// Set under the lock of the links, never after the operation has ended, and never cleared.
  static let linked: UInt64 = 1 << 15
  /// The level of the quality of service that was set, and the level that dependents have raised it to.
  static let ownQualityShift: UInt64 = 16
  static let raisedQualityShift: UInt64 = 20
  static let qualityMask: UInt64 = 0b111
  /// A thread has announced, under the lock of the links, that it reads or adds blocks of a block operation.
  static let blocksWereRead: UInt64 = 1 << 19
  /// The operation has ended, and its links hold nothing that must be processed when it is freed.
  static let linksReleased: UInt64 = 1 << 23
  /// The operation is in its queue's lists.
  ///
  /// Set under the queue's lock, never cleared.
  static let listed: UInt64 = 1 << 24
  /// The operation has been in its queue's list of ready operations, so it can be in a batch.
  ///
  /// Set under the queue's lock, never cleared.
  static let wasReady: UInt64 = 1 << 25
  /// Another thread is about to cancel this operation, which can't start until then: a required dependency did not
  /// succeed.
  static let pendingCancellation: UInt64 = 1 << 26
  /// An error was recorded before the operation ended.
  static let failed: UInt64 = 1 << 27
  /// All observers have been notified that the operation has ended.
  static let notified: UInt64 = 1 << 28
  /// The operation has, or has had, user objects that are released with it.
  static let userObjects: UInt64 = 1 << 29
  /// The base class's part of `start()` is done, and the subclass decides when the operation has finished.
  static let started: UInt64 = 1 << 30
  /// An observer must be notified when the operation becomes ready or when it starts.
  static let observesStart: UInt64 = 1 << 31
  /// The links have details that no other flag indicates.
  static let detailed: UInt64 = 1 << 32
  /// The operation has dependencies or dependents.
  ///
  /// Never cleared.
  static let edged: UInt64 = 1 << 33
  /// A thread has read the dependencies, under the lock of the links, before the operation ended; or the operation
  /// ended before all of its dependencies had.
  ///
  /// Never set after the operation has ended, and never cleared.
  static let dependenciesWereRead: UInt64 = 1 << 34
  /// The number of dependency slots that have been assigned.
  private static let slotShift: UInt64 = 35
  private static let slotMask: UInt64 = 0b11
  /// A completion block was set while the links held nothing else that is processed at the end.
  ///
  /// Set under the lock of the links, never after the operation has ended, and never cleared.
  static let completes: UInt64 = 1 << 37
  private static let dependencyShift: UInt64 = 38
  /// The highest bits count the dependencies that have not finished, and the calls that have stopped the operation
  /// (``StoppedOperations``).
  static let oneDependency: UInt64 = 1 << dependencyShift
  /// The maximum number of dependencies, not counting dependencies that other threads are adding at the moment.
  static let mostDependencies = 1 << 25
  /// The final word of an operation that has run in a queue without any special handling.
  ///
  /// ``wasReady`` is ignored.
  private static let endOfPlain =
    OperationPhase.finished.rawValue | initial.rawValue | reserved | enqueued | listed | settled | notified

  static let initial = OperationWord(rawValue: UInt64(QueuePriority.normal.level) << priorityShift)

  /// Flags that rule out starting the operation in one atomic step
  /// (``OperationStateMachine/beginPlainly(ifNeverReady:)``).
  static let startsSpecially = cancelled | heldBack | observesStart | hasThreadPriority | pendingCancellation
  /// Flags that rule out finishing the operation in one atomic step (``OperationStateMachine/finishPlainly()``).
  static let endsSpecially = endsUnderLock | hasWaiters | edged
  /// Flags that make the thread that finishes the operation read the links.
  static let endsUnderLock = linked | completes | observed | hasCancellationHandlers | failed

  var phase: OperationPhase {
    get { OperationPhase(rawValue: rawValue & Self.phaseMask)! }
    set { rawValue = (rawValue & ~Self.phaseMask) | newValue.rawValue }
  }
  /// Whether the operation's work has not begun but may still begin.
  var isBeforeMain: Bool { rawValue & Self.phaseMask < OperationPhase.executing.rawValue }
  var isCancelled: Bool { rawValue & Self.cancelled != 0 }
  var isReserved: Bool { rawValue & Self.reserved != 0 }
  var isEnqueued: Bool { rawValue & Self.enqueued != 0 }
  var isListed: Bool { rawValue & Self.listed != 0 }
  var hasWaiters: Bool { rawValue & Self.hasWaiters != 0 }
  var isSettled: Bool { rawValue & Self.settled != 0 }
  var isNotified: Bool { rawValue & Self.notified != 0 }
  /// Whether a goal is reached.
  ///
  /// The word does not record whether the end was reported.
  func hasReached(_ goal: WaitingGoal) -> Bool { goal == .settled ? isSettled : isNotified }
  /// Whether the operation has run in a queue without any special handling: its links are in the state of a new
  /// operation.
  var hasEndedPlainly: Bool { rawValue & ~Self.wasReady == Self.endOfPlain }
  /// Whether releasing the operation can run user code other than the code of its class.
  var hasUserObjects: Bool { rawValue & (Self.userObjects | Self.failed | Self.observed) != 0 }
  /// Whether a queue or `start()` has begun with it, and it has not finished.
  var isRunning: Bool { phase == .starting || phase == .executing }
  var hasPendingCancellation: Bool { rawValue & Self.pendingCancellation != 0 }
  /// The value of ``Operation/isFinished``, which overrides can read.
  var announcesFinished: Bool { phase == .finished || rawValue & Self.started != 0 }
  /// Whether the operation was cancelled and ended without having been in a queue: immediately, or after a manual
  /// start.
  var endedInNoQueue: Bool { phase == .finished && isCancelled && !isReserved }
  var hasFailed: Bool { rawValue & Self.failed != 0 }
  var unfinishedDependencies: Int { Int(rawValue >> Self.dependencyShift) }
  /// The queue priority as a level from 0 (very low) to 4 (very high).
  var priorityLevel: Int {
    get { Int((rawValue & Self.priorityMask) >> Self.priorityShift) }
    set { rawValue = (rawValue & ~Self.priorityMask) | (UInt64(newValue) << Self.priorityShift) }
  }
  var isHeldBack: Bool { rawValue & Self.heldBack != 0 }
  var isObserved: Bool { rawValue & Self.observed != 0 }
  var hasCancellationHandlers: Bool { rawValue & Self.hasCancellationHandlers != 0 }
  var hasThreadPriority: Bool { rawValue & Self.hasThreadPriority != 0 }
  var startsSpecially: Bool { rawValue & Self.startsSpecially != 0 }
  /// Whether the operation may have dependencies, or has had dependents.
  var isEdged: Bool { rawValue & Self.edged != 0 }
  var isLinked: Bool { rawValue & (Self.linked | Self.completes) != 0 }
  /// Whether a completion block that is set is kept: the operation will run it, or might still be added to a queue.
  var keepsCompletionBlock: Bool { phase != .finished || endedInNoQueue }
  /// Whether the operation may have dependencies that must be processed when it is freed.
  var mayHaveDependencies: Bool { rawValue & (Self.edged | Self.linksReleased) == Self.edged }
  var dependenciesWereRead: Bool { rawValue & Self.dependenciesWereRead != 0 }
  /// Whether the links may have details that no other flag indicates.
  var isDetailed: Bool { rawValue & Self.detailed != 0 }
  /// Whether the thread that finishes the operation has to process only its edges, and no other thread can access them.
  var endsByEdgesAlone: Bool {
    rawValue & (Self.endsUnderLock | Self.dependenciesWereRead | Self.detailed) == 0 && unfinishedDependencies == 0
  }
  /// The number of dependency slots that have been assigned.
  var slotCount: Int {
    get { Int((rawValue >> Self.slotShift) & Self.slotMask) }
    set { rawValue = (rawValue & ~(Self.slotMask << Self.slotShift)) | (UInt64(newValue) << Self.slotShift) }
  }
  var blocksWereRead: Bool { rawValue & Self.blocksWereRead != 0 }
  var announcesExecuting: Bool { rawValue & Self.announcesExecuting != 0 }
  var ownQualityLevel: Int {
    get { Int((rawValue >> Self.ownQualityShift) & Self.qualityMask) }
    set { setField(Self.ownQualityShift, newValue) }
  }
  var raisedQualityLevel: Int {
    get { Int((rawValue >> Self.raisedQualityShift) & Self.qualityMask) }
    set { setField(Self.raisedQualityShift, newValue) }
  }
  /// The higher of the two levels.
  var qualityLevel: Int { max(ownQualityLevel, raisedQualityLevel) }

  /// Whether one of the two levels is not 0.
  var hasQuality: Bool {
    rawValue & ((Self.qualityMask << Self.ownQualityShift) | (Self.qualityMask << Self.raisedQualityShift)) != 0
  }

  private mutating func setField(_ shift: UInt64, _ level: Int) {
    rawValue = (rawValue & ~(Self.qualityMask << shift)) | (UInt64(level) << shift)
  }

  /// Whether no dependency keeps it from starting.
  ///
  /// A cancelled operation ignores its dependencies, and a finished one has released them. An operation that finished
  /// without having started might end before all of its dependencies.
  var isReady: Bool { (unfinishedDependencies == 0 && !hasPendingCancellation) || isCancelled || phase == .finished }

  /// Whether only its queue keeps it from starting.
  var isStartable: Bool { isReady && (!isHeldBack || isCancelled) }

  /// Whether the operation is startable and has been neither started nor cancelled.
  var isWaitingForItsTurn: Bool { phase == .pending && !isCancelled && isStartable }

  /// After a dependency was counted down: whether it was the last one.
  var becameReady: Bool { isReady && !isCancelled && phase == .pending }
  /// After a dependency was counted down: whether it was the last one, and the queue has to be notified.
  ///
  /// A cancelled operation was ready before, and its queue has been notified.
  var becameReadyInQueue: Bool { becameReady && isEnqueued }
}
