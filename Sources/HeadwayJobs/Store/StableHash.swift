/// A hash that is the same in all processes and versions.
enum StableHash {
  /// FNV-1a, mixed so that the first digits depend on all bytes.
  static func hash(_ text: String) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return (hash ^ (hash >> 33)) &* 0xFF51_AFD7_ED55_8CCD
  }
}
