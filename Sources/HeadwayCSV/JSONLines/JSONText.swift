/// The content of a JSON string that a ``JSONScanner`` has found.
enum JSONText {
  /// Replaces the escapes by the characters that they represent.
  ///
  /// - Parameters:
  ///   - source: The content, which the scanner has checked.
  ///   - target: The destination for the text in UTF-8. It needs at most as many bytes as the content has.
  /// - Returns: The number of bytes that were written.
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

  /// Returns the content as a string.
  static func string(_ source: UnsafeRawBufferPointer, hasEscapes: Bool) -> String {
    guard hasEscapes else { return String(decoding: source, as: UTF8.self) }
    return String(unsafeUninitializedCapacity: source.count) { target in
      unescape(source, to: UnsafeMutableRawPointer(target.baseAddress.unsafelyUnwrapped))
    }
  }

  /// Returns the value of four hexadecimal digits.
  ///
  /// Nil if there are other characters, or fewer.
  static func hexadecimal(_ bytes: UnsafeRawBufferPointer, at position: Int) -> UInt16? {
    guard position + 4 <= bytes.count else { return nil }
    var unit: UInt16 = 0
    for byte in bytes[position..<position + 4] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else { return nil }
      unit = (unit << 4) | UInt16(digit)
    }
    return unit
  }

  /// Returns the character after `\u`, which consists of one or two UTF-16 units.
  private static func scalar(in source: UnsafeRawBufferPointer, at position: inout Int) -> Unicode.Scalar {
    let lead = hexadecimal(source, at: position) ?? 0
    position += 4
    guard UTF16.isLeadSurrogate(lead) else { return Unicode.Scalar(lead) ?? "\u{FFFD}" }
    // Skip the backslash and the u.
    let trail = hexadecimal(source, at: position + 2) ?? 0
    position += 6
    return Unicode.Scalar(0x10000 + ((UInt32(lead & 0x3FF) << 10) | UInt32(trail & 0x3FF))) ?? "\u{FFFD}"
  }
}
