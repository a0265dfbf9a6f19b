#if HTTP
import AsyncHTTPClient
import Foundation
import HTTPTypes
import Headway
import NIOCore
import NIOHTTP1

/// One attempt at a request: follows redirects and checks the status.
///
/// See `Docs/decisions/0026-requests.md`.
struct HTTPExchange: Sendable {
  let connectionPool: HTTPConnectionPool
  let limits: HTTPLimits
  /// The clock that measures the wait for an error's content.
  let clock: any Clock<Duration>
  /// Whether content that is compressed for transfer is decompressed.
  var decodesContent = true
  /// Whether HTTP/1.1 is used if the server supports it.
  ///
  /// Bytes that arrive before an HTTP/2 connection ends are lost if they have not been read.
  var prefersHTTP1 = false

  /// A response whose body has not been read yet.
  struct Answer {
    let url: String
    let status: HTTPResponse.Status
    let headers: HTTPHeaders
    let body: ContentBody
    /// The announced length of the body; nil if unknown, or if the content is decompressed.
    let announcedLength: Int?
  }

  /// Sends a request and follows redirects.
  ///
  /// - Parameters:
  ///   - request: The request to send.
  ///   - isAccepted: Returns whether a status is not an error. The limits can accept more.
  /// - Returns: The response, whose body must still be read.
  /// - Throws: ``RequestError``, or `CancellationError`.
  func answer(
    to request: Request, accepting isAccepted: (HTTPResponse.Status) -> Bool = { _ in false }
  ) async throws -> Answer {
    var request = request
    var redirects = 0
    while true {
      // If the task has been cancelled, do not even open a connection.
      try Task.checkCancellation()
      let response = try await response(to: request)
      let (url, status) = (request.url, try Self.status(of: response, request.url))
      let location = response.headers.first(name: "Location")
      guard [301, 302, 303, 307, 308].contains(status.code), let location else {
        guard !limits.accepts(status), !isAccepted(status) else {
          return try answer(response, status, to: request, undoing: decodesContent ? .all : .transfer)
        }
        // The status matters more than content that can't be decompressed.
        let answer =
          try (try? answer(response, status, to: request, undoing: .all))
          ?? answer(response, status, to: request, undoing: .none)
        let body = await beginning(of: answer, maxBytes: limits.maxErrorBodyBytes)
        try Task.checkCancellation()
        throw RequestError(
          .unexpectedStatus, url: url, status: status, context: "The server responded with \(status.text).", body: body,
          retryAfter: RetryAfter.delay(response.headers), contextIncludesCause: false)
      }
      redirects += 1
      guard redirects <= limits.maxRedirectCount else {
        throw RequestError(
          .refusedRedirect, url: url, status: status,
          context: "The server redirected more than \(limits.maxRedirectCount) times.")
      }
      request = try Redirect.next(request, to: location, status)
      await discardBody(of: try answer(response, status, to: request, undoing: .none))
    }
  }

  private func response(to request: Request) async throws -> HTTPClientResponse {
    // Other URLs never use HTTP/2.
    guard prefersHTTP1, request.url.lowercased().hasPrefix("https:") else {
      return try await response(to: request, usingHTTP1: false)
    }
    do {
      return try await response(to: request, usingHTTP1: true)
    } catch let error as RequestError where request.isIdempotent && error.mayRequireHTTP2 {
      return try await response(to: request, usingHTTP1: false)
    }
  }

  private func response(to request: Request, usingHTTP1: Bool) async throws -> HTTPClientResponse {
    var clientRequest = try Self.clientRequest(request)
    let target = RequestTarget(request.url)
    if let target { clientRequest.url = target.hiddenURL }
    let route = try connectionPool.route(to: request.url, requiresHTTP1: usingHTTP1 || target != nil)
    do {
      return try await Self.translating(request.url) {
        try await route.client.execute(clientRequest, deadline: .distantFuture)
      }
    } catch let error as RequestError {
      // Behind a proxy, the server might not be reachable.
      throw route.usesProxy ? error : await explained(error)
    }
  }

  private static func status(of response: HTTPClientResponse, _ url: String) throws -> HTTPResponse.Status {
    guard let status = HTTPResponse.Status(response.status) else {
      throw RequestError(
        .invalidResponse, url: url, context: "The server responded with an invalid status: \(response.status.code).")
    }
    return status
  }

  /// Adds the reason if a certificate is not trusted.
  private func explained(_ error: RequestError) async -> RequestError {
    guard let underlying = error.underlyingError, let url = URL(string: error.url),
      let host = url.host, SecureConnectionError(underlying, host: host)?.isAboutTrust == true,
      let reason = await UntrustedCertificate.reason(
        host: host, port: url.port ?? 443, connectionPool: connectionPool)
    else { return error }
    return RequestError(
      error.code, url: error.url, context: "The certificate is not trusted: \(reason).", underlyingError: underlying,
      contextIncludesCause: true)
  }

  private func answer(
    _ response: HTTPClientResponse, _ status: HTTPResponse.Status, to request: Request,
    undoing undone: ContentCoding.Undone
  ) throws -> Answer {
    // A response to HEAD, or with some statuses, only announces its content (RFC 9110, 6.4.1).
    let hasContent = request.method != .head && ![204, 304].contains(status.code)
    let codings: [ContentCoding]
    do {
      codings = hasContent ? try ContentCoding.codings(of: response.headers, for: request.headers, undone) : []
    } catch {
      throw Self.translated(error, request.url)
    }
    // A transfer coding overrides a length (RFC 9112, 6.3).
    let isCoded = response.headers.contains(name: "Transfer-Encoding")
    let length = isCoded ? nil : response.headers.uniqueValue("Content-Length").flatMap { Int(digits: $0) }
    return Answer(
      url: request.url, status: status, headers: response.headers,
      body: ContentBody(
        url: request.url, base: response.body, codings: codings,
        maxDecompressionRatio: connectionPool.maxDecompressionRatio,
        endsWithConnection: response.version.major < 2 && !isCoded && length == nil),
      announcedLength: hasContent && codings.isEmpty ? length : nil)
  }

  // MARK: Unwanted content

  /// The maximum number of bytes of an unwanted body that are read.
  private static let maxDiscardedBytes = 2 << 10

  /// Reads a small unwanted body, so that its connection serves the next request.
  ///
  /// A body that is released unread closes its connection, and the next request opens a new connection. Reading more
  /// than a server's short page about the status takes longer than opening a new connection.
  func discardBody(of answer: Answer) async {
    guard answer.announcedLength ?? 0 <= Self.maxDiscardedBytes else { return }
    _ = await beginning(of: answer, maxBytes: Self.maxDiscardedBytes)
  }

  /// Reads the beginning of a body, or all of a short one, for as long as the limits allow.
  ///
  /// - Returns: The bytes that were received. An error ends the read and closes the connection.
  private func beginning(of answer: Answer, maxBytes: Int) async -> [UInt8] {
    // An empty body ends immediately. It is read, so that the connection can be used again.
    if answer.announcedLength == 0 { return await Self.beginning(of: answer.body, maxBytes: maxBytes) }
    return await withTaskGroup(of: [UInt8]?.self) { group in
      group.addTask { await Self.beginning(of: answer.body, maxBytes: maxBytes) }
      group.addTask {
        try? await clock.sleepAtMostCentury(for: limits.errorBodyTimeout)
        return nil
      }
      for await bytes in group {
        group.cancelAll()
        if let bytes { return bytes }
      }
      return []
    }
  }

  private static func beginning(of body: ContentBody, maxBytes: Int) async -> [UInt8] {
    var bytes: [UInt8] = []
    do {
      for try await piece in body {
        let room = max(0, maxBytes - bytes.count)
        bytes.append(contentsOf: piece.readableBytesView.prefix(room))
        if piece.readableBytes > room { break }
      }
    } catch {
      // The bytes before the error are kept.
    }
    return bytes
  }

  private static func clientRequest(_ request: Request) throws -> HTTPClientRequest {
    try request.requireValid()
    var result = HTTPClientRequest(url: request.url)
    result.method = HTTPMethod(rawValue: request.method.rawValue)
    result.headers = HTTPHeaders(request.headers)
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
}
#endif
