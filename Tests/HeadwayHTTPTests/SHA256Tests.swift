#if HTTP
import CHeadwaySHA256
import Testing

@Suite("HTTP: SHA-256", .hangLimit) struct SHA256Tests {
  private typealias Start = (UnsafeMutablePointer<headway_sha256>) -> Void

  /// Computes a hash from pieces.
  private static func hash(_ pieces: [ArraySlice<UInt8>], _ start: Start) -> [UInt8] {
    var hash = headway_sha256()
    start(&hash)
    for piece in pieces { piece.withUnsafeBytes { headway_sha256_update(&hash, $0.baseAddress, $0.count) } }
    var result = [UInt8](repeating: 0, count: 32)
    headway_sha256_finish(&hash, &result)
    return result
  }

  /// Computes a hash with the default implementation of `CHeadwaySHA256`.
  static func hash(_ bytes: [UInt8]) -> [UInt8] { hash([bytes[...]], headway_sha256_start) }

  /// The examples of NIST and of FIPS 180-2, appendix B.
  @Test(
    "H3: the checksums of the standard's examples are right",
    arguments: [
      ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
      ("a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ])
  func examples(text: String, count: Int, expected: String) throws {
    let bytes = Array(String(repeating: text, count: count).utf8)
    for start in [headway_sha256_start, headway_sha256_start_portable] as [Start] {
      let digits = Self.hash([bytes[...]], start).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
      #expect(digits.joined() == expected)
    }
  }

  @Test("H3: a checksum does not depend on how the content is divided, and is the same with portable code")
  func pieces() {
    for count in 0..<200 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ count) }
      let whole = Self.hash(bytes)
      #expect(Self.hash([bytes[...]], headway_sha256_start_portable) == whole)
      let first = stride(from: 0, through: count, by: 7).first { cut in
        Self.hash([bytes[..<cut], bytes[cut...]], headway_sha256_start) != whole
      }
      #expect(first == nil, "\(count) bytes, divided after the printed number of bytes")
    }
  }
}
#endif
