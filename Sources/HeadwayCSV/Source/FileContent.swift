import HeadwayLines

/// What a file seems to be, by its first bytes.
enum FileContent {
  /// Text in this encoding.
  case text(TextEncoding)
  /// JSON Lines, in UTF-8.
  case jsonLines
  /// Something else: what it seems to be, and what to do.
  case foreign(String)

  /// How many bytes are enough.
  static let sampleSize = 16 * 1024

  /// Looks at the first bytes of a file.
  ///
  /// Text is taken for UTF-8, unless its byte order mark, or zeros in every other byte, say UTF-16 or UTF-32; or unless
  /// the first line, or three lines, are no UTF-8 and none has a character that takes several bytes there: then for
  /// Windows-1252.
  ///
  /// - Parameters:
  ///   - bytes: The first bytes.
  ///   - isWhole: They are all that the file has.
  /// - Complexity: O(*n*) in the number of bytes.
  init(of bytes: UnsafeRawBufferPointer, isWhole: Bool) {
    if Self.beginsWithObject(bytes, isWhole: isWhole) {
      self = .jsonLines
    } else if let format = Self.textFormat(bytes) {
      self = .foreign("This is \(format).")
    } else if let encoding = Self.markedEncoding(bytes) {
      self = .text(encoding)
    } else if let compression = Compression(of: bytes) {
      self = .foreign(
        "This is compressed by \(compression.name): unpack it, or hand it over as a pipe by `\(compression.command)`.")
    } else if let signature = Self.signatures.first(where: { bytes.starts(with: $0.bytes) }) {
      self = .foreign(signature.meaning)
    } else if Self.isBinary(bytes) {
      self = .foreign("This is no text.")
    } else {
      self = .text(Self.seemsWindows1252(bytes, isWhole: isWhole) ? .windows1252 : .utf8)
    }
  }

  // MARK: Other formats

  private static let signatures: [(bytes: [UInt8], meaning: String)] = [
    (
      [0x50, 0x4B, 0x03, 0x04],
      "This is a zip archive: name a file of it, as in ARCHIVE/FILE, or unpack it. A spreadsheet is to be saved as CSV."
    ),
    ([0x50, 0x4B, 0x05, 0x06], "This is an empty zip archive."),
    ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "This is a 7-Zip archive: unpack it."),
    ([0x52, 0x61, 0x72, 0x21, 0x1A, 0x07], "This is a RAR archive: unpack it."),
    (Array("SQLite format 3\0".utf8), "This is an SQLite database."),
    (Array("%PDF-".utf8), "This is a PDF document."),
    ([0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1], "This is an older Office document: save it as CSV."),
    (Array("PAR1".utf8), "This is a Parquet file."),
    ([0x89, 0x50, 0x4E, 0x47], "This is a PNG image."),
    ([0xFF, 0xD8, 0xFF], "This is a JPEG image."),
    ([0x7F, 0x45, 0x4C, 0x46], "This is a program."),
  ]

  /// Text whose beginning is that of another format, as what a server answers in place of a file.
  private static func textFormat(_ bytes: UnsafeRawBufferPointer) -> String? {
    let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = bytes.dropFirst(bytes.starts(with: mark) ? mark.count : 0).drop(while: isSpace)
    let beginning = String(decoding: text.prefix(9), as: UTF8.self).lowercased()
    if beginning.hasPrefix("<!doctype") || beginning.hasPrefix("<html") { return "HTML" }
    if beginning.hasPrefix("<?xml") { return "XML" }
    let json = "JSON, but not one object per line: convert it, for instance by `jq -c '.[]'`"
    // A brace or a bracket alone may begin the name of a column.
    let next = text.dropFirst().drop(while: isSpace).first
    switch text.first {
    case UInt8(ascii: "{") where next == UInt8(ascii: "\"") || next == UInt8(ascii: "}"): return json
    case UInt8(ascii: "[") where next == UInt8(ascii: "{"): return json
    default: return nil
    }
  }

  /// Whether the first line is one JSON object, or may become one behind these bytes.
  private static func beginsWithObject(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) -> Bool {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = bytes.dropFirst(bytes.starts(with: mark) ? mark.count : 0)
    let isBlank = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
    let beginning = text.drop(while: isBlank)
    guard beginning.first == UInt8(ascii: "{") else { return false }
    let end = beginning.firstIndex(of: UInt8(ascii: "\n"))
    let line = beginning[..<(end ?? beginning.endIndex)]
    if end == nil, !isWhole {
      let next = line.dropFirst().drop(while: isBlank).first
      return next == UInt8(ascii: "\"") || next == UInt8(ascii: "}")
    }
    var scanner = JSONScanner(UnsafeRawBufferPointer(rebasing: line))
    return (try? scanner.object { _ in }) != nil
  }

  /// More than a tenth of the bytes, and more than a few, are control characters, as in no text.
  private static func isBinary(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let controls = bytes.count { $0 < 0x20 && !(0x09...0x0D).contains($0) && $0 != 0x1B || $0 == 0x7F }
    return controls > 8 && controls * 10 > bytes.count
  }

  // MARK: Encodings

  private static func markedEncoding(_ bytes: UnsafeRawBufferPointer) -> TextEncoding? {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return .utf8 }
    if bytes.starts(with: [0xFF, 0xFE, 0, 0]) || bytes.starts(with: [0, 0, 0xFE, 0xFF]) { return .utf32 }
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { return .utf16 }
    // The zeros of ASCII characters, mostly, and only there.
    guard bytes.count >= 4 else { return nil }
    let (evenZeros, oddZeros) = zeros(in: bytes)
    if bytes[1] == 0, oddZeros >= 10 * evenZeros, oddZeros * 10 > bytes.count * 4 { return .utf16LittleEndian }
    if bytes[0] == 0, evenZeros >= 10 * oddZeros, evenZeros * 10 > bytes.count * 4 { return .utf16BigEndian }
    return nil
  }

  private static func zeros(in bytes: UnsafeRawBufferPointer) -> (even: Int, odd: Int) {
    var zeros = (even: 0, odd: 0)
    for position in bytes.indices where bytes[position] == 0 {
      if position.isMultiple(of: 2) { zeros.even += 1 } else { zeros.odd += 1 }
    }
    return zeros
  }

  private static func seemsWindows1252(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) -> Bool {
    guard !bytes.isASCII else { return false }
    // Elsewhere the last bytes may be a part of a character.
    let bytes = isWhole ? bytes : UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.lastIndex { $0 < 0x80 } ?? 0)])
    var invalidLines = 0
    var isFirst = true
    var start = bytes.startIndex
    while start < bytes.endIndex {
      let isEnd = { (byte: UInt8) in byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
      let end = bytes[start...].firstIndex(where: isEnd) ?? bytes.endIndex
      let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
      if !line.isASCII {
        guard String(validating: line, as: UTF8.self) == nil else { return false }
        invalidLines += isFirst ? 3 : 1
      }
      isFirst = false
      start = end + 1
    }
    return invalidLines >= 3
  }
}
