public import FoundationEssentials
public import Headway

/// An option of a job, for example its queue.
///
/// Pass options when you enqueue a job. Options of all jobs of a type are in the property ``Job/options`` of the type:
///
/// ```swift
/// try await jobs.enqueue(Resize(path: path), .queue("images"), .priority(.high), .delay(.seconds(5)))
/// ```
///
/// If an option occurs twice, the later one takes precedence. Options of the call take precedence over options of the
/// type. Only the jobs of several `after` options add up.
///
/// The values are checked when you enqueue the job. An invalid value stops the process with a message. If a
/// name or a key is too long, enqueueing throws a ``JobError`` with the code ``JobError/Code/nameTooLong``.
public struct JobOption: Hashable, Sendable {
  /// The options that this one sets.
  let options: JobOptions

  private init(_ set: (inout JobOptions) -> Void) {
    var options = JobOptions()
    set(&options)
    self.options = options
  }

  /// Several options, for example a prepared list.
  ///
  /// ```swift
  /// let large: JobOptions = [.queue("images"), .timeout(.seconds(600))]
  /// try await jobs.enqueue(Resize(path: path), .options(large), .priority(.low))
  /// ```
  ///
  /// - Parameter options: Options that take precedence over options that come before this one.
  /// - Returns: The options as one option.
  public static func options(_ options: JobOptions) -> JobOption { JobOption { $0 = options } }

  // MARK: Place and order

  /// The queue of the store that the job waits in; ``JobOptions/defaultQueue`` by default.
  ///
  /// - Precondition: The name is not empty.
  /// - Parameter name: The name of the queue: up to 512 bytes of UTF-8.
  /// - Returns: An option that sets the queue.
  public static func queue(_ name: String) -> JobOption { JobOption { $0.queue = name } }

  /// The priority among the waiting jobs of the queue; `.normal` by default.
  ///
  /// - Parameter priority: Jobs with a higher priority are claimed first.
  /// - Returns: An option that sets the priority.
  public static func priority(_ priority: Operation.QueuePriority) -> JobOption { JobOption { $0.priority = priority } }

  /// The quality of service of the job's operation; by default, the quality of service of a new operation.
  ///
  /// - Parameter quality: The quality of service.
  /// - Returns: An option that sets the quality of service.
  public static func qualityOfService(_ quality: QualityOfService) -> JobOption {
    JobOption { $0.qualityOfService = quality }
  }

  // MARK: Times

  /// How long the job waits before it is ready for the first time, from when it is stored; not at all by default.
  ///
  /// The store's clock measures the time. A delay replaces an earlier ``startDate(_:)``, even a start date of the job's
  /// type.
  ///
  /// - Precondition: The duration is not negative.
  /// - Parameter duration: The duration, in whole microseconds. Fractions are dropped.
  /// - Returns: An option that sets the delay.
  public static func delay(_ duration: Duration) -> JobOption { JobOption { $0.delay = duration } }

  /// The earliest time when the job runs; the time when it is stored by default.
  ///
  /// A start date replaces an earlier ``delay(_:)``, even a delay of the job's type. If the date is in the past, the
  /// job is ready immediately.
  ///
  /// - Parameter date: The date before which the job does not run. It is rounded to microseconds.
  /// - Returns: An option that sets the start date.
  public static func startDate(_ date: Date) -> JobOption { JobOption { $0.startDate = date } }

  /// The time when the job is cancelled if it has not started; never by default.
  ///
  /// The deadline is a point in time, not a duration. For a deadline an hour from now, pass
  /// `Date.now.addingTimeInterval(3_600)`. To limit how long an attempt runs, use ``timeout(_:)``.
  ///
  /// - Parameter date: If the date is in the past, the job is cancelled without running.
  /// - Returns: An option that sets the deadline.
  public static func deadline(_ date: Date) -> JobOption { JobOption { $0.deadline = date } }

  /// The time limit of each attempt; none by default.
  ///
  /// After that time, the attempt's operation is cancelled. When its code has returned, the attempt has failed.
  ///
  /// - Parameter duration: The time limit of each attempt. Zero and negative durations cancel the operation
  ///   immediately.
  /// - Returns: An option that sets the timeout.
  public static func timeout(_ duration: Duration) -> JobOption { JobOption { $0.timeout = duration } }

  /// How long the job is kept after it has ended; by default, the values of ``JobRetention``.
  ///
  /// - Precondition: No duration is negative.
  /// - Parameter retention: The durations for each way of ending.
  /// - Returns: An option that sets the retention.
  public static func retention(_ retention: JobRetention) -> JobOption { JobOption { $0.retention = retention } }

  // MARK: Attempts

  /// How often and when the job is run again after an error; ``JobOptions/defaultRetry`` by default.
  ///
  /// - Parameter policy: `.never` means a single attempt.
  /// - Returns: An option that sets the retry policy.
  public static func retry(_ policy: RetryPolicy) -> JobOption { JobOption { $0.retry = policy } }

  /// The maximum number of times that the job can throw ``JobOutcome/snooze(_:)``; 1,000 by default.
  ///
  /// A job that snoozes more often fails.
  ///
  /// - Precondition: The count is not negative.
  /// - Parameter count: How often the job can snooze.
  /// - Returns: An option that sets the maximum.
  public static func maxSnoozeCount(_ count: Int) -> JobOption { JobOption { $0.maxSnoozeCount = count } }

  /// The number of processes that can die while they run the job before the job fails; 4 by default.
  ///
  /// - Precondition: The count is at least 1.
  /// - Parameter count: How many processes can run the job and die. The job fails when this number is reached.
  /// - Returns: An option that sets the maximum.
  public static func maxCrashCount(_ count: Int) -> JobOption { JobOption { $0.maxCrashCount = count } }

  // MARK: Other jobs

  /// A key that only one job can hold at a time; none by default.
  ///
  /// If another job holds the key, the new job is not stored. The call returns a handle to the other job.
  ///
  /// - Precondition: A key that is held for a time has a positive duration.
  /// - Parameter key: The key: up to 1,024 bytes of UTF-8.
  /// - Returns: An option that sets the key.
  public static func unique(_ key: UniqueKey) -> JobOption { JobOption { $0.unique = key } }

  /// The limits that the job counts toward, each for all jobs with the same key in all workers together; none by
  /// default.
  ///
  /// The key of the first limit determines the turn of the job. An empty array removes the limits of the job's type.
  ///
  /// - Precondition: There are at most ``JobLimit/maxCount`` limits, their keys differ, each of them can let the job
  ///   run, and only the first limit is serial.
  /// - Parameter limits: Up to four limits. Each key has up to 1,024 bytes of UTF-8.
  /// - Returns: An option that sets the limits.
  public static func limits(_ limits: [JobLimit]) -> JobOption { JobOption { $0.limits = limits } }

  /// The jobs that the job waits for; none by default.
  ///
  /// ```swift
  /// let photo = try await jobs.enqueue(Resize(path: "photo.jpg"))
  /// try await jobs.enqueue(Publish(), .after(photo.success))
  /// ```
  ///
  /// The jobs of all `after` options add up, including the options of the job's type. If a job occurs twice, and once
  /// as ``JobReference/success``, it must succeed. If the store does not have a job, enqueueing throws a ``JobError``
  /// with the code ``JobError/Code/unknownJob``.
  ///
  /// - Precondition: Entries of a ``JobBatch`` belong to the batch that the job is added to.
  /// - Parameter jobs: Handles, entries of the same batch, or numbers, or their ``JobReference/success``.
  /// - Returns: An option that adds the dependencies.
  public static func after(_ jobs: any JobReference...) -> JobOption { after(jobs) }

  /// The jobs that the job waits for, as a list.
  ///
  /// - Parameter jobs: Handles, entries of the same batch, or numbers, or their ``JobReference/success``.
  /// - Returns: An option that adds the dependencies. It is the same as for single jobs.
  public static func after(_ jobs: [any JobReference]) -> JobOption {
    JobOption { $0.after = jobs.map(\.dependency) }
  }

  /// The behavior if the queue has reached its pending limit; the call waits by default.
  ///
  /// Inside a transaction of the application, and inside a job, enqueueing always fails. For a batch, the policy of any
  /// job applies to all if it is ``FullQueuePolicy/fail``.
  ///
  /// - Parameter policy: Whether the call waits for room in the queue or fails.
  /// - Returns: An option that sets the behavior.
  public static func fullQueuePolicy(_ policy: FullQueuePolicy) -> JobOption {
    JobOption { $0.fullQueuePolicy = policy }
  }

  // MARK: Finding

  /// A readable description, for example for lists of jobs; none by default.
  ///
  /// - Parameter text: The description: up to 1,024 bytes of UTF-8.
  /// - Returns: An option that sets the description.
  public static func label(_ text: String) -> JobOption { JobOption { $0.label = text } }

  /// Words for finding the job; none by default.
  ///
  /// - Parameter words: Up to 100 words, each of up to 512 bytes of UTF-8. They replace the tags of the job's type.
  /// - Returns: An option that sets the tags.
  public static func tags(_ words: [String]) -> JobOption { JobOption { $0.tags = words } }
}
