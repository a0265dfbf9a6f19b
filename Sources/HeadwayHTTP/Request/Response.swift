#if HTTP
public import HTTPTypes

/// The response of a server, with its whole body.
public struct Response: Sendable {
  /// The URL that responded.
  ///
  /// After redirects, it differs from the URL of the request.
  public let url: String
  /// The status of the response, such as 200.
  public let status: HTTPResponse.Status
  /// The header fields that the server sent, except for fields with an invalid name.
  ///
  /// In the values, bytes that are not UTF-8 are replaced with U+FFFD.
  public let headers: HTTPFields
  /// The content, decompressed.
  public let body: [UInt8]

  /// The content as UTF-8 text.
  ///
  /// Invalid bytes are replaced by U+FFFD.
  public var text: String { String(decoding: body, as: UTF8.self) }
}
#endif
