#if HTTP
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

extension RequestError {
  /// Whether no address was found for the name of the server.
  package var isHostUnknown: Bool {
    code == .cannotConnect && (underlyingError as? NIOConnectionError)?.connectionErrors.isEmpty == true
  }

  /// Whether a server that only supports HTTP/2 responds like this to a request with HTTP/1.1.
  var mayRequireHTTP2: Bool {
    code == .invalidResponse || underlyingError.map { "\($0)".contains("NO_APPLICATION_PROTOCOL") } == true
  }
}

extension HTTPExchange {
  /// Calls `body` and translates its errors to errors of this module.
  static func translating<Answer>(_ url: String, _ body: () async throws -> Answer) async throws -> Answer {
    do { return try await body() } catch { throw translated(error, url) }
  }

  /// The system errors that mean that no connection could be established.
  ///
  /// All other system errors mean that a connection broke.
  private static let noConnection: Set<CInt> = [
    ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL, EACCES, EPERM, EMFILE, ENFILE,
  ]

  private static let noConnectionMessage = "Could not connect to the server."
  private static let closedMessage = "The server closed the connection before the response was complete."
  private static let lostMessage = "The connection was lost."
  private static let invalidMessage = "The server's response is not valid HTTP."

  static func translated(_ error: any Error, _ url: String) -> any Error {
    func failure(_ code: RequestError.Code, _ context: String) -> RequestError {
      RequestError(code, url: url, context: context, underlyingError: error, contextIncludesCause: true)
    }
    switch error {
    case is RequestError: return error
    // AsyncHTTPClient also reports a closing connection as a cancellation. In this case, the task has not requested it.
    case is CancellationError where Task.isCancelled: return error
    case let error as HTTPClientError:
      return error == .cancelled && Task.isCancelled ? CancellationError() : translated(error, failure)
    case let error as BrokenResponse: return translated(error, url)
    case let error as ContentDecodingError:
      return switch error {
      case .damaged: failure(.cannotDecode, "The content can't be decompressed.")
      case .truncated: failure(.cannotDecode, "The compressed content is incomplete.")
      case .expandsTooFar: failure(.bodyTooLarge, "The content expands to too many times its compressed size.")
      }
    case let error as UnknownCoding:
      return failure(.unsupportedCoding, "The content has the coding \(error.name), which is not supported.")
    case let error as NIOConnectionError where error.connectionErrors.isEmpty:
      return failure(.cannotConnect, "Could not resolve the host \(error.host).")
    case is NIOConnectionError: return failure(.cannotConnect, noConnectionMessage)
    case let error as IOError where noConnection.contains(error.errnoCode):
      return failure(.cannotConnect, noConnectionMessage)
    // The parser found no syntax error, but the response ended too early.
    case HTTPParserError.invalidEOFState, HTTPParserError.closedConnection:
      return failure(.connectionBroken, closedMessage)
    case is HTTPParserError: return failure(.invalidResponse, invalidMessage)
    default: break
    }
    if let secure = SecureConnectionError(error, host: URL(string: url)?.host ?? "this host") {
      return failure(.secureConnectionFailed, secure.message)
    }
    if case NIOSSLError.handshakeFailed = error {
      return failure(
        .cannotConnect,
        "The server closed the connection during the TLS handshake. If it does not support TLS, use http://.")
    }
    return failure(.connectionBroken, lostMessage)
  }

  private static func translated(_ reason: BrokenResponse, _ url: String) -> RequestError {
    switch reason {
    case .closed: RequestError(.connectionBroken, url: url, context: closedMessage)
    case .invalid: RequestError(.invalidResponse, url: url, context: invalidMessage)
    case .lost(let number): RequestError(.connectionBroken, url: url, context: lostMessage, systemErrorNumber: number)
    }
  }

  private static func translated(
    _ error: HTTPClientError, _ failure: (RequestError.Code, String) -> RequestError
  ) -> RequestError {
    switch error {
    case .invalidURL, .emptyHost, .emptyScheme, .missingSocketPath:
      return failure(.invalidURL, "This is not an http or https URL.")
    case .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout, .httpProxyHandshakeTimeout,
      .socksHandshakeTimeout:
      return failure(.timedOut, "Connecting to the server timed out.")
    case .readTimeout, .writeTimeout: return failure(.timedOut, "The server stopped responding.")
    case .deadlineExceeded: return failure(.timedOut, "The request did not finish in time.")
    case .proxyAuthenticationRequired: return failure(.cannotConnect, "The proxy requires a user name and a password.")
    case .invalidProxyResponse: return failure(.cannotConnect, "The proxy could not connect to the server.")
    case .traceRequestWithBody, .contentLengthMissing, .identityCodingIncorrectlyPresent:
      return failure(.invalidRequest, "The request can't be sent as it is.")
    case .remoteConnectionClosed:
      return failure(.connectionBroken, closedMessage)
    default: return failure(.connectionBroken, lostMessage)
    }
  }
}
#endif
