public import FoundationEssentials
public import Headway

/// A set of options of a job.
///
/// ```swift
/// let options: JobOptions = [.queue("images"), .retry(.exponential(maxAttemptCount: 5)), .timeout(.seconds(30))]
/// print(options.queue ?? JobOptions.defaultQueue)
/// ```
///
/// To pass such a set when you enqueue a job, use ``JobOption/options(_:)``. Each property is nil if its option is not
/// in the set. Such an option has the value of the job's type or, if the type has none, the default that the function
/// of ``JobOption`` documents.
public struct JobOptions: Hashable, Sendable {
  /// The queue of the store that the job waits in.
  public internal(set) var queue: String?
  /// The priority among the waiting jobs of the queue.
  public internal(set) var priority: Operation.QueuePriority?
  /// The quality of service of the job's operation.
  public internal(set) var qualityOfService: QualityOfService?
  /// How long the job waits before it is ready for the first time; nil if there is a ``startDate``.
  public internal(set) var delay: Duration?
  /// The earliest time when the job runs; nil if there is a ``delay``.
  public internal(set) var startDate: Date?
  /// The time when the job is cancelled if it has not started.
  public internal(set) var deadline: Date?
  /// A readable description.
  public internal(set) var label: String?
  /// Words for finding the job.
  public internal(set) var tags: [String]?
  /// The time limit of each attempt.
  public internal(set) var timeout: Duration?
  /// How often and when the job is run again after an error.
  public internal(set) var retry: RetryPolicy?
  /// The maximum number of times that the job can snooze.
  public internal(set) var maxSnoozeCount: Int?
  /// The job fails when this many processes have died while they ran it.
  public internal(set) var maxCrashCount: Int?
  /// The key that only one job can hold at a time.
  public internal(set) var unique: UniqueKey?
  /// How long the job is kept after it has ended.
  public internal(set) var retention: JobRetention?
  /// The limits that the job counts toward; empty if the limits of the job's type don't apply.
  public internal(set) var limits: [JobLimit]?
  /// The behavior if the queue has reached its pending limit.
  public internal(set) var fullQueuePolicy: FullQueuePolicy?
  /// The jobs that the job waits for; empty if the option is not in the set.
  public internal(set) var after: [JobDependency] = []

  /// Creates an empty set.
  public init() {}

  /// Adds an option.
  ///
  /// - Parameter option: An option, which takes precedence over earlier ones.
  public mutating func set(_ option: JobOption) { self = option.options.merged(over: self) }

  /// 20 attempts, with pauses that double from 2 s to at most 1 h and vary at random by up to a quarter.
  public static let defaultRetry = RetryPolicy(
    maxAttemptCount: 20, backoff: .exponential(initialDelay: .seconds(2), factor: 2, maxDelay: .seconds(3_600)),
    jitter: .proportional(0.25))

  /// The queue of jobs that don't specify a queue.
  public static let defaultQueue = "default"

  /// Returns these options, and the options of another set that are missing in this one.
  func merged(over others: JobOptions) -> JobOptions {
    var merged = self
    merged.queue = queue ?? others.queue
    merged.priority = priority ?? others.priority
    merged.qualityOfService = qualityOfService ?? others.qualityOfService
    // The two determine the same time, so the set has at most one of them.
    if delay == nil, startDate == nil { (merged.delay, merged.startDate) = (others.delay, others.startDate) }
    merged.deadline = deadline ?? others.deadline
    merged.label = label ?? others.label
    merged.tags = tags ?? others.tags
    merged.timeout = timeout ?? others.timeout
    merged.retry = retry ?? others.retry
    merged.maxSnoozeCount = maxSnoozeCount ?? others.maxSnoozeCount
    merged.maxCrashCount = maxCrashCount ?? others.maxCrashCount
    merged.unique = unique ?? others.unique
    merged.retention = retention ?? others.retention
    merged.limits = limits ?? others.limits
    merged.fullQueuePolicy = fullQueuePolicy ?? others.fullQueuePolicy
    // A job that ignored some of them would run too early.
    merged.after = others.after + after
    return merged
  }
}

extension JobOptions: ExpressibleByArrayLiteral {
  /// Creates a set from options.
  ///
  /// - Parameter options: The options. If several set the same value, the last one takes precedence.
  public init(arrayLiteral options: JobOption...) { self.init(options) }

  /// Creates a set from options.
  ///
  /// - Parameter options: The options. If several set the same value, the last one takes precedence.
  public init(_ options: some Sequence<JobOption>) { for option in options { set(option) } }
}
