#if HTTP
/// A SHA-256 checksum of content: 32 bytes (FIPS 180-4).
public struct SHA256Checksum: Sendable, Hashable, CustomStringConvertible {
  let bytes: [UInt8]

  /// Creates a checksum from text: 64 hexadecimal digits, with or without the prefix `sha256:`.
  ///
  /// This initializer throws instead of returning nil, because a download whose checksum is nil is not verified.
  ///
  /// - Parameter text: The digits, in lowercase or uppercase.
  /// - Throws: ``RequestError`` with the code `invalidChecksum`.
  public init(_ text: String) throws {
    guard let bytes = Self.bytes(text) else {
      throw RequestError(
        .invalidChecksum, url: "", context: "“\(text)” is not a SHA-256 checksum. Use 64 hexadecimal digits.")
    }
    self.bytes = bytes
  }

  private static func bytes(_ text: String) -> [UInt8]? {
    let digits = text.lowercased().hasPrefix("sha256:") ? text.dropFirst(7) : Substring(text)
    guard digits.utf8.count == 64 else { return nil }
    var bytes: [UInt8] = []
    var rest = digits
    while !rest.isEmpty {
      guard let byte = UInt8(rest.prefix(2), radix: 16), rest.first != "+", rest.first != "-" else { return nil }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return bytes
  }

  init(_ digest: some Sequence<UInt8>) { bytes = Array(digest) }

  /// The checksum as 64 hexadecimal digits.
  public var description: String {
    bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }
}
#endif
