#if HTTP
  import NIOHTTP1

  /// By what a server says that content is still the same.
  enum Validator {
    /// The strong entity tag, or else the time of the last change: what `If-Range` takes (RFC 9110, 13.1.5).
    ///
    /// A time counts if it is before that of the answer: what changed in the same second may change in it again, and
    /// have the same time (RFC 9110, 8.8.2.2).
    static func of(_ headers: HTTPHeaders) -> String? {
      if let tag = headers.first(name: "ETag"), tag.hasPrefix("\"") { return tag }
      guard let text = headers.first(name: "Last-Modified"), let change = HTTPDate.parsed(text),
        let now = headers.first(name: "Date").flatMap(HTTPDate.parsed), change < now
      else { return nil }
      return text
    }

    /// Whether an answer says that it belongs to other content than that of a validator.
    static func isContradicted(_ validator: String, by headers: HTTPHeaders) -> Bool {
      let field = validator.hasPrefix("\"") ? "ETag" : "Last-Modified"
      return headers.first(name: field).map { $0 != validator } ?? false
    }
  }

  /// `Content-Range: bytes 100-199/1000`.
  struct ContentRange {
    let start: Int
    let total: Int

    init?(_ headers: HTTPHeaders) {
      guard let value = headers.first(name: "Content-Range"), value.hasPrefix("bytes ") else { return nil }
      let parts = value.dropFirst(6).split(separator: "/")
      guard parts.count == 2, let total = Int(parts[1]), let start = parts[0].split(separator: "-").first,
        let start = Int(start), start < total
      else { return nil }
      (self.start, self.total) = (start, total)
    }
  }
#endif
