#if HTTP
  public import Foundation

  extension HTTPResponse {
    /// Decodes the body.
    ///
    /// ```swift
    /// struct Stop: Decodable { var name: String }
    /// let stops = try response.decoded(as: [Stop].self)
    /// ```
    ///
    /// - Parameters:
    ///   - type: What the body has.
    ///   - decoder: How JSON is read.
    /// - Returns: The value.
    /// - Throws: ``HTTPError`` with the code `cannotDecode`, which has the address, the status, the beginning of the body
    ///   and the error of the decoder.
    public func decoded<Value: Decodable>(
      as type: Value.Type = Value.self, by decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
      do {
        return try decoder.decode(type, from: Data(body))
      } catch {
        let reason = (error as? DecodingError).map { Self.explanation(of: $0) } ?? "\(error)"
        throw HTTPError(
          .cannotDecode, url: url, status: status, message: "The content is no \(type): \(reason)",
          body: Array(body.prefix(HTTPLimits().maximumErrorBodyBytes)), underlying: error)
      }
    }

    /// What is wrong, and where, in one line.
    private static func explanation(of error: DecodingError) -> String {
      func place(_ path: [any CodingKey]) -> String {
        let text = path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
        return text.isEmpty ? "" : " at \(text.drop { $0 == "." })"
      }
      return switch error {
      case .keyNotFound(let key, let context): "there is no “\(key.stringValue)”\(place(context.codingPath))."
      case .typeMismatch(let type, let context): "there is no \(type)\(place(context.codingPath))."
      case .valueNotFound(let type, let context): "null stands for a \(type)\(place(context.codingPath))."
      case .dataCorrupted(let context): "\(context.debugDescription)\(place(context.codingPath))"
      @unknown default: "\(error)"
      }
    }
  }

  extension RequestOperation {
    /// Waits for the answer, and decodes its body.
    ///
    /// ```swift
    /// struct Stop: Decodable { var name: String }
    /// let stops = try await request.decoded(as: [Stop].self)
    /// ```
    ///
    /// A body that can't be decoded is no failure of the operation: to make it one, subclass the operation and override
    /// ``receive(_:)``.
    ///
    /// - Parameters:
    ///   - type: What the body has.
    ///   - decoder: How JSON is read.
    /// - Returns: The value.
    /// - Throws: What ``value`` throws; ``HTTPError`` with the code `cannotDecode`.
    public final func decoded<Value: Decodable>(
      as type: Value.Type = Value.self, by decoder: JSONDecoder = JSONDecoder()
    ) async throws -> Value {
      try await value.decoded(as: type, by: decoder)
    }
  }
#endif
