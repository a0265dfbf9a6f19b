#if HTTP
public import HTTPTypes
public import Headway

/// The limits of a request: time, bytes, and redirects.
public struct HTTPLimits: Sendable {
  /// The maximum size of a decompressed body, in bytes; by default, 64 MB for a body in memory, and no limit for
  /// downloads and streams.
  public var maxBodyBytes: Int?
  /// The maximum total time, retries included; no limit by default.
  public var totalTimeout: Duration?
  /// The maximum number of redirects; 10 by default.
  public var maxRedirectCount = 10
  /// The statuses outside the range 200 to 299 that are not errors.
  ///
  /// A ``DownloadOperation`` writes the content of such a response to its file. The exception is 304 (not modified):
  /// the file is then left unchanged. A redirect that contains a location is followed even if its status is accepted.
  public var acceptedStatuses: Set<HTTPResponse.Status> = []
  /// The maximum number of bytes of an error's decompressed content that are kept in ``RequestError/body``; 16 KB by
  /// default.
  public var maxErrorBodyBytes = 16 << 10
  /// The maximum time to wait for an error's content after receiving the status; one second by default.
  public var errorBodyTimeout = Duration.seconds(1)
  /// How failed requests are repeated.
  ///
  /// By default, there are up to three attempts, with full jitter and pauses that double, beginning at 500 ms. Only
  /// GET, HEAD, PUT, DELETE, OPTIONS and TRACE requests are repeated, and only after a temporary failure
  /// (``RequestError/isRetryable``). If the response has the field `Retry-After`, the pause is as long as this field
  /// specifies. If that is longer than 30 seconds, the request is not repeated.
  public var retryPolicy: RetryPolicy = {
    var policy = RetryPolicy.exponential(maxAttemptCount: 3)
    policy.maxRequestedDelay = .seconds(30)
    return policy
  }()

  /// Creates the default limits.
  public init() {}

  func accepts(_ status: HTTPResponse.Status) -> Bool {
    status.kind == .successful || acceptedStatuses.contains(status)
  }
}
#endif
