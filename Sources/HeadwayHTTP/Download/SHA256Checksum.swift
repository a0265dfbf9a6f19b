#if HTTP
  import Crypto

  /// A checksum of content: 32 bytes by SHA-256 (FIPS 180-4).
  public struct SHA256Checksum: Sendable, Hashable, CustomStringConvertible {
    let bytes: [UInt8]

    /// Creates a checksum of its text: 64 hexadecimal digits, also behind `sha256:`.
    ///
    /// - Parameter text: The digits; nil if they are none.
    public init?(_ text: String) {
      let digits = text.lowercased().hasPrefix("sha256:") ? text.dropFirst(7) : Substring(text)
      guard digits.utf8.count == 64 else { return nil }
      var bytes: [UInt8] = []
      var rest = digits
      while !rest.isEmpty {
        guard let byte = UInt8(rest.prefix(2), radix: 16), rest.first != "+", rest.first != "-" else { return nil }
        bytes.append(byte)
        rest = rest.dropFirst(2)
      }
      self.bytes = bytes
    }

    init(_ digest: SHA256.Digest) { bytes = Array(digest) }

    /// 64 hexadecimal digits.
    public var description: String {
      bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
  }
#endif
