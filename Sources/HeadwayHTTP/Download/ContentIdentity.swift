#if HTTP
import NIOHTTP1

/// The metadata that a server has sent about content, for comparison with later responses.
struct ContentIdentity {
  /// The validator of the content; nil if the server has not sent one.
  var validator: String?
  /// The size of the whole content in bytes; nil if the server has not sent it.
  var size: Int?
  /// The coding of the content, if the server sent one.
  var coding: String?
  /// The entity tag of the content, even if it is weak and therefore no validator.
  var entityTag: String?

  /// The kind of content in a response.
  enum Fit {
    /// The requested part of the content.
    case rest(ContentRange)
    /// The whole content.
    case whole
    /// A part that was not requested, or content that contradicts what is known about it.
    case neither
  }

  /// Compares the header fields that describe a response's content with the request, regardless of the status.
  ///
  /// - Parameters:
  ///   - answer: The response, with a status that is not an error.
  ///   - start: The offset of the requested content; nil if the whole content was requested.
  /// - Returns: The kind of content in the response.
  func fit(of answer: HTTPExchange.Answer, from start: Int?) -> Fit {
    let (headers, length) = (answer.headers, answer.announcedLength)
    let part = ContentRange(headers)
    let hasPartLength = part.map { length ?? $0.count == $0.count } == true
    // Some servers send a part with the status 200. If the length differs, the range has no meaning (RFC 9110, 14.4).
    if answer.status == .partialContent || hasPartLength {
      guard let part, hasPartLength else { return .neither }
      if part.isWhole, part.total != nil || answer.status != .partialContent { return .whole }
      return start == part.start && isContinued(by: part, headers) ? .rest(part) : .neither
    }
    guard start != nil else { return .whole }
    // The same content has the same size: some servers send a part as if it were the whole content.
    if let size, let length, size != length, isConfirmed(by: headers) { return .neither }
    // A response such as 204 has no content and does not replace a file.
    return answer.status == .ok || answer.status.kind != .successful ? .whole : .neither
  }

  private func isConfirmed(by headers: HTTPHeaders) -> Bool {
    validator.map { Validator.isConfirmed($0, by: headers) } == true
  }

  private func isContinued(by part: ContentRange, _ headers: HTTPHeaders) -> Bool {
    // If a server ignores `If-Range`, only the validator shows which content the part belongs to.
    guard part.end < part.total ?? size ?? 0, belongs(headers, total: part.total),
      isConfirmed(by: headers), !isMultipart(headers)
    else { return false }
    // The response may omit the coding but must not have a different one.
    return headers.first(name: "Content-Encoding").map { $0 == coding } ?? true
  }

  private func isMultipart(_ headers: HTTPHeaders) -> Bool {
    headers["Content-Type"].contains { $0.lowercased().hasPrefix("multipart/byteranges") }
  }

  /// Returns whether a response without content, which contains the total size, confirms this size.
  func hasSize(_ count: Int, by headers: HTTPHeaders) -> Bool {
    guard let total = ContentRange.totalWithoutPart(headers) else { return false }
    return total == count && belongs(headers, total: total)
  }

  /// Returns whether a response can belong to the content that is partly in the file.
  private func belongs(_ headers: HTTPHeaders, total: Int?) -> Bool {
    guard let validator, !Validator.isContradicted(validator, by: headers),
      entityTag.map({ !Validator.isContradicted($0, by: headers) }) ?? true
    else { return false }
    guard let total else { return size != nil }
    return size.map { $0 == total } ?? true
  }
}
#endif
