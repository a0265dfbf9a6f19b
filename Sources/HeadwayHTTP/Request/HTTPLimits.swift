#if HTTP
import NIOHTTP1

/// What a request may take: time, bytes, redirects.
public struct HTTPLimits: Sendable {
  /// How many bytes a body may have, decompressed; 64 MB by default for what is kept in memory, none for downloads.
  public var maximumBodyBytes: Int?
  /// How long all may take, retries included; no limit by default.
  public var totalTime: Duration?
  /// How many redirects are followed; 10 by default.
  public var maximumRedirects = 10
  /// The statuses, beside those from 200 to 299, that are no errors.
  ///
  /// A ``DownloadOperation`` takes the content of such an answer for the file; only where 304 (not modified) is
  /// allowed and comes, the file stays as it is. A redirect that says where to is followed all the same.
  public var allowedStatuses: Set<UInt> = []
  /// How many bytes of an error's content are kept, decompressed, in ``HTTPError/body``; 16 KB by default.
  public var maximumErrorBodyBytes = 16 << 10
  /// How long the operation waits for an error's content after it has received the status; one second by default.
  public var errorBodyTime = Duration.seconds(1)
  /// How often and when a request that failed is repeated.
  public var retries = HTTPRetries()

  /// The limits that hold if nothing else is said.
  public init() {}

  func allows(_ status: HTTPResponseStatus) -> Bool {
    (200...299).contains(status.code) || allowedStatuses.contains(status.code)
  }
}

/// How often and when a request that failed is repeated.
///
/// Only GET, HEAD, PUT, DELETE, OPTIONS and TRACE are repeated, and only after a temporary failure: a connection that
/// fails, breaks or stalls, or a status of 408, 425, 429, 500, 502, 503 or 504. If the answer has `Retry-After`, the
/// pause is that long; if that is longer than ``maximumDelay``, the request is not repeated.
public struct HTTPRetries: Sendable {
  /// The largest number of attempts, including the first one; 3 by default.
  public var maximumAttempts = 3
  /// The longest first pause; 500 ms by default.
  ///
  /// Each further pause is at most twice as long as the one before.
  public var firstDelay = Duration.milliseconds(500)
  /// The longest pause; 30 s by default.
  public var maximumDelay = Duration.seconds(30)

  /// Creates the default retries.
  public init() {}

  /// None at all.
  public static var none: HTTPRetries {
    var retries = HTTPRetries()
    retries.maximumAttempts = 1
    return retries
  }

  static let statuses: Set<UInt> = [408, 425, 429, 500, 502, 503, 504]

  /// How long to wait before another attempt.
  ///
  /// With "full jitter": a random part of a limit that doubles, so that clients that failed together do not come back
  /// together (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
  ///
  /// - Parameters:
  ///   - error: What went wrong.
  ///   - attempt: How often was asked.
  ///   - random: Between 0 and 1.
  /// - Returns: The pause; nil if there is to be no other attempt.
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
