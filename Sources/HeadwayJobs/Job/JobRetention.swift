/// How long a store keeps finished jobs.
public struct JobRetention: Hashable, Codable, Sendable {
  /// How long a succeeded job is kept; 1 day by default.
  public var succeeded: Duration
  /// How long a cancelled job is kept; 1 day by default.
  public var cancelled: Duration
  /// How long a failed job is kept; 14 days by default.
  public var failed: Duration

  /// Creates a retention.
  ///
  /// - Parameters:
  ///   - succeeded: How long a succeeded job is kept.
  ///   - cancelled: How long a cancelled job is kept.
  ///   - failed: How long a failed job is kept.
  public init(
    succeeded: Duration = .seconds(86_400), cancelled: Duration = .seconds(86_400),
    failed: Duration = .seconds(14 * 86_400)
  ) {
    self.succeeded = succeeded
    self.cancelled = cancelled
    self.failed = failed
  }

  /// Finished jobs are not kept: a job is deleted when it ends.
  public static let none = JobRetention(succeeded: .zero, cancelled: .zero, failed: .zero)

  /// Returns how long a job that ended in a state is kept.
  ///
  /// - Parameter state: The state of a finished job.
  /// - Returns: The duration; zero if the job is deleted when it ends.
  public func duration(after state: JobState) -> Duration {
    switch state {
    case .failed: failed
    case .cancelled: cancelled
    default: succeeded
    }
  }
}
