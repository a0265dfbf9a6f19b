#if HTTP
import NIOHTTP1

/// The limits of a request: time, bytes, and redirects.
public struct HTTPLimits: Sendable {
  /// The maximum size of a decompressed body, in bytes; by default, 64 MB for a body in memory, and no limit for
  /// downloads and streams.
  public var maximumBodyBytes: Int?
  /// The maximum total time, retries included; no limit by default.
  public var totalTime: Duration?
  /// The maximum number of redirects; 10 by default.
  public var maximumRedirects = 10
  /// The statuses outside the range 200 to 299 that are not errors.
  ///
  /// A ``DownloadOperation`` writes the content of such a response to its file. The exception is 304 (not modified):
  /// the file is then left unchanged. A redirect that contains a location is followed even if its status is allowed.
  public var allowedStatuses: Set<UInt> = []
  /// The maximum number of bytes of an error's decompressed content that are kept in ``HTTPError/body``; 16 KB by
  /// default.
  public var maximumErrorBodyBytes = 16 << 10
  /// The maximum time to wait for an error's content after receiving the status; one second by default.
  public var errorBodyTime = Duration.seconds(1)
  /// How failed requests are repeated.
  public var retries = HTTPRetries()

  /// Creates the default limits.
  public init() {}

  func allows(_ status: HTTPResponseStatus) -> Bool {
    (200...299).contains(status.code) || allowedStatuses.contains(status.code)
  }
}

/// How failed requests are repeated.
///
/// Only GET, HEAD, PUT, DELETE, OPTIONS and TRACE requests are repeated, and only after a temporary failure. A
/// temporary failure is a connection that fails, breaks or stalls, or a status of 408, 425, 429, 500, 502, 503 or 504.
/// If the response has `Retry-After`, the pause is that long. If that is longer than ``maximumDelay``, the request is
/// not repeated.
public struct HTTPRetries: Sendable {
  /// The maximum number of attempts, including the first one; 3 by default.
  public var maximumAttempts = 3
  /// The maximum length of the first pause; 500 ms by default.
  ///
  /// The maximum doubles with each further pause.
  public var firstDelay = Duration.milliseconds(500)
  /// The maximum length of any pause; 30 s by default.
  public var maximumDelay = Duration.seconds(30)

  /// Creates the default retries.
  public init() {}

  /// No retries.
  public static var none: HTTPRetries {
    var retries = HTTPRetries()
    retries.maximumAttempts = 1
    return retries
  }

  static let statuses: Set<UInt> = [408, 425, 429, 500, 502, 503, 504]

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
  func delay(after error: HTTPError, attempt: Int, random: Double) -> Duration? {
    guard attempt < maximumAttempts else { return nil }
    switch error.code {
    case .cannotConnect, .connectionBroken, .timedOut: break
    case .unexpectedStatus where error.status.map { Self.statuses.contains($0.code) } == true: break
    default: return nil
    }
    if let asked = error.retryAfter { return asked <= maximumDelay ? asked : nil }
    var longest = firstDelay
    for _ in 1..<attempt where longest > .zero && longest < maximumDelay { longest *= 2 }
    return min(maximumDelay, longest) * random
  }
}
#endif
