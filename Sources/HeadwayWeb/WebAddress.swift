#if Web
/// The names that browsers use to reach a server.
package enum WebAddress {
  /// Returns whether the value of the header `Host` is a name of this machine.
  ///
  /// A foreign name that resolves to this machine (DNS rebinding) is not one.
  ///
  /// - Parameters:
  ///   - authority: The value, with the port.
  ///   - port: The port of the server.
  /// - Returns: Whether `authority` is a name of this machine with the port of the server.
  package static func isLocal(_ authority: String, port: Int) -> Bool {
    ["127.0.0.1", "localhost", "[::1]"].contains { isName(authority, of: $0, port: port) }
  }

  /// Returns whether the value of the header `Host` is a name with a port.
  ///
  /// - Parameters:
  ///   - authority: The value of the header.
  ///   - host: The name that the value must have.
  ///   - port: The port of the server. Browsers omit the default port.
  /// - Returns: Whether the value consists of both.
  package static func isName(_ authority: String, of host: String, port: Int) -> Bool {
    authority == "\(host):\(port)" || port == 80 && authority == host
  }

  /// Returns the host for a URL, with brackets around an address of IPv6.
  ///
  /// - Parameter host: A name or an address.
  /// - Returns: The host, with brackets if necessary.
  package static func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
}
#endif
