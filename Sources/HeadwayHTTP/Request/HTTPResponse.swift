#if HTTP
public import NIOHTTP1

/// What a server answered, with its whole body.
public struct HTTPResponse: Sendable {
  /// The address that answered: another than that of the request after redirects.
  public let url: String
  /// The status.
  public let status: HTTPResponseStatus
  /// The header fields.
  public let headers: HTTPHeaders
  /// The content, decompressed.
  public let body: [UInt8]

  /// The content as text in UTF-8; what is none is replaced by U+FFFD.
  public var text: String { String(decoding: body, as: UTF8.self) }
}
#endif
