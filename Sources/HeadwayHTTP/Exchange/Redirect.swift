#if HTTP
import Foundation
import HTTPTypes
import NIOHTTP1

/// Creates the request that follows a redirect.
enum Redirect {
  /// Header fields that identify the client or the host and must not be sent to another host.
  private static let ofOneHost = [HTTPField.Name.authorization, .cookie, .proxyAuthorization, .hostField]

  /// Returns the request for the new location.
  ///
  /// - Throws: ``RequestError`` with the code `refusedRedirect`.
  static func next(_ request: Request, to location: String, _ status: HTTPResponse.Status) throws -> Request {
    // In HTTP/2, bytes that are not UTF-8 have been replaced, so the location is unknown.
    guard !location.contains("\u{FFFD}"), let old = URL(string: request.url),
      let new = URL(string: location, relativeTo: old)?.absoluteURL,
      let scheme = new.scheme?.lowercased(), RequestCheck.isAddress(new)
    else {
      throw RequestError(
        .refusedRedirect, url: request.url, status: status,
        context: "The server redirected to an invalid URL: \(location).")
    }
    guard old.scheme?.lowercased() != "https" || scheme == "https" else {
      throw RequestError(
        .refusedRedirect, url: request.url, status: status,
        context: "The server redirected from https to http: \(location).")
    }
    var next = request
    next.url = new.absoluteString
    if origin(of: old) != origin(of: new) { for name in ofOneHost { next.headers[name] = nil } }
    // Browsers do this, and RFC 9110, 15.4, allows it.
    let becomesGet = status.code == 303 ? request.method != .head : status.code <= 302 && request.method == .post
    if becomesGet {
      (next.method, next.body) = (.get, nil)
      for name in [HTTPField.Name.contentType, .contentLength, .contentEncoding] { next.headers[name] = nil }
    }
    return next.withCredentialsInHeaders
  }

  private static func origin(of url: URL) -> [String] {
    let scheme = url.scheme?.lowercased() ?? ""
    return [scheme, url.host?.lowercased() ?? "", "\(url.port ?? (scheme == "https" ? 443 : 80))"]
  }
}

/// The delay that a server requests before the next attempt.
enum RetryAfter {
  /// Returns the delay in `Retry-After`, given in seconds or as a date (RFC 9110, 10.2.3); nil if there is none.
  static func delay(_ headers: HTTPHeaders, now: Date = Date()) -> Duration? {
    guard let value = headers.first(name: "Retry-After"), !value.isEmpty else { return nil }
    // A number that is too large is a long delay.
    if value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
      return .seconds(Int(value) ?? .max)
    }
    return HTTPDate.parsed(value, now: now).map { .seconds(max(0, $0.timeIntervalSince(now))) }
  }
}
#endif
