#if HTTP
  import Foundation

  /// What an address has to be before AsyncHTTPClient gets it.
  enum WebAddress {
    /// Whether an address is of http or https, and its port is one.
    ///
    /// AsyncHTTPClient has schemes for local sockets, too, which an address of a server must not reach, and traps where
    /// a number is no port.
    static func isValid(_ url: URL) -> Bool {
      guard let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme) else { return false }
      return isPort(url.port)
    }

    /// Whether a number is a port, or there is none.
    static func isPort(_ number: Int?) -> Bool { number.map { (1...65_535).contains($0) } ?? true }
  }
#endif
