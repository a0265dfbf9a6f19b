import LongRunningTechniques

/// An event that viewers receive, in the order of occurrence.
///
/// `type` determines which of the other properties are set.
struct LabEvent: Encodable {
  var type: Kind
  var run: Int?
  var technique: String?
  var title: String?
  var controls: [String]?
  var taskCount: Int?
  var task: Int?
  var item: Int?
  /// The time in seconds since the run began.
  var time: Double?
  var thread: Int32?
  var line: String?
  /// The longest time between two beats of the run, in milliseconds.
  var gap: Double?
  var isCancelled: Bool?
  var priority: Int?
  var dependencies: [String: [Int]]?
  var maximum: Int?
  var isSuspended: Bool?
  var techniques: [String]?

  enum Kind: String, Encodable {
    /// A run has begun.
    ///
    /// It replaces the last run of its technique.
    case started
    /// A task has begun.
    case began
    /// A task has created an item.
    case added
    /// A task has ended.
    case ended
    /// A line that is only for the log.
    case logged
    /// A run has ended, and the main queue has had a beat since.
    case finished
    /// The dependencies between the tasks of a run.
    case dependencies
    /// The priority of a task.
    case priority
    /// The suspension and the limit, for the current run and the following ones.
    case settings
    /// The techniques that are waiting.
    case pending
  }

  init(_ type: Kind, run: Int? = nil) {
    self.type = type
    self.run = run
  }
}
