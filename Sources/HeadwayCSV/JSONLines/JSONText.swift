/// The content of a JSON string that a ``JSONScanner`` has found.
enum JSONText {
  /// Undoes the escapes.
  ///
  /// - Parameters:
  ///   - source: The content, which the scanner has checked.
  ///   - target: Where the text goes, in UTF-8; as many bytes as the content has are enough.
  /// - Returns: How many bytes were written.
  static func unescape(_ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer) -> Int {
    var (position, written) = (0, 0)
    func write(_ byte: UInt8) {
      target.storeBytes(of: byte, toByteOffset: written, as: UInt8.self)
      written += 1
    }
    while position < source.count {
      let byte = source[position]
      position += 1
      guard byte == UInt8(ascii: "\\") else {
        write(byte)
        continue
      }
      let escaped = source[position]
      position += 1
      switch escaped {
      case UInt8(ascii: "b"): write(0x08)
      case UInt8(ascii: "f"): write(0x0C)
      case UInt8(ascii: "n"): write(0x0A)
      case UInt8(ascii: "r"): write(0x0D)
      case UInt8(ascii: "t"): write(0x09)
      case UInt8(ascii: "u"):
        for byte in String(scalar(in: source, at: &position)).utf8 { write(byte) }
      default: write(escaped)
      }
    }
    return written
  }

  /// The content as a string.
  static func string(_ source: UnsafeRawBufferPointer, hasEscapes: Bool) -> String {
    guard hasEscapes else { return String(decoding: source, as: UTF8.self) }
    return String(unsafeUninitializedCapacity: source.count) { target in
      unescape(source, to: UnsafeMutableRawPointer(target.baseAddress.unsafelyUnwrapped))
    }
  }

  /// Four hexadecimal digits; nil if there are others, or fewer.
  static func hexadecimal(_ bytes: UnsafeRawBufferPointer, at position: Int) -> UInt16? {
    guard position + 4 <= bytes.count else { return nil }
    var unit: UInt16 = 0
    for byte in bytes[position..<position + 4] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else { return nil }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }

  /// The character behind `\u`, of one unit of UTF-16 or of two.
  private static func scalar(in source: UnsafeRawBufferPointer, at position: inout Int) -> Unicode.Scalar {
    let lead = hexadecimal(source, at: position) ?? 0
    position += 4
    guard UTF16.isLeadSurrogate(lead) else { return Unicode.Scalar(lead) ?? "\u{FFFD}" }
    // Behind the backslash and the u.
    let trail = hexadecimal(source, at: position + 2) ?? 0
    position += 6
    return Unicode.Scalar(0x10000 + (UInt32(lead & 0x3FF) << 10 | UInt32(trail & 0x3FF))) ?? "\u{FFFD}"
  }
}
