/// A policy that determines when, and how many times, failed work is retried.
///
/// ```swift
/// let page = queue.addTask(.retry(.exponential(maxAttemptCount: 5))) { attempt in
///   try await fetch(addresses[0])
/// }
/// ```
///
/// A policy is a value that you can store and compare. It contains no code: an error that conforms to
/// ``RetryableError`` determines whether a repetition is worthwhile.
public struct RetryPolicy: Sendable, Hashable, Codable {
  /// How long the pauses between attempts are.
  public enum Backoff: Sendable, Hashable, Codable {
    /// All pauses have the same length.
    case constant(Duration)
    /// The first pause has the length `initialDelay`, and each later pause is `factor` times as long as the previous
    /// one, up to `maxDelay`.
    case exponential(initialDelay: Duration, factor: Double, maxDelay: Duration)
    /// The pauses have these lengths, and the last pause repeats.
    case custom([Duration])
  }

  /// How random the length of a pause is.
  public enum Jitter: Sendable, Hashable, Codable {
    /// Pauses have exactly the length of the backoff.
    case none
    /// A pause has a random length between zero and the length of the backoff.
    ///
    /// As a result, clients that failed at the same time do not try again at the same time (M. Brooker, “Exponential
    /// Backoff And Jitter”, AWS Architecture Blog, 2015).
    case full
    /// A pause is longer or shorter than the backoff by a random part of at most this fraction, from 0 to 1.
    case proportional(Double)
  }

  /// The maximum number of attempts, including the first attempt.
  public var maxAttemptCount: Int
  /// How long the pauses are.
  public var backoff: Backoff
  /// How random the length of a pause is.
  public var jitter: Jitter
  /// The maximum time from the beginning of the first attempt to the beginning of the last attempt; nil for no limit.
  ///
  /// If a pause would end after this time, or if this time has passed when the operation can continue, there is no
  /// further attempt.
  public var maxElapsedTime: Duration?
  /// The longest pause that an error may request with ``RetryableError/retryDelay``; nil for no limit.
  ///
  /// If an error requests a longer pause, there is no further attempt.
  public var maxRequestedDelay: Duration?
  /// Whether the operation keeps its concurrency slot and its resources while it waits for its next attempt.
  ///
  /// The default is false, so other operations run in the meantime. If it is true, the next attempt waits only for the
  /// end of the pause. It does not wait for a rate limit or the limits of its key and does not count toward them.
  public var keepsSlot: Bool

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - maxAttemptCount: The maximum number of attempts, including the first attempt.
  ///   - backoff: How long the pauses are.
  ///   - jitter: How random their length is.
  ///   - maxElapsedTime: The maximum time from the beginning of the first attempt to the beginning of the last attempt.
  ///   - maxRequestedDelay: The longest pause that an error may request.
  ///   - keepsSlot: Whether the operation keeps its concurrency slot and its resources during a pause.
  /// - Precondition: `maxAttemptCount` is 1 or more, no duration is negative, a factor is 1 or more, and a list of
  ///   pauses is not empty.
  public init(
    maxAttemptCount: Int, backoff: Backoff, jitter: Jitter = .full, maxElapsedTime: Duration? = nil,
    maxRequestedDelay: Duration? = nil, keepsSlot: Bool = false
  ) {
    self.maxAttemptCount = maxAttemptCount
    self.backoff = backoff
    self.jitter = jitter
    self.maxElapsedTime = maxElapsedTime
    self.maxRequestedDelay = maxRequestedDelay
    self.keepsSlot = keepsSlot
    if let problem { misuse(problem) }
  }

  /// A single attempt.
  public static let never = RetryPolicy(maxAttemptCount: 1, backoff: .constant(.zero), jitter: .none)

  /// Pauses of one length, without jitter.
  ///
  /// - Parameters:
  ///   - maxAttemptCount: The maximum number of attempts, including the first attempt.
  ///   - delay: The length of each pause.
  /// - Returns: A policy with constant pauses.
  public static func constant(maxAttemptCount: Int, delay: Duration) -> RetryPolicy {
    RetryPolicy(maxAttemptCount: maxAttemptCount, backoff: .constant(delay), jitter: .none)
  }

  /// Pauses that double, with full jitter.
  ///
  /// - Parameters:
  ///   - maxAttemptCount: The maximum number of attempts, including the first attempt.
  ///   - initialDelay: The maximum length of the first pause.
  ///   - maxDelay: The maximum length of any pause.
  /// - Returns: A policy with exponential pauses.
  public static func exponential(
    maxAttemptCount: Int, initialDelay: Duration = .milliseconds(500), maxDelay: Duration = .seconds(30)
  ) -> RetryPolicy {
    RetryPolicy(
      maxAttemptCount: maxAttemptCount,
      backoff: .exponential(initialDelay: initialDelay, factor: 2, maxDelay: maxDelay))
  }

  /// The reason why the values are not valid, or nil.
  var problem: String? {
    if maxAttemptCount < 1 { return "A retry policy has \(maxAttemptCount) attempts: use 1 or more." }
    if let maxElapsedTime, maxElapsedTime < .zero {
      return "A retry policy has the negative maxElapsedTime \(maxElapsedTime): use zero or more."
    }
    if let maxRequestedDelay, maxRequestedDelay < .zero {
      return "A retry policy has the negative maxRequestedDelay \(maxRequestedDelay): use zero or more."
    }
    if case .proportional(let fraction) = jitter, !(0...1).contains(fraction) {
      return "A retry policy has the jitter \(fraction): use a fraction from 0 to 1."
    }
    switch backoff {
    case .constant(let delay): return delay < .zero ? "A retry policy has the negative pause \(delay)." : nil
    case .exponential(let initial, let factor, let maximum):
      if min(initial, maximum) < .zero { return "A retry policy has the negative pause \(min(initial, maximum))." }
      return factor >= 1 ? nil : "A retry policy has the factor \(factor): use 1 or more."
    case .custom(let delays):
      if delays.isEmpty { return "A retry policy has an empty list of pauses: use .never for a single attempt." }
      return delays.contains { $0 < .zero } ? "A retry policy has a negative pause in \(delays)." : nil
    }
  }

  private enum CodingKeys: CodingKey {
    case maxAttemptCount, backoff, jitter, maxElapsedTime, maxRequestedDelay, keepsSlot
  }

  /// Creates a policy from its stored form.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: `DecodingError` if the values are not valid.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    maxAttemptCount = try container.decode(Int.self, forKey: .maxAttemptCount)
    backoff = try container.decode(Backoff.self, forKey: .backoff)
    jitter = try container.decode(Jitter.self, forKey: .jitter)
    maxElapsedTime = try container.decodeIfPresent(Duration.self, forKey: .maxElapsedTime)
    maxRequestedDelay = try container.decodeIfPresent(Duration.self, forKey: .maxRequestedDelay)
    keepsSlot = try container.decode(Bool.self, forKey: .keepsSlot)
    if let problem {
      throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: problem))
    }
  }

  /// Returns the pause before the next attempt.
  ///
  /// - Parameters:
  ///   - error: The error of the last attempt. If it conforms to ``RetryableError``, it can rule out another attempt,
  ///     or set the length of the pause.
  ///   - attempt: The number of attempts so far.
  ///   - elapsed: The time since the first attempt began.
  ///   - generator: The source of randomness for the jitter.
  /// - Returns: The length of the pause; nil if there should be no further attempt.
  public func delay(
    after error: any Error, attempt: Int, elapsed: Duration = .zero,
    using generator: inout some RandomNumberGenerator
  ) -> Duration? {
    guard attempt < maxAttemptCount else { return nil }
    let retryable = error as? any RetryableError
    guard retryable?.isRetryable != false else { return nil }
    if let requested = retryable?.retryDelay, let maxRequestedDelay, requested > maxRequestedDelay { return nil }
    let delay = retryable?.retryDelay ?? jittered(longestDelay(after: attempt), using: &generator)
    if let maxElapsedTime, elapsed + delay > maxElapsedTime { return nil }
    return max(.zero, delay)
  }

  /// The length of the pause after a number of attempts, without jitter.
  private func longestDelay(after attempt: Int) -> Duration {
    switch backoff {
    case .constant(let delay): return delay
    case .custom(let delays): return delays[min(max(1, attempt), delays.count) - 1]
    case .exponential(let initial, let factor, let maximum):
      guard attempt > 1, initial > .zero else { return min(initial, maximum) }
      // As numbers, which don't overflow.
      let delay = initial / .seconds(1) * Self.power(of: factor, attempt - 1)
      return delay < maximum / .seconds(1) ? .seconds(delay) : maximum
    }
  }

  /// Returns a power by repeated squaring, which takes at most 63 steps.
  private static func power(of base: Double, _ exponent: Int) -> Double {
    var (result, square, rest) = (1.0, base, exponent)
    while rest > 0 {
      if rest & 1 == 1 { result *= square }
      square *= square
      rest >>= 1
    }
    return result
  }

  private func jittered(_ delay: Duration, using generator: inout some RandomNumberGenerator) -> Duration {
    // A century is longer than any program waits, and its fractions don't overflow.
    let finite = min(delay, .seconds(100 * 365 * 86_400))
    return switch jitter {
    case .none: delay
    case .full: finite * Double.random(in: 0...1, using: &generator)
    case .proportional(let fraction): finite * (1 + Double.random(in: -fraction...fraction, using: &generator))
    }
  }
}

/// An error that determines whether and when failed work is repeated.
///
/// ```swift
/// struct ServerBusy: RetryableError {
///   var retryDelay: Duration?  // From the header field Retry-After.
/// }
/// ```
public protocol RetryableError: Error {
  /// Whether another attempt might succeed; true by default.
  var isRetryable: Bool { get }
  /// How long to wait before the next attempt; nil, the default, for the length in the policy.
  var retryDelay: Duration? { get }
}

extension RetryableError {
  /// Whether another attempt might succeed.
  ///
  /// The default is true.
  public var isRetryable: Bool { true }
  /// How long to wait before the next attempt.
  ///
  /// The default is nil, which selects the length in the policy.
  public var retryDelay: Duration? { nil }
}
