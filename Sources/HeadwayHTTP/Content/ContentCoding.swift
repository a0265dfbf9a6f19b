#if HTTP
import NIOHTTP1

/// A coding that compresses content (RFC 9110, 8.4.1) or a message (RFC 9112, 7).
enum ContentCoding {
  case gzip, deflate

  /// The codings that are undone.
  enum Undone {
    case none
    /// Those of the message, which are no part of the content.
    case transfer
    /// Those of the content, too.
    case all
  }

  /// How many codings content may have; curl allows as many.
  private static let maximumCount = 5

  /// Returns the codings of an answer, the outermost first.
  ///
  /// - Parameters:
  ///   - answer: The header fields of the answer.
  ///   - request: The header fields of the request. An unknown coding that they accept by name is not undone.
  ///   - undone: The codings that are undone.
  /// - Returns: The codings, without those that change nothing.
  /// - Throws: The name of a coding that is unknown.
  static func codings(
    of answer: HTTPHeaders, for request: HTTPHeaders, _ undone: Undone
  ) throws(UnknownCoding) -> [ContentCoding] {
    func names(_ field: String) -> [String] { answer[canonicalForm: field].map { $0.lowercased() } }
    var codings: [ContentCoding] = []
    if undone == .none { return codings }
    // Some servers compress the message although the request has no `TE`. The connection has undone `chunked`.
    for name in names("Transfer-Encoding").reversed() where name != "chunked" && name != "identity" {
      guard let coding = named(name), codings.count < maximumCount else { throw UnknownCoding(name: name) }
      codings.append(coding)
    }
    if undone == .transfer { return codings }
    let accepted = request[canonicalForm: "Accept-Encoding"].map {
      $0.lowercased().prefix { $0 != ";" && $0 != " " }
    }
    for name in names("Content-Encoding").reversed() where !["", "identity", "none"].contains(name) {
      guard let coding = named(name), codings.count < maximumCount else {
        if accepted.contains(Substring(name)) { return codings }
        throw UnknownCoding(name: name)
      }
      codings.append(coding)
    }
    return codings
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

/// Why content can't be decompressed.
enum ContentDecodingError: Error {
  /// The bytes are not what the coding says.
  case damaged
  /// The end is missing.
  case truncated
  /// It expands more than it may.
  case expandsTooFar
}
#endif
