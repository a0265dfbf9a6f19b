import Headway

/// A limit for all jobs with the same key, which applies to all workers of the store together.
///
/// ```swift
/// let options = JobOptions(limit: .concurrency(2, key: "customer:7"))
/// ```
///
/// Within a queue and a priority, claims serve the keys in turn. Therefore, a key with many waiting jobs delays the
/// jobs of other keys by at most one round.
///
/// Keys of different kinds of limits are separate. If the jobs of a key have different limits, a claim uses the limit
/// of the job that is next.
public struct JobLimit: Hashable, Codable, Sendable {
  /// The kind of limit.
  public enum Rule: Hashable, Codable, Sendable {
    /// At most this many jobs run at a time.
    case concurrent(Int)
    /// One job runs at a time, in the order of enqueueing.
    ///
    /// A job keeps its place while it is scheduled, or waits for its next attempt. Later ones wait for it, regardless
    /// of their priority.
    case serial
    /// Jobs are claimed at this rate.
    case rate(JobRate)
  }

  /// The key.
  public var key: String
  /// The kind of limit.
  public var rule: Rule

  /// Creates a limit.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - rule: The kind of limit.
  public init(key: String, rule: Rule) {
    self.key = key
    self.rule = rule
  }

  /// Limits the number of jobs with a key that run at a time.
  ///
  /// - Precondition: `count` is positive.
  /// - Parameters:
  ///   - count: The maximum number of jobs.
  ///   - key: The key.
  /// - Returns: The limit.
  public static func concurrency(_ count: Int, key: String) -> JobLimit {
    require(count > 0, "A limit of \(count) jobs would never run a job: use a positive number.")
    return JobLimit(key: key, rule: .concurrent(count))
  }

  /// Runs the jobs with a key one at a time, in the order of enqueueing.
  ///
  /// - Parameter key: The key.
  /// - Returns: The limit.
  public static func serial(key: String) -> JobLimit { JobLimit(key: key, rule: .serial) }

  /// Limits how many jobs with a key are claimed in a period.
  ///
  /// The key has a token bucket, and each claim of a job takes a token. Tokens are never returned, not even after a
  /// crash of the worker.
  ///
  /// - Precondition: `count`, `period` and `burst` are positive.
  /// - Parameters:
  ///   - count: The number of tokens that are added in each period, at equal intervals.
  ///   - period: The period.
  ///   - burst: The number of tokens that the bucket can hold; `count` by default.
  ///   - key: The key.
  /// - Returns: The limit.
  public static func rate(_ count: Int, per period: Duration, burst: Int? = nil, key: String) -> JobLimit {
    JobLimit(key: key, rule: .rate(JobRate(count, per: period, burst: burst)))
  }
}

@_spi(JobStore) extension JobLimit {
  /// The stored form of the key: a hash, a letter for the kind of limit, and the key itself.
  ///
  /// Keys are served in the order of this string. The hash distributes new keys over a round. Without it, keys that
  /// increase over time would always come next, and a round might never end.
  public var storedKey: String {
    let kind =
      switch rule {
      case .concurrent: "l"
      case .serial: "s"
      case .rate: "r"
      }
    let digits = String(Self.hash(key), radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits + kind + key
  }

  /// The number of jobs of the key that can run at a time; 0 for a serial key, nil for a rate.
  public var slots: Int? {
    switch rule {
    case .concurrent(let count): max(1, count)
    case .serial: 0
    case .rate: nil
    }
  }

  /// Returns whether a job of a key can run.
  ///
  /// - Parameters:
  ///   - slots: The ``slots`` of the job's limit.
  ///   - runningCount: The number of running jobs of the key.
  ///   - isFirst: Returns whether no other unfinished job of the key has an earlier place. It is called only for serial
  ///     keys.
  /// - Returns: Whether it can run.
  public static func admits(slots: Int, runningCount: Int, isFirst: () throws -> Bool) rethrows -> Bool {
    guard slots == 0 else { return runningCount < slots }
    guard runningCount == 0 else { return false }
    return try isFirst()
  }

  private static func hash(_ text: String) -> UInt32 { UInt32(truncatingIfNeeded: StableHash.hash(text) >> 32) }
}

extension JobRecord {
  /// Whether the job keeps its place when it waits again, because its key is serial.
  @_spi(JobStore) public var keepsPlace: Bool { settings.limit?.rule == .serial }
}
