import LongRunningTechniques

/// Something that viewers hear of, in the order in which it happened.
///
/// `type` says which of the other properties there are.
struct LabEvent: Encodable {
  var type: Kind
  var run: Int?
  var technique: String?
  var title: String?
  var controls: [String]?
  var taskCount: Int?
  var task: Int?
  var item: Int?
  /// In seconds since the run began.
  var time: Double?
  var thread: Int32?
  var line: String?
  /// In milliseconds.
  var gap: Double?
  var isCancelled: Bool?
  var priority: Int?
  var dependencies: [String: [Int]]?
  var maximum: Int?
  var isSuspended: Bool?
  var techniques: [String]?

  enum Kind: String, Encodable {
    /// A run has begun, in place of the last one of its technique.
    case started
    /// A task has begun.
    case began
    /// A task has made an item.
    case added
    /// A task has ended.
    case ended
    /// A line for the log alone.
    case logged
    /// A run has ended, and the main queue has beaten since.
    case finished
    /// What waits for what, of a run.
    case dependencies
    /// The priority of a task.
    case priority
    /// Suspension and limit, for what runs and what comes.
    case settings
    /// Techniques that follow.
    case pending
  }

  init(_ type: Kind, run: Int? = nil) {
    self.type = type
    self.run = run
  }
}
