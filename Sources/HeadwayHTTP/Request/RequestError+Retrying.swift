#if HTTP
public import Headway
import HTTPTypes

extension RequestError: RetryableError {
  private static let temporaryStatuses: Set<HTTPResponse.Status> = [408, 425, 429, 500, 502, 503, 504]

  /// Whether the failure is temporary: a connection that failed, broke, or stalled, or a status of 408, 425, 429, 500,
  /// 502, 503 or 504.
  public var isRetryable: Bool {
    switch code {
    case .cannotConnect, .connectionBroken, .timedOut: true
    case .unexpectedStatus: status.map { Self.temporaryStatuses.contains($0) } == true
    default: false
    }
  }

  /// The time that the field `Retry-After` of the response specifies, or nil.
  public var retryDelay: Duration? { retryAfter }
}
#endif
