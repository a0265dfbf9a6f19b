#if HTTP
import Foundation

/// The bytes of IP addresses.
enum IPAddress {
  /// Parses an IP address.
  ///
  /// - Parameter text: An address, such as `127.0.0.1` or `::1`, without brackets.
  /// - Returns: Its 4 or 16 bytes; nil if the text is not an IP address.
  static func bytes(of text: some StringProtocol) -> [UInt8]? {
    for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
      var bytes = [UInt8](repeating: 0, count: count)
      if inet_pton(family, String(text), &bytes) == 1 { return bytes }
    }
    return nil
  }
}
#endif
