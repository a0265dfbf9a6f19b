import Synchronization

/// What happened in a queue and one listener has not taken yet.
///
/// Events come in under the queue's lock, in the order in which they happen. The listener takes all there are at once,
/// and is woken only where it waits, after that lock.
final class EventBuffer: Sendable {
  private struct State {
    var events: [OperationQueueEvent] = []
    var waiter: UnsafeContinuation<Void, Never>?
    /// No more events come in.
    var hasEnded = false

    var isDue: Bool { !events.isEmpty || hasEnded }
  }

  // Protected by its lock, under which nothing is called and no other lock is taken.
  private let state = Guarded(State())
  /// The listener waits: one load where it does not.
  private let isAwaited = Atomic<Bool>(false)

  // MARK: For the queue

  /// Appends an event; ``wake()`` is to follow.
  ///
  /// Under the queue's lock.
  func append(_ event: OperationQueueEvent) {
    state.withLock { state in
      if !state.hasEnded { state.events.append(event) }
    }
  }

  /// Wakes the listener, if it waits and there is something.
  ///
  /// Called with no lock held.
  func wake() {
    // Who waits has said so under the lock, before an event came in that it has not seen.
    guard isAwaited.load(ordering: .acquiring) else { return }
    let waiter = state.withLock { state -> UnsafeContinuation<Void, Never>? in
      guard state.isDue else { return nil }
      isAwaited.store(false, ordering: .relaxed)
      return state.waiter.take()
    }
    waiter?.resume()
  }

  /// No more events come in; those that are there may be taken.
  ///
  /// Called with no lock held.
  func end() {
    state.withLock { $0.hasEnded = true }
    wake()
  }

  // MARK: For the listener

  /// Waits for events, if there are none, and takes all.
  ///
  /// - Parameter actor: The isolation of the caller.
  /// - Returns: The events, the last one first; none when no more come, or when the task is cancelled.
  func take(isolation actor: isolated (any Actor)?) async -> [OperationQueueEvent] {
    var events = await withTaskCancellationHandler(
      operation: {
        await withUnsafeContinuation(isolation: actor) { continuation in
          let isDue = state.withLock { state in
            require(state.waiter == nil, "next() of a queue's events was called by two tasks at once.")
            if !state.isDue {
              state.waiter = continuation
              isAwaited.store(true, ordering: .relaxed)
            }
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

/// The buffers of all listeners to the events of a queue; made anew when one comes or goes.
final class EventBuffers: Sendable {
  private let buffers: [EventBuffer]

  private init(_ buffers: [EventBuffer]) { self.buffers = buffers }

  /// Those of `buffers`, and one more.
  static func adding(_ buffer: EventBuffer, to buffers: EventBuffers?) -> EventBuffers {
    EventBuffers((buffers?.buffers ?? []) + [buffer])
  }

  /// These without one of them; nil if there is no other.
  func removing(_ buffer: EventBuffer) -> EventBuffers? {
    let others = buffers.filter { $0 !== buffer }
    return others.isEmpty ? nil : EventBuffers(others)
  }

  func append(_ event: OperationQueueEvent) { for buffer in buffers { buffer.append(event) } }

  func wake() { for buffer in buffers { buffer.wake() } }

  func end() { for buffer in buffers { buffer.end() } }
}
