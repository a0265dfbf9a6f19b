#if HTTP
import AsyncHTTPClient
import Foundation
import HTTPTypes

/// Checks every part of a request that user code or a server supplies, before it is passed to AsyncHTTPClient.
///
/// AsyncHTTPClient sends a host unchecked. It supports schemes for local sockets, and no URL of a server must reach
/// these. It also traps if a number is not a port.
enum RequestCheck {
  // MARK: URLs

  /// Returns the URL in a text; nil if it is not a URL with the scheme http or https.
  ///
  /// Spaces and letters outside of ASCII are encoded. A text with a control character is rejected.
  static func address(_ text: String) -> URL? {
    guard text.unicodeScalars.allSatisfy(isPrintable), let url = URL(string: text), isAddress(url) else { return nil }
    return url
  }

  /// Returns whether a URL has the scheme http or https, and a host and a port that can be sent.
  static func isAddress(_ url: URL) -> Bool {
    guard let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme) else { return false }
    return isHost(url.host) && isPort(url.port)
  }

  /// Returns the proxy with a URL; nil if the URL does not identify a proxy.
  static func proxy(_ text: String) -> HTTPClient.Configuration.Proxy? {
    guard text.unicodeScalars.allSatisfy(isPrintable), let parts = URLComponents(string: text),
      parts.scheme?.lowercased() == "http", let host = parts.host, isHost(host), isPort(parts.port)
    else { return nil }
    let authorization = parts.user.map {
      HTTPClient.Authorization.basic(username: $0, password: parts.password ?? "")
    }
    return .server(host: host, port: parts.port ?? 80, authorization: authorization)
  }

  /// Returns whether a decoded text is the name or the IP address of a host (RFC 3986, 3.2.2).
  private static func isHost(_ text: String?) -> Bool {
    guard let text, !text.isEmpty else { return false }
    return text.unicodeScalars.allSatisfy { scalar in
      // Letters outside of ASCII are encoded by IDNA, or the host name lookup fails.
      scalar.isASCII
        ? scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
          || "-._~!$&'()*+,;=:%[]".unicodeScalars.contains(scalar)
        : isPrintable(scalar)
    }
  }

  /// Returns whether a number is a valid port, or there is none.
  private static func isPort(_ number: Int?) -> Bool { number.map { (1...65_535).contains($0) } ?? true }

  // MARK: Header fields

  /// Returns whether a text can be the value of a field (RFC 9110, 5.5).
  static func isFieldValue(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
  }

  /// Returns whether the value of a field can be sent.
  ///
  /// NIO's header fields are strings, and would replace bytes that are not UTF-8.
  static func isValid(_ field: HTTPField) -> Bool {
    isFieldValue(field.value) && field.withUnsafeBytesOfValue { String(validating: $0, as: UTF8.self) != nil }
  }

  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory != .control }
}

extension Request {
  /// Throws if any part of the request could inject anything into it, such as a line break in a header field.
  ///
  /// - Throws: ``RequestError`` with the code `invalidURL` or `invalidRequest`.
  func requireValid() throws {
    guard RequestCheck.address(url) != nil else {
      throw RequestError(.invalidURL, url: url, context: "This is not an http or https URL.")
    }
    guard method != .connect else {
      throw invalid("A request can't use CONNECT. Set a proxy for the connection pool instead.")
    }
    guard method != .trace || body == nil else { throw invalid("A TRACE request can't have a body.") }
    for field in headers where !RequestCheck.isValid(field) {
      throw invalid("The value of the header field \(field.name) has bytes that can't be sent.")
    }
    guard headers[values: .hostField].count < 2 else {
      throw invalid("The request has more than one Host header field.")
    }
  }

  func invalid(_ context: String) -> RequestError { RequestError(.invalidRequest, url: url, context: context) }
}
#endif
