#if HTTP
import NIOHTTP1

/// Reads the validator of content: the header field that shows whether the content is still the same.
enum Validator {
  /// Returns the strong entity tag, or else the time of the last change: the values that `If-Range` accepts (RFC 9110,
  /// 13.1.5).
  ///
  /// A time of change is used only if it is earlier than the time of the response. Content that changed in the same
  /// second might change again in that second, and would keep the same time (RFC 9110, 8.8.2.2).
  static func of(_ headers: HTTPHeaders) -> String? {
    if let tag = entityTag(headers), tag.hasPrefix("\"") { return tag }
    guard let text = headers.uniqueValue("Last-Modified"), let change = HTTPDate.parsed(text),
      let now = headers.first(name: "Date").flatMap({ HTTPDate.parsed($0) }), change < now
    else { return nil }
    return text
  }

  /// Returns the entity tag of a response, if it can be sent back.
  static func entityTag(_ headers: HTTPHeaders) -> String? {
    // Bytes that are not UTF-8 have been replaced, so two tags that have them might look the same.
    headers.uniqueValue("ETag").flatMap { RequestCheck.isFieldValue($0) && !$0.contains("\u{FFFD}") ? $0 : nil }
  }

  /// Returns whether a response has a different validator, so that it belongs to other content.
  static func isContradicted(_ validator: String, by headers: HTTPHeaders) -> Bool {
    headers[field(of: validator)].contains { $0 != validator }
  }

  /// Returns whether a response has the given validator.
  static func isConfirmed(_ validator: String, by headers: HTTPHeaders) -> Bool {
    headers.uniqueValue(field(of: validator)) == validator
  }

  private static func field(of validator: String) -> String {
    validator.hasPrefix("\"") || validator.hasPrefix("W/") ? "ETag" : "Last-Modified"
  }
}

/// A part of content: `Content-Range: bytes 100-199/1000`, where the total can be `*`.
struct ContentRange {
  let start: Int
  let end: Int
  let total: Int?

  /// The number of bytes of the part.
  var count: Int { end - start + 1 }
  /// Whether the part is all of the content.
  var isWhole: Bool { start == 0 && total ?? count == count }

  init?(_ headers: HTTPHeaders) {
    guard let (range, totalText) = Self.parts(headers) else { return nil }
    let bounds = range.split(separator: "-", omittingEmptySubsequences: false).map { Int(digits: $0) }
    guard bounds.count == 2, let start = bounds[0], let end = bounds[1], start <= end, end < .max else { return nil }
    total = Int(digits: totalText)
    guard total.map({ end < $0 }) ?? (totalText == "*") else { return nil }
    (self.start, self.end) = (start, end)
  }

  /// Returns the length of the content from a response that does not have the requested part:
  /// `Content-Range: bytes */1000`.
  static func totalWithoutPart(_ headers: HTTPHeaders) -> Int? {
    guard let (range, total) = parts(headers), range == "*" else { return nil }
    return Int(digits: total)
  }

  private static func parts(_ headers: HTTPHeaders) -> (range: Substring, total: Substring)? {
    guard let value = headers.uniqueValue("Content-Range"), value.lowercased().hasPrefix("bytes ") else { return nil }
    let parts = value.dropFirst(6).split(separator: "/")
    return parts.count == 2 ? (parts[0], parts[1]) : nil
  }
}
#endif
