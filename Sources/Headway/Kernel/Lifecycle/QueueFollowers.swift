/// The data that followers store with a queue, protected by the queue's lock.
struct QueueFollowers {
  /// Nil while the queue has no observers: one branch for each change.
  var observers: ObserverList?
  /// The log of events; nil until the queue has had a listener.
  var eventLog: EventLog?
  /// Nil while the queue has no instruments.
  var instruments: InstrumentList?
  var observation = OperationQueue.Observation()
  /// The current followers, except the progress and the jobs.
  ///
  /// Only ``QueueState/setFollowing(_:_:of:)`` changes them.
  fileprivate(set) var mask = Followers()

  @inline(__always) func contains(_ follower: Followers) -> Bool { mask.contains(follower) }

  /// Removes and returns the references to user objects, because the queue is being freed.
  mutating func takeUserObjects() -> some Any { (observers.take(), eventLog.take(), instruments.take()) }

  /// Records an event for the listeners.
  ///
  /// - Parameters:
  ///   - event: The event to record.
  ///   - isLogged: Whether the event is in the log, so that only the observers must be notified of it.
  func append(_ event: OperationQueueEvent, isLogged: Bool = false) {
    if !isLogged { eventLog?.append(event) }
    observers?.append(ObservedChange(.event, event))
  }

  /// Records how the number of operations has changed, for the observers.
  func append(countOf admission: borrowing Admission, since count: Int) {
    guard admission.count != count else { return }
    assert(admission.waitingBlocks.isEmpty, "the operations of an observed queue are created when they are added")
    observers?.append(ObservedChange(.operationCount, admission.count))
    if observation.observersOfOperations > 0 {
      observers?.append(ObservedChange(.operations, admission.madeOperations))
    }
  }
}

extension QueueState {
  /// Notes that a follower begins or stops following the operations, for all readers.
  mutating func setFollowing(_ follower: Followers, _ isFollowing: Bool, of queue: OperationQueue) {
    guard followers.contains(follower) != isFollowing else { return }
    if isFollowing { followers.mask.insert(follower) } else { followers.mask.remove(follower) }
    queue.setFollowing(follower, isFollowing)
  }

  /// Whether the queue has observers, which must be notified of each change when it occurs.
  var isObserved: Bool { followers.contains(.observers) }

  /// Records an event, if the queue has listeners.
  ///
  /// - Parameters:
  ///   - isLogged: Whether the event is in the log, so that only the observers must be notified of it.
  ///   - event: Returns the event.
  mutating func record(isLogged: Bool = false, _ event: () -> OperationQueueEvent) {
    if followers.contains(.events) { followers.append(event(), isLogged: isLogged) }
  }

  /// Records a change, if the queue has observers.
  mutating func note(_ key: ObservedKey, _ value: (any Sendable)?) {
    followers.observers?.append(ObservedChange(key, value))
  }

  /// Records how the number of operations has changed.
  mutating func noteCount(since count: Int) { followers.append(countOf: admission, since: count) }
}

/// The information that the followers of a queue need after an update of its state.
struct FollowedUpdate: ~Copyable {
  private var observers: ObserverList?
  /// Whether the queue must be checked for a stall.
  private var looksForStall = false

  /// Prepares for the update, under the lock.
  mutating func begin(_ state: borrowing QueueState) {
    if state.followers.observers != nil { observers = state.followers.observers }
  }

  /// Completes the update, under the lock.
  ///
  /// - Parameters:
  ///   - state: The state of the queue.
  ///   - count: How many operations the queue held before the change.
  /// - Returns: The listeners to wake after the lock.
  @inline(__always)  // A queue without followers makes no call.
  mutating func end(_ state: inout QueueState, since count: Int) -> [Waiter] {
    if observers != nil { state.noteCount(since: count) }
    guard state.followers.contains(.events), let eventLog = state.followers.eventLog else { return [] }
    looksForStall = state.beginToLookForStall()
    return eventLog.takeWaiters()
  }

  /// Performs the remaining work, after the lock.
  @inline(__always)
  func finish(in queue: OperationQueue, _ effects: inout Effects) {
    if looksForStall { queue.lookForStall() }
    if observers != nil, let observers { effects.notify(observers, of: queue) }
  }
}
