#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Converts text in another encoding to UTF-8, in pieces.
final class TextDecoder {
  private let converter: iconv_t
  /// The number of bytes that are skipped if they are invalid.
  private let unitSize: Int
  /// The byte that replaces invalid bytes in the text.
  ///
  /// It is not valid UTF-8, so the record is rejected.
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

  /// Returns the text of some bytes, with `U+FFFD` for invalid bytes.
  ///
  /// Nil if the system does not know the encoding.
  static func text(of bytes: [UInt8], in encoding: CSVTextEncoding) -> String? {
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

  /// Converts as many of the bytes as there is room for.
  ///
  /// - Parameters:
  ///   - source: The bytes to decode.
  ///   - isFinal: Whether these are the last bytes, so that an incomplete character at the end is invalid.
  ///   - target: The destination for the text, at least 16 bytes.
  /// - Returns: The numbers of bytes read and written. An incomplete character at the end might not be read.
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
      // There is no room left, or the rest of a character is missing.
      guard failure == EILSEQ || (failure == EINVAL && isFinal), outputLeft > 0 else { break }
      output?.pointee = CChar(bitPattern: Self.invalid)
      output = output.map { $0 + 1 }
      outputLeft -= 1
      let passed = min(unitSize, inputLeft)
      input = input.map { $0 + passed }
      inputLeft -= passed
    }
    // Some encodings, such as CP1258 for Vietnamese, hold back a letter until it is known that no accent follows.
    if isFinal, inputLeft == 0, outputLeft > 0 { iconv(converter, nil, nil, &output, &outputLeft) }
    return (source.count - inputLeft, target.count - outputLeft)
  }
}
