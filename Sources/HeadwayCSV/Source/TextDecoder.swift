#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Turns text of another encoding into UTF-8, piece by piece.
final class TextDecoder {
  private let converter: iconv_t
  /// How many bytes are passed over where they mean nothing.
  private let unitSize: Int
  /// What comes into the text for bytes that mean nothing: no UTF-8, so that the record is rejected.
  private static let invalid: UInt8 = 0xFF

  /// Nil if the system does not know the encoding.
  init?(from encoding: String) {
    // Failure is -1, not null.
    guard let converter = iconv_open("UTF-8", encoding), Int(bitPattern: converter) != -1 else { return nil }
    self.converter = converter
    func isOf(_ names: [String]) -> Bool { names.contains { encoding.contains($0) } }
    let isOfTwo = isOf(["UTF-16", "UTF16", "UCS-2", "UCS2", "UNICODE"])
    unitSize = isOfTwo ? 2 : isOf(["UTF-32", "UTF32", "UCS-4", "UCS4"]) ? 4 : 1
  }

  deinit { iconv_close(converter) }

  /// The text of some bytes, with `U+FFFD` for what means nothing; nil if the system does not know the encoding.
  static func text(of bytes: [UInt8], in encoding: TextEncoding) -> String? {
    guard let decoder = TextDecoder(from: encoding.name) else { return nil }
    var text: [UInt8] = []
    bytes.withUnsafeBytes { bytes in
      withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { chunk in
        var position = 0
        while position < bytes.count {
          let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
          let (read, written) = decoder.decode(rest, isFinal: true, into: chunk)
          text += UnsafeRawBufferPointer(rebasing: chunk[..<written])
          position += read
        }
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Converts what is there and has room.
  ///
  /// - Parameters:
  ///   - source: The bytes.
  ///   - isFinal: No more will come, so that a part of a character at the end means nothing.
  ///   - target: Where the text goes; 16 bytes at least.
  /// - Returns: How many bytes were read, which may leave a part of a character, and how many were written.
  func decode(
    _ source: UnsafeRawBufferPointer, isFinal: Bool, into target: UnsafeMutableRawBufferPointer
  ) -> (read: Int, written: Int) {
    guard let sourceStart = source.baseAddress, let targetStart = target.baseAddress else { return (0, 0) }
    var input: UnsafeMutablePointer<CChar>? = UnsafeMutableRawPointer(mutating: sourceStart)
      .assumingMemoryBound(to: CChar.self)
    var output: UnsafeMutablePointer<CChar>? = targetStart.assumingMemoryBound(to: CChar.self)
    var (inputLeft, outputLeft) = (source.count, target.count)
    while inputLeft > 0, iconv(converter, &input, &inputLeft, &output, &outputLeft) == -1 {
      let failure = errno
      // No room, or the rest of a character is to come.
      guard failure == EILSEQ || (failure == EINVAL && isFinal), outputLeft > 0 else { break }
      output?.pointee = CChar(bitPattern: Self.invalid)
      output = output.map { $0 + 1 }
      outputLeft -= 1
      let passed = min(unitSize, inputLeft)
      input = input.map { $0 + passed }
      inputLeft -= passed
    }
    // Some encodings, as CP1258 for Vietnamese, keep a letter until it is known that no accent follows.
    if isFinal, inputLeft == 0, outputLeft > 0 { iconv(converter, nil, nil, &output, &outputLeft) }
    return (source.count - inputLeft, target.count - outputLeft)
  }
}
