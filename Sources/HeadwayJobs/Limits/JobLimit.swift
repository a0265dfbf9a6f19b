import Headway

/// A limit for all jobs with the same key, which applies to all workers of the store together.
///
/// ```swift
/// let options: JobOptions = [
///   .limits([.concurrency(2, key: "customer:7"), .concurrency(10, key: "gpu", weight: 3)])
/// ]
/// ```
///
/// A job is claimed when all its limits permit it. It then counts toward each of them. Until then, it counts toward
/// none.
///
/// The key of the first limit determines the turn of the job: within a queue and a priority, claims serve these keys in
/// turn. Therefore, a key with many waiting jobs delays the jobs of other keys by at most one round. Put the key that
/// must be treated fairly first, for example the customer, and a resource that many customers share after it.
///
/// Keys of different kinds of limits are separate. If the jobs of a key have different limits, a claim uses the limit
/// of the job that is next.
public struct JobLimit: Hashable, Codable, Sendable {
  /// The kind of limit.
  public enum Rule: Hashable, Codable, Sendable {
    /// The maximum sum of the weights of the jobs that run at a time.
    case concurrent(Int)
    /// One job runs at a time, in the order of enqueueing.
    ///
    /// A job keeps its place while it is scheduled, or waits for its next attempt. Later ones wait for it, regardless
    /// of their priority.
    case serial
    /// Jobs are claimed at this rate.
    case rate(JobRate)
  }

  /// The maximum number of limits of a job.
  public static let maxCount = 4
  /// The maximum weight.
  static let maxWeight = 1_000_000_000

  /// The key.
  public var key: String
  /// The kind of limit.
  public var rule: Rule
  /// How many units of a concurrency, or tokens of a rate, the job takes.
  public var weight: Int

  /// Creates a limit.
  ///
  /// - Parameters:
  ///   - key: The text of the key, up to 1,024 bytes of UTF-8.
  ///   - rule: The kind of limit.
  ///   - weight: How many units or tokens the job takes; 1 for a serial key.
  public init(key: String, rule: Rule, weight: Int = 1) {
    self.key = key
    self.rule = rule
    self.weight = weight
  }

  /// Limits the sum of the weights of the jobs with a key that run at a time.
  ///
  /// By default, each job has the weight 1.
  ///
  /// Jobs with the same key wait in order. If there are too few units for the next job, the units that become free are
  /// kept for this job. Therefore, lighter jobs don't keep a heavy job from running.
  ///
  /// - Precondition: `count` is positive, and `weight` is from 1 to `count`.
  /// - Parameters:
  ///   - count: The maximum sum of the weights.
  ///   - key: The text of the key, up to 1,024 bytes of UTF-8.
  ///   - weight: How many of these units the job takes while it runs.
  /// - Returns: A limit with the rule ``Rule/concurrent(_:)``.
  public static func concurrency(_ count: Int, key: String, weight: Int = 1) -> JobLimit {
    require(count > 0, "A limit of \(count) jobs would never run a job: use a positive number.")
    requireWeight(weight, upTo: count)
    return JobLimit(key: key, rule: .concurrent(count), weight: weight)
  }

  /// Runs the jobs with a key one at a time, in the order of enqueueing.
  ///
  /// This limit must be the first limit of the job.
  ///
  /// - Parameter key: The text of the key, up to 1,024 bytes of UTF-8.
  /// - Returns: A limit with the rule ``Rule/serial``.
  public static func serial(key: String) -> JobLimit { JobLimit(key: key, rule: .serial) }

  /// Limits how many jobs with a key are claimed in a period.
  ///
  /// The key has a token bucket, and each claim of a job takes as many tokens as the job's weight. Tokens are never
  /// returned, not even after a crash of the worker.
  ///
  /// - Precondition: `count`, `period` and `burst` are positive, and `weight` is from 1 to `burst`.
  /// - Parameters:
  ///   - count: The number of tokens that are added in each period, at equal intervals.
  ///   - period: How long it takes to add `count` tokens.
  ///   - burst: The number of tokens that the bucket can hold; `count` by default.
  ///   - key: The text of the key, up to 1,024 bytes of UTF-8.
  ///   - weight: How many tokens a claim of the job takes.
  /// - Returns: A limit with the rule ``Rule/rate(_:)``.
  public static func rate(
    _ count: Int, per period: Duration, burst: Int? = nil, key: String, weight: Int = 1
  ) -> JobLimit {
    let rate = JobRate(count, per: period, burst: burst)
    requireWeight(weight, upTo: rate.burst)
    return JobLimit(key: key, rule: .rate(rate), weight: weight)
  }

  private static func requireWeight(_ weight: Int, upTo count: Int) {
    let maximum = min(max(1, count), maxWeight)
    require(
      1...maximum ~= weight,
      "A job with the weight \(weight) would never run with a limit of \(count): use a weight from 1 to \(maximum).")
  }
}

extension JobLimit: CustomStringConvertible {
  /// The key, followed by the kind of limit and a weight of more than 1.
  public var description: String { "\(key) (\(ruleDescription)\(weight == 1 ? "" : ", takes \(weight)"))" }

  /// The kind of limit, without the key.
  package var ruleDescription: String {
    switch rule {
    case .concurrent(let count): "\(count) at a time"
    case .serial: "one at a time, in order"
    case .rate(let rate):
      "\(rate.count) per \(rate.period)" + (rate.burst == rate.count ? "" : ", bursts of \(rate.burst)")
    }
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

  /// The maximum sum of the weights of the key's jobs that run at a time; 0 for a serial key, nil for a rate.
  public var slots: Int? {
    switch rule {
    case .concurrent(let count): max(1, count)
    case .serial: 0
    case .rate: nil
    }
  }

  /// The rate; nil for the other kinds of limits.
  public var jobRate: JobRate? { if case .rate(let rate) = rule { rate } else { nil } }

  /// The weight, in the valid range.
  public var units: Int { min(max(1, weight), Self.maxWeight) }

  private static func hash(_ text: String) -> UInt32 { UInt32(truncatingIfNeeded: StableHash.hash(text) >> 32) }
}

extension JobRecord {
  /// Whether the job keeps its place when it waits again, because its key is serial.
  @_spi(JobStore) public var keepsPlace: Bool { settings.firstLimit?.rule == .serial }
}
