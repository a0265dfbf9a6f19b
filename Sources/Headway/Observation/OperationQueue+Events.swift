import Synchronization

extension OperationQueueExtensions {
  /// What happens in the queue from now on.
  ///
  /// ```swift
  /// for await event in queue.events {
  ///   if case .stalled(let cycle) = event { log("stalled by \(cycle)") }
  /// }
  /// ```
  ///
  /// Each iteration hears of everything that happens after it began, in order, and ends when its task is cancelled or
  /// the queue is freed. Events that have not been taken yet are kept.
  public var events: OperationQueue.Events { OperationQueue.Events(queue: self) }
}

extension OperationQueue {
  /// Something that happened in a queue.
  public enum Event: Sendable {
    /// The queue took an operation in.
    case added(Operation)
    /// Nothing but the queue keeps the operation from starting.
    case ready(Operation)
    /// The queue started the operation.
    case started(Operation)
    /// The operation has finished and left the queue.
    case finished(Operation)
    /// The queue has work, and none of it can ever run: all of it waits for operations that wait for each other in a
    /// circle, which is given. Cancelling one of them, or removing a dependency, lets them go on.
    case stalled(cycle: [Operation])
  }

  /// The events of a queue, one after the other.
  public struct Events: AsyncSequence, Sendable {
    let queue: OperationQueue

    /// Begins to listen.
    ///
    /// - Returns: An iterator.
    public func makeAsyncIterator() -> Iterator {
      let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
      let observer = EventObserver(continuation)
      let observers = queue.add(observer, interest: .events)
      return Iterator(
        events: stream.makeAsyncIterator(),
        token: ObservationToken { [weak queue] in
          observer.setEnded()
          queue?.remove(observer, from: observers, interest: .events)
        })
    }

    /// Gives the events of a queue one after the other.
    public struct Iterator: AsyncIteratorProtocol {
      var events: AsyncStream<Event>.AsyncIterator
      let token: ObservationToken

      /// The next event, or nil when the task is cancelled.
      ///
      /// - Parameter actor: The isolation of the caller.
      /// - Returns: The event.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> Event? {
        await events.next(isolation: actor)
      }
    }
  }
}

/// Hands the events on.
private final class EventObserver: Observer {
  private let continuation: AsyncStream<OperationQueue.Event>.Continuation
  private let end = Atomic<Bool>(false)

  init(_ continuation: AsyncStream<OperationQueue.Event>.Continuation) { self.continuation = continuation }

  deinit { continuation.finish() }

  var hasEnded: Bool { end.load(ordering: .acquiring) }

  func setEnded() { end.store(true, ordering: .releasing) }

  func begin(with object: AnyObject) {}

  func receive(_ change: ObservedChange, of object: AnyObject) {
    if case .event = change.key, let event = change.value as? OperationQueue.Event { continuation.yield(event) }
  }
}
