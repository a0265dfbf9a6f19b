/// A change that a person has made, as a store keeps it.
///
/// ``Jobs/changing(as:)`` records changes, and ``Jobs/changes(of:before:limit:)`` returns the records. A change is
/// recorded in the same transaction, so there is no record without its change. A change of many jobs has one record,
/// which its later transactions update.
///
/// A store keeps a record for ``retention``.
public struct JobsChangeRecord: Hashable, Codable, Sendable {
  /// The number of the record.
  ///
  /// A later record has a greater number.
  public var number: Int64
  /// When the change began.
  public var time: StoreTime
  /// The person who made the change, for example `anna` or `root@db1`.
  public var author: String
  /// The kind of change.
  public var action: Action
  /// The jobs that the person selected, or the name of another object.
  public var subject: Subject
  /// The number of jobs, queues, schedules, or error groups that were changed.
  public var count: Int
  /// The first jobs that were changed or added, at most ``maxIDCount``.
  public var ids: [JobID]
  /// The properties that were changed, with their values before and after.
  public var values: [Value]

  /// The maximum number of IDs in a record.
  public static let maxIDCount = 100
  /// The maximum number of different values of a property in a record.
  public static let maxValueCount = 4
  /// The maximum length of a value in bytes of UTF-8.
  ///
  /// For a longer payload, the record has only its size.
  public static let maxValueLength = 4_096
  /// How long a store keeps a record: 90 days.
  ///
  /// After that, a worker deletes the record when it prunes the store.
  public static let retention = Duration.seconds(90 * 86_400)

  /// Creates a record.
  ///
  /// - Parameters:
  ///   - number: The number of the record.
  ///   - time: When the change began.
  ///   - author: The person who made the change.
  ///   - action: The kind of change.
  ///   - subject: What the person selected.
  ///   - count: The number of jobs, queues, schedules, or error groups that were changed.
  ///   - ids: The first jobs that were changed or added.
  ///   - values: The properties that were changed.
  @_spi(JobStore) public init(
    number: Int64, time: StoreTime, author: String, action: Action, subject: Subject, count: Int, ids: [JobID],
    values: [Value]
  ) {
    self.number = number
    self.time = time
    self.author = author
    self.action = action
    self.subject = subject
    self.count = count
    self.ids = ids
    self.values = values
  }
}

extension JobsChangeRecord {
  /// The kind of a change.
  ///
  /// Later versions might add kinds, so a `switch` over actions needs a `default`.
  public struct Action: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible {
    /// The name, as the command-line tool prints it.
    public let rawValue: String

    /// Creates a kind from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Jobs were cancelled.
    public static let cancel = Action(rawValue: "cancel")
    /// Running jobs were taken from their workers.
    public static let abandon = Action(rawValue: "abandon")
    /// Failed or cancelled jobs were run again.
    public static let retry = Action(rawValue: "retry")
    /// Finished jobs were deleted.
    public static let delete = Action(rawValue: "delete")
    /// Properties of jobs were changed.
    public static let change = Action(rawValue: "change")
    /// A signal was sent to jobs.
    public static let signal = Action(rawValue: "signal")
    /// A queue was paused.
    public static let pauseQueue = Action(rawValue: "pause-queue")
    /// A queue was resumed.
    public static let resumeQueue = Action(rawValue: "resume-queue")
    /// A setting of a queue was changed.
    public static let configureQueue = Action(rawValue: "configure-queue")
    /// Finished jobs past their retention period were deleted.
    public static let prune = Action(rawValue: "prune")
    /// A schedule was added, or its definition was changed.
    public static let setSchedule = Action(rawValue: "set-schedule")
    /// A schedule was paused.
    public static let pauseSchedule = Action(rawValue: "pause-schedule")
    /// A schedule was resumed.
    public static let resumeSchedule = Action(rawValue: "resume-schedule")
    /// A schedule has added a job immediately.
    public static let runSchedule = Action(rawValue: "run-schedule")
    /// A schedule has added the missing jobs of past ticks.
    public static let backfillSchedule = Action(rawValue: "backfill-schedule")
    /// A schedule was deleted.
    public static let removeSchedule = Action(rawValue: "remove-schedule")
    /// A group of errors was muted.
    public static let muteErrors = Action(rawValue: "mute-errors")
    /// A group of errors is no longer muted.
    public static let unmuteErrors = Action(rawValue: "unmute-errors")

    /// The name.
    public var description: String { rawValue }
  }

  /// The object of a change.
  public enum Subject: Hashable, Codable, Sendable {
    /// The jobs of a filter.
    ///
    /// A list of IDs contains at most ``maxIDCount``, and a long text is cut.
    case jobs(JobFilter)
    /// A queue.
    case queue(String)
    /// A schedule.
    case schedule(String)
    /// A group of errors.
    case errorGroup(String)
    /// The whole store.
    case store
  }

  /// A property that was changed.
  public struct Value: Hashable, Codable, Sendable {
    /// The name of the property, for example `priority`.
    public var name: String
    /// The values before the change: one, or several if they differed between jobs; empty if there was none.
    ///
    /// There are at most ``maxValueCount`` values: those that were found first.
    public var before: [String]
    /// The values after the change, like ``before``.
    public var after: [String]

    /// Creates a property.
    ///
    /// - Parameters:
    ///   - name: The name of the property.
    ///   - before: The value before the change; nil if there was none.
    ///   - after: The value after the change; nil if there is none.
    @_spi(JobStore) public init(_ name: String, from before: String?, to after: String?) {
      self.name = name
      self.before = before.map { [$0] } ?? []
      self.after = after.map { [$0] } ?? []
    }
  }
}
