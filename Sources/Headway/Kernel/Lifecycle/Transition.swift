/// A step of an operation that its followers are notified of.
///
/// See `Docs/decisions/0047-followers-and-transitions.md`.
enum Transition {
  /// A queue is about to add the operation.
  case added
  /// A queue rejects the operation, because the operation was cancelled. It has ended, or is about to end.
  case refused
  /// The operation starts on the calling thread, in a batch or separately.
  case started(isBatched: Bool)
  /// An attempt has failed, and the operation pauses.
  case paused(FailedAttempt)
  /// The next attempt starts.
  case resumed
  /// The thread is about to finish the operation, unless another thread is faster.
  ///
  /// This can be noted more than once.
  case ending
  /// The operation has ended and is about to leave its queue.
  case finished
  /// The operation has ended, or is about to, and no queue has accepted it.
  case finishedUnlisted
  /// The operation was cancelled before it started, has ended, and has no name, error, or observers.
  ///
  /// The queue's lock is held.
  case cancelledPlainly

  /// An attempt that has failed.
  struct FailedAttempt {
    let number: Int
    let error: any Error
    /// The time until the next attempt.
    let delay: Duration
    /// When the attempt failed.
    let time: ClockTime
  }

  /// The followers that may have something to do.
  @inline(__always) fileprivate var followers: Followers {
    switch self {
    case .added: .ofAdditions.union(.gate)
    case .started: [.log, .progress, .trace, .gate]
    case .paused: [.events, .instruments, .trace, .gate]
    case .finished: [.instruments, .progress, .trace, .gate]
    case .finishedUnlisted: .instruments
    case .refused, .resumed, .ending, .cancelledPlainly: .trace
    }
  }
}

/// A feature that follows operations.
///
/// Add a follower to the end of this file, and to the followers of the transitions that it needs.
protocol OperationFollower: SendableMetatype {
  /// Notes a transition, on the thread that causes it, with no lock held except for
  /// ``Transition/cancelledPlainly``.
  ///
  /// Only instruments, and gates that read the clock of their queue, call user code here. A queue runs their operations
  /// separately.
  ///
  /// A follower also receives, and ignores, transitions that only other followers need.
  ///
  /// - Parameters:
  ///   - transition: The transition to note.
  ///   - operation: The operation that changes.
  ///   - queue: The queue that holds the operation, or is about to; nil if there is none, or if no follower needs it.
  ///   - effects: Receives the steps that can run user code, if the transition is ``Transition/finished``.
  static func note(
    _ transition: Transition, of operation: Operation, in queue: OperationQueue?, _ effects: inout Effects)
}

extension Operation {
  /// Notifies the followers of a transition.
  @inline(__always)
  final func note(_ transition: Transition, in queue: OperationQueue?) {
    let followers = allFollowers(in: queue)
    guard !followers.isDisjoint(with: transition.followers) else { return }
    var effects = Effects()
    note(transition, to: followers, in: queue, &effects)
    assert(effects.isEmpty, "only an end has effects")
  }

  /// Notifies the followers that the operation has ended.
  @inline(__always)
  final func noteFinished(in home: Unmanaged<OperationQueue>?, _ effects: inout Effects) {
    let followers = home?._withUnsafeGuaranteedRef { allFollowers(in: $0) } ?? allFollowers(in: nil)
    guard !followers.isDisjoint(with: Transition.finished.followers) else { return }
    note(.finished, to: followers, in: home?.takeUnretainedValue(), &effects)
  }

  /// The followers of the operation in a queue, or without one.
  @inline(__always)
  private final func allFollowers(in queue: OperationQueue?) -> Followers {
    let followers: Followers = queue?.following ?? (Trace.isRecording ? .trace : [])
    // The end of an operation that has only a key matters if the limits of its key depend on time.
    return gateKind == .other || gateKind == .key && followers.contains(.time) ? followers.union(.gate) : followers
  }

  @inline(never)
  private final func note(
    _ transition: Transition, to followers: Followers, in queue: OperationQueue?, _ effects: inout Effects
  ) {
    // The followers, in the order in which they are notified. A table of them would take longer than most followers do.
    if followers.contains(.trace) { Trace.note(transition, of: self, in: queue, &effects) }
    if followers.contains(.progress) { OperationProgress.note(transition, of: self, in: queue, &effects) }
    if followers.contains(.gate) { OperationGate.note(transition, of: self, in: queue, &effects) }
    if followers.contains(.events) { EventLog.note(transition, of: self, in: queue, &effects) }
    if followers.contains(.instruments) { InstrumentList.note(transition, of: self, in: queue, &effects) }
  }
}
