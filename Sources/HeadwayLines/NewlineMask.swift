/// Finds the line feeds in blocks of 64 bytes, without a branch for each.
///
/// `memchr` is faster if lines are long, because the cost of a call for each line does not matter then. This is faster
/// if lines are as short as a block. ``LineScanner`` uses both.
///
/// Uses words of eight bytes, because Swift has no way to convert a SIMD comparison to bits that compiles to one
/// instruction.
struct NewlineMask {
  static let blockSize = 64

  /// Returns one bit for each byte of a block, which is set if the byte is a line feed.
  ///
  /// The lowest bit belongs to the first byte.
  ///
  /// - Parameter block: The address of 64 readable bytes.
  /// - Returns: The bits of all 64 bytes.
  @inline(__always)
  static func bits(of block: UnsafeRawPointer) -> UInt64 {
    // Unrolled manually. On some platforms the compiler keeps a loop, with its counter, and a loop is slow in debug
    // builds.
    let low = bits(block, 0) | (bits(block, 8) &<< 8) | (bits(block, 16) &<< 16) | (bits(block, 24) &<< 24)
    let high = (bits(block, 32) &<< 32) | (bits(block, 40) &<< 40) | (bits(block, 48) &<< 48) | (bits(block, 56) &<< 56)
    // Inverted once here, and not in each word.
    return ~(low | high)
  }

  /// Returns eight bits for eight bytes.
  ///
  /// Each is set if the byte is not a line feed.
  @inline(__always)
  private static func bits(_ block: UnsafeRawPointer, _ offset: Int) -> UInt64 {
    let sevenBits: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
    let word = UInt64(littleEndian: block.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    let difference = word ^ 0x0A0A_0A0A_0A0A_0A0A
    // The high bit of each byte that is not zero. Exact: adding 0x7F to seven bits never carries into the next byte.
    let others = (((difference & sevenBits) &+ sevenBits) | difference) & ~sevenBits
    // Bit 8i + 7 times 2^(7 (7 - i)) is bit 56 + i, so the eight bits are adjacent in the product's high byte.
    return (others &* 0x0002_0408_1020_4081) &>> 56
  }
}
