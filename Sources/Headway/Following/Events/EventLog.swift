import Synchronization

/// The events of a queue that its listeners have not taken yet.
///
/// A queue creates the log for its first listener. Most events are appended under the queue's lock. Threads append the
/// events of operations in batches without that lock, when they occur. As a result, the lock of the log determines the
/// order of all events, for all listeners.
///
/// Adding or removing a listener takes constant time. See `Docs/decisions/0035-following-operations.md`.
final class EventLog: Sendable {
  // Protected by its lock, which is the innermost one. Nothing is called and no user object is released under it,
  // except for the step that is passed to `appendAndWake(_:when:)`.
  fileprivate struct State {
    var buffers = KeyedList<ObjectIdentifier, EventBuffer>()
    /// How many of the listeners are waiting.
    var waitingCount = 0
  }

  fileprivate let state = Guarded(State())

  /// Whether any queue has had a listener.
  ///
  /// Relaxed: a thread that reads the old value while the first listener begins records the end of its operation a
  /// moment later, but does record it.
  static let isUsed = Atomic<Bool>(false)

  init() { Self.isUsed.store(true, ordering: .relaxed) }

  /// Adds a listener.
  func addBuffer() -> EventBuffer {
    let buffer = EventBuffer(self)
    state.withLock { $0.buffers.append(buffer, ObjectIdentifier(buffer)) }
    return buffer
  }

  /// Appends an event, and perhaps another one, under the queue's lock.
  ///
  /// The thread calls ``takeWaiters()`` before it releases that lock.
  func append(_ event: OperationQueueEvent, _ second: OperationQueueEvent? = nil) {
    state.withLock { state in
      state.append(event)
      if let second { state.append(second) }
    }
  }

  /// Returns the listeners that wait although there are events for them.
  ///
  /// The caller wakes them when it holds no lock.
  func takeWaiters() -> [Waiter] { state.withLock { $0.waitingCount > 0 ? $0.takeDueWaiters() : [] } }

  /// Appends an event and wakes the listeners that wait.
  ///
  /// Called with no lock held.
  func appendAndWake(_ event: OperationQueueEvent) { _ = appendAndWake(event) { true } }

  /// If a step succeeds, appends an event and wakes the listeners that wait.
  ///
  /// Called with no lock held.
  ///
  /// - Parameters:
  ///   - event: The event to append.
  ///   - step: A few instructions that cause the event. They run under the lock of the log.
  /// - Returns: Whether the step succeeded.
  @inline(__always)
  func appendAndWake(_ event: OperationQueueEvent, when step: () -> Bool) -> Bool {
    let (hasSucceeded, waiters) = state.withLock { state -> (Bool, [Waiter]) in
      guard step() else { return (false, []) }
      state.append(event)
      return (true, state.waitingCount > 0 ? state.takeDueWaiters() : [])
    }
    if !waiters.isEmpty { waiters.forEach { $0.wake() } }
    return hasSucceeded
  }

  /// Ends the sequence of events for all listeners.
  ///
  /// The listeners can still take the events that were recorded before. Called with no lock held.
  func end() {
    let waiters = state.withLock { state in
      state.buffers.forEach { $0.hasEnded = true }
      return state.takeDueWaiters()
    }
    waiters.forEach { $0.wake() }
  }
}

extension EventLog.State {
  fileprivate mutating func append(_ event: OperationQueueEvent) {
    buffers.forEach { if !$0.hasEnded { $0.events.append(event) } }
  }

  /// Returns the waiting listeners that have something to take.
  fileprivate mutating func takeDueWaiters() -> [Waiter] {
    var waiters: [Waiter] = []
    buffers.forEach { if $0.isDue, let waiter = $0.waiter.take() { waiters.append(.patientTask(waiter)) } }
    waitingCount -= waiters.count
    return waiters
  }
}

/// The events that one listener has not taken yet.
final class EventBuffer: @unchecked Sendable {  // The lock of the log protects it.
  private let log: EventLog
  // The elements are optional, because the listener moves the events out of the array one after another.
  @exclusivity(unchecked) fileprivate var events: [OperationQueueEvent?] = []
  @exclusivity(unchecked) fileprivate var waiter: UnsafeContinuation<Void, Never>?
  /// No further events are appended.
  @exclusivity(unchecked) fileprivate var hasEnded = false

  fileprivate init(_ log: EventLog) { self.log = log }

  fileprivate var isDue: Bool { !events.isEmpty || hasEnded }

  /// Whether the listener is waiting.
  var isAwaited: Bool { log.state.withLock { _ in waiter != nil } }

  /// Removes the buffer from the log.
  ///
  /// The caller must hold a reference to it.
  ///
  /// - Returns: Whether the log no longer has listeners.
  func removeFromLog() -> Bool {
    log.state.withLock { state in
      _ = state.buffers.remove(ObjectIdentifier(self))
      return state.buffers.isEmpty
    }
  }

  /// Waits for events, if there are none, and takes all of them.
  ///
  /// - Parameter actor: The isolation of the caller.
  /// - Returns: The events; empty when the sequence has ended or the task is cancelled.
  func take(isolation actor: isolated (any Actor)?) async -> [OperationQueueEvent?] {
    await withTaskCancellationHandler(
      operation: {
        await withUnsafeContinuation(isolation: actor) { continuation in
          let isDue = log.state.withLock { state -> Bool in
            require(self.waiter == nil, "next() of a queue's events was called by two tasks concurrently.")
            if !self.isDue {
              self.waiter = continuation
              state.waitingCount += 1
            }
            return self.isDue
          }
          if isDue { continuation.resume() }
        }
        return log.state.withLock { _ in
          var events: [OperationQueueEvent?] = []
          swap(&events, &self.events)
          return events
        }
      },
      onCancel: { end() },
      isolation: actor)
  }

  /// Ends the sequence of events for this listener.
  private func end() {
    let waiter = log.state.withLock { state -> UnsafeContinuation<Void, Never>? in
      hasEnded = true
      let waiter = self.waiter.take()
      if waiter != nil { state.waitingCount -= 1 }
      return waiter
    }
    waiter?.resume()
  }
}

extension QueueFollowers {
  /// Records that the queue has accepted an operation, which may be ready, for the listeners.
  func append(additionOf operation: Operation) {
    let ready: OperationQueueEvent? = operation.admission.place == .ready ? .ready(operation) : nil
    eventLog?.append(.added(operation), ready)
    observers?.append(ObservedChange(.event, OperationQueueEvent.added(operation)))
    if let ready { observers?.append(ObservedChange(.event, ready)) }
  }
}
