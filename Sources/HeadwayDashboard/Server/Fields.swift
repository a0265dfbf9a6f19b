#if Dashboard
import Foundation

/// The fields of a form or of the query of a URL.
struct Fields: Sendable {
  private var values: [String: [String]] = [:]

  init() {}

  /// Reads fields; a field that is empty or can't be decoded is omitted.
  init(_ encoded: some StringProtocol) {
    for field in encoded.split(separator: "&") {
      let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let decoded = parts.map { String($0).replacing("+", with: " ").removingPercentEncoding }
      if decoded.count == 2, let name = decoded[0], let value = decoded[1], !value.isEmpty {
        values[name, default: []].append(value)
      }
    }
  }

  /// The value of a field; the last one if there are several.
  subscript(name: String) -> String? { values[name]?.last }

  /// The numbers of a field that can occur several times.
  func numbers(_ name: String) -> [Int64] { (values[name] ?? []).compactMap { Int64($0) } }

  /// The value of a field that is a number.
  func number(_ name: String) -> Int64? { self[name].flatMap { Int64($0) } }
}

/// A URL of the dashboard.
enum Link {
  /// Returns a path with a query; fields without a value are omitted.
  static func to(_ path: String, _ fields: KeyValuePairs<String, String?> = [:]) -> String {
    to(path, fields.map { ($0.key, $0.value) })
  }

  static func to(_ path: String, _ fields: [(String, String?)]) -> String {
    let query = fields.compactMap { name, value in value.map { "\(name)=\(encoded($0))" } }
    return query.isEmpty ? path : "\(path)?\(query.joined(separator: "&"))"
  }

  private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8)

  /// Returns a text with escapes for all characters that have a meaning in an address.
  static func encoded(_ text: String) -> String {
    text.utf8.map { byte in
      plain.contains(byte)
        ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined()
  }
}
#endif
