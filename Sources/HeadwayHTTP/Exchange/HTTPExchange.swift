#if HTTP
  import AsyncHTTPClient
  import Foundation
  import NIOCore
  import NIOHTTP1
  import NIOHTTPCompression
  import NIOPosix
  import NIOSSL

  /// One attempt at a request: redirects are followed, and the status is looked at.
  struct HTTPExchange: Sendable {
    let connections: HTTPConnections
    let limits: HTTPLimits

    /// An answer whose body has still to be read.
    struct Answer {
      let url: String
      let response: HTTPClientResponse
      /// Whether the answer has content: one to HEAD, or of some statuses, only announces it (RFC 9110, 6.4.1).
      let hasContent: Bool
      var status: HTTPResponseStatus { response.status }
      var headers: HTTPHeaders { response.headers }

      /// Whether the content is compressed while it is sent, so that what comes here is not what the server counts.
      var isEncoded: Bool {
        headers[canonicalForm: "Content-Encoding"].contains { $0.lowercased() != "identity" }
      }

      /// The length that was announced of what comes; of compressed content it says nothing.
      var announcedLength: Int? {
        guard hasContent, !isEncoded else { return nil }
        return headers.first(name: "Content-Length").flatMap { Int($0) }
      }
    }

    /// Asks.
    ///
    /// - Parameters:
    ///   - request: What to ask.
    ///   - isAllowed: Whether a status is no error, beside those that the limits allow.
    /// - Returns: The answer, of which the body has still to be read.
    /// - Throws: ``HTTPError``, or `CancellationError`.
    func answer(
      to request: HTTPRequest, allowing isAllowed: (HTTPResponseStatus) -> Bool = { _ in false }
    ) async throws -> Answer {
      var request = request
      var redirects = 0
      while true {
        // Not even a connection is made for one that is cancelled.
        try Task.checkCancellation()
        let url = request.url
        let response = try await Self.translating(url) {
          try await connections.client.execute(try Self.clientRequest(request), deadline: .distantFuture)
        }
        let location = response.headers.first(name: "Location")
        guard [301, 302, 303, 307, 308].contains(response.status.code), let location else {
          guard limits.allows(response.status) || isAllowed(response.status) else {
            await Self.discardBody(of: response)
            throw HTTPError(
              .unexpectedStatus, url: url, status: response.status, message: "The server answered \(response.status).",
              retryAfter: RetryAfter.delay(response.headers))
          }
          let hasContent = request.method != .HEAD && ![204, 304].contains(response.status.code)
          return Answer(url: url, response: response, hasContent: hasContent)
        }
        redirects += 1
        guard redirects <= limits.maximumRedirects else {
          throw HTTPError(
            .refusedRedirect, url: url, status: response.status,
            message: "The server sent on more than \(limits.maximumRedirects) times.")
        }
        request = try Redirect.next(request, to: location, response.status)
        await Self.discardBody(of: response)
      }
    }

    /// How much of a body is read that is not wanted.
    private static let maximumDiscardedBytes = 2 << 10

    /// Reads a small body that is not wanted, so that its connection serves the next request.
    ///
    /// A body that is released unread closes its connection, and the next request makes another. What is longer than a
    /// server's short page about the status takes more time than a new connection.
    private static func discardBody(of response: HTTPClientResponse) async {
      let announced = response.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
      guard announced <= maximumDiscardedBytes else { return }
      var count = 0
      do {
        for try await piece in response.body {
          count += piece.readableBytes
          if count > maximumDiscardedBytes { return }
        }
      } catch {
        // The connection is closed then, which is all that an error here changes.
      }
    }

    private static func clientRequest(_ request: HTTPRequest) throws -> HTTPClientRequest {
      guard let url = URL(string: request.url), WebAddress.isValid(url) else {
        throw HTTPError(.invalidURL, url: request.url, message: "This is no address of http or https.")
      }
      var result = HTTPClientRequest(url: request.url)
      result.method = request.method
      result.headers = request.headers
      if !result.headers.contains(name: "Accept-Encoding") {
        result.headers.add(name: "Accept-Encoding", value: "gzip, deflate")
      }
      if !result.headers.contains(name: "User-Agent") { result.headers.add(name: "User-Agent", value: "Headway") }
      switch request.body {
      case nil: break
      case .bytes(let bytes): result.body = .bytes(ByteBuffer(bytes: bytes))
      case .file(let path):
        let file = try FileBody(path: path, url: request.url)
        result.body = .stream(file, length: .known(file.size))
      }
      return result
    }

    /// Calls `body`, and makes of its errors those of this module.
    static func translating<Answer>(_ url: String, _ body: () async throws -> Answer) async throws -> Answer {
      do { return try await body() } catch { throw translated(error, url) }
    }

    /// What the system says where no connection comes about; whatever else it says breaks one.
    private static let noConnection: Set<CInt> = [
      ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL, EACCES, EPERM, EMFILE, ENFILE,
    ]

    private static func translated(_ error: any Error, _ url: String) -> any Error {
      func failure(_ code: HTTPError.Code, _ message: String) -> HTTPError {
        HTTPError(code, url: url, message: message, underlying: error)
      }
      switch error {
      case is HTTPError, is CancellationError: return error
      case let error as HTTPClientError:
        switch error {
        case .cancelled: return CancellationError()
        case .invalidURL, .emptyHost, .emptyScheme, .missingSocketPath:
          return failure(.invalidURL, "This is no address of http or https.")
        case .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout, .httpProxyHandshakeTimeout,
          .socksHandshakeTimeout:
          return failure(.timedOut, "No connection came about in time.")
        case .readTimeout, .writeTimeout, .deadlineExceeded:
          return failure(.timedOut, "The connection stood still.")
        case .proxyAuthenticationRequired, .invalidProxyResponse:
          return failure(.cannotConnect, "The proxy makes no connection to the server.")
        case .traceRequestWithBody, .contentLengthMissing, .identityCodingIncorrectlyPresent:
          return failure(.invalidRequest, "The request can't be sent as it is.")
        default:
          // Two that have values of their own.
          if error.shortDescription.hasPrefix("Invalid header field") {
            return failure(.invalidRequest, "A header field can't be sent.")
          }
          return failure(.connectionBroken, "The connection broke.")
        }
      case NIOHTTPDecompression.DecompressionError.limit:
        return failure(.bodyTooLarge, "The content expands more than it may.")
      case is NIOConnectionError: return failure(.cannotConnect, "There is no connection to the server.")
      case let error as IOError where noConnection.contains(error.errnoCode):
        return failure(.cannotConnect, "There is no connection to the server.")
      case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
        return failure(.cannotConnect, "There is no safe connection to the server.")
      default:
        return failure(.connectionBroken, "The connection broke.")
      }
    }
  }
#endif
