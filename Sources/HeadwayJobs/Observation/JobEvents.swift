extension Jobs {
  /// Future events of this object and its workers.
  ///
  /// ```swift
  /// for await event in jobs.events {
  ///   if case .stuck(let attempt, _) = event { print("stuck:", attempt) }
  /// }
  /// ```
  ///
  /// The sequence contains only events of this process: the jobs that this object enqueues and changes, and the actions
  /// of workers that use this object. To follow all processes, read ``snapshot(_:)``.
  ///
  /// Each iteration delivers the events that occur after it began, in order. It ends when its task is cancelled or this
  /// object is deallocated. Without iterations, events cost almost nothing.
  ///
  /// If an iteration is slow, up to 10,000 events are kept for it. Later events are dropped, and the iteration delivers
  /// ``JobEvent/dropped(count:)`` instead.
  public var events: JobEvents { events(keeping: 10_000) }

  /// Future events of this object and its workers.
  ///
  /// - Parameter count: The maximum number of events that are kept for a slow iteration; at least 1.
  /// - Returns: An asynchronous sequence of events.
  public func events(keeping count: Int) -> JobEvents { JobEvents(log: eventLog, limit: max(1, count)) }
}

/// A sequence of events of jobs.
public struct JobEvents: AsyncSequence, Sendable {
  let log: JobEventLog
  let limit: Int

  /// Creates an iterator and begins to record events for it.
  ///
  /// - Returns: An iterator that receives all events from now on.
  public func makeAsyncIterator() -> Iterator { Iterator(listener: JobEventListener(log, limit: limit)) }

  /// Delivers events of jobs, one at a time.
  public struct Iterator: AsyncIteratorProtocol, Sendable {
    let listener: JobEventListener
    /// The events that the listener has returned, last event first.
    private var events: [JobEvent] = []

    init(listener: JobEventListener) { self.listener = listener }

    /// Returns the events that ``next()`` has not returned yet, and does not wait for further events.
    ///
    /// - Returns: The events, in order.
    package mutating func takeRecorded() -> [JobEvent] {
      defer { events = [] }
      return events.reversed() + listener.takeRecorded()
    }

    /// Returns the next event, or nil when the sequence has ended or the task is cancelled.
    ///
    /// - Returns: The next event, or nil at the end.
    public mutating func next() async -> JobEvent? { await next(isolation: #isolation) }

    /// Returns the next event, or nil when the sequence has ended or the task is cancelled.
    ///
    /// - Parameter actor: The isolation of the caller.
    /// - Returns: The next event, or nil at the end.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> JobEvent? {
      if events.isEmpty { events = await listener.take(isolation: actor).reversed() }
      return events.popLast()
    }
  }
}
