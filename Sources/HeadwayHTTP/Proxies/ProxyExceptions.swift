#if HTTP
import Foundation

/// The hosts in `no_proxy`, which are reached without a proxy.
///
/// An entry is one of these:
/// - `example.org` or `.example.org`: the host, and all hosts in its domain.
/// - `192.0.2.1`, `2001:db8::1` or `[2001:db8::1]`: an address.
/// - `192.0.2.0/24` or `2001:db8::/32`: the addresses of a network.
/// - Each of these with a port, such as `example.org:8080` or `[2001:db8::1]:8080`: only this port of the host.
/// - `*`: all hosts.
///
/// Other programs support different forms. Headway accepts every form that curl, Go's `net/http` or Python's requests
/// accepts, because a request that must stay inside a network must not reach a proxy. Names are not resolved.
struct ProxyExceptions: Sendable {
  private enum Host {
    case all
    case domain(String)
    case network(address: [UInt8], bits: Int)
  }

  private struct Entry {
    let host: Host
    /// The only port; nil for all ports.
    let port: Int?
  }

  private let entries: [Entry]

  /// Reads a list, whose entries are separated by commas or spaces.
  ///
  /// Invalid entries are ignored.
  init(_ text: String) {
    entries = text.lowercased().split { $0 == "," || $0.isWhitespace }.compactMap(Self.entry)
  }

  /// Looks for a host in the list.
  ///
  /// - Parameters:
  ///   - host: A name, or an address, with or without brackets.
  ///   - port: The port of the request.
  /// - Returns: True if no proxy should be used.
  func contains(_ host: String, port: Int) -> Bool {
    var name = host.lowercased()[...]
    if name.hasPrefix("["), name.hasSuffix("]") { name = name.dropFirst().dropLast() }
    // The zone of an address is not part of the address.
    let address = IPAddress.bytes(of: name.prefix { $0 != "%" })
    if name.hasSuffix(".") { name = name.dropLast() }
    return entries.contains { entry in
      guard entry.port ?? port == port else { return false }
      return switch entry.host {
      case .all: true
      case .domain(let domain): address == nil && (name == domain || name.hasSuffix(".\(domain)"))
      case .network(let network, let bits): address.map { Self.agree($0, network, bits: bits) } ?? false
      }
    }
  }

  private static func entry(_ text: Substring) -> Entry? {
    if text == "*" { return Entry(host: .all, port: nil) }
    let (hostText, portText) = split(text)
    var port: Int?
    if let portText {
      guard let number = Int(digits: portText), (1...65_535).contains(number) else { return nil }
      port = number
    }
    return host(hostText).map { Entry(host: $0, port: port) }
  }

  /// Separates a port.
  private static func split(_ text: Substring) -> (host: Substring, port: Substring?) {
    // More than one colon is part of an address, unless the address is in brackets.
    guard let colon = text.lastIndex(of: ":"),
      text[..<colon].hasSuffix("]") || text.firstIndex(of: ":") == colon
    else { return (text, nil) }
    return (text[..<colon], text[text.index(after: colon)...])
  }

  private static func host(_ text: Substring) -> Host? {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    if let address = IPAddress.bytes(of: parts[0].filter { !"[]".contains($0) }) {
      guard parts.count > 1 else { return .network(address: address, bits: address.count * 8) }
      guard let bits = Int(digits: parts[1]), bits <= address.count * 8 else { return nil }
      return .network(address: address, bits: bits)
    }
    var domain = (text.hasPrefix("*.") ? text.dropFirst() : text).drop { $0 == "." }
    if domain.hasSuffix(".") { domain = domain.dropLast() }
    return domain.isEmpty ? nil : .domain(String(domain))
  }

  /// Returns whether two addresses of the same family have the same leading bits.
  private static func agree(_ address: [UInt8], _ network: [UInt8], bits: Int) -> Bool {
    guard address.count == network.count else { return false }
    return address.indices.allSatisfy { index in
      let count = min(max(bits - index * 8, 0), 8)
      return (address[index] ^ network[index]) >> (8 - count) == 0
    }
  }
}
#endif
