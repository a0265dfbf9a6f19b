#if HTTP
public import HTTPTypes

/// A request to a server.
///
/// ```swift
/// var request = Request(url: "https://example.org/stops", headers: [.accept: "application/json"])
/// ```
///
/// The method and the header fields have types of the package swift-http-types. This module exports them.
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
  ///
  /// For a method that has no constant, use `HTTPRequest.Method("PURGE")`, which is nil if the text is not a token.
  public var method: HTTPRequest.Method
  /// The header fields.
  ///
  /// Fields that describe how the body is sent are set automatically. Several `Cookie` fields are sent as one. Values
  /// must be UTF-8. To add a field from text that might be invalid, use ``addHeaderField(name:value:)``: `HTTPFields`
  /// replaces line breaks in a value with spaces.
  public var headers: HTTPFields
  /// The content to send, if any.
  public var body: Body?
  /// Whether a ``RequestOperation`` may share the response of an equal GET request that is running; false by default.
  ///
  /// Two requests are equal if both set this property, and if they use the same ``HTTPConnectionPool`` and the same
  /// URL, header fields, and limits of the response. Equal requests share one connection. Each can be cancelled
  /// separately, and the connection is closed when the last request is cancelled. The response can be as old as the
  /// first of the requests. Therefore set this property for images and files, but not for content that has just been
  /// changed.
  public var coalescesEqualRequests = false

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - url: A URL with the scheme `http` or `https`.
  ///   - method: The method of the request.
  ///   - headers: The header fields to send; none by default.
  ///   - body: The content to send, if any.
  public init(url: String, method: HTTPRequest.Method = .get, headers: HTTPFields = [:], body: Body? = nil) {
    self.url = url
    self.method = method
    self.headers = headers
    self.body = body
  }

  /// Adds a header field from text, such as what a user has typed.
  ///
  /// Fields of the same name are kept.
  ///
  /// - Parameters:
  ///   - name: The name, such as `X-Request-ID`. Case is ignored.
  ///   - value: The value, without control characters.
  /// - Throws: ``RequestError`` with the code `invalidRequest` if the name is not a token, or if the value contains a
  ///   control character.
  public mutating func addHeaderField(name: String, value: String) throws {
    guard let fieldName = HTTPField.Name(name) else {
      throw invalid("“\(name)” is not a valid name for a header field.")
    }
    guard RequestCheck.isFieldValue(value) else {
      throw invalid("The value of the header field \(name) has control characters.")
    }
    headers.append(HTTPField(name: fieldName, value: value))
  }

  /// Whether sending the request twice has the same effect as sending it once, so that it can be repeated (RFC 9110,
  /// 9.2.2).
  var isIdempotent: Bool { [.get, .head, .put, .delete, .options, .trace].contains(method) }
}
#endif
