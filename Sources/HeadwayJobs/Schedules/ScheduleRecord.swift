/// A schedule as a store keeps it.
public struct ScheduleRecord: Hashable, Codable, Sendable {
  /// The name of the schedule.
  public var name: String
  /// The definition that a program has set.
  public var definition: ScheduleDefinition
  /// When the current ``ScheduleDefinition/schedule`` was set.
  @_spi(JobStore) public var anchorTime: StoreTime
  /// All ticks up to this time have been processed.
  ///
  /// This is ``lastTickTime``, unless the schedule was set or resumed later.
  @_spi(JobStore) public var decidedTime: StoreTime
  /// The last tick, even if it has added no job.
  public var lastTickTime: StoreTime?
  /// The job that was added last.
  public var lastJob: JobID?
  /// Whether the schedule is paused, so that it adds no jobs.
  public var isPaused = false
  /// The next tick; nil if the schedule is paused.
  public var nextTickTime: StoreTime?
  /// The periods whose ticks have added no jobs, in order.
  ///
  /// When the schedule is set for the first time, the only gap is all time before.
  public var gaps: [ScheduleGap]

  /// Creates a record.
  ///
  /// - Parameters:
  ///   - name: The name of the schedule.
  ///   - definition: The definition that a program has set.
  ///   - anchorTime: When the schedule was set.
  ///   - decidedTime: All ticks up to this time have been processed.
  @_spi(JobStore) public init(
    name: String, definition: ScheduleDefinition, anchorTime: StoreTime, decidedTime: StoreTime
  ) {
    self.name = name
    self.definition = definition
    self.anchorTime = anchorTime
    self.decidedTime = decidedTime
    gaps = [ScheduleGap(after: StoreTime(microseconds: .min), through: decidedTime)]
  }
}

/// The definition of a schedule, which a program sets.
public struct ScheduleDefinition: Hashable, Codable, Sendable {
  /// When jobs are added.
  public var schedule: JobSchedule
  /// The behavior for ticks that occurred while no worker was running.
  public var missed: MissedTicks
  /// Whether ticks add jobs while the last job is unfinished.
  public var overlap: ScheduleOverlap
  /// The maximum time from a tick until its job is due.
  ///
  /// The time is random, but the same in all processes.
  public var jitter: Duration
  /// The job that each tick adds.
  @_spi(JobStore) public var job: NewJob

  /// Creates a definition.
  ///
  /// - Parameters:
  ///   - schedule: When jobs are added.
  ///   - missed: How to treat ticks that occurred while no worker was running.
  ///   - overlap: Whether ticks add jobs while the last job is unfinished.
  ///   - jitter: The maximum time from a tick until its job is due; not negative.
  ///   - job: The job that each tick adds.
  @_spi(JobStore) public init(
    _ schedule: JobSchedule, missed: MissedTicks = .latest, overlap: ScheduleOverlap = .allow,
    jitter: Duration = .zero, job: NewJob
  ) {
    self.schedule = schedule
    self.missed = missed
    self.overlap = overlap
    self.jitter = jitter
    self.job = job
  }

  /// The kind of the jobs that ticks add.
  public var kind: JobKind { job.kind }

  /// The queue of these jobs.
  public var queue: String { job.queue }

  /// The stored form.
  @_spi(JobStore) public var stored: [UInt8] { StoredForm.encode(self) }

  /// Creates a definition from its stored form.
  ///
  /// - Parameter stored: The bytes that the store contains.
  /// - Throws: `DecodingError` or ``CronSyntaxError`` if this version of Headway can't read it.
  @_spi(JobStore) public init(stored: [UInt8]) throws { self = try StoredForm.decode(Self.self, stored) }
}

/// The behavior, when a worker starts, for ticks that occurred while no worker was running.
public enum MissedTicks: Hashable, Codable, Sendable {
  /// One job is added, for the latest tick.
  case latest
  /// No job is added for ticks that are more than a minute late.
  case none
  /// A job is added for each of the latest ticks, up to a limit.
  ///
  /// The limit is at least 1 and at most 1,000. Other values are clamped to this range.
  case all(limit: Int)
}

/// Whether a schedule adds a job while its last job is unfinished.
public enum ScheduleOverlap: Hashable, Codable, Sendable {
  /// Each tick adds a job.
  case allow
  /// A tick adds no job while the last job is unfinished.
  ///
  /// If several ticks were missed, only the latest one adds a job.
  case skip
}

/// A tick of a schedule that has added a job.
public struct JobTick: Hashable, Codable, Sendable {
  /// The name of the schedule.
  public var schedule: String
  /// The time of the tick, or of the request to run the schedule immediately.
  public var time: StoreTime

  /// Creates a tick.
  ///
  /// - Parameters:
  ///   - schedule: The name of the schedule.
  ///   - time: The time of the tick.
  @_spi(JobStore) public init(schedule: String, time: StoreTime) {
    self.schedule = schedule
    self.time = time
  }
}

/// A change of a schedule.
@_spi(JobStore) public enum ScheduleCommand: Hashable, Sendable {
  /// Defines the schedule, or changes its definition.
  ///
  /// If the times are unchanged, the last tick and the next one remain. A paused schedule remains paused.
  case set(ScheduleDefinition)
  /// Pauses or resumes the schedule. Ticks during the pause add no jobs, except by a backfill.
  case setPaused(Bool)
  /// Adds a job of the schedule immediately, even if the schedule is paused or its last job is unfinished.
  case run
  /// Adds the missing jobs of past ticks, up to ``JobCommand/maxChangedCount``.
  case backfill(from: StoreTime, through: StoreTime)
  /// Deletes the schedule. Its jobs remain.
  case remove
}

/// The answer of a store to a ``ScheduleCommand``.
@_spi(JobStore) public struct ScheduleAnswer: Hashable, Sendable {
  /// Whether there was a schedule with the name before.
  public var isFound: Bool
  /// The job that ``ScheduleCommand/run`` has added, or the job that holds its key.
  public var job: JobID?
  /// The number of jobs that ``ScheduleCommand/backfill(from:through:)`` has added.
  ///
  /// The number is nil for other commands, and if this process does not know the time zone of the schedule.
  public var addedCount: Int?
  /// Whether the period has further ticks without a job, so that the command must be repeated.
  public var hasMore: Bool

  /// Creates an answer.
  ///
  /// - Parameters:
  ///   - isFound: Whether there was a schedule with the name before.
  ///   - job: The job that was added.
  ///   - addedCount: The number of jobs that a backfill has added.
  ///   - hasMore: Whether a backfill must be repeated.
  public init(isFound: Bool, job: JobID? = nil, addedCount: Int? = nil, hasMore: Bool = false) {
    self.isFound = isFound
    self.job = job
    self.addedCount = addedCount
    self.hasMore = hasMore
  }
}
