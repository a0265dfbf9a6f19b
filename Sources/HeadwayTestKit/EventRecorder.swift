import Dispatch
public import Headway
import Synchronization

/// Collects what happened, in order, from any thread.
///
/// ```swift
/// import Testing
///
/// let recorder = EventRecorder(of: queue)
/// queue.addOperation(first)
/// try await queue.finished()
/// #expect(recorder.events == [.added(first), .ready(first), .started(first), .finished(first)])
/// ```
public final class EventRecorder<Event: Sendable>: Sendable {
  private struct State {
    var events: [Event] = []
    var token: ObservationToken?
    var waiters: [(count: Int, semaphore: DispatchSemaphore)] = []
  }

  private let state = Mutex(State())

  /// Creates an empty recorder, to which the test adds with ``record(_:)``.
  public init() {}

  /// Adds an event, from any thread.
  ///
  /// - Parameter event: What happened.
  public func record(_ event: Event) {
    let waiters = state.withLock { state in
      state.events.append(event)
      let count = state.events.count
      defer { state.waiters.removeAll { $0.count <= count } }
      return state.waiters.filter { $0.count <= count }
    }
    for waiter in waiters { waiter.semaphore.signal() }
  }

  /// Suspends the task until everything is recorded that has happened in what is observed.
  ///
  /// Call it after a wait for an operation, or a blocking wait for a queue: the recorder is notified after the
  /// operation has left its queue.
  public func delivered() async { await state.withLock { $0.token }?.delivered() }

  /// Blocks the calling thread until everything is recorded that has happened in what is observed.
  @available(*, noasync, message: "This blocks the thread: await delivered() instead.")
  public func waitUntilDelivered() { state.withLock { $0.token }?.waitUntilDelivered() }

  /// Blocks the calling thread until so much was recorded.
  ///
  /// - Parameter count: How many events.
  @available(*, noasync, message: "This blocks the thread.")
  public func wait(forCount count: Int) {
    let semaphore = DispatchSemaphore(value: 0)
    let waits = state.withLock { state in
      guard state.events.count < count else { return false }
      state.waiters.append((count, semaphore))
      return true
    }
    if waits { semaphore.wait() }
  }

  /// What was recorded, in order.
  public var events: [Event] { state.withLock { $0.events } }

  /// How much was recorded.
  public var count: Int { state.withLock { $0.events.count } }

  /// Forgets what was recorded.
  public func removeAll() { state.withLock { $0.events = [] } }

  /// Keeps an observation alive for as long as the recorder lives.
  fileprivate func keep(_ token: ObservationToken) { state.withLock { $0.token = token } }
}

extension EventRecorder where Event == OperationQueueEvent {
  /// Creates a recorder of what happens in a queue from now on.
  ///
  /// Events are recorded by the threads that cause them, before those go on. `try await queue.finished()` includes
  /// that; after other waits, use ``delivered()`` or ``wait(forCount:)``.
  ///
  /// - Parameter queue: The queue to listen to.
  public convenience init(of queue: OperationQueue) {
    self.init()
    keep(queue.listen { [weak self] event in self?.record(event) })
  }
}

extension EventRecorder {
  /// Creates a recorder of the values of a property of an operation, beginning with the one it has now.
  ///
  /// - Parameters:
  ///   - operation: The operation to observe.
  ///   - keyPath: The property.
  public convenience init(of operation: Operation, _ keyPath: KeyPath<Operation, Event>) {
    self.init()
    keep(
      operation.observe(keyPath, options: [.initial, .new]) { [weak self] _, change in
        if let value = change.newValue { self?.record(value) }
      })
  }

  /// Creates a recorder of the values of a property that a subclass of operation has added, beginning with the one it
  /// has now.
  ///
  /// - Parameters:
  ///   - operation: The operation to observe.
  ///   - keyPath: The property.
  @_disfavoredOverload
  public convenience init<Observed: Operation>(of operation: Observed, _ keyPath: KeyPath<Observed, Event>) {
    self.init()
    keep(
      operation.observe(keyPath, options: [.initial, .new]) { [weak self] _, change in
        if let value = change.newValue { self?.record(value) }
      })
  }

  /// Creates a recorder of the values of a property of a queue, beginning with the one it has now.
  ///
  /// - Parameters:
  ///   - queue: The queue to observe.
  ///   - keyPath: The property.
  public convenience init<Observed: OperationQueue>(of queue: Observed, _ keyPath: KeyPath<Observed, Event>) {
    self.init()
    keep(
      queue.observe(keyPath, options: [.initial, .new]) { [weak self] _, change in
        if let value = change.newValue { self?.record(value) }
      })
  }
}
