#if HTTP
import NIOHTTP1

/// By what a server says that content is still the same.
enum Validator {
  /// The strong entity tag, or else the time of the last change: what `If-Range` takes (RFC 9110, 13.1.5).
  ///
  /// A time counts if it is before that of the answer: what changed in the same second may change in it again, and
  /// have the same time (RFC 9110, 8.8.2.2).
  static func of(_ headers: HTTPHeaders) -> String? {
    if let tag = entityTag(headers), tag.hasPrefix("\"") { return tag }
    guard let text = headers.first(name: "Last-Modified"), let change = HTTPDate.parsed(text),
      let now = headers.first(name: "Date").flatMap(HTTPDate.parsed), change < now
    else { return nil }
    return text
  }

  /// The entity tag of an answer, if it can be sent back.
  static func entityTag(_ headers: HTTPHeaders) -> String? {
    headers.first(name: "ETag").flatMap { RequestCheck.isFieldValue($0) ? $0 : nil }
  }

  /// Whether an answer says that it belongs to other content than that of a validator.
  static func isContradicted(_ validator: String, by headers: HTTPHeaders) -> Bool {
    let field = validator.hasPrefix("\"") ? "ETag" : "Last-Modified"
    return headers.first(name: field).map { $0 != validator } ?? false
  }

  /// Whether an answer has a validator.
  static func isConfirmed(_ validator: String, by headers: HTTPHeaders) -> Bool {
    headers.first(name: validator.hasPrefix("\"") ? "ETag" : "Last-Modified") == validator
  }
}

/// `Content-Range: bytes 100-199/1000`, where the total may be `*`.
struct ContentRange {
  let start: Int
  let end: Int
  let total: Int?

  init?(_ headers: HTTPHeaders) {
    guard let (range, totalText) = Self.parts(headers) else { return nil }
    let bounds = range.split(separator: "-", maxSplits: 1).map { Int($0) }
    guard bounds.count == 2, let start = bounds[0], let end = bounds[1], start >= 0, start <= end, end < .max
    else { return nil }
    total = Int(totalText)
    guard total.map({ end < $0 }) ?? (totalText == "*") else { return nil }
    (self.start, self.end) = (start, end)
  }

  /// The length of the content by an answer that has no such part of it: `Content-Range: bytes */1000`.
  static func totalWithoutPart(_ headers: HTTPHeaders) -> Int? {
    guard let (range, total) = parts(headers), range == "*" else { return nil }
    return Int(total)
  }

  private static func parts(_ headers: HTTPHeaders) -> (range: Substring, total: Substring)? {
    guard let value = headers.first(name: "Content-Range"), value.lowercased().hasPrefix("bytes ") else { return nil }
    let parts = value.dropFirst(6).split(separator: "/")
    return parts.count == 2 ? (parts[0], parts[1]) : nil
  }
}
#endif
