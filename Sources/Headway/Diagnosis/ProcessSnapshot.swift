/// All queues of the process and Headway's threads, at about the same moment.
///
/// A snapshot is a plain value. You can encode it, for example as the answer of a server to a request from an operator.
public struct ProcessSnapshot: Sendable, Hashable, Codable {
  /// The queues, in order of creation.
  public var queues: [OperationQueueSnapshot]
  /// The threads that run operations.
  public var threads: [ThreadSnapshot]

  /// One of Headway's threads.
  public struct ThreadSnapshot: Sendable, Hashable, Codable {
    /// The name of the thread, as debuggers and profilers show it.
    public var name: String
    /// The class of work that the thread runs: `normal`, `utility` or `background`.
    public var workClass: String
    /// The current activity of the thread.
    public var state: ThreadState
    /// The position in ``ProcessSnapshot/queues`` of the queue whose operations the thread runs; nil if it runs
    /// none.
    public var queue: Int?
    /// The position of the operation that the thread runs, in the ``OperationQueueSnapshot/operations`` of ``queue``;
    /// nil if the snapshot does not contain it.
    public var operation: Int?
  }

  /// The current activity of a thread.
  public enum ThreadState: String, Sendable, Hashable, Codable, CaseIterable {
    /// The thread was created or woken and has not looked for work since.
    case starting
    /// The thread runs operations, or looks for work.
    case working
    /// The thread is inside an operation that sleeps, waits, or reads, so another thread can take its place.
    case blocked
    /// The thread waits for work.
    case sleeping
  }
}

/// A queue at one moment.
public struct OperationQueueSnapshot: Sendable, Hashable, Codable {
  /// The name of the queue, or nil.
  public var name: String?
  /// Whether the queue starts no operations until it is resumed.
  public var isSuspended: Bool
  /// Whether the queue was closed: it no longer accepts operations.
  public var isClosed: Bool
  /// How many operations can run at the same time; nil if the system decides.
  public var maxConcurrentOperationCount: Int?
  /// How many operations the queue holds.
  public var operationCount: Int
  /// How many concurrency slots are occupied.
  ///
  /// A thread that runs short operations one after another occupies one slot.
  public var occupiedSlotCount: Int
  /// The first operations, in insertion order.
  ///
  /// Their number can differ from ``operationCount``, because the caller can limit it, and because operations can be
  /// added or finish in the meantime.
  public var operations: [OperationSnapshot]
}

/// An operation at one moment.
public struct OperationSnapshot: Sendable, Hashable, Codable {
  /// The operation's name, or nil.
  public var name: String?
  /// The name of its class.
  public var type: String
  /// How far the operation has progressed.
  public var state: OperationState
  /// Whether the operation was cancelled.
  public var isCancelled: Bool
  /// The activity of the operation, or its obstacle, as a sentence: see ``OperationProtocol/diagnosis``.
  public var diagnosis: String
  /// How long ago the operation was added; nil unless the queue records times: see
  /// ``OperationQueueProtocol/recordTimes()``.
  public var timeSinceAdded: Duration?
  /// How long ago the operation was started; nil if it has not been started, or if the queue does not record times.
  public var timeSinceStarted: Duration?
  /// The number of the current attempt, counting from 1; nil if the operation does not repeat its function.
  public var attempt: Int?
  /// The fraction of the work that is done, from 0 to 1; nil if the operation does not report progress.
  public var fractionCompleted: Double?
}
