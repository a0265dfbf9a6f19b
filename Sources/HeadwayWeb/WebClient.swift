#if Web
/// The client of a request.
package struct WebClient: Sendable {
  /// The client that has sent the current request.
  @TaskLocal package static var current = WebClient("")

  /// The IP address of the client; empty if it is unknown.
  package let address: String

  /// Creates a client.
  ///
  /// - Parameter address: The IP address of the client; empty if it is unknown.
  package init(_ address: String) { self.address = address }

  /// The network that counts as one client when clients are limited.
  ///
  /// All addresses with the same first 64 bits of IPv6 have the same text, however the addresses are written. An IPv4
  /// address has the same text on a server that listens on IPv6.
  package var network: String { NetworkRange(address)?.text(ofBits: 64) ?? address }
}
#endif
