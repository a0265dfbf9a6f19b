import struct Foundation.Data
import class Foundation.JSONDecoder
import class Foundation.JSONEncoder

/// Values in their stored form.
enum StoredForm {
  /// The value, stored and read again.
  static func copy<Value: Codable>(of value: Value) throws -> Value {
    try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
  }

  /// Reads a value from the stored form of other values.
  static func decode<Value: Decodable>(_: Value.Type, from stored: String) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(stored.utf8))
  }

  /// The stored form of a value, with `replaced` replaced.
  static func text(of value: some Encodable, replacing replaced: String, with other: String) throws -> String {
    let text = String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    precondition(text.contains(replaced), "\(text) does not contain \(replaced)")
    return text.replacing(replaced, with: other)
  }
}
