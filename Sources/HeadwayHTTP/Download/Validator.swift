#if HTTP
  import NIOHTTP1

  /// By what a server says that content is still the same.
  enum Validator {
    /// The strong entity tag, or else the time of the last change: what `If-Range` takes (RFC 9110, 13.1.5).
    static func of(_ headers: HTTPHeaders) -> String? {
      if let tag = headers.first(name: "ETag"), tag.hasPrefix("\"") { return tag }
      return headers.first(name: "Last-Modified")
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
        let start = Int(start)
      else { return nil }
      (self.start, self.total) = (start, total)
    }
  }
#endif
