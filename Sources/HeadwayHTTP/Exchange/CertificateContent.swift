#if HTTP
import NIOSSL
import SwiftASN1

/// The fields of a certificate that NIOSSL does not have in its public interface (RFC 5280, 4.1 and 4.2.1.6).
struct CertificateContent {
  /// The issuer of the certificate.
  let issuer: DistinguishedName
  /// The subject of the certificate.
  let subject: DistinguishedName
  /// The DNS names and the IP addresses that the certificate is for; nil if it has no alternative names of any kind.
  private let alternativeNames: (names: [String], addresses: [[UInt8]])?

  /// Reads a certificate.
  ///
  /// - Returns: nil if the certificate does not have the form of RFC 5280.
  init?(_ certificate: NIOSSLCertificate) {
    guard let bytes = try? certificate.toDERBytes(), let root = try? DER.parse(bytes),
      var fields = root.children.first?.children
    else { return nil }
    if fields.first?.identifier.tagClass == .contextSpecific { fields.removeFirst() }  // The version.
    guard fields.count >= 5 else { return nil }
    (issuer, subject) = (DistinguishedName(fields[2]), DistinguishedName(fields[4]))
    let extensions = fields.last { $0.identifier == Self.extensionsTag }?.children.first?.children ?? []
    alternativeNames = extensions.lazy.compactMap(Self.alternativeNames).first
  }

  private static let extensionsTag = ASN1Identifier(tagWithNumber: 3, tagClass: .contextSpecific)
  private static let nameTag = ASN1Identifier(tagWithNumber: 2, tagClass: .contextSpecific)
  private static let addressTag = ASN1Identifier(tagWithNumber: 7, tagClass: .contextSpecific)
  private static let alternativeNamesType: ASN1ObjectIdentifier = [2, 5, 29, 17]

  private static func alternativeNames(_ node: ASN1Node) -> (names: [String], addresses: [[UInt8]])? {
    let parts = node.children
    guard let first = parts.first, let type = try? ASN1ObjectIdentifier(derEncoded: first),
      type == alternativeNamesType, let last = parts.last, case .primitive(let content) = last.content,
      let all = try? DER.parse(content).children, !all.isEmpty
    else { return nil }
    let names = all.compactMap { $0.identifier == nameTag ? $0.bytes.map { String(decoding: $0, as: UTF8.self) } : nil }
    return (names, all.compactMap { $0.identifier == addressTag ? $0.bytes : nil })
  }

  // MARK: Matching a server

  /// Compares the names of the certificate with a server, by the rules of RFC 6125, 6.4, as NIOSSL applies them.
  ///
  /// - Parameters:
  ///   - host: The DNS name of the server; nil if its address was used.
  ///   - address: The bytes of the server's IP address: 4 or 16.
  /// - Returns: Whether the certificate is for the server.
  func isFor(host: String?, address: [UInt8]?) -> Bool {
    if let address, alternativeNames?.addresses.contains(address) == true { return true }
    let names = alternativeNames?.names ?? [subject.commonName].compactMap { $0 }
    guard let host else { return false }
    return names.contains { Self.matches($0, host) }
  }

  /// Returns whether a name of a certificate matches a host.
  ///
  /// The first label of the name can contain one asterisk, which matches one or more characters. It never matches if
  /// either first label begins with `xn--`.
  private static func matches(_ name: String, _ host: String) -> Bool {
    guard let name = normalized(name, allowing: "*"), let host = normalized(host) else { return false }
    let (pattern, hostLabel) = (label(name), label(host))
    let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return name == host && !name.contains("*") }
    return name.dropFirst(pattern.count) == host.dropFirst(hostLabel.count)
      && !name.dropFirst(pattern.count).contains("*")
      && !pattern.hasPrefix("xn--") && !hostLabel.hasPrefix("xn--")
      && hostLabel.count >= pattern.count && hostLabel.hasPrefix(parts[0]) && hostLabel.hasSuffix(parts[1])
  }

  private static func label(_ name: String) -> Substring { name.prefix { $0 != "." } }

  /// Returns a name in lowercase, without a final period; nil if it contains a character that no DNS name has.
  private static func normalized(_ name: String, allowing extra: String = "") -> String? {
    let characters = "abcdefghijklmnopqrstuvwxyz0123456789-." + extra
    let text = name.lowercased()
    guard text.unicodeScalars.allSatisfy(characters.unicodeScalars.contains) else { return nil }
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }
}

extension ASN1Node {
  /// The child nodes; empty if the node is primitive.
  var children: [ASN1Node] {
    if case .constructed(let nodes) = content { Array(nodes) } else { [] }
  }

  /// The content of a primitive node; nil if the node has child nodes.
  fileprivate var bytes: [UInt8]? {
    if case .primitive(let bytes) = content { Array(bytes) } else { nil }
  }
}
#endif
