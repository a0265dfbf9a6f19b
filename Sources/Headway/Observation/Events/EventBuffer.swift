import Synchronization

/// The events of a queue that one listener has not taken yet.
///
/// Events are appended under the queue's lock, in the order of their occurrence. The listener takes all of them. If it
/// is waiting, the thread that appended an event wakes it after releasing the queue's lock.
final class EventBuffer: Sendable {
  private struct State {
    var events: [OperationQueueEvent] = []
    var waiter: UnsafeContinuation<Void, Never>?
    /// No further events are appended.
    var hasEnded = false

    var isDue: Bool { !events.isEmpty || hasEnded }
  }

  // Protected by its lock. Nothing is called and no other lock is acquired under it.
  private let state = Guarded(State())

  // MARK: For the queue

  /// Appends an event, under the queue's lock.
  ///
  /// - Returns: The listener, if it is waiting. The caller wakes it when no lock is held.
  func append(_ event: OperationQueueEvent) -> Waiter? {
    state.withLock { state in
      guard !state.hasEnded else { return nil }
      state.events.append(event)
      return state.waiter.take().map { .patientTask($0) }
    }
  }

  /// Ends the sequence of events.
  ///
  /// The listener can still take those that are in the buffer.
  ///
  /// Called with no lock held.
  func end() {
    let waiter = state.withLock { state in
      state.hasEnded = true
      return state.waiter.take()
    }
    waiter?.resume()
  }

  // MARK: For the listener

  /// Whether the listener is waiting.
  var isAwaited: Bool { state.withLock { $0.waiter != nil } }

  /// Waits for events, if there are none, and takes all of them.
  ///
  /// - Parameter actor: The isolation of the caller.
  /// - Returns: The events, the last one first; empty when the sequence has ended or the task is cancelled.
  func take(isolation actor: isolated (any Actor)?) async -> [OperationQueueEvent] {
    var events = await withTaskCancellationHandler(
      operation: {
        await withUnsafeContinuation(isolation: actor) { continuation in
          let isDue = state.withLock { state in
            require(state.waiter == nil, "next() of a queue's events was called by two tasks concurrently.")
            if !state.isDue { state.waiter = continuation }
            return state.isDue
          }
          if isDue { continuation.resume() }
        }
        return state.withLock { state in
          var events: [OperationQueueEvent] = []
          swap(&events, &state.events)
          return events
        }
      },
      onCancel: { end() },
      isolation: actor)
    events.reverse()
    return events
  }
}

/// The buffers of all listeners to the events of a queue.
///
/// A queue has this object only while it has listeners.
///
/// Adding or removing a listener takes constant time.
final class EventBuffers: @unchecked Sendable {  // The queue's lock protects it.
  @exclusivity(unchecked) private var buffers = KeyedList<ObjectIdentifier, EventBuffer>()
  /// The listeners to wake when no lock is held.
  @exclusivity(unchecked) private var awakened: [Waiter] = []

  var isEmpty: Bool { buffers.isEmpty }

  func add(_ buffer: EventBuffer) { buffers.append(buffer, ObjectIdentifier(buffer)) }

  /// Removes a buffer.
  ///
  /// The caller must hold a reference to it.
  func remove(_ buffer: EventBuffer) { _ = buffers.remove(ObjectIdentifier(buffer)) }

  /// Appends an event to each buffer.
  ///
  /// The caller takes the awakened listeners and wakes them.
  func append(_ event: OperationQueueEvent) {
    buffers.forEach { if let waiter = $0.append(event) { awakened.append(waiter) } }
  }

  /// Returns the listeners that were waiting when an event was appended, and clears the list.
  func takeAwakened() -> [Waiter] {
    guard !awakened.isEmpty else { return [] }
    defer { awakened = [] }
    return awakened
  }

  /// Ends the sequence of events for all listeners.
  ///
  /// Called with no lock held.
  func end() { buffers.forEach { $0.end() } }
}
