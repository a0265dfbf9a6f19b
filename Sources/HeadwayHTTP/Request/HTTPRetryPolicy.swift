#if HTTP
import HTTPTypes

/// The policy for repeating failed requests.
///
/// Only GET, HEAD, PUT, DELETE, OPTIONS and TRACE requests are repeated, and only after a temporary failure. A
/// temporary failure is a connection that fails, breaks or stalls, or a status of 408, 425, 429, 500, 502, 503 or 504.
/// If the response has the field `Retry-After`, the pause is as long as this field specifies. If that is longer than
/// ``maxDelay``, the request is not repeated.
public struct HTTPRetryPolicy: Sendable {
  /// The maximum number of attempts, including the first one; 3 by default.
  public var maxAttemptCount = 3
  /// The maximum length of the first pause; 500 ms by default.
  ///
  /// The maximum doubles with each further pause.
  public var initialDelay = Duration.milliseconds(500)
  /// The maximum length of any pause; 30 s by default.
  public var maxDelay = Duration.seconds(30)

  /// Creates the default policy.
  public init() {}

  /// No retries.
  public static var none: HTTPRetryPolicy {
    var policy = HTTPRetryPolicy()
    policy.maxAttemptCount = 1
    return policy
  }

  private static let temporaryStatuses: Set<HTTPResponse.Status> = [408, 425, 429, 500, 502, 503, 504]

  /// Returns the pause before another attempt.
  ///
  /// The pause uses "full jitter": a random fraction of a limit that doubles, so that clients that failed at the same
  /// time do not retry at the same time (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
  ///
  /// - Parameters:
  ///   - error: The error of the last attempt.
  ///   - attempt: The number of attempts so far.
  ///   - random: A random number between 0 and 1.
  /// - Returns: The pause; nil if there should be no other attempt.
  func delay(after error: RequestError, attempt: Int, random: Double) -> Duration? {
    guard attempt < maxAttemptCount else { return nil }
    switch error.code {
    case .cannotConnect, .connectionBroken, .timedOut: break
    case .unexpectedStatus where error.status.map { Self.temporaryStatuses.contains($0) } == true: break
    default: return nil
    }
    if let asked = error.retryAfter { return asked <= maxDelay ? asked : nil }
    var longest = initialDelay
    for _ in 1..<attempt where longest > .zero && longest < maxDelay { longest *= 2 }
    return min(maxDelay, longest) * random
  }
}
#endif
