/// The non-ASCII lines of a text, which indicate its encoding.
struct EncodingEvidence {
  /// The number of these lines that are UTF-8.
  private var validCount = 0
  /// The number of these lines that are not UTF-8.
  private var invalidCount = 0
  /// The first lines that are not UTF-8, one after the other.
  private var lines: [UInt8] = []
  /// The beginning of a line whose end has not been added.
  private var rest: [UInt8] = []

  /// After this many bytes of lines, more bytes add nothing.
  private static let mostBytes = 64 * 1024
  /// A longer line is examined in pieces.
  private static let longestLine = 64 * 1024
  /// This many lines of UTF-8 can't be a coincidence.
  private static let enoughValid = 8

  /// Whether more lines would not change the result.
  var isEnough: Bool { lines.count >= Self.mostBytes || (validCount >= Self.enoughValid && isUTF8) }

  /// Whether the text is UTF-8 with some damaged lines.
  ///
  /// In other encodings, a line is valid UTF-8 by coincidence only if it contains very few non-ASCII characters, and
  /// there are few such lines.
  private var isUTF8: Bool { validCount * 4 >= invalidCount }

  /// Adds the next bytes.
  ///
  /// - Complexity: O(*n*) in the number of bytes.
  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    var bytes = bytes
    if !rest.isEmpty {
      let end = bytes.firstIndex(where: Self.isLineEnd)
      rest += bytes[..<(end ?? bytes.endIndex)]
      guard end != nil || rest.count > Self.longestLine else { return }
      rest.withUnsafeBytes { addLine($0) }
      rest.removeAll()
      bytes = UnsafeRawBufferPointer(rebasing: bytes[(end ?? bytes.endIndex)...])
    }
    while true {
      let position = bytes.asciiCount
      guard position < bytes.count else { return }
      let start = bytes[..<position].lastIndex(where: Self.isLineEnd).map { $0 + 1 } ?? 0
      guard let end = bytes[position...].firstIndex(where: Self.isLineEnd) else {
        return rest = Array(bytes[start...])
      }
      addLine(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
      bytes = UnsafeRawBufferPointer(rebasing: bytes[end...])
    }
  }

  private mutating func addLine(_ line: UnsafeRawBufferPointer) {
    guard String(validating: line, as: UTF8.self) == nil else { return validCount += 1 }
    invalidCount += 1
    guard lines.count < Self.mostBytes else { return }
    lines += line
    lines.append(UInt8(ascii: "\n"))
  }

  /// Returns the encoding, after all bytes have been added.
  ///
  /// - Parameter isWhole: Whether the last line is complete, although it has no line ending.
  /// - Returns: The most likely encoding of the text.
  mutating func encoding(isWhole: Bool) -> CSVTextEncoding {
    if isWhole || validCount + invalidCount == 0, !rest.isEmpty {
      rest.withUnsafeBytes { addLine($0) }
      rest.removeAll()
    }
    return isUTF8 ? .utf8 : EncodingDetector.encoding(of: lines)
  }

  private static func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
}
