#if Encodings
import CUchardet
#endif

/// Detects the encoding of text that is not UTF-8.
enum EncodingDetector {
  /// Returns the encoding of some lines.
  ///
  /// Windows-1252 if no other encoding is likely.
  ///
  /// uchardet identifies an encoding by how often characters follow each other. For a short text, it often returns the
  /// encoding of another language. Two checks reject such a guess: letters of another script must form separate words,
  /// and not occur among ASCII letters; and an encoding of Latin letters other than Windows-1252 requires a minimum of
  /// text.
  ///
  /// Without the trait `Encodings`, always Windows-1252.
  ///
  /// - Parameter lines: Lines that contain non-ASCII characters.
  /// - Returns: The most likely encoding of the lines.
  static func encoding(of lines: [UInt8]) -> CSVTextEncoding {
    #if Encodings
    let name = detected(lines)
    if scripts.contains(name), let encoding = CSVTextEncoding(otherNames[name] ?? name), hasWords(lines, encoding) {
      return encoding
    }
    // uchardet recognizes Japanese by its syllabic characters, which names might lack.
    for encoding in ["CP932", "EUC-JP"].compactMap({ CSVTextEncoding($0) })
    where hasWords(lines, encoding, isWithin: japanese) { return encoding }
    guard let latin = latinEncodings[name], lines.count(where: { $0 >= 0x80 }) >= leastLatin else {
      return .windows1252
    }
    let hasControls = lines.contains { (0x80...0x9F).contains($0) }
    return CSVTextEncoding(hasControls ? latin.windows : latin.iso) ?? .windows1252
    #else
    return .windows1252
    #endif
  }

  #if Encodings
  /// With fewer characters, a Latin encoding is a guess.
  private static let leastLatin = 16
  /// uchardet needs this many bytes; fewer bytes are repeated.
  private static let leastBytes = 512

  /// Pairs of encodings that have most letters at the same code.
  ///
  /// Only the Windows encodings have some letters below 0xA0.
  private static let latinEncodings: [String: (iso: String, windows: String)] = [
    "ISO-8859-2": ("ISO-8859-2", "WINDOWS-1250"), "WINDOWS-1250": ("ISO-8859-2", "WINDOWS-1250"),
    "ISO-8859-9": ("ISO-8859-9", "WINDOWS-1254"), "ISO-8859-13": ("ISO-8859-13", "WINDOWS-1257"),
  ]

  /// Encodings of scripts other than Latin.
  private static let scripts: Set<String> = [
    "SHIFT_JIS", "EUC-JP", "GB18030", "BIG5", "EUC-TW", "EUC-KR", "UHC", "KOI8-R", "WINDOWS-1251", "ISO-8859-5",
    "IBM855", "IBM866", "MAC-CYRILLIC", "ISO-8859-7", "WINDOWS-1253", "ISO-8859-8", "WINDOWS-1255", "ISO-8859-6",
    "WINDOWS-1256", "TIS-620", "ISO-8859-11",
  ]

  /// The `iconv` names of the variants in use, which have ASCII's backslash and Windows' characters.
  private static let otherNames = ["SHIFT_JIS": "CP932", "BIG5": "BIG5-HKSCS", "EUC-KR": "UHC"]

  /// Ideographs, syllabic characters, and the full-width forms of ASCII.
  private static let japanese: [ClosedRange<UInt32>] = [0x3000...0x30FF, 0x4E00...0x9FFF, 0xFF01...0xFF60]

  private static func detected(_ lines: [UInt8]) -> String {
    guard let detector = uchardet_new() else { return "" }
    defer { uchardet_delete(detector) }
    lines.withUnsafeBytes { bytes in
      let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      for _ in 0..<max(1, (leastBytes + bytes.count - 1) / max(1, bytes.count)) {
        uchardet_handle_data(detector, start, bytes.count)
      }
    }
    uchardet_data_end(detector)
    return uchardet_get_charset(detector).map { String(cString: $0) } ?? ""
  }

  /// Returns whether nearly all lines are text in an encoding whose characters are rarely next to ASCII letters.
  ///
  /// - Parameters:
  ///   - lines: The lines, in the encoding to test.
  ///   - encoding: The encoding to test.
  ///   - ranges: The characters that the text can contain in addition to ASCII. Nil for all.
  /// - Returns: Whether the lines are probably in that encoding.
  private static func hasWords(
    _ lines: [UInt8], _ encoding: CSVTextEncoding, isWithin ranges: [ClosedRange<UInt32>]? = nil
  ) -> Bool {
    guard let text = TextDecoder.text(of: lines, in: encoding) else { return false }
    var (count, mixedCount, invalidCount) = (0, 0, 0)
    var previous: Unicode.Scalar?
    func isLetter(_ scalar: Unicode.Scalar?) -> Bool {
      scalar.map { $0.isASCII && $0.properties.isAlphabetic } ?? false
    }
    for scalar in text.unicodeScalars {
      if scalar == "\u{FFFD}" { invalidCount += 1 }
      if !scalar.isASCII {
        count += 1
        if let ranges, !ranges.contains(where: { $0.contains(scalar.value) }) { return false }
        if isLetter(previous) { mixedCount += 1 }
      } else if isLetter(scalar), let previous, !previous.isASCII {
        mixedCount += 1
      }
      previous = scalar
    }
    return invalidCount * 50 <= count && mixedCount * 4 <= count
  }
  #endif
}
