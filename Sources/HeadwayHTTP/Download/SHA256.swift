#if HTTP && !canImport(CryptoKit)
import CHeadwaySHA256
import Foundation

/// A SHA-256 computation with the interface of the type `SHA256` in CryptoKit, which replaces it on Apple's platforms.
///
/// On processors with instructions for SHA-256, it uses them (x86-64 only). See
/// `Docs/decisions/0044-one-library-for-tls.md`.
struct SHA256 {
  private var hash = headway_sha256()

  init() { headway_sha256_start(&hash) }

  mutating func update(bufferPointer bytes: UnsafeRawBufferPointer) {
    headway_sha256_update(&hash, bytes.baseAddress, bytes.count)
  }

  mutating func update(data: some ContiguousBytes) { data.withUnsafeBytes { update(bufferPointer: $0) } }

  func finalize() -> [UInt8] {
    var hash = hash
    return [UInt8](unsafeUninitializedCapacity: 32) { bytes, count in
      headway_sha256_finish(&hash, bytes.baseAddress!)
      count = 32
    }
  }
}
#endif
