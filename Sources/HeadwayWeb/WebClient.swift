#if Web
import NIOCore

/// The client of a request.
package enum WebClient {
  /// The address of the client that has sent the current request; empty if unknown.
  @TaskLocal package static var address = ""

  /// Returns the text of an address.
  ///
  /// All addresses of the same IPv6 network have the same text.
  static func text(of address: SocketAddress?) -> String {
    switch address {
    case .v4, .unixDomainSocket, nil: address?.ipAddress ?? ""
    case .v6: address?.ipAddress.map { $0.split(separator: ":").prefix(4).joined(separator: ":") } ?? ""
    }
  }
}
#endif
