#if HTTP
public import NIOHTTP1

/// What is asked of a server.
///
/// ```swift
/// var request = HTTPRequest(url: "https://example.org/stops", headers: ["Accept": "application/json"])
/// ```
public struct HTTPRequest: Sendable {
  /// The content that is sent.
  public enum Body: Sendable {
    case bytes([UInt8])
    /// The content of a file, read while it is sent: memory does not depend on its size.
    case file(path: String)
  }

  /// An address with the scheme `http` or `https`.
  ///
  /// A user and a password in it (`https://user:password@example.org/`) are sent by Basic authorization.
  public var url: String
  /// GET by default.
  public var method: HTTPMethod
  /// The header fields; those that say how the body is sent are set by themselves.
  public var headers: HTTPHeaders
  /// The content that is sent, if there is any.
  public var body: Body?
  /// Whether a ``RequestOperation`` may share the answer of an equal GET that is under way; false by default.
  ///
  /// Equal are requests that say this, by the same ``HTTPConnections``, with the same address, header fields and
  /// limits of the answer: one connection serves them all. Each is cancelled for itself; the connection is closed
  /// when the last one is. The answer may be as old as the first of them, so say it where that is right: for images
  /// and files, not for what has just been changed.
  public var joinsEqualRequests = false

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - url: An address with the scheme `http` or `https`.
  ///   - method: What is to be done.
  ///   - headers: The header fields.
  ///   - body: The content that is sent.
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

  /// Whether asking twice is the same as asking once, so that the request may be repeated (RFC 9110, 9.2.2).
  var isIdempotent: Bool { [.GET, .HEAD, .PUT, .DELETE, .OPTIONS, .TRACE].contains(method) }
}
#endif
