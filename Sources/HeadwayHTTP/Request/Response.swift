#if HTTP
public import NIOHTTP1

/// The response of a server, with its whole body.
public struct Response: Sendable {
  /// The URL that responded.
  ///
  /// After redirects, it differs from the URL of the request.
  public let url: String
  /// The status.
  public let status: HTTPResponseStatus
  /// The header fields.
  public let headers: HTTPHeaders
  /// The content, decompressed.
  public let body: [UInt8]

  /// The content as UTF-8 text.
  ///
  /// Invalid bytes are replaced by U+FFFD.
  public var text: String { String(decoding: body, as: UTF8.self) }
}
#endif
