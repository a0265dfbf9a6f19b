#if HTTP
public import NIOHTTP1

/// A request to a server.
///
/// ```swift
/// var request = Request(url: "https://example.org/stops", headers: ["Accept": "application/json"])
/// ```
public struct Request: Sendable {
  /// The content to send.
  public enum Body: Sendable {
    case bytes([UInt8])
    /// The content of a file, which is read while it is sent. Memory use does not depend on its size.
    case file(path: String)
  }

  /// A URL with the scheme `http` or `https`.
  ///
  /// A user name and a password in it (`https://user:password@example.org/`) are sent with Basic authorization.
  public var url: String
  /// The method; GET by default.
  public var method: HTTPMethod
  /// The header fields.
  ///
  /// Fields that describe how the body is sent are set automatically.
  public var headers: HTTPHeaders
  /// The content to send, if any.
  public var body: Body?
  /// Whether a ``RequestOperation`` may share the response of an equal GET request that is running; false by default.
  ///
  /// Two requests are equal if both set this property, and if they use the same ``HTTPConnectionPool`` and the same
  /// URL, header fields, and limits of the response. Equal requests share one connection. Each can be cancelled
  /// separately, and the connection is closed when the last one is cancelled. The response can be as old as the first
  /// of the requests. Therefore set this property for images and files, but not for content that has just been changed.
  public var coalescesEqualRequests = false

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - url: A URL with the scheme `http` or `https`.
  ///   - method: The method of the request.
  ///   - headers: The header fields.
  ///   - body: The content to send, if any.
  public init(url: String, method: HTTPMethod = .GET, headers: HTTPHeaders = [:], body: Body? = nil) {
    self.url = url
    self.method = method
    self.headers = headers
    self.body = body
  }

  /// Adds a header field.
  package mutating func addHeader(_ field: (name: String, value: String)) {
    headers.add(name: field.name, value: field.value)
  }

  /// Whether sending the request twice has the same effect as sending it once, so that it can be repeated (RFC 9110,
  /// 9.2.2).
  var isIdempotent: Bool { [.GET, .HEAD, .PUT, .DELETE, .OPTIONS, .TRACE].contains(method) }
}
#endif
