#if HTTP
  import AsyncHTTPClient
  import Foundation
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import NIOSSL

  extension HTTPExchange {
    /// Calls `body`, and makes of its errors those of this module.
    static func translating<Answer>(_ url: String, _ body: () async throws -> Answer) async throws -> Answer {
      do { return try await body() } catch { throw translated(error, url) }
    }

    /// What the system says where no connection comes about; whatever else it says breaks one.
    private static let noConnection: Set<CInt> = [
      ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL, EACCES, EPERM, EMFILE, ENFILE,
    ]

    private static let noConnectionMessage = "There is no connection to the server."

    static func translated(_ error: any Error, _ url: String) -> any Error {
      func failure(_ code: HTTPError.Code, _ message: String) -> HTTPError {
        HTTPError(code, url: url, message: message, underlying: error)
      }
      switch error {
      case is HTTPError, is CancellationError: return error
      case let error as HTTPClientError:
        return error == .cancelled ? CancellationError() : translated(error, failure)
      case let error as ContentDecodingError:
        return switch error {
        case .damaged: failure(.connectionBroken, "The content can't be decompressed.")
        case .truncated: failure(.connectionBroken, "The compressed content has no end.")
        case .expandsTooFar: failure(.bodyTooLarge, "The content expands more than it may.")
        }
      case let error as UnknownCoding:
        return failure(.unsupportedCoding, "The server compressed the content in an unknown way, \(error.name).")
      case let error as NIOConnectionError where error.connectionErrors.isEmpty:
        return failure(.cannotConnect, "The host \(error.host) is not known.")
      case is NIOConnectionError: return failure(.cannotConnect, noConnectionMessage)
      case let error as IOError where noConnection.contains(error.errnoCode):
        return failure(.cannotConnect, noConnectionMessage)
      case is HTTPParserError: return failure(.connectionBroken, "The server's answer is not HTTP.")
      default: break
      }
      if let secure = SecureConnectionError(error, host: URL(string: url)?.host ?? "this host") {
        return failure(.secureConnectionFailed, secure.message)
      }
      if case NIOSSLError.handshakeFailed = error {
        return failure(.cannotConnect, "The server ended the connection while it was made secure.")
      }
      return failure(.connectionBroken, "The connection broke.")
    }

    private static func translated(
      _ error: HTTPClientError, _ failure: (HTTPError.Code, String) -> HTTPError
    ) -> HTTPError {
      switch error {
      case .invalidURL, .emptyHost, .emptyScheme, .missingSocketPath:
        return failure(.invalidURL, "This is no address of http or https.")
      case .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout, .httpProxyHandshakeTimeout,
        .socksHandshakeTimeout:
        return failure(.timedOut, "No connection came about in time.")
      case .readTimeout, .writeTimeout, .deadlineExceeded: return failure(.timedOut, "The connection stood still.")
      case .proxyAuthenticationRequired: return failure(.cannotConnect, "The proxy requires a user and a password.")
      case .invalidProxyResponse: return failure(.cannotConnect, "The proxy makes no connection to the server.")
      case .traceRequestWithBody, .contentLengthMissing, .identityCodingIncorrectlyPresent:
        return failure(.invalidRequest, "The request can't be sent as it is.")
      case .remoteConnectionClosed:
        return failure(.connectionBroken, "The server closed the connection before its answer was complete.")
      default: return failure(.connectionBroken, "The connection broke.")
      }
    }
  }
#endif
