public import FoundationEssentials
public import Headway

/// The options of a job.
///
/// A nil option has the default of the job's type or, if that is also nil, the general default.
public struct JobOptions: Hashable, Sendable {
  /// The queue of the store that the job waits in; `default` by default.
  public var queue: String?

  /// The priority among the waiting jobs of the queue; `.normal` by default.
  public var priority: Operation.QueuePriority?

  /// The quality of service of the job's operation.
  public var qualityOfService: QualityOfService?

  /// How long the job waits before it is ready for the first time, from when it is stored, by the store's clock.
  public var delay: Duration?

  /// The earliest time at which the job runs, if there is no ``delay``.
  public var startDate: Date?

  /// The time at which the job is cancelled if it has not started.
  public var deadline: Date?

  /// A readable description, for example for lists of jobs.
  public var label: String?

  /// Words for finding the job.
  public var tags: [String]?

  /// The time limit of each attempt; none by default.
  ///
  /// After that time, the attempt's operation is cancelled. When its code has returned, the attempt has failed.
  public var timeout: Duration?

  /// How often and when the job is run again after an error; ``defaultRetry`` by default.
  public var retry: RetryPolicy?

  /// The maximum number of times that a job can end an attempt with ``JobOutcome/snooze(_:)``; 1,000 by default.
  public var maxSnoozeCount: Int?

  /// The job fails when this many processes have died while they ran it; 4 by default.
  public var maxCrashCount: Int?

  /// A key that only one job can hold at a time.
  public var unique: UniqueKey?

  /// How long the job is kept after it has ended.
  public var retention: JobRetention?

  /// Up to ``JobLimit/maxCount`` limits, each for all jobs with the same key, which apply to all workers together.
  ///
  /// The key of the first limit determines the turn of the job. An empty array removes the limits of the job's type.
  public var limits: [JobLimit]?

  /// The behavior if the queue has reached its pending limit; the call waits by default.
  public var fullQueuePolicy: FullQueuePolicy?
  /// The jobs that the job waits for; none by default.
  public var after: [JobDependency]?

  /// Creates options.
  ///
  /// - Parameters:
  ///   - queue: The queue of the store that the job waits in.
  ///   - priority: The priority among the waiting jobs of the queue.
  ///   - qualityOfService: The quality of service of the job's operation.
  ///   - delay: How long the job waits before it is ready for the first time.
  ///   - startDate: The earliest time at which the job runs, if there is no delay.
  ///   - deadline: The time at which the job is cancelled if it has not started.
  ///   - label: A readable description.
  ///   - tags: Words for finding the job.
  ///   - timeout: The time limit of each attempt.
  ///   - retry: How often and when the job is run again after an error.
  ///   - maxSnoozeCount: The maximum number of times that a job can snooze.
  ///   - maxCrashCount: The job fails when this many processes have died while they ran it.
  ///   - unique: A key that only one job can hold at a time.
  ///   - retention: How long the job is kept after it has ended.
  ///   - limits: Limits, each for all jobs with the same key. The first key determines the turn of the job.
  ///   - fullQueuePolicy: The behavior if the queue has reached its pending limit.
  ///   - after: The jobs that the job waits for.
  public init(
    queue: String? = nil, priority: Operation.QueuePriority? = nil, qualityOfService: QualityOfService? = nil,
    delay: Duration? = nil, startDate: Date? = nil, deadline: Date? = nil, label: String? = nil,
    tags: [String]? = nil, timeout: Duration? = nil, retry: RetryPolicy? = nil, maxSnoozeCount: Int? = nil,
    maxCrashCount: Int? = nil, unique: UniqueKey? = nil, retention: JobRetention? = nil,
    limits: [JobLimit]? = nil, fullQueuePolicy: FullQueuePolicy? = nil, after: [JobDependency]? = nil
  ) {
    self.queue = queue
    self.priority = priority
    self.qualityOfService = qualityOfService
    self.delay = delay
    self.startDate = startDate
    self.deadline = deadline
    self.label = label
    self.tags = tags
    self.timeout = timeout
    self.retry = retry
    self.maxSnoozeCount = maxSnoozeCount
    self.maxCrashCount = maxCrashCount
    self.unique = unique
    self.retention = retention
    self.limits = limits
    self.fullQueuePolicy = fullQueuePolicy
    self.after = after
  }

  /// 20 attempts, with pauses that double from 2 s to at most 1 h and vary at random by up to a quarter.
  public static let defaultRetry = RetryPolicy(
    maxAttemptCount: 20, backoff: .exponential(initial: .seconds(2), factor: 2, maximum: .seconds(3_600)),
    jitter: .proportional(0.25))

  /// The queue of jobs that don't specify one.
  public static let defaultQueue = "default"

  /// Returns these options, with nil ones replaced by those of another value.
  @_spi(JobStore) public func merged(over defaults: JobOptions) -> JobOptions {
    JobOptions(
      queue: queue ?? defaults.queue, priority: priority ?? defaults.priority,
      qualityOfService: qualityOfService ?? defaults.qualityOfService,
      delay: delay ?? (startDate == nil ? defaults.delay : nil), startDate: startDate ?? defaults.startDate,
      deadline: deadline ?? defaults.deadline, label: label ?? defaults.label, tags: tags ?? defaults.tags,
      timeout: timeout ?? defaults.timeout, retry: retry ?? defaults.retry,
      maxSnoozeCount: maxSnoozeCount ?? defaults.maxSnoozeCount,
      maxCrashCount: maxCrashCount ?? defaults.maxCrashCount, unique: unique ?? defaults.unique,
      retention: retention ?? defaults.retention, limits: limits ?? defaults.limits,
      fullQueuePolicy: fullQueuePolicy ?? defaults.fullQueuePolicy, after: after ?? defaults.after)
  }
}
