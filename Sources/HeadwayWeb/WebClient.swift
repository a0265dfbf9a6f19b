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
  /// All addresses of the same IPv6 network have the same text.
  package var network: String {
    address.contains(":") ? address.split(separator: ":").prefix(4).joined(separator: ":") : address
  }
}
#endif
