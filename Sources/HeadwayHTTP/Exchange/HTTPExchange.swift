#if HTTP
  import AsyncHTTPClient
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
      var status: HTTPResponseStatus { response.status }
      var headers: HTTPHeaders { response.headers }

      /// The length that was announced of what comes; of compressed content it says nothing.
      var announcedLength: Int? {
        guard !headers.contains(name: "Content-Encoding") else { return nil }
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
        let url = request.url
        let response = try await Self.translating(url) {
          try await connections.client.execute(try Self.clientRequest(request), deadline: .distantFuture)
        }
        let location = response.headers.first(name: "Location")
        guard [301, 302, 303, 307, 308].contains(response.status.code), let location else {
          guard limits.allows(response.status) || isAllowed(response.status) else {
            throw HTTPError(
              .unexpectedStatus, url: url, status: response.status, message: "The server answered \(response.status).",
              retryAfter: RetryAfter.delay(response.headers))
          }
          return Answer(url: url, response: response)
        }
        redirects += 1
        guard redirects <= limits.maximumRedirects else {
          throw HTTPError(
            .refusedRedirect, url: url, status: response.status,
            message: "The server sent on more than \(limits.maximumRedirects) times.")
        }
        request = try Redirect.next(request, to: location, response.status)
      }
    }

    private static func clientRequest(_ request: HTTPRequest) throws -> HTTPClientRequest {
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
        case .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout:
          return failure(.timedOut, "No connection came about in time.")
        case .readTimeout, .writeTimeout, .deadlineExceeded:
          return failure(.timedOut, "The connection stood still.")
        default:
          if error.shortDescription.contains("scheme") {
            return failure(.invalidURL, "This is no address of http or https.")
          }
          return failure(.connectionBroken, "The connection broke.")
        }
      case is NIOHTTPDecompression.DecompressionError:
        return failure(.bodyTooLarge, "The content expands more than it may.")
      case is NIOConnectionError, is ChannelError, is IOError:
        return failure(.cannotConnect, "There is no connection to the server.")
      case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
        return failure(.cannotConnect, "There is no safe connection to the server.")
      default:
        return failure(.connectionBroken, "The connection broke.")
      }
    }
  }
#endif
