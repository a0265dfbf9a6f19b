/// Finds the line feeds in blocks of 64 bytes, without a branch for each.
///
/// `memchr` is quicker where lines are long and a call for each does not matter; it loses to this where they are as
/// short as a block. ``LineScanner`` uses both.
///
/// Words of eight bytes, because Swift offers no way to make bits of a SIMD comparison that compiles to one
/// instruction.
struct NewlineMask {
  static let blockSize = 64

  /// One bit for each byte of a block: whether it is a line feed.
  ///
  /// The first byte has the lowest bit.
  ///
  /// - Parameter block: The address of 64 bytes that may be read.
  /// - Returns: The bits.
  @inline(__always)
  static func bits(of block: UnsafeRawPointer) -> UInt64 {
    // Written out: a loop is left as one, with its counter, on some platforms, and is slow in debug builds.
    let low = bits(block, 0) | bits(block, 8) &<< 8 | bits(block, 16) &<< 16 | bits(block, 24) &<< 24
    let high = bits(block, 32) &<< 32 | bits(block, 40) &<< 40 | bits(block, 48) &<< 48 | bits(block, 56) &<< 56
    // Inverted here once, and not in each word.
    return ~(low | high)
  }

  /// Eight bits for eight bytes: whether each is something else than a line feed.
  @inline(__always)
  private static func bits(_ block: UnsafeRawPointer, _ offset: Int) -> UInt64 {
    let sevenBits: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
    let word = UInt64(littleEndian: block.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    let difference = word ^ 0x0A0A_0A0A_0A0A_0A0A
    // The high bit of each byte that is not zero. Exact: adding 0x7F to seven bits never carries into the next byte.
    let others = (((difference & sevenBits) &+ sevenBits) | difference) & ~sevenBits
    // Bit 8i + 7 times 2^(7 (7 - i)) is bit 56 + i, so the product's high byte has the eight bits side by side.
    return (others &* 0x0002_0408_1020_4081) &>> 56
  }
}
