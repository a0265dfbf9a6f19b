#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The characters that represent bytes of paths that are not UTF-8.
///
/// Linux allows all bytes except zero and `/` in a file name, but a Swift string holds only Unicode. Therefore, a path
/// in a string has a character of Unicode's last plane, U+10FE80 to U+10FEFF, for each byte from 0x80 to 0xFF that is
/// not part of valid UTF-8. A name that contains such a character is treated as bytes, so each name has one text, and
/// each text corresponds to one name. Paths are converted back to bytes only for system calls, by
/// ``Swift/String/withPathBytes(_:)``.
private enum ForeignByte {
  static let first: UInt32 = 0x10_FE00
  /// The first byte of each of these characters in UTF-8.
  static let lead: UInt8 = 0xF4

  static func scalar(for byte: UInt8) -> Unicode.Scalar { Unicode.Scalar(first + UInt32(byte)) ?? "\u{FFFD}" }

  static func byte(of scalar: Unicode.Scalar) -> UInt8? {
    let range = (first + 0x80)...(first + 0xFF)
    return range ~= scalar.value ? UInt8(scalar.value - first) : nil
  }
}

extension String {
  /// Creates the text for a path from the bytes that the system uses.
  package init(pathBytes bytes: some Collection<UInt8>) {
    if let text = String(validating: bytes, as: UTF8.self), !text.hasForeignBytes {
      self = text
      return
    }
    var scalars = UnicodeScalarView()
    var rest = Array(bytes)[...]
    while let byte = rest.first {
      let character = (1...4).lazy.compactMap { String(validating: rest.prefix($0), as: UTF8.self) }.first
      if let scalar = character?.unicodeScalars.first, ForeignByte.byte(of: scalar) == nil {
        scalars.append(scalar)
        rest = rest.dropFirst(UTF8.width(scalar))
      } else {
        scalars.append(ForeignByte.scalar(for: byte))
        rest = rest.dropFirst()
      }
    }
    self = String(scalars)
  }

  /// Creates the text for a path from a C string.
  package init(path: UnsafePointer<CChar>) {
    self.init(pathBytes: UnsafeRawBufferPointer(start: path, count: strlen(path)))
  }

  /// Whether the path has bytes that are not UTF-8.
  package var hasForeignBytes: Bool {
    // No other character in common use begins with this byte, so nearly all paths return here.
    utf8.contains(ForeignByte.lead) && unicodeScalars.contains { ForeignByte.byte(of: $0) != nil }
  }

  /// The bytes of the path, without a terminating zero.
  package var pathBytes: [UInt8] {
    guard hasForeignBytes else { return Array(utf8) }
    return unicodeScalars.flatMap { scalar in ForeignByte.byte(of: scalar).map { [$0] } ?? Array(UTF8.encode(scalar)!) }
  }

  /// Calls a closure with the path in the form that the system requires.
  package func withPathBytes<Result>(_ body: (UnsafePointer<CChar>) throws -> Result) rethrows -> Result {
    guard hasForeignBytes else { return try withCString(body) }
    return try (pathBytes + [0]).withUnsafeBufferPointer { bytes in
      // The array contains at least a zero.
      try bytes.withMemoryRebound(to: CChar.self) { try body($0.baseAddress!) }
    }
  }

  /// Returns the text with a replacement for each byte that is not UTF-8.
  package func replacingForeignBytes(_ replacement: (UInt8) -> String) -> String {
    guard hasForeignBytes else { return self }
    var result = ""
    for scalar in unicodeScalars {
      if let byte = ForeignByte.byte(of: scalar) {
        result += replacement(byte)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Returns the text without characters that could control a terminal, for example in a file name.
  ///
  /// - Parameter kept: Control characters that stay.
  /// - Returns: The text, with the replacement character instead of each control character that is not in `kept`.
  package func replacingControls(except kept: String.UnicodeScalarView = "".unicodeScalars) -> String {
    func isReplaced(_ scalar: Unicode.Scalar) -> Bool {
      (scalar.value < 0x20 || 0x7F..<0xA0 ~= scalar.value) && !kept.contains(scalar)
    }
    guard unicodeScalars.contains(where: isReplaced) else { return self }
    return String(String.UnicodeScalarView(unicodeScalars.map { isReplaced($0) ? "\u{FFFD}" : $0 }))
  }

  /// The path in a form for people: a byte that is not UTF-8 is shown as `\xE9`.
  package var shownPath: String {
    replacingForeignBytes { byte in "\\x" + String(byte, radix: 16, uppercase: true) }
  }
}
