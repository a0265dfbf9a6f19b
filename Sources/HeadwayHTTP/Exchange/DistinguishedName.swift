#if HTTP
import NIOSSL
import SwiftASN1

/// The name of the holder or the issuer of a certificate, such as `CN=example.org,O=Example`.
struct DistinguishedName: Equatable {
  private let encoded: ArraySlice<UInt8>
  private let node: ASN1Node

  private init(_ node: ASN1Node) { (self.node, encoded) = (node, node.encodedBytes) }

  static func == (one: Self, other: Self) -> Bool { one.encoded == other.encoded }

  /// Reads the names in a certificate: the field `tbsCertificate` in RFC 5280, 4.1.
  ///
  /// - Returns: nil if the certificate does not have this form.
  static func names(in certificate: NIOSSLCertificate) -> (issuer: DistinguishedName, subject: DistinguishedName)? {
    guard let bytes = try? certificate.toDERBytes(), let root = try? DER.parse(bytes),
      var fields = root.children.first?.children
    else { return nil }
    if fields.first?.identifier.tagClass == .contextSpecific { fields.removeFirst() }  // The version.
    guard fields.count >= 5 else { return nil }
    return (DistinguishedName(fields[2]), DistinguishedName(fields[4]))
  }
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
    let isText = [ASN1Identifier.utf8String, .printableString, .ia5String].contains(value.identifier)
    guard isText, case .primitive(let bytes) = value.content, let text = String(validating: bytes, as: UTF8.self) else {
      return "#" + value.encodedBytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
    return escaped(text)
  }

  /// Puts a backslash before a character that has a meaning (RFC 4514, 2.4).
  private static func escaped(_ text: String) -> String {
    let afterSpaces = text.prefix { $0 == " " || $0 == "#" }.endIndex
    let beforeSpaces = text.lastIndex { $0 != " " } ?? text.startIndex
    return text.indices.map { index in
      let isAtAnEnd = index < afterSpaces || index > beforeSpaces
      return isAtAnEnd || "\"+,;<>\\".contains(text[index]) ? "\\\(text[index])" : "\(text[index])"
    }.joined()
  }
}

extension ASN1Node {
  fileprivate var children: [ASN1Node] {
    if case .constructed(let nodes) = content { Array(nodes) } else { [] }
  }
}
#endif
