#if HTTP
  import NIOHTTP1

  /// A coding that compresses content while it is sent (RFC 9110, 8.4.1).
  enum ContentCoding {
    case gzip, deflate

    /// How many codings content may have; curl allows as many.
    private static let maximumCount = 5

    /// The codings of an answer, in the order in which they are undone.
    ///
    /// - Parameters:
    ///   - answer: The header fields of the answer.
    ///   - request: The header fields of the request. What they accept by name is left as it is if it is unknown.
    /// - Returns: The codings, without those that change nothing.
    /// - Throws: The name of a coding that is unknown.
    static func codings(of answer: HTTPHeaders, for request: HTTPHeaders) throws(UnknownCoding) -> [ContentCoding] {
      let names = answer[canonicalForm: "Content-Encoding"].map { $0.lowercased() }
      let accepted = request[canonicalForm: "Accept-Encoding"].map {
        $0.lowercased().prefix { $0 != ";" && $0 != " " }
      }
      var codings: [ContentCoding] = []
      for name in names.reversed() where !["", "identity", "none"].contains(name) {
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
