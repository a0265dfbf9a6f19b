import Synchronization

extension OperationQueueProtocol {
  /// The events of the queue from now on.
  ///
  /// ```swift
  /// for await event in queue.events {
  ///   if case .stalled(let cycle) = event { print("stalled by", cycle) }
  /// }
  /// ```
  ///
  /// Each iteration delivers every event that occurs after the iteration began, in order. It ends when its task is
  /// cancelled or the queue is freed. Events are kept until they are taken, so an iterator that is not advanced uses
  /// more and more memory.
  @_disfavoredOverload
  public var events: OperationQueueEvents { OperationQueueEvents(queue: self) }
}

/// Something that happened in a queue.
public enum OperationQueueEvent: Sendable, Hashable, CustomStringConvertible {
  /// The queue accepted an operation.
  case added(Operation)
  /// Only the queue keeps the operation from starting.
  case ready(Operation)
  /// The queue started the operation.
  case started(Operation)
  /// An attempt of the operation has failed, and the operation waits for its next attempt, which has this number.
  case retrying(Operation, attempt: Int)
  /// The operation has finished and left the queue.
  case finished(Operation)
  /// The queue has work, but none of it can ever run: all of it waits for operations that wait for each other in a
  /// cycle, which is the associated value.
  ///
  /// To resolve the stall, cancel one of these operations or remove a dependency.
  case stalled(by: [Operation])
  /// A thread inside an operation waits for something that can't finish before that operation does: each operation
  /// waits for the next, and the last for the first.
  ///
  /// Or the main thread waits for an operation of the main queue. The wait continues, because something else can still
  /// resolve it: an operation that another thread ends, a cancellation, or a higher limit.
  case deadlocked([Operation])
  /// The queue has work, but no further threads can be created for it, and all existing threads are blocked or busy.
  ///
  /// See ``OperationQueueProtocol/maxThreadCount``.
  case threadLimitReached(limit: Int)

  /// The event and the operation's name: `started “parse”`.
  public var description: String {
    switch self {
    case .added(let operation): "added \(operation.label)"
    case .ready(let operation): "ready \(operation.label)"
    case .started(let operation): "started \(operation.label)"
    case .retrying(let operation, let attempt): "retrying \(operation.label), attempt \(attempt)"
    case .finished(let operation): "finished \(operation.label)"
    case .stalled(let cycle): "stalled by \(cycle.waitingCycle)"
    case .deadlocked(let cycle): "waits in a cycle: \(cycle.waitingCycle)"
    case .threadLimitReached(let limit): "reached the limit of \(limit) threads"
    }
  }
}

/// The events of a queue, one after the other.
public struct OperationQueueEvents: AsyncSequence, Sendable {
  let queue: OperationQueue

  /// Begins listening.
  ///
  /// - Returns: An iterator over the events from now on.
  /// - Complexity: O(1), regardless of the number of listeners. Each event takes O(*n*) in the number of listeners.
  public func makeAsyncIterator() -> Iterator {
    let (buffer, token) = queue.listen()
    return Iterator(buffer: buffer, token: token)
  }

  /// Delivers the events of a queue one after the other.
  public struct Iterator: AsyncIteratorProtocol {
    // Clients inline the delivery of an event that has been taken. A call of an asynchronous function would take longer
    // than everything else.

    let buffer: EventBuffer
    /// Taken from the buffer.
    ///
    /// The events before ``position`` have been delivered. They are nil.
    @usableFromInline var events: [OperationQueueEvent?] = []
    @usableFromInline var position = 0
    let token: KeyValueObservation

    /// The next event, or nil when the task is cancelled.
    ///
    /// - Returns: The next event, or nil.
    @inlinable
    public mutating func next() async -> OperationQueueEvent? {
      position < events.count ? deliver() : await take(isolation: #isolation)
    }

    /// The next event, or nil when the task is cancelled.
    ///
    /// - Parameter actor: The isolation of the caller.
    /// - Returns: The next event, or nil.
    @inlinable
    public mutating func next(isolation actor: isolated (any Actor)?) async -> OperationQueueEvent? {
      position < events.count ? deliver() : await take(isolation: actor)
    }

    /// Takes events from the buffer and delivers the first one.
    @usableFromInline
    mutating func take(isolation actor: isolated (any Actor)?) async -> OperationQueueEvent? {
      events = await buffer.take(isolation: actor)
      position = 0
      return events.isEmpty ? nil : deliver()
    }

    /// Moves the next event out of the array, so that the array no longer retains its operation.
    @inlinable
    mutating func deliver() -> OperationQueueEvent? {
      defer { position += 1 }
      return events[position].take()
    }
  }
}

extension OperationQueue {
  /// Calls `listener` for each event from now on, on the thread that caused it, with no lock held.
  ///
  /// - Returns: A token that stops the calls when it is released.
  package final func listen(_ listener: @escaping @Sendable (OperationQueueEvent) -> Void) -> KeyValueObservation {
    let observer = EventObserver(listener)
    return token(for: observer, interest: .events)
  }

  /// Creates a buffer, which receives each event from now on, until the queue is freed.
  ///
  /// - Returns: The buffer, and a token that removes the buffer when it is released.
  fileprivate final func listen() -> (EventBuffer, KeyValueObservation) {
    let buffer = update(collectingBatches: true) { state in
      let log = state.followers.eventLog ?? EventLog()
      state.followers.eventLog = log
      eventLogPointer.store(Unmanaged.passUnretained(log).toOpaque(), ordering: .releasing)
      let buffer = log.addBuffer()
      state.countListeners(1, of: self)
      state.setFollowing(.log, true, of: self)
      return buffer
    }
    lookForStallIfIdle()
    // An event is in the buffer as soon as the queue has recorded it.
    let token = KeyValueObservation(addingWaiter: { _ in false }) { [weak self] in
      guard let self else { return }
      state.withLock { state in
        state.countListeners(-1, of: self)
        // The log is kept, because a thread may be using it. It is used again for the next listener.
        // Relaxed: a thread that still reads the pointer appends to a log without listeners.
        if buffer.removeFromLog() {
          state.setFollowing(.log, false, of: self)
          eventLogPointer.store(nil, ordering: .relaxed)
        }
      }
    }
    return (buffer, token)
  }

  /// The log of events, if it has listeners.
  ///
  /// The queue keeps it until it is freed.
  @inline(__always) final var listenedLog: EventLog? {
    eventLogPointer.load(ordering: .acquiring).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
  }
}

extension Operation {
  /// Records for the listeners, on the thread of a batch, that the operation has started or become ready there.
  @inline(never)
  final func record(_ event: (Operation) -> OperationQueueEvent, in log: EventLog) { log.appendAndWake(event(self)) }
}

extension EventLog: OperationFollower {
  static func note(
    _ transition: Transition, of operation: Operation, in queue: OperationQueue?, _ effects: inout Effects
  ) {
    switch transition {
    // Operations outside of batches start under the queue's lock, which also records the event.
    case .started(isBatched: true): if let log = queue?.listenedLog { operation.record({ .started($0) }, in: log) }
    case .paused(let attempt):
      let reference = OperationReference(operation)
      queue?.update { $0.record { .retrying(reference.operation, attempt: attempt.number + 1) } }
    default: break
    }
  }
}

/// Passes events on to a listener.
private final class EventObserver: Observer, @unchecked Sendable {
  private let listener: @Sendable (OperationQueueEvent) -> Void

  init(_ listener: @escaping @Sendable (OperationQueueEvent) -> Void) {
    self.listener = listener
    super.init(of: ObservedKey.Set(.event))
  }

  override func receive(_ change: ObservedChange, of object: AnyObject) {
    if let event = change.value as? OperationQueueEvent { listener(event) }
  }
}
