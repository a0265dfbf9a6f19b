#if Dashboard
import Foundation
import HeadwayWeb

/// The host names that a dashboard accepts.
///
/// Another site can make its own name resolve to any machine (DNS rebinding), but not a numeric address. Browsers send
/// names in lowercase.
struct HostNames: Sendable {
  private let names: Set<String>
  private let acceptsAddresses: Bool

  /// Creates the names of a server.
  ///
  /// - Parameters:
  ///   - listen: The address that it listens on.
  ///   - others: Other names, for example a proxy's name.
  init(listen: String, others: Set<String>) {
    let isLocal = Self.isLoopback(listen)
    acceptsAddresses = !isLocal
    let all = others.union(isLocal ? [] : [listen, ProcessInfo.processInfo.hostName])
    names = Set(all.map { $0.lowercased() })
  }

  /// Whether only this machine can reach an address.
  static func isLoopback(_ address: String) -> Bool {
    if ["localhost", "::1"].contains(address) { return true }
    let parts = address.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  func contain(_ authority: String, port: Int) -> Bool {
    if WebAddress.isLocal(authority, port: port) { return true }
    // A proxy has its own port.
    let end = authority.lastIndex { $0 == ":" || $0 == "]" }
    let host = end.map { authority[$0] == ":" ? authority[..<$0] : authority[...] } ?? authority[...]
    if names.contains(host.lowercased()) { return true }
    return acceptsAddresses && Self.isAddress(host)
  }

  private static func isAddress(_ host: Substring) -> Bool {
    if host.hasPrefix("["), host.hasSuffix("]") { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
  }
}
#endif
