/// A set of keys, stored as hashes of 64 bits: 8 bytes each at a load of at most three quarters.
///
/// Two keys with the same hash count as one. With *n* keys, the probability that this happens to any of them is about
/// *n*² / 2⁶⁵: one in four million for three million keys. Each process uses a different seed for the hash.
///
/// See `Docs/decisions/0005-duplicates-and-references.md`.
struct KeySet {
  private var slots: [UInt64]
  private(set) var count = 0

  init(minimumCapacity: Int = 48) {
    slots = Array(repeating: 0, count: (minimumCapacity * 4 / 3 + 1).nextPowerOfTwo)
  }

  /// Adds a hash; returns false if the set already contains it.
  mutating func insert(_ hash: UInt64) -> Bool {
    if (count + 1) * 4 > slots.count * 3 { grow() }
    let hash = Self.nonZero(hash)
    let position = position(of: hash)
    guard slots[position] == 0 else { return false }
    slots[position] = hash
    count += 1
    return true
  }

  func contains(_ hash: UInt64) -> Bool { slots[position(of: Self.nonZero(hash))] != 0 }

  /// Zero marks an empty slot.
  private static func nonZero(_ hash: UInt64) -> UInt64 { hash == 0 ? 1 : hash }

  private func position(of hash: UInt64) -> Int {
    let mask = slots.count - 1
    var position = Int(truncatingIfNeeded: hash) & mask
    while slots[position] != 0, slots[position] != hash { position = (position + 1) & mask }
    return position
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: 0, count: old.count * 2)
    for hash in old where hash != 0 { slots[position(of: hash)] = hash }
  }

  // MARK: Hashes

  static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(bytes: bytes)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  /// The hash of a row's key.
  static func hash(of columns: [Int], in row: UnsafePointer<EncodedValue>, of batch: RowBatch) -> UInt64 {
    var hasher = Hasher()
    for column in columns {
      let value = row[column]
      hasher.combine(value.kind.rawValue)
      if value.kind == .text {
        hasher.combine(value.length)
        hasher.combine(bytes: batch.text(of: value))
      } else {
        hasher.combine(value.payload)
      }
    }
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}

extension Int {
  fileprivate var nextPowerOfTwo: Int { self <= 2 ? 2 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount) }
}
