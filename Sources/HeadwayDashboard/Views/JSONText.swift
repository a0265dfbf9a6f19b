#if Dashboard
import Foundation
import HeadwayJobs

/// Formats JSON for people and hides the values of some keys.
///
/// The text of each number remains as it is.
struct JSONText {
  private let bytes: [UInt8]
  private let redacted: Set<String>
  /// The text that replaces a hidden value.
  private let hidden: String
  private var index = 0
  private var text: [UInt8] = []

  /// The text that is shown instead of a hidden value.
  static let mask = "•••"
  /// The maximum number of bytes that are shown.
  static let maxLength = 64 * 1_024

  /// Returns the text of a payload or a result.
  ///
  /// - Parameters:
  ///   - bytes: The content to show, which is usually JSON.
  ///   - redactedKeys: The keys whose values are hidden, regardless of case.
  /// - Returns: Indented JSON; other text as it is, or bytes in hexadecimal notation.
  static func text(of bytes: [UInt8], hiding redactedKeys: Set<String>) -> String {
    guard let plain = String(validating: bytes, as: UTF8.self) else {
      let shown = bytes.prefix(256).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
      return "\(Readable.count(bytes.count, "byte")): \(shown)\(bytes.count > 256 ? " …" : "")"
    }
    guard isValid(bytes) else { return shortened(plain) }
    return shortened(String(decoding: indented(bytes, hiding: redactedKeys, as: mask), as: UTF8.self))
  }

  /// Returns JSON in which strings replace the hidden values, without spaces between its parts; other bytes as they
  /// are.
  ///
  /// - Parameters:
  ///   - bytes: The content of a payload or a result.
  ///   - redactedKeys: The keys whose values are hidden, regardless of case.
  /// - Returns: Valid JSON if the content is valid JSON.
  static func withoutSecrets(_ bytes: [UInt8], hiding redactedKeys: Set<String>) -> [UInt8] {
    isValid(bytes) ? compact(indented(bytes, hiding: redactedKeys, as: "\"\(mask)\"")) : bytes
  }

  private static func indented(_ json: [UInt8], hiding redactedKeys: Set<String>, as hidden: String) -> [UInt8] {
    var formatter = JSONText(bytes: json, redacted: Set(redactedKeys.map { $0.lowercased() }), hidden: hidden)
    formatter.value(indent: 0)
    return formatter.text
  }

  /// Returns whether bytes are JSON in UTF-8.
  static func isValid(_ bytes: [UInt8]) -> Bool {
    // Foundation also reads UTF-16, which contains zeros, and JSON with a byte order mark or with trailing commas.
    guard !bytes.contains(0), !bytes.starts(with: [0xEF, 0xBB, 0xBF]),
      (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
    else { return false }
    let structure = compact(bytes, withStrings: false)
    return !zip(structure, structure.dropFirst()).contains { first, second in
      first == UInt8(ascii: ",") && (second == UInt8(ascii: "}") || second == UInt8(ascii: "]"))
    }
  }

  /// Returns valid JSON without the spaces between its parts, and optionally with empty strings.
  static func compact(_ json: [UInt8], withStrings: Bool = true) -> [UInt8] {
    var (isInString, isEscaped) = (false, false)
    return json.filter { byte in
      guard isInString else {
        isInString = byte == UInt8(ascii: "\"")
        return ![0x20, 0x09, 0x0A, 0x0D].contains(byte)
      }
      (isEscaped, isInString) = (byte == UInt8(ascii: "\\") && !isEscaped, byte != UInt8(ascii: "\"") || isEscaped)
      return withStrings || !isInString
    }
  }

  private static func shortened(_ text: String) -> String {
    guard text.utf8.count > maxLength else { return text }
    return String(decoding: text.utf8.prefix(maxLength), as: UTF8.self)
      + "\n… \(Readable.count(text.utf8.count - maxLength, "more byte"))"
  }

  private init(bytes: [UInt8], redacted: Set<String>, hidden: String) {
    (self.bytes, self.redacted, self.hidden) = (bytes, redacted, hidden)
  }

  // MARK: Reading. The bytes are valid JSON.

  private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func skipSpace() {
    while let byte = current, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { index += 1 }
  }

  /// Reads a string, with its quotation marks.
  private mutating func string() -> ArraySlice<UInt8> {
    let start = index
    index += 1
    while let byte = current, byte != UInt8(ascii: "\"") { index += byte == UInt8(ascii: "\\") ? 2 : 1 }
    index = min(index + 1, bytes.count)
    return bytes[start..<index]
  }

  private mutating func value(indent: Int) {
    skipSpace()
    switch current {
    case UInt8(ascii: "{"): members(indent: indent, end: UInt8(ascii: "}"), areNamed: true)
    case UInt8(ascii: "["): members(indent: indent, end: UInt8(ascii: "]"), areNamed: false)
    case UInt8(ascii: "\""): text += string()
    default:
      while let byte = current, ![0x20, 0x09, 0x0A, 0x0D].contains(byte), !Array(",]}".utf8).contains(byte) {
        text.append(byte)
        index += 1
      }
    }
  }

  private mutating func members(indent: Int, end: UInt8, areNamed: Bool) {
    text.append(bytes[index])
    index += 1
    skipSpace()
    var isEmpty = true
    while let byte = current, byte != end {
      if byte == UInt8(ascii: ",") {
        text.append(byte)
        index += 1
        skipSpace()
      }
      isEmpty = false
      newLine(indent: indent + 1)
      if areNamed { member(indent: indent + 1) } else { value(indent: indent + 1) }
      skipSpace()
    }
    index += 1
    if !isEmpty { newLine(indent: indent) }
    text.append(end)
  }

  private mutating func member(indent: Int) {
    let name = string()
    text += name
    text += Array(": ".utf8)
    skipSpace()
    index += 1
    let key = (try? JSONDecoder().decode(String.self, from: Data(name))) ?? ""
    guard redacted.contains(key.lowercased()) else { return value(indent: indent) }
    let length = text.count
    value(indent: indent)
    text.removeSubrange(length...)
    text += Array(hidden.utf8)
  }

  private mutating func newLine(indent: Int) {
    text.append(0x0A)
    text += [UInt8](repeating: 0x20, count: 2 * indent)
  }
}
#endif
