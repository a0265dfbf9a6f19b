#if HTTP
public import Foundation

extension Response {
  /// Decodes the JSON in the body.
  ///
  /// ```swift
  /// struct Stop: Decodable { var name: String }
  /// let request = RequestOperation("https://example.org/stops.json")
  /// queue.addOperation(request)
  /// let stops = try await request.value.decoded(as: [Stop].self)
  /// ```
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - decoder: The decoder to use.
  /// - Returns: The value that the body contains.
  /// - Throws: ``RequestError`` with the code `cannotDecode`. It contains the URL, the status, the beginning of the
  ///   body, and the error of the decoder.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self, by decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    do {
      return try decoder.decode(type, from: Data(body))
    } catch {
      let reason = (error as? DecodingError).map { Self.explanation(of: $0) } ?? "\(error)"
      throw RequestError(
        .cannotDecode, url: url, status: status, context: "The content could not be decoded: \(reason)",
        body: Array(body.prefix(HTTPLimits().maxErrorBodyBytes)), underlyingError: error, contextIncludesCause: true)
    }
  }

  /// Describes an error and its location in one line.
  private static func explanation(of error: DecodingError) -> String {
    func place(_ path: [any CodingKey]) -> String {
      let text = path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }.joined()
      return text.isEmpty ? "" : " at \(text.drop { $0 == "." })"
    }
    return switch error {
    case .keyNotFound(let key, let context): "the key “\(key.stringValue)” is missing\(place(context.codingPath))."
    case .typeMismatch(let type, let context):
      (name(of: type).map { "expected \($0)" } ?? "the value has the wrong type") + "\(place(context.codingPath))."
    case .valueNotFound(let type, let context):
      "found null instead of \(name(of: type) ?? "a value")\(place(context.codingPath))."
    case .dataCorrupted(let context): "\(context.debugDescription)\(place(context.codingPath))"
    @unknown default: "\(error)"
    }
  }
}

/// Returns the JSON term for the values of a type, with an article; nil if there is none, such as for types of user
/// code.
private func name(of type: any Any.Type) -> String? {
  switch type {
  case is String.Type: "a string"
  case is Bool.Type: "true or false"
  case is any BinaryInteger.Type: "an integer"
  case is any BinaryFloatingPoint.Type, is Decimal.Type: "a number"
  case is [Any].Type: "an array"
  case is [String: Any].Type: "an object"
  default: "\(type)".hasPrefix("Array<") ? "an array" : "\(type)".hasPrefix("Dictionary<") ? "an object" : nil
  }
}

extension RequestOperation {
  /// Waits for the response and decodes the JSON in its body.
  ///
  /// ```swift
  /// struct Stop: Decodable { var name: String }
  /// let request = RequestOperation("https://example.org/stops.json")
  /// queue.addOperation(request)
  /// let stops = try await request.decoded(as: [Stop].self)
  /// ```
  ///
  /// If the body can't be decoded, this method throws, but the operation does not fail. To make the operation fail,
  /// subclass it and override ``handleResponse(_:)``.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - decoder: The decoder to use.
  /// - Returns: The value that the body contains.
  /// - Throws: The error of ``value``; ``RequestError`` with the code `cannotDecode`.
  public final func decoded<Value: Decodable>(
    as type: Value.Type = Value.self, by decoder: JSONDecoder = JSONDecoder()
  ) async throws -> Value {
    try await value.decoded(as: type, by: decoder)
  }
}
#endif
