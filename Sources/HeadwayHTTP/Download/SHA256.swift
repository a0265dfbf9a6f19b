#if HTTP && !canImport(CryptoKit)
import CHeadwaySHA256
import Foundation

/// A SHA-256 computation.
///
/// It has the methods of CryptoKit's `SHA256` that this module uses. On Apple's platforms, CryptoKit's type is used
/// instead. On x86-64 processors that have SHA instructions, the computation uses these instructions. See
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
