#if HTTP
import SwiftASN1

/// The name of the holder or the issuer of a certificate, such as `CN=example.org,O=Example`.
struct DistinguishedName: Equatable {
  private let encoded: ArraySlice<UInt8>
  private let node: ASN1Node

  init(_ node: ASN1Node) { (self.node, encoded) = (node, node.encodedBytes) }

  static func == (one: Self, other: Self) -> Bool { one.encoded == other.encoded }

  /// The last common name, which was the name of the host before certificates had alternative names.
  var commonName: String? {
    node.children.flatMap(\.children).map(\.children).last { parts in
      (try? parts.first.map { try ASN1ObjectIdentifier(derEncoded: $0) }) == Self.commonNameType
    }?.last.flatMap(Self.string)
  }

  private static let commonNameType: ASN1ObjectIdentifier = [2, 5, 4, 3]
}

extension DistinguishedName: CustomStringConvertible {
  /// The names of attributes of RFC 4514, 3, and `E` for an address of electronic mail.
  private static let keys: [ASN1ObjectIdentifier: String] = [
    [2, 5, 4, 3]: "CN", [2, 5, 4, 6]: "C", [2, 5, 4, 7]: "L", [2, 5, 4, 8]: "ST", [2, 5, 4, 9]: "STREET",
    [2, 5, 4, 10]: "O", [2, 5, 4, 11]: "OU", [0, 9, 2342, 19_200_300, 100, 1, 1]: "UID",
    [0, 9, 2342, 19_200_300, 100, 1, 25]: "DC", [1, 2, 840, 113_549, 1, 9, 1]: "E",
  ]

  /// The name as text in the form of RFC 4514: the most specific attribute is the first.
  var description: String {
    node.children.reversed().map { set in set.children.map(Self.describe).joined(separator: "+") }
      .joined(separator: ",")
  }

  private static func describe(_ attribute: ASN1Node) -> String {
    let parts = attribute.children
    guard parts.count == 2, let type = try? ASN1ObjectIdentifier(derEncoded: parts[0]) else { return "?" }
    return "\(keys[type] ?? "\(type)")=\(text(of: parts[1]))"
  }

  private static func text(of value: ASN1Node) -> String {
    if let text = string(value) { return escaped(text) }
    return "#" + value.encodedBytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static func string(_ value: ASN1Node) -> String? {
    let isText = [ASN1Identifier.utf8String, .printableString, .ia5String].contains(value.identifier)
    guard isText, case .primitive(let bytes) = value.content else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Puts a backslash before a character that has a meaning (RFC 4514, 2.4), even if a combining mark follows it.
  private static func escaped(_ text: String) -> String {
    let text = text.unicodeScalars
    let afterSpaces = text.prefix { $0 == " " || $0 == "#" }.endIndex
    let beforeSpaces = text.lastIndex { $0 != " " } ?? text.startIndex
    let special = "\"+,;<>\\".unicodeScalars
    return text.indices.reduce(into: "") { result, index in
      if index < afterSpaces || index > beforeSpaces || special.contains(text[index]) { result += "\\" }
      result.unicodeScalars.append(text[index])
    }
  }
}
#endif
