import FoundationEssentials

/// The stored form of a job, or of its result.
public struct JobPayload: Hashable, Sendable {
  /// The bytes: JSON, unless the type conforms to ``RawPayload``.
  public let bytes: [UInt8]

  /// Creates a payload from its bytes.
  ///
  /// - Parameter bytes: The encoded value, in the form that the store contains.
  public init(bytes: [UInt8]) { self.bytes = bytes }

  /// Encodes a value as JSON, with sorted keys, and with dates in ISO 8601 format with milliseconds.
  ///
  /// - Parameter value: The value to encode. The bytes of a ``RawPayload`` are used as they are.
  /// - Throws: `EncodingError` if the value can't be encoded.
  public init(encoding value: some Encodable) throws {
    if let raw = value as? any RawPayload {
      bytes = raw.payload
      return
    }
    bytes = [UInt8](try Self.encoder.encode(value))
  }

  private static let encoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      guard date.hasText else {
        // The seconds, because describing such a date crashes the process.
        throw EncodingError.invalidValue(
          date.timeIntervalSince1970,
          .init(codingPath: encoder.codingPath, debugDescription: "The date can't be written in ISO 8601"))
      }
      try container.encode(date.text)
    }
    return encoder
  }()

  /// Decodes a value.
  ///
  /// - Parameter type: The type of the value.
  /// - Returns: The value that was encoded.
  /// - Throws: `DecodingError` if the payload does not match the type.
  public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let raw = type as? any RawPayload.Type, let value = try raw.init(payload: bytes) as? Value { return value }
    return try Self.decoder.decode(type, from: Data(bytes))
  }

  private static let decoder = {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let container = try decoder.singleValueContainer()
      let text = try container.decode(String.self)
      if let date = Date(text: text) { return date }
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is not an ISO 8601 date")
    }
    return decoder
  }()
}

extension JobPayload: Codable {
  /// Decodes a payload from its bytes.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: `DecodingError`.
  public init(from decoder: any Decoder) throws {
    bytes = [UInt8](try decoder.singleValueContainer().decode(Data.self))
  }

  /// Encodes the bytes.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: `EncodingError`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(Data(bytes))
  }
}

/// A value that provides its own stored form instead of JSON, such as a compressed or encrypted payload.
public protocol RawPayload {
  /// The stored form.
  var payload: [UInt8] { get }

  /// Creates the value from its stored form.
  ///
  /// - Parameter payload: The bytes that were stored.
  /// - Throws: Any error, if the bytes are not valid.
  init(payload: [UInt8]) throws
}
