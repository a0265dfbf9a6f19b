import Headway

extension JobsHealth {
  /// The limits beyond which the result of a check is a problem.
  ///
  /// ```swift
  /// var options = JobsHealth.Options()
  /// options.maxWait = .seconds(3_600)
  /// let health = try await jobs.health(options)
  /// ```
  public struct Options: Hashable, Sendable {
    /// The part of the attempts of a kind, and of the jobs that end, that can fail; 0.1 by default.
    ///
    /// If more attempts of a kind fail in the last five minutes, the finding is a warning. If half of them fail, it is
    /// bad. If more than this part of all jobs that ended in the last hour have failed, the finding is bad.
    public var maxFailedPart = 0.1
    /// The number of failures up to which there is no finding; 9 by default.
    ///
    /// It also applies to jobs that wait for another attempt, and to jobs that a queue gains in five minutes.
    public var maxFailureCount = 9
    /// How long jobs can wait for a worker; 5 minutes by default.
    ///
    /// A longer wait is a warning if it is also twice as long as 95% of the waits of the last hour. It is bad if no job
    /// of the queue has started in the last hour. A queue that grows is a warning if its waiting jobs would take longer
    /// than this at the rate of the last five minutes.
    public var maxWait = Duration.seconds(300)
    /// How late a tick of a schedule can be; 1 minute by default.
    public var maxTickDelay = Duration.seconds(60)

    /// Creates options with default values.
    public init() {}

    /// Stops the process if a limit has no meaning.
    func check() {
      require(
        (0...1).contains(maxFailedPart) && maxFailureCount >= 0 && maxWait >= .zero && maxTickDelay >= .zero,
        "The options of a health check are \(self): use a part from 0 to 1, and no negative values.")
    }
  }
}
