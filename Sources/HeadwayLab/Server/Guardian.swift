#if Lab
import Foundation
import HTTPTypes
import HeadwayWeb
import Hummingbird
import NIOCore
import Synchronization

/// Rejects visitors without access, and requests that pages of other sites make a browser send.
///
/// - The host must be a name of this machine, so that a foreign name that resolves to this machine (DNS rebinding) has
///   no effect. If other machines have access, a token is required instead, which is stored in a cookie.
/// - Requests that change something must be POST requests with JSON, sent from this page.
/// - A page of another site can link to the lab, but do nothing else. It can't even read from the lab.
final class Guardian: RouterMiddleware {
  typealias Context = BasicRequestContext

  private let token: String?
  // Protected by its lock. Known when the server listens.
  private let port = Mutex(0)

  init(token: String?) { self.token = token }

  func setPort(_ port: Int) { self.port.withLock { $0 = port } }

  /// Returns the address to print.
  func address(host: String, port: Int) -> String {
    let name = host == "0.0.0.0" || host == "::" ? ProcessInfo.processInfo.hostName : host
    return "http://\(WebAddress.bracketed(name)):\(port)/" + (token.map { "?token=\($0)" } ?? "")
  }

  /// Returns the address for requests that the lab sends to itself.
  func ownAddress(host: String, port: Int) -> String {
    let name = host == "0.0.0.0" ? "127.0.0.1" : host == "::" ? "::1" : host
    return "http://\(WebAddress.bracketed(name)):\(port)/"
  }

  /// The cookie for requests that the lab sends to itself.
  var ownCookie: String? { token.map { "\(cookie.name(isEncrypted: false))=\($0)" } }

  /// Browsers store cookies by host, not by port, so two labs on one machine need two names.
  ///
  /// With `Strict`, the browser would not send the cookie after the redirect if the user followed a link on another
  /// site.
  private var cookie: SafeCookie { SafeCookie("lab-\(port.withLock { $0 })", sameSite: "Lax") }

  @concurrent func handle(
    _ request: Request, context: BasicRequestContext,
    next: @concurrent (Request, BasicRequestContext) async throws -> Response
  ) async throws -> Response {
    var response: Response
    do {
      response = try await checked(request, context: context, next: next)
    } catch {
      // Failures here, for example when a folder can't be created, are answered with the same headers.
      let status = (error as? any HTTPResponseError)?.status ?? .internalServerError
      response = Response(
        status: status, headers: [.contentType: "text/plain; charset=utf-8"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: Self.explanation(of: error, status))))
    }
    response.addSafeHeaders(policy: Self.policy)
    return response
  }

  /// The text that a browser shows if the response is the whole page.
  private static func explanation(of error: any Error, _ status: HTTPResponse.Status) -> String {
    ((error as? HTTPError)?.body ?? "\(status.code) \(status.reasonPhrase)") + "\n"
  }

  private static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

  @concurrent private func checked(
    _ request: Request, context: BasicRequestContext,
    next: @concurrent (Request, BasicRequestContext) async throws -> Response
  ) async throws -> Response {
    guard let authority = request.head.authority else { throw HTTPError(.badRequest) }
    if let token {
      if request.uri.path == "/", let given = request.uri.queryParameters["token"] {
        guard Secret.areEqual(String(given), token) else { throw Self.needsToken }
        return Response(
          status: .seeOther,
          headers: HTTPFields([
            HTTPField(name: .location, value: "./"), cookie.header(token, isEncrypted: request.isEncrypted()),
          ]))
      }
      guard let given = cookie.value(in: request, isEncrypted: request.isEncrypted()), Secret.areEqual(given, token)
      else { throw Self.needsToken }
    } else if !WebAddress.isLocal(authority, port: port.withLock { $0 }) {
      throw HTTPError(.misdirectedRequest)
    }
    // A proxy might have changed the host, but the browser still reports that a page of this site sent the request.
    if let origin = request.headers[.origin], !["http://\(authority)", "https://\(authority)"].contains(origin),
      request.headers[HTTPField.Name("Sec-Fetch-Site")!] != "same-origin"
    {
      throw HTTPError(.forbidden)
    }
    guard request.isFromHere(allowsLinks: request.uri.path == "/") else { throw HTTPError(.forbidden) }
    if request.method != .get, request.method != .head {
      guard request.headers[.contentType]?.hasPrefix("application/json") == true else {
        throw HTTPError(.unsupportedMediaType)
      }
    }
    return try await next(request, context)
  }

  private static let needsToken = HTTPError(
    .forbidden, message: "Open the address that “headway lab” has printed, with its token.")
}
#endif
