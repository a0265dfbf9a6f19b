/// Finds a byte sequence in a line.
///
/// Tests eight positions at a time and compares the whole pattern only at positions where both its first and its last
/// byte match. Most strings have few of these positions. The algorithm is the “generic SIMD” of Wojciech Muła
/// (“SIMD-friendly algorithms for substring searching”, 2016), with words of eight bytes, for the reason that
/// ``NewlineMask`` gives. `memmem` of glibc was rejected: it prepares a table of 256 bytes for each call, which takes
/// longer than searching a line of usual length.
enum ByteSearch {
  /// Returns the offset of the first match.
  ///
  /// - Parameters:
  ///   - pattern: The bytes to find.
  ///   - text: The bytes to search. Up to ``LineStorage/slack`` bytes after its end may be read.
  /// - Returns: The offset of the match in `text`. Zero for an empty pattern, and nil if the text does not contain the
  ///   pattern.
  /// - Complexity: O(n) in the length of the text. O(n · m) for strings constructed to be slow.
  @inline(__always)
  static func position(of pattern: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer) -> Int? {
    guard let pattern = Pattern(pattern), let start = text.baseAddress else {
      return pattern.isEmpty ? 0 : nil
    }
    // One past the last position where the pattern fits.
    let end = text.count &- pattern.lastOffset
    var position = 0
    while position < end {
      var candidates = pattern.candidates(at: start + position)
      if end &- position < 8 {
        candidates &= ((1 as UInt64) &<< UInt64(truncatingIfNeeded: (end &- position) &* 8)) &- 1
      }
      while candidates != 0 {
        let candidate = position &+ (candidates.trailingZeroBitCount &>> 3)
        if pattern.fits(at: start + candidate) { return candidate }
        candidates &= candidates &- 1
      }
      position &+= 8
    }
    return nil
  }

  /// The bytes to find, at least one.
  private struct Pattern {
    private let start: UnsafeRawPointer
    let lastOffset: Int
    /// The first and the last byte, repeated eight times each.
    private let firsts: UInt64
    private let lasts: UInt64

    @inline(__always)
    init?(_ bytes: UnsafeRawBufferPointer) {
      guard let start = bytes.baseAddress, !bytes.isEmpty else { return nil }
      self.start = start
      lastOffset = bytes.count &- 1
      firsts = UInt64(start.load(as: UInt8.self)) &* 0x0101_0101_0101_0101
      lasts = UInt64(start.load(fromByteOffset: lastOffset, as: UInt8.self)) &* 0x0101_0101_0101_0101
    }

    /// The high bits of the positions, among eight, where both the first and the last byte match.
    @inline(__always)
    func candidates(at place: UnsafeRawPointer) -> UInt64 {
      let first = UInt64(littleEndian: place.loadUnaligned(as: UInt64.self)) ^ firsts
      let last = UInt64(littleEndian: place.loadUnaligned(fromByteOffset: lastOffset, as: UInt64.self)) ^ lasts
      let difference = first | last
      let sevenBits: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
      // Exact: adding 0x7F to seven bits never carries into the next byte.
      return ~(((difference & sevenBits) &+ sevenBits) | difference) & ~sevenBits
    }

    /// Whether all bytes between the first and the last also match.
    @inline(__always)
    func fits(at place: UnsafeRawPointer) -> Bool {
      lastOffset < 2 || Platform.areEqual(place + 1, start + 1, count: lastOffset &- 1)
    }
  }
}
