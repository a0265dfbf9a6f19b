/// How many operations may start in a period of time.
///
/// ```swift
/// queue.rateLimit = RateLimit(100, per: .seconds(1), burst: 20)
/// ```
public struct RateLimit: Sendable, Hashable, Codable {
  /// How starts are counted.
  public enum Algorithm: Sendable, Hashable, Codable {
    /// Starts are spread evenly, but after a quiet period, up to `burst` operations can start one immediately after the
    /// other.
    ///
    /// In any period of the length *t*, at most `burst` + (*t* + 1 ms) · `count` / `period` operations start. The
    /// millisecond keeps the rate exact even if threads wake late. The state is a single point in time, as in the
    /// generic cell rate algorithm (ITU-T I.371, 1993), which is equivalent to a token bucket.
    case tokenBucket(burst: Int)
    /// In any period of the given length, at most `count` operations start.
    ///
    /// Use it for a server that counts requests in such a window. The queue stores the times of the last `count`
    /// starts.
    case slidingWindow
  }

  /// How many operations may start in each period.
  public let count: Int
  /// The length of the period.
  public let period: Duration
  /// How starts are counted.
  public let algorithm: Algorithm

  /// Creates a limit that spreads starts evenly.
  ///
  /// - Parameters:
  ///   - count: How many operations may start in each period.
  ///   - period: The length of the period.
  ///   - burst: How many operations may start one immediately after the other, after a quiet period.
  /// - Precondition: `count` and `burst` are 1 or more, and `period` is positive.
  public init(_ count: Int, per period: Duration, burst: Int = 1) {
    self.init(count, per: period, algorithm: .tokenBucket(burst: burst))
  }

  /// Creates a limit on the starts in any period of a given length.
  ///
  /// - Parameters:
  ///   - count: How many operations may start in each period.
  ///   - period: The length of the period.
  /// - Returns: A limit with a sliding window.
  /// - Precondition: `count` is 1 or more, and `period` is positive.
  public static func slidingWindow(_ count: Int, per period: Duration) -> RateLimit {
    RateLimit(count, per: period, algorithm: .slidingWindow)
  }

  private init(_ count: Int, per period: Duration, algorithm: Algorithm) {
    (self.count, self.period, self.algorithm) = (count, period, algorithm)
    if let problem { misuse(problem) }
  }

  /// The reason why the values are not valid, or nil.
  private var problem: String? {
    if count < 1 { return "A rate limit of \(count) starts was created: use 1 or more." }
    if period <= .zero { return "A rate limit per \(period) was created: use a positive period." }
    guard case .tokenBucket(let burst) = algorithm, burst < 1 else { return nil }
    return "A rate limit with a burst of \(burst) was created: use 1 or more."
  }

  private enum CodingKeys: CodingKey { case count, period, algorithm }

  /// Creates a limit from its stored form.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: `DecodingError` if the values are not valid.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    count = try container.decode(Int.self, forKey: .count)
    period = try container.decode(Duration.self, forKey: .period)
    algorithm = try container.decode(Algorithm.self, forKey: .algorithm)
    if let problem {
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: problem))
    }
  }
}
