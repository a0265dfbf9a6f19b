import Headway

/// A rate limit for claims: a token bucket.
public struct JobRate: Hashable, Codable, Sendable {
  /// The number of tokens that are added in each period.
  public var count: Int
  /// The period.
  public var period: Duration
  /// The number of tokens that the bucket can hold.
  public var burst: Int

  /// Creates a rate.
  ///
  /// - Precondition: `count`, `period` and `burst` are positive.
  /// - Parameters:
  ///   - count: The number of tokens that are added in each period, at equal intervals.
  ///   - period: How long it takes to add `count` tokens.
  ///   - burst: The number of tokens that the bucket can hold; `count` by default.
  public init(_ count: Int, per period: Duration, burst: Int? = nil) {
    require(
      count > 0 && period > .zero && burst ?? 1 > 0,
      "A rate of \(count) per \(period) with a burst of \(burst ?? count) would never run a job: use positive numbers.")
    (self.count, self.period, self.burst) = (count, period, burst ?? count)
  }

  /// The time between two tokens, in whole microseconds.
  ///
  /// It is rounded up, so that the rate is never exceeded.
  var interval: Duration {
    let length = max(1, (StoreTime(microseconds: 0) + period).microseconds)
    let (quotient, remainder) = length.quotientAndRemainder(dividingBy: Int64(max(1, count)))
    return min(.microseconds(quotient + (remainder > 0 ? 1 : 0)), Self.longestInterval)
  }

  /// More than a century makes no difference, and the product with the burst could overflow.
  private static let longestInterval = Duration.seconds(100 * 365 * 86_400)
}

/// The token bucket of a key, by the store's clock.
///
/// Its state is the time when the bucket will be full again. Each token that is taken postpones that time by the time
/// between two tokens.
@_spi(JobStore) public struct RateBucket: Hashable, Sendable {
  /// The time when the bucket is full, if no token is taken until then.
  public private(set) var fullTime: StoreTime
  /// The time when there are enough tokens for a job, if a job has to wait for them.
  public private(set) var nextTime: StoreTime?

  private static let maxBurst = 1_000_000_000

  /// Creates a bucket.
  ///
  /// - Parameters:
  ///   - fullTime: The time when the bucket is full.
  ///   - nextTime: The time when there are enough tokens for a job, if a job has to wait for them.
  public init(fullTime: StoreTime, nextTime: StoreTime? = nil) {
    self.fullTime = fullTime
    self.nextTime = nextTime
  }

  /// Returns whether there are enough tokens for a job.
  ///
  /// If there are too few, notes when there will be enough.
  ///
  /// - Parameters:
  ///   - count: The number of tokens; more than the bucket can hold count as a full bucket.
  ///   - rate: The rate of the job.
  ///   - now: The time of the store's clock.
  /// - Returns: Whether there are enough tokens.
  public mutating func hasTokens(_ count: Int = 1, _ rate: JobRate, at now: StoreTime) -> Bool {
    let burst = min(max(1, rate.burst), Self.maxBurst)
    // If the clock was set back, the bucket is at most empty.
    fullTime = min(fullTime, now + rate.interval * burst)
    let available = fullTime + rate.interval * (min(max(1, count), burst) - burst)
    // Another job might wait for more tokens than this one needs, or for fewer.
    if let time = nextTime, time <= now { nextTime = nil }
    guard available > now else { return true }
    nextTime = nextTime.map { min($0, available) } ?? available
    return false
  }

  /// Takes tokens; call it after ``hasTokens(_:_:at:)`` has returned true.
  ///
  /// If another job waits for more tokens, it is examined again at the time that was noted, and then waits longer.
  ///
  /// - Parameters:
  ///   - count: The number of tokens; more than the bucket can hold count as a full bucket.
  ///   - rate: The rate of the job.
  ///   - now: The time of the store's clock.
  public mutating func take(_ count: Int = 1, _ rate: JobRate, at now: StoreTime) {
    fullTime = max(fullTime, now) + rate.interval * min(max(1, count), min(max(1, rate.burst), Self.maxBurst))
  }
}
