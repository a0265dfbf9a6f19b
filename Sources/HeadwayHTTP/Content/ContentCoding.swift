#if HTTP
import HTTPTypes
import NIOHTTP1

/// A coding that compresses content (RFC 9110, 8.4.1) or a message (RFC 9112, 7).
enum ContentCoding {
  case gzip, deflate

  /// The codings to undo.
  enum Undone {
    case none
    /// The codings of the message, which are not part of the content.
    case transfer
    /// The codings of the message and of the content.
    case all
  }

  /// The maximum number of codings; curl has the same limit.
  private static let maxCount = 5

  /// Returns the codings of a response, outermost first.
  ///
  /// - Parameters:
  ///   - answer: The header fields of the response.
  ///   - request: The header fields of the request. An unknown coding that they accept by name is not an error and is
  ///     not undone.
  ///   - undone: The codings to undo.
  /// - Returns: The codings, without those that change nothing, such as `identity`.
  /// - Throws: ``UnknownCoding`` if a coding is unknown, or if there are more codings than the maximum.
  static func codings(
    of answer: HTTPHeaders, for request: HTTPFields, _ undone: Undone
  ) throws(UnknownCoding) -> [ContentCoding] {
    func names(_ field: String) -> [String] { answer[canonicalForm: field].map { $0.lowercased() } }
    var codings: [ContentCoding] = []
    if undone == .none { return codings }
    // Some servers compress the message even if the request has no `TE`. The connection has already undone `chunked`.
    for name in names("Transfer-Encoding").reversed() where name != "chunked" && name != "identity" {
      guard let coding = named(name), codings.count < maxCount else { throw UnknownCoding(name: name) }
      codings.append(coding)
    }
    if undone == .transfer { return codings }
    for name in names("Content-Encoding").reversed() where !["", "identity", "none"].contains(name) {
      guard let coding = named(name), codings.count < maxCount else {
        if accepts(name, request) { return codings }
        throw UnknownCoding(name: name)
      }
      codings.append(coding)
    }
    return codings
  }

  /// Returns whether a request accepts a coding by name.
  private static func accepts(_ name: String, _ request: HTTPFields) -> Bool {
    HTTPHeaders(request)[canonicalForm: "Accept-Encoding"].contains {
      $0.lowercased().prefix { $0 != ";" && $0 != " " } == name
    }
  }

  private static func named(_ name: String) -> ContentCoding? {
    switch name {
    case "gzip", "x-gzip": .gzip
    case "deflate": .deflate
    default: nil
    }
  }
}

struct UnknownCoding: Error {
  let name: String
}

/// The reason why content can't be decompressed.
enum ContentDecodingError: Error {
  /// The bytes are not valid in the coding.
  case damaged
  /// The end is missing.
  case truncated
  /// The content expands beyond the allowed ratio.
  case expandsTooFar
}
#endif
