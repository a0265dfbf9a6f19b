#if Web
package import HTTPTypes
package import Hummingbird

/// A cookie that scripts can't read.
///
/// On an encrypted connection, the cookie is also `Secure`, and its name has a prefix, so that neither another host of
/// the domain nor an unencrypted page can replace it.
package struct SafeCookie: Sendable {
  private let name: String
  private let path: String
  private let sameSite: String

  /// The beginning of the names of all cookies.
  private static let namespace = "headway-"

  /// Creates a cookie.
  ///
  /// - Parameters:
  ///   - name: The last part of its name.
  ///   - path: The path of the pages that receive it.
  ///   - sameSite: `Strict`, or `Lax` if browsers must also send the cookie when users follow links from other sites.
  package init(_ name: String, path: String = "/", sameSite: String = "Strict") {
    (self.name, self.path, self.sameSite) = (Self.namespace + name, path, sameSite)
  }

  private static let prefixes = ["__Host-", "__Secure-"]

  private var secureName: String { Self.prefixes[path == "/" ? 0 : 1] + name }

  /// Returns the name of the cookie.
  ///
  /// - Parameter isEncrypted: Whether the connection is encrypted.
  /// - Returns: The name, with a prefix on encrypted connections.
  package func name(isEncrypted: Bool) -> String { isEncrypted ? secureName : name }

  /// Returns the value that a browser sends.
  ///
  /// - Parameters:
  ///   - request: A request of the browser.
  ///   - isEncrypted: Whether the connection is encrypted.
  /// - Returns: The value; nil if there is none.
  package func value(in request: Request, isEncrypted: Bool) -> String? {
    if let value = request.cookies[secureName]?.value { return value }
    return isEncrypted ? nil : request.cookies[name]?.value
  }

  /// Returns the header that stores a value in a browser.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - isEncrypted: Whether the connection is encrypted.
  /// - Returns: A `Set-Cookie` header field.
  package func header(_ value: String, isEncrypted: Bool) -> HTTPField {
    let flags = "HttpOnly; SameSite=\(sameSite); Path=\(path)" + (isEncrypted ? "; Secure" : "")
    return HTTPField(name: .setCookie, value: "\(name(isEncrypted: isEncrypted))=\(value); \(flags)")
  }

  /// Returns the header that removes the cookie from a browser.
  ///
  /// - Parameter isEncrypted: Whether the connection is encrypted.
  /// - Returns: A `Set-Cookie` header field.
  package func removal(isEncrypted: Bool) -> HTTPField {
    let field = header("", isEncrypted: isEncrypted)
    return HTTPField(name: field.name, value: field.value + "; Max-Age=0")
  }

  /// Returns whether the cookies of a request were set on an encrypted connection; nil if there are none.
  ///
  /// - Parameter request: A request of the browser.
  /// - Returns: True if there is a cookie that browsers send only on encrypted connections.
  static func isSecure(in request: Request) -> Bool? {
    let names = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }
      .map { $0.trimmingPrefix(while: \.isWhitespace) }
    if names.contains(where: { name in prefixes.contains { name.hasPrefix($0 + namespace) } }) { return true }
    return names.contains { $0.hasPrefix(namespace) } ? false : nil
  }
}

extension Request {
  /// Returns whether the browser's connection is encrypted, although the server's own connections are not.
  ///
  /// A proxy reports this in a header. Otherwise, the origin of a form or a cookie from an earlier form indicates it.
  ///
  /// - Parameter isUsual: The answer if the request does not indicate whether the connection is encrypted.
  /// - Returns: Whether the connection is encrypted.
  package func isEncrypted(ifUnknown isUsual: Bool = false) -> Bool {
    if let scheme = forwardedScheme { return scheme == "https" }
    if let origin = headers[.origin], origin != "null" { return origin.lowercased().hasPrefix("https:") }
    return SafeCookie.isSecure(in: self) ?? isUsual
  }

  /// The scheme of the browser's request, as the first proxy has reported it.
  private var forwardedScheme: String? {
    if let scheme = headers[HTTPField.Name("X-Forwarded-Proto")!] {
      return scheme.split(separator: ",").first?.trimmingPrefix(while: \.isWhitespace).lowercased()
    }
    let forwarded = headers[HTTPField.Name("Forwarded")!]?.lowercased().split(separator: ",").first
    return forwarded?.firstMatch(of: /proto="?(https?)/).map { String($0.1) }
  }
}
#endif
