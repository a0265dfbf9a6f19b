/// The chain of operations that determined when the last operation of a recording finished.
///
/// Each step of the path is an operation that ran, preceded by its wait. Steps do not overlap, so together they are
/// never longer than the recording.
public struct CriticalPath: Sendable, Hashable, Codable {
  /// The reason that an operation of the path started no earlier.
  public enum WaitReason: Sendable, Hashable, Codable {
    /// It waited for a dependency: the previous step.
    case dependency
    /// It was ready, but as many operations of this queue ran as its limit allows. The previous step is the operation
    /// whose end allowed it to start.
    ///
    /// The value is the position of the queue in `TraceRecording.queues`.
    case limit(queue: Int)
    /// It was ready, and its queue was below its limit or had none, but no thread started it: the threads were busy,
    /// the queue was suspended, or its policy kept it waiting.
    ///
    /// If the thread that started it was busy until then, the previous step is the operation on that thread.
    case thread
    /// It had not been added earlier. The previous step, if there is one, is the operation that added it.
    case added
  }

  /// An operation of the path.
  public struct Step: Sendable, Hashable, Codable {
    /// The position of the operation in `TraceRecording.operations`.
    public var operation: Int
    /// When the operation started, since the recording began.
    public var startTime: Duration
    /// When the path leaves the operation, since the recording began: when it finished, or, if it added
    /// the next operation while it ran, at that time.
    public var endTime: Duration
    /// The reason that the operation started no earlier.
    public var waitReason: WaitReason
    /// How long the operation waited for this reason until it started.
    ///
    /// An operation that waits for a limit usually waits while previous steps run, so do not add these times.
    public var waitDuration: Duration

    /// Creates a step.
    ///
    /// - Parameters:
    ///   - operation: The position of the operation.
    ///   - startTime: When it started.
    ///   - endTime: When the path leaves it.
    ///   - waitReason: The reason that it started no earlier.
    ///   - waitDuration: How long it waited for this reason.
    public init(
      operation: Int, startTime: Duration, endTime: Duration, waitReason: WaitReason, waitDuration: Duration
    ) {
      (self.operation, self.startTime, self.endTime) = (operation, startTime, endTime)
      (self.waitReason, self.waitDuration) = (waitReason, waitDuration)
    }

    /// How long the operation ran as part of the path.
    ///
    /// Pauses between attempts count.
    public var runDuration: Duration { endTime - startTime }
  }

  /// The limit that the operations of the path waited for longest.
  public struct Limit: Sendable, Hashable, Codable {
    /// The position of the queue in `TraceRecording.queues`.
    public var queue: Int
    /// How long at least one operation of the path waited for the limit.
    public var waitDuration: Duration
    /// How much earlier, at most, the last operation could finish without this limit.
    ///
    /// This figure assumes that each operation runs as long as it did, and that operations without a parent are added
    /// when they were.
    public var possibleSaving: Duration

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - queue: The position of the queue.
    ///   - waitDuration: How long operations of the path waited for the limit.
    ///   - possibleSaving: How much earlier the last operation could finish.
    public init(queue: Int, waitDuration: Duration, possibleSaving: Duration) {
      (self.queue, self.waitDuration, self.possibleSaving) = (queue, waitDuration, possibleSaving)
    }
  }

  /// The operations of the path, the earliest first; they do not overlap.
  public var steps: [Step]
  /// How long the recording took: until its end or its last event.
  public var recordingDuration: Duration
  /// The limit that the operations of the path waited for longest, or nil if they waited for none.
  public var longestLimit: Limit?
  /// The path in words, with operation and queue names.
  public var description: String

  /// Creates a path.
  ///
  /// - Parameters:
  ///   - steps: The operations of the path, the earliest first.
  ///   - recordingDuration: How long the recording took.
  ///   - longestLimit: The limit that they waited for longest.
  ///   - description: The path in words.
  public init(steps: [Step], recordingDuration: Duration, longestLimit: Limit?, description: String) {
    (self.steps, self.recordingDuration) = (steps, recordingDuration)
    (self.longestLimit, self.description) = (longestLimit, description)
  }

  /// How long the operations of the path ran: at most ``recordingDuration``.
  public var runDuration: Duration { steps.reduce(.zero) { $0 + $1.runDuration } }
}

extension CriticalPath: CustomStringConvertible {}
