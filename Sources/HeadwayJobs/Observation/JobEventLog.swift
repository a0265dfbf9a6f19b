import Headway
import Synchronization

/// Delivers events to the iterations in progress.
final class JobEventLog: Sendable {
  fileprivate struct State {
    var listeners: [Pending] = []
    var hasEnded = false
  }

  /// The events that an iteration has not received yet.
  fileprivate struct Pending {
    let listener: ObjectIdentifier
    let limit: Int
    var events: [JobEvent] = []
    var droppedCount = 0
    var hasEnded = false
    var waiter: CheckedContinuation<Void, Never>?

    var isDue: Bool { !events.isEmpty || droppedCount > 0 || hasEnded }

    mutating func append(_ event: JobEvent) {
      // Once an event is dropped, further events are dropped until the iteration has received the earlier events, so
      // there is only one gap.
      guard droppedCount == 0, events.count < limit else { return droppedCount += 1 }
      events.append(event)
    }

    /// Returns the task to wake, if it waits and there is something to deliver.
    mutating func takeWaiter() -> CheckedContinuation<Void, Never>? { isDue ? waiter.take() : nil }
  }

  fileprivate let state = Mutex(State())
  private let listenerCount = Atomic(0)

  /// Whether an iteration is in progress.
  var isObserved: Bool { listenerCount.load(ordering: .relaxed) > 0 }

  /// Records an event for all iterations; call it without holding a lock.
  ///
  /// The event is created only if there is an iteration.
  func post(_ event: @autoclosure () -> JobEvent) {
    guard isObserved else { return }
    record(event())
  }

  private func record(_ event: JobEvent) {
    wake { listener in if !listener.hasEnded { listener.append(event) } }
  }

  /// Ends all iterations after they have received the recorded events.
  func end() {
    state.withLock { $0.hasEnded = true }
    wake { $0.hasEnded = true }
  }

  /// Changes all listeners and wakes those that wait.
  private func wake(_ change: (inout Pending) -> Void) {
    let waiters = state.withLock { state in
      var waiters: [CheckedContinuation<Void, Never>] = []
      for index in state.listeners.indices {
        change(&state.listeners[index])
        if let waiter = state.listeners[index].takeWaiter() { waiters.append(waiter) }
      }
      return waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  fileprivate func add(_ listener: JobEventListener, limit: Int) {
    state.withLock { state in
      let listener = ObjectIdentifier(listener)
      state.listeners.append(Pending(listener: listener, limit: limit, hasEnded: state.hasEnded))
    }
    listenerCount.add(1, ordering: .relaxed)
  }

  fileprivate func remove(_ listener: ObjectIdentifier) {
    listenerCount.subtract(1, ordering: .relaxed)
    // The events are released after the lock is released.
    let pending = state.withLock { state in
      state.listeners.firstIndex { $0.listener == listener }.map { state.listeners.remove(at: $0) }
    }
    withExtendedLifetime(pending) {}
  }
}

/// An iteration of the events of a log, until this object is released.
final class JobEventListener: Sendable {
  private let log: JobEventLog

  init(_ log: JobEventLog, limit: Int) {
    self.log = log
    log.add(self, limit: limit)
  }

  deinit { log.remove(ObjectIdentifier(self)) }

  private func withPending<Result>(_ body: (inout JobEventLog.Pending) -> sending Result) -> sending Result {
    log.state.withLock { state in
      guard let index = state.listeners.firstIndex(where: { $0.listener == ObjectIdentifier(self) }) else {
        misuse("An iteration of events of jobs is not in its log.")
      }
      return body(&state.listeners[index])
    }
  }

  /// Returns all events and does not wait.
  func takeRecorded() -> [JobEvent] {
    withPending { pending in
      var events = pending.events
      if pending.droppedCount > 0 { events.append(.dropped(count: pending.droppedCount)) }
      (pending.events, pending.droppedCount) = ([], 0)
      return events
    }
  }

  /// Returns all events and waits if there are none.
  ///
  /// - Parameter actor: The isolation of the caller.
  /// - Returns: The events; empty when the sequence has ended or the task is cancelled.
  func take(isolation actor: isolated (any Actor)?) async -> [JobEvent] {
    await withTaskCancellationHandler(
      operation: {
        await withCheckedContinuation(isolation: actor) { continuation in
          let isDue = withPending { pending in
            require(
              pending.waiter == nil,
              "next() of the events of jobs was called by two tasks concurrently. Create an iterator for each task.")
            if !pending.isDue { pending.waiter = continuation }
            return pending.isDue
          }
          if isDue { continuation.resume() }
        }
        return takeRecorded()
      },
      onCancel: {
        let waiter = withPending { pending in
          pending.hasEnded = true
          return pending.waiter.take()
        }
        waiter?.resume()
      },
      isolation: actor)
  }
}
