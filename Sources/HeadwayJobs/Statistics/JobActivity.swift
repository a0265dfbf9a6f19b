/// The events of jobs in a period: their numbers, and how long jobs have waited and run.
public struct JobActivity: Hashable, Codable, Sendable {
  /// The number of jobs that were added.
  public var enqueued = 0
  /// The number of failed or cancelled jobs that were run again on request.
  public var restarted = 0
  /// The number of jobs that have succeeded.
  public var succeeded = 0
  /// The number of jobs that have failed.
  public var failed = 0
  /// The number of jobs that were cancelled.
  public var cancelled = 0
  /// The number of attempts that have ended with an error, even if the job runs again.
  public var failedAttempts = 0
  /// The number of attempts that have ended because their process died.
  public var crashes = 0
  /// How long jobs have waited for a worker.
  ///
  /// A job is counted when a worker claims it, so each attempt counts.
  public var waits = JobDurations()
  /// How long attempts have run.
  ///
  /// An attempt is counted when it ends, unless the worker has given back the job, or has died.
  public var runs = JobDurations()

  /// Creates a description of no activity.
  public init() {}

  /// The number of jobs that have ended.
  public var ended: Int { succeeded + failed + cancelled }

  /// Adds activity.
  ///
  /// - Parameters:
  ///   - sum: The activity to change.
  ///   - other: The activity to add.
  public static func += (sum: inout JobActivity, other: JobActivity) {
    sum.enqueued += other.enqueued
    sum.restarted += other.restarted
    sum.succeeded += other.succeeded
    sum.failed += other.failed
    sum.cancelled += other.cancelled
    sum.failedAttempts += other.failedAttempts
    sum.crashes += other.crashes
    sum.waits += other.waits
    sum.runs += other.runs
  }

  /// Adds activity.
  ///
  /// - Parameters:
  ///   - left: The activity on the left side of the operator.
  ///   - right: Another activity.
  /// - Returns: The sum of both.
  public static func + (left: JobActivity, right: JobActivity) -> JobActivity {
    var sum = left
    sum += right
    return sum
  }
}
