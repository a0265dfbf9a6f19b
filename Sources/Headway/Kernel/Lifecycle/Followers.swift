import Synchronization

/// The features that follow the operations of a queue, or need each operation's events.
///
/// A queue has one word for all of them. A thread that adds, starts, or finishes an operation reads the word to find
/// out whether a feature follows the operation. A follower stores its data before it sets its bit.
///
/// Under the queue's lock, read ``QueueFollowers/mask``, which lacks the progress and the jobs. Without the lock, read
/// ``OperationQueue/following``.
struct Followers: OptionSet, Sendable {
  let rawValue: UInt32

  /// Observers of properties or events of the queue.
  static let observers = Followers(rawValue: 1 << 0)
  /// Listeners to events, in the log of events or among the observers.
  static let events = Followers(rawValue: 1 << 1)
  static let instruments = Followers(rawValue: 1 << 2)
  /// The queue's progress, once it exists.
  static let progress = Followers(rawValue: 1 << 3)
  /// A trace that is being recorded.
  static let trace = Followers(rawValue: 1 << 4)
  /// A rate limit, a circuit breaker or a total timeout, which need the time of each start.
  static let time = Followers(rawValue: 1 << 5)
  /// The jobs of tasks, which can be escalated.
  static let jobs = Followers(rawValue: 1 << 6)
  /// The log of events, while it has listeners.
  static let log = Followers(rawValue: 1 << 7)
  /// The gate of an operation, which is not in the word of the queue.
  static let gate = Followers(rawValue: 1 << 8)

  /// The followers that need a block to have an operation as soon as the block is added.
  static let ofAdditions: Followers = [.log, .instruments, .trace]
  /// The followers that need the end of each operation, and so of each block: see ``OperationQueue/needsEachEnd``.
  static let ofEachEnd: Followers = .progress
  /// The followers that need each operation to be started and ended separately.
  static let ofSingleOperations: Followers = [.observers, .instruments]
}

extension OperationQueue {
  /// The followers of all operations in the queue.
  @inline(__always) final var following: Followers { Followers(rawValue: followers.load(ordering: .acquiring)) }

  /// The same, in a total order with the steps of ``setFollowing(_:_:)``.
  final var followingInOrder: Followers {
    Followers(rawValue: followers.load(ordering: .sequentiallyConsistent))
  }

  /// Whether a follower needs each end: then no operation ends in a short way, and no block leaves the queue without an
  /// operation.
  ///
  /// A progress whose total has not been set does not need ends.
  @inline(__always) final var needsEachEnd: Bool {
    let needing = following.intersection(.ofEachEnd)
    return !needing.isEmpty && (needing != .progress || trackedProgress != nil)
  }

  /// Notes that a follower begins or stops following the operations, for readers without the lock.
  ///
  /// Sequentially consistent: a follower sets its bit and then reads the state of operations. A thread finishes an
  /// operation and then reads this word (`Models/events.pml`).
  final func setFollowing(_ follower: Followers, _ isFollowing: Bool) {
    if isFollowing {
      followers.bitwiseOr(follower.rawValue, ordering: .sequentiallyConsistent)
    } else {
      followers.bitwiseAnd(~follower.rawValue, ordering: .sequentiallyConsistent)
    }
  }
}

// Notes about the queue itself.
extension OperationQueue {
  /// Notes that the queue was created and is in ``LiveQueues``.
  ///
  /// A trace that begins or ends at this moment finds the queue there, or this function finds the trace.
  final func noteCreation() { if Trace.isRecording { Trace.updateFollowers(of: self) } }

  /// Notes that the queue is being freed.
  final func noteDeletion() { Trace.noteEnd(of: self) }

  /// Notes that the queue was suspended, or is about to be resumed.
  final func noteSuspension(_ isSuspended: Bool) { Trace.noteSuspension(of: self, isSuspended) }

  /// Notes that the queue is about to request workers.
  final func noteRequest() { if following.contains(.jobs) { beginLookingForEscalations() } }
}

// Notes about operations, except their transitions.
extension Operation {
  /// Notes that the operation has a new dependency.
  @inline(__always) final func noteLink(to operation: Operation) { traceLink(to: operation) }

  /// Notes that the operation is being freed.
  final func noteDeletion() { removeObservers() }

  /// Notifies the observers of changes that have happened, if the operation has observers.
  ///
  /// Called with no lock held.
  final func notifyIfObserved(_ changes: @autoclosure () -> [ObservedChange]) {
    if state.current.isObserved { notify(changes()) }
  }

  /// The dependencies, if an observer of `dependencies` is registered.
  ///
  /// The change carries a copy, because the dependencies can change again before the observer is notified.
  final func dependenciesIfObserved(_ links: inout Links) -> [Operation]? {
    links.observers?.observesDependencies == true ? listedDependencies(&links) : nil
  }
}
