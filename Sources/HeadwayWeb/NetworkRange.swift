#if Web
import Foundation

/// An IP address, or a network: all addresses with the same first bits.
package struct NetworkRange: Hashable, Sendable {
  private let bytes: [UInt8]
  /// The number of bits that all addresses of the network have in common.
  package let length: Int

  /// Creates a network.
  ///
  /// - Parameter text: An address, such as `127.0.0.1` or `::1`, or a network, such as `10.0.0.0/8`. For any
  ///   other text, the result is nil.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let bytes = Self.bytes(of: parts.first ?? "") else { return nil }
    self.bytes = bytes
    guard parts.count == 2 else {
      length = 8 * bytes.count
      return
    }
    guard let length = UInt8(parts[1]), Int(length) <= 8 * bytes.count else { return nil }
    self.length = Int(length)
  }

  /// Returns whether an address belongs to the network.
  ///
  /// - Parameter address: The text of an IP address.
  /// - Returns: False if it does not belong to the network, or is not an IP address.
  package func contains(_ address: String) -> Bool {
    guard let other = Self.bytes(of: address), other.count == bytes.count else { return false }
    return (0..<length).allSatisfy { bit in
      let mask = UInt8(0x80) >> UInt8(bit % 8)
      return bytes[bit / 8] & mask == other[bit / 8] & mask
    }
  }

  /// Returns the first bytes of the address in hexadecimal notation.
  ///
  /// - Parameter count: The maximum number of bits; a multiple of 8.
  /// - Returns: Two digits per byte.
  package func text(ofBits count: Int) -> String {
    bytes.prefix(count / 8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// Returns the 4 or 16 bytes of an address; nil if the text is not an IP address.
  ///
  /// A server that listens on IPv6 receives an IPv4 address as the last 4 bytes of an IPv6 address.
  private static func bytes(of text: String) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes.prefix(4)) }
    guard inet_pton(AF_INET6, text, &bytes) == 1 else { return nil }
    let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
    return isMapped ? Array(bytes.suffix(4)) : bytes
  }
}
#endif
