import Dispatch
public import Headway
import Synchronization

/// Records events in order, from any thread.
///
/// ```swift
/// import Testing
///
/// let recorder = EventRecorder(observing: queue)
/// queue.addOperation(first)
/// try await queue.untilAllOperationsAreFinished()
/// #expect(recorder.events == [.added(first), .ready(first), .started(first), .finished(first)])
/// ```
public final class EventRecorder<Event: Sendable>: Sendable {
  private struct State {
    var events: [Event] = []
    var token: KeyValueObservation?
    var waiters: [(count: Int, semaphore: DispatchSemaphore)] = []
  }

  private let state = Mutex(State())

  /// Creates an empty recorder.
  ///
  /// Add events to it with ``record(_:)``.
  public init() {}

  /// Adds an event, from any thread.
  ///
  /// - Parameter event: The event to add.
  public func record(_ event: Event) {
    let waiters = state.withLock { state in
      state.events.append(event)
      let count = state.events.count
      defer { state.waiters.removeAll { $0.count <= count } }
      return state.waiters.filter { $0.count <= count }
    }
    for waiter in waiters { waiter.semaphore.signal() }
  }

  /// Suspends the task until all events of the observed object so far have been recorded.
  ///
  /// Call this method after waiting for an operation, or after a blocking wait for a queue, because the recorder is
  /// notified after the operation has left its queue.
  public func untilDelivered() async { await state.withLock { $0.token }?.untilDelivered() }

  /// Blocks the calling thread until all events of the observed object so far have been recorded.
  @available(*, noasync, message: "This blocks the thread: await untilDelivered() instead.")
  public func waitUntilDelivered() { state.withLock { $0.token }?.waitUntilDelivered() }

  /// Blocks the calling thread until the recorder has a number of events.
  ///
  /// - Parameter count: The number of events to wait for.
  @available(*, noasync, message: "This blocks the thread.")
  public func waitForEvents(count: Int) {
    let semaphore = DispatchSemaphore(value: 0)
    let waits = state.withLock { state in
      guard state.events.count < count else { return false }
      state.waiters.append((count, semaphore))
      return true
    }
    if waits { semaphore.wait() }
  }

  /// The recorded events, in order.
  public var events: [Event] { state.withLock { $0.events } }

  /// The number of recorded events.
  public var count: Int { state.withLock { $0.events.count } }

  /// Removes all recorded events.
  public func removeAll() { state.withLock { $0.events = [] } }

  /// Keeps an observation alive as long as the recorder exists.
  fileprivate func keep(_ token: KeyValueObservation) { state.withLock { $0.token = token } }
}

extension EventRecorder where Event == OperationQueueEvent {
  /// Creates a recorder of a queue's events, starting now.
  ///
  /// The threads that cause events record them before they continue. `try await queue.untilAllOperationsAreFinished()`
  /// includes this. After other waits, use ``untilDelivered()`` or ``waitForEvents(count:)``.
  ///
  /// - Parameter queue: The queue to observe.
  public convenience init(observing queue: OperationQueue) {
    self.init()
    keep(queue.listen { [weak self] event in self?.record(event) })
  }
}

extension EventRecorder {
  /// Creates a recorder of the values of an operation's property, starting with the current value.
  ///
  /// - Parameters:
  ///   - operation: The operation to observe.
  ///   - keyPath: The property to record.
  public convenience init(observing operation: Operation, at keyPath: KeyPath<Operation, Event>) {
    self.init()
    keep(
      operation.observe(keyPath, options: [.initial, .new]) { [weak self] _, change in
        if let value = change.newValue { self?.record(value) }
      })
  }

  /// Creates a recorder of the values of a property that a subclass of operation has added, starting with the current
  /// value.
  ///
  /// - Parameters:
  ///   - operation: The operation to observe.
  ///   - keyPath: The property to record.
  @_disfavoredOverload
  public convenience init<Observed: Operation>(observing operation: Observed, at keyPath: KeyPath<Observed, Event>) {
    self.init()
    keep(
      operation.observe(keyPath, options: [.initial, .new]) { [weak self] _, change in
        if let value = change.newValue { self?.record(value) }
      })
  }

  /// Creates a recorder of the values of a queue's property, starting with the current value.
  ///
  /// - Parameters:
  ///   - queue: The queue to observe.
  ///   - keyPath: The property to record.
  public convenience init<Observed: OperationQueue>(observing queue: Observed, at keyPath: KeyPath<Observed, Event>) {
    self.init()
    keep(
      queue.observe(keyPath, options: [.initial, .new]) { [weak self] _, change in
        if let value = change.newValue { self?.record(value) }
      })
  }
}
