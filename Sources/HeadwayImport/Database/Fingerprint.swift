/// A hash of byte sequences that is the same in each process and on each machine, unlike `Hasher`.
///
/// It recognizes records and rows that an earlier import has seen. It protects against changed content, not against an
/// attacker. Each step multiplies to 128 bits and folds the halves, as wyhash does.
struct Fingerprint: Sendable, Hashable {
  /// The hash so far, as SQLite stores it.
  private(set) var value: Int64 = 0

  /// Adds a sequence of bytes.
  ///
  /// The length of the sequence also affects the hash.
  mutating func combine(_ bytes: UnsafeRawBufferPointer) {
    var hash = Self.mix(UInt64(bitPattern: value) ^ UInt64(bytes.count) ^ 0x9E37_79B9_7F4A_7C15)
    var offset = 0
    while offset + 8 <= bytes.count {
      hash = Self.mix(hash ^ UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
      offset += 8
    }
    var rest: UInt64 = 0
    while offset < bytes.count {
      rest = (rest << 8) | UInt64(bytes[offset])
      offset += 1
    }
    value = Int64(bitPattern: Self.mix(hash ^ rest))
  }

  /// Adds a missing value.
  mutating func combineNone() { value = Int64(bitPattern: Self.mix(UInt64(bitPattern: value) ^ 0xE703_7ED1_A0B4_28DB)) }

  private static func mix(_ word: UInt64) -> UInt64 {
    let product = (word ^ 0xA076_1D64_78BD_642F).multipliedFullWidth(by: 0xA24B_AED4_963E_E407)
    return product.high ^ product.low
  }
}
