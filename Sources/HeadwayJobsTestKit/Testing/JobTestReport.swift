@_spi(JobStore) public import HeadwayJobs

/// The results of the jobs that ended while ``JobTest/drain(_:for:)`` ran.
public struct JobTestReport: Sendable, CustomStringConvertible {
  /// The number of jobs that have succeeded.
  public var succeededCount = 0
  /// The errors and reasons of the jobs that have failed.
  ///
  /// The first elements are jobs whose last attempt has failed, in the order of these attempts. Jobs that the store has
  /// marked as failed follow in insertion order. For example, these jobs have snoozed too often, were cancelled before
  /// their next attempt, or are damaged.
  public var failures: [JobFailure] = []
  /// The increase in the number of cancelled jobs in the store.
  ///
  /// This includes jobs that have missed their deadline, and jobs that were cancelled because another job failed. It
  /// does not include jobs that are not kept.
  public var cancelledCount = 0
  /// The number of attempts that have failed, and whose jobs ran or will run again.
  public var retriedCount = 0
  /// The number of attempts that have ended with a snooze.
  public var snoozedCount = 0
  /// The number of attempts that have ended because their job waits for a signal or sleeps.
  public var suspendedCount = 0
  /// How far the time of the store has moved.
  public var duration = Duration.zero
  /// The time of the next due job, tick, deadline or token of a rate; nil if there is none.
  public var nextTime: StoreTime?

  /// Creates an empty report.
  public init() {}

  /// The number of jobs that have failed.
  public var failedCount: Int { failures.count }

  /// A readable list of the numbers, and of the failures.
  public var description: String {
    let counts = [
      "\(succeededCount) succeeded", "\(failedCount) failed", "\(cancelledCount) cancelled",
      "\(retriedCount) attempts retried", "\(snoozedCount) attempts snoozed",
      "\(suspendedCount) attempts suspended",
    ]
    return ([counts.joined(separator: ", ")] + failures.map { "\($0)" }).joined(separator: "\n")
  }

  /// Counts the attempts that have ended.
  ///
  /// - Parameters:
  ///   - events: The events of the worker.
  ///   - failed: The jobs of the store that have failed since the report began, in order.
  ///   - jobs: The jobs of the store, for reading the errors of failed jobs.
  /// - Throws: `JobError` if the store can't be read.
  mutating func note(_ events: [JobEvent], failed: [JobRecord], _ jobs: Jobs) async throws {
    // The jobs whose last attempt has ended with a retry.
    var retried: Set<JobID> = []
    for case .ended(let attempt, let action) in events {
      retried.remove(attempt.id)
      switch action {
      case .succeed: succeededCount += 1
      case .retry:
        retriedCount += 1
        retried.insert(attempt.id)
      case .snooze: snoozedCount += 1
      case .wait: suspendedCount += 1
      case .fail(let reason, _):
        let error = try await jobs.job(attempt.id)?.history.errors.last
        failures.append(JobFailure(id: attempt.id, state: .failed, reason: reason, lastError: error))
      case .cancel, .release: break
      }
    }
    // A store can change an ending: a job fails if it snoozes too often, or if it was cancelled and can't run again. A
    // job also fails without an attempt, for example if it is damaged.
    let known = Set(failures.map(\.id))
    for job in failed where !known.contains(job.id) {
      guard let reason = job.reason else { continue }
      if retried.contains(job.id), job.attempt == job.history.errors.last?.attempt { retriedCount -= 1 }
      failures.append(JobFailure(id: job.id, state: .failed, reason: reason, lastError: job.history.errors.last))
    }
  }
}
