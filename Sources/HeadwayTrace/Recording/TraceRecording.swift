/// A record of the operations during a trace: when each was added, became ready, started, and finished, and its thread.
///
/// A recording is a plain value. You can store it, send it to another machine, and draw it there.
///
/// All times are measured from when the recording began. A time is nil if the event did not occur during the
/// recording.
public struct TraceRecording: Sendable, Hashable, Codable {
  /// How long the recording took.
  public var duration: Duration
  /// The operations, ordered by first event.
  public var operations: [Operation]
  /// The queues that held the operations.
  public var queues: [Queue]
  /// The threads that recorded events, for example because they added operations.
  public var threads: [Thread]
  /// The spans that `Trace.span(_:_:)` recorded, ordered by start time.
  public var spans: [Span]
  /// The marks that `Trace.mark(_:)` recorded, in order.
  public var marks: [Mark]
  /// How many events were lost because a thread's buffer was full.
  public var lostEventCount: Int

  /// Creates a recording.
  ///
  /// - Parameters:
  ///   - duration: How long the recording took.
  ///   - operations: The operations, ordered by first event.
  ///   - queues: The queues that held the operations.
  ///   - threads: The threads that recorded events, for example because they added operations.
  ///   - spans: The spans, ordered by start time.
  ///   - marks: The marks, in order.
  ///   - lostEventCount: How many events were lost because a thread's buffer was full.
  public init(
    duration: Duration, operations: [Operation] = [], queues: [Queue] = [], threads: [Thread] = [], spans: [Span] = [],
    marks: [Mark] = [], lostEventCount: Int = 0
  ) {
    (self.duration, self.operations, self.queues, self.threads) = (duration, operations, queues, threads)
    (self.spans, self.marks, self.lostEventCount) = (spans, marks, lostEventCount)
  }

  /// An operation of a recording.
  public struct Operation: Sendable, Hashable, Codable {
    /// The operation's name, or its class name if it has no name.
    ///
    /// For a dependency without any events, this is “Operation”.
    public var name: String
    /// The position in ``TraceRecording/queues`` of the queue that held the operation; nil for an operation that was
    /// started manually.
    public var queue: Int?
    /// The position in ``TraceRecording/operations`` of the operation that added this one while it ran.
    public var parent: Int?
    /// The positions in ``TraceRecording/operations`` of the dependencies that this operation had when it was added, or
    /// that were added to it later.
    public var dependencies: [Int]
    /// When the operation was added to its queue.
    public var addedTime: Duration?
    /// When the operation had been added and its last dependency had finished.
    ///
    /// Its queue, its policy, or an override of `isReady` can still keep it from starting.
    public var readyTime: Duration?
    /// The periods when the operation ran: one, or one for each attempt.
    ///
    /// An asynchronous operation also runs while its task is suspended.
    public var runs: [Run]
    /// When the operation finished.
    public var finishedTime: Duration?
    /// How the operation ended; nil if it had not ended at the end of the recording.
    public var result: Result?
    /// A description of the error of an operation that failed.
    public var error: String?

    /// Creates an operation of a recording.
    ///
    /// - Parameters:
    ///   - name: The operation's name, or its class name if it has no name.
    ///   - queue: The position of its queue.
    ///   - parent: The position of the operation that added it.
    ///   - dependencies: The positions of the operations that it waited for.
    ///   - addedTime: When it was added.
    ///   - readyTime: When it had been added and its last dependency had finished.
    ///   - runs: The periods when it ran.
    ///   - finishedTime: When it finished.
    ///   - result: How it ended.
    ///   - error: A description of its error.
    public init(
      name: String, queue: Int? = nil, parent: Int? = nil, dependencies: [Int] = [], addedTime: Duration? = nil,
      readyTime: Duration? = nil, runs: [Run] = [], finishedTime: Duration? = nil, result: Result? = nil,
      error: String? = nil
    ) {
      (self.name, self.queue, self.parent, self.dependencies) = (name, queue, parent, dependencies)
      (self.addedTime, self.readyTime, self.runs, self.finishedTime) = (addedTime, readyTime, runs, finishedTime)
      (self.result, self.error) = (result, error)
    }
  }

  /// A period when an operation ran.
  public struct Run: Sendable, Hashable, Codable {
    /// When the operation, or its attempt, started.
    public var startTime: Duration
    /// When it ended; nil if it had not ended at the end of the recording.
    public var endTime: Duration?
    /// The position in ``TraceRecording/threads`` of the thread that started it.
    public var thread: Int

    /// Creates a period.
    ///
    /// - Parameters:
    ///   - startTime: When the operation started.
    ///   - endTime: When it ended.
    ///   - thread: The position of the thread that started it.
    public init(startTime: Duration, endTime: Duration? = nil, thread: Int) {
      (self.startTime, self.endTime, self.thread) = (startTime, endTime, thread)
    }
  }

  /// How an operation ended.
  public enum Result: String, Sendable, Hashable, Codable {
    /// It finished without an error.
    case success
    /// It has an error.
    case failure
    /// It was cancelled and has no error.
    case cancelled
  }

  /// A queue of a recording.
  public struct Queue: Sendable, Hashable, Codable {
    /// The name of the queue, or nil.
    public var name: String?
    /// The number of operations that the queue could run at the same time when the recording ended; nil if the system
    /// decides.
    public var maxConcurrentOperationCount: Int?
    /// When the queue was suspended and resumed.
    public var suspendedIntervals: [Interval]

    /// Creates a queue of a recording.
    ///
    /// - Parameters:
    ///   - name: The name of the queue.
    ///   - maxConcurrentOperationCount: The number of operations that the queue can run at the same time.
    ///   - suspendedIntervals: When the queue was suspended and resumed.
    public init(name: String? = nil, maxConcurrentOperationCount: Int? = nil, suspendedIntervals: [Interval] = []) {
      (self.name, self.maxConcurrentOperationCount) = (name, maxConcurrentOperationCount)
      self.suspendedIntervals = suspendedIntervals
    }
  }

  /// A thread of a recording.
  public struct Thread: Sendable, Hashable, Codable {
    /// The name of the thread.
    public var name: String
    /// When the thread was blocked inside an operation, so that another thread could take its place.
    ///
    /// The times of waits in Headway's functions are exact. Other blocking calls, for example to sleep or to read, are
    /// found within a few milliseconds if work waits for a thread.
    public var blockedIntervals: [Interval]

    /// Creates a thread of a recording.
    ///
    /// - Parameters:
    ///   - name: The name of the thread.
    ///   - blockedIntervals: When the thread was blocked.
    public init(name: String, blockedIntervals: [Interval] = []) {
      (self.name, self.blockedIntervals) = (name, blockedIntervals)
    }
  }

  /// A period of time.
  public struct Interval: Sendable, Hashable, Codable {
    /// When it began.
    public var startTime: Duration
    /// When it ended; nil if it had not ended at the end of the recording.
    public var endTime: Duration?

    /// Creates an interval.
    ///
    /// - Parameters:
    ///   - startTime: When it began.
    ///   - endTime: When it ended.
    public init(startTime: Duration, endTime: Duration? = nil) { (self.startTime, self.endTime) = (startTime, endTime) }
  }

  /// A part of the work, which the program named.
  public struct Span: Sendable, Hashable, Codable {
    /// The name.
    public var name: String
    /// When the work began.
    public var startTime: Duration
    /// When it ended; nil if it had not ended at the end of the recording.
    public var endTime: Duration?
    /// The thread where it began, as a position in ``TraceRecording/threads``.
    public var thread: Int

    /// Creates a span.
    ///
    /// - Parameters:
    ///   - name: The name that was passed to `Trace.span(_:_:)`.
    ///   - startTime: When the work began.
    ///   - endTime: When it ended.
    ///   - thread: The thread where it began, as a position in ``TraceRecording/threads``.
    public init(name: String, startTime: Duration, endTime: Duration? = nil, thread: Int) {
      (self.name, self.startTime, self.endTime, self.thread) = (name, startTime, endTime, thread)
    }
  }

  /// A moment that the program named.
  public struct Mark: Sendable, Hashable, Codable {
    /// The name.
    public var name: String
    /// The moment.
    public var time: Duration
    /// The position in ``TraceRecording/threads`` of the thread.
    public var thread: Int

    /// Creates a mark.
    ///
    /// - Parameters:
    ///   - name: The name of the mark.
    ///   - time: The time of the mark.
    ///   - thread: The position of the thread.
    public init(name: String, time: Duration, thread: Int) {
      (self.name, self.time, self.thread) = (name, time, thread)
    }
  }
}
