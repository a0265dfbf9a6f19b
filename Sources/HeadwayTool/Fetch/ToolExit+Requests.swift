#if SQLite && HTTP
import HeadwayHTTP

extension ToolExit {
  /// The exit code for a request that failed.
  init(_ error: RequestError) {
    switch error.code {
    case .invalidURL, .invalidRequest: self = .usage
    case .cannotConnect: self = error.isHostUnknown ? .noHost : .unavailable
    case .unexpectedStatus: self = .unavailable
    case .timedOut, .connectionBroken, .fileInUse: self = .temporaryFailure
    case .refusedRedirect, .secureConnectionFailed, .invalidResponse, .unsupportedCoding, .cannotDecode:
      self = .protocolError
    case .bodyTooLarge, .checksumMismatch: self = .dataError
    case .cannotWriteFile: self = .cannotCreate
    default: self = .software
    }
  }
}
#endif
