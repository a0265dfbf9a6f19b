#if Dashboard
import CHeadwaySHA256
import HeadwayWeb

/// The hash of a password: PBKDF2 with HMAC-SHA-256 (RFC 8018) and a random salt.
///
/// See Docs/decisions/0059-who-changed-what.md.
struct PasswordHash: Hashable, Sendable {
  /// The number of iterations of new hashes: as OWASP recommends, so that a guess takes a long time.
  static let usualIterationCount = 600_000

  private static let name = "pbkdf2-sha256"
  private static let saltSize = 16

  let iterationCount: Int
  private let salt: [UInt8]
  private let hash: [UInt8]

  /// Hashes a password with a new salt.
  init(of password: String, iterationCount: Int = usualIterationCount) {
    var generator = SystemRandomNumberGenerator()
    let salt = (0..<Self.saltSize).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    self.init(of: password, salt: salt, iterationCount: iterationCount)
  }

  /// Hashes a password.
  init(of password: String, salt: [UInt8], iterationCount: Int) {
    (self.salt, self.iterationCount) = (salt, iterationCount)
    hash = Self.derive(Array(password.utf8), salt, iterationCount)
  }

  /// Creates a hash that takes as long to check as another one, but that no password has.
  init(unmatchedLike other: PasswordHash) {
    (iterationCount, salt, hash) = (other.iterationCount, other.salt, [])
  }

  /// Reads the text of a hash; returns nil if the text is not valid.
  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "$", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0] == Self.name, let count = Int(parts[1]), 1...100_000_000 ~= count,
      let salt = Self.bytes(parts[2]), let hash = Self.bytes(parts[3]), salt.count >= 8,
      hash.count == HMAC.size
    else { return nil }
    (iterationCount, self.salt, self.hash) = (count, salt, hash)
  }

  /// The name of the function, the number of iterations, the salt and the hash, separated by dollar signs.
  var text: String { "\(Self.name)$\(iterationCount)$\(Self.text(salt))$\(Self.text(hash))" }

  /// Returns whether a password has this hash, after the same time for each password.
  func matches(_ password: String) -> Bool {
    Secret.areEqual(Self.text(Self.derive(Array(password.utf8), salt, iterationCount)), Self.text(hash))
  }

  private static func derive(_ password: [UInt8], _ salt: [UInt8], _ iterationCount: Int) -> [UInt8] {
    let code = HMAC(key: password)
    // The result has one block, whose number is 1.
    var block = code.code(of: salt + [0, 0, 0, 1])
    var result = block
    block.withUnsafeMutableBytes { block in
      result.withUnsafeMutableBytes { result in
        for _ in 1..<iterationCount {
          code.replace(block)
          for index in 0..<HMAC.size { result[index] ^= block[index] }
        }
      }
    }
    return result
  }

  private static func text(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static func bytes(_ text: some StringProtocol) -> [UInt8]? {
    let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count.isMultiple(of: 2), !digits.contains(nil) else { return nil }
    let values = digits.compactMap(\.self)
    return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] * 16 + values[$0 + 1]) }
  }
}

/// The authentication codes of a key: HMAC with SHA-256 (RFC 2104).
private struct HMAC {
  /// The number of bytes of a code.
  static let size = 32
  private static let blockSize = 64

  /// The beginnings of the two hashes, which depend only on the key.
  private let inner: headway_sha256
  private let outer: headway_sha256

  init(key: [UInt8]) {
    var block = key
    if key.count > Self.blockSize {
      var hash = headway_sha256()
      headway_sha256_start(&hash)
      headway_sha256_update(&hash, key, key.count)
      block = [UInt8](repeating: 0, count: Self.size)
      headway_sha256_finish(&hash, &block)
    }
    block += [UInt8](repeating: 0, count: Self.blockSize - block.count)
    inner = Self.begin(block.map { $0 ^ 0x36 })
    outer = Self.begin(block.map { $0 ^ 0x5C })
  }

  private static func begin(_ block: [UInt8]) -> headway_sha256 {
    var hash = headway_sha256()
    headway_sha256_start(&hash)
    headway_sha256_update(&hash, block, block.count)
    return hash
  }

  /// Returns the code of bytes.
  func code(of bytes: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: Self.size)
    code.withUnsafeMutableBytes { code in bytes.withUnsafeBytes { write(of: $0, to: code) } }
    return code
  }

  /// Replaces a code by its own code.
  func replace(_ code: UnsafeMutableRawBufferPointer) { write(of: UnsafeRawBufferPointer(code), to: code) }

  private func write(of bytes: UnsafeRawBufferPointer, to code: UnsafeMutableRawBufferPointer) {
    guard let result = code.assumingMemoryBound(to: UInt8.self).baseAddress else { return }
    var hash = inner
    headway_sha256_update(&hash, bytes.baseAddress, bytes.count)
    headway_sha256_finish(&hash, result)
    hash = outer
    headway_sha256_update(&hash, result, Self.size)
    headway_sha256_finish(&hash, result)
  }
}
#endif
