import HeadwayLines

/// The kind of content that the first bytes of a file indicate.
///
/// See `Docs/decisions/0021-what-files-and-tables-are.md`.
enum FileContent {
  /// Text in this encoding.
  ///
  /// Nil if the encoding is UTF-8, or if the non-ASCII characters must determine it.
  case text(CSVTextEncoding?)
  /// JSON Lines, in UTF-8.
  case jsonLines
  /// Something else: a description of it and of what to do.
  case foreign(String)

  /// The number of bytes that are enough.
  static let sampleSize = 16 * 1024

  /// The byte order mark of UTF-8.
  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Examines the first bytes of a file.
  ///
  /// A byte order mark, or zeros in every other byte, identify UTF-16 or UTF-32.
  ///
  /// - Parameters:
  ///   - bytes: The first bytes of the file.
  ///   - isWhole: Whether these are all bytes of the file.
  ///   - isNamedJSONLines: Whether the file's name has an extension of JSON Lines.
  /// - Complexity: O(*n*) in the number of bytes.
  init(of bytes: UnsafeRawBufferPointer, isWhole: Bool, isNamedJSONLines: Bool = false) {
    if Self.isJSONLines(bytes, isWhole: isWhole, isNamed: isNamedJSONLines) {
      self = .jsonLines
    } else if let format = Self.textFormat(bytes) {
      let advice = format == "HTML" ? " A server might have sent an error page instead of the file." : ""
      self = .foreign("This is \(format).\(advice)")
    } else if let encoding = Self.markedEncoding(bytes) {
      self = .text(encoding)
    } else if let compression = Compression(of: bytes) {
      self = .foreign(
        "This is compressed by \(compression.name): unpack it, or hand it over as a pipe by `\(compression.command)`.")
    } else if let signature = Self.signatures.first(where: { bytes.starts(with: $0.bytes) }) {
      self = .foreign(signature.meaning)
    } else if Self.isBinary(bytes) {
      self = .foreign("This is not a text file.")
    } else {
      self = .text(nil)
    }
  }

  // MARK: Other formats

  private static let signatures: [(bytes: [UInt8], meaning: String)] = [
    (
      [0x50, 0x4B, 0x03, 0x04],
      "This is a zip archive: name a file of it, as in ARCHIVE/FILE, or unpack it. Save a spreadsheet as CSV."
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

  /// Returns a description of text that begins like another format, such as the error page of a server.
  private static func textFormat(_ bytes: UnsafeRawBufferPointer) -> String? {
    let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
    let text = bytes.dropFirst(bytes.starts(with: byteOrderMark) ? byteOrderMark.count : 0).drop(while: isSpace)
    let beginning = String(decoding: text.prefix(9), as: UTF8.self).lowercased()
    if beginning.hasPrefix("<!doctype") || beginning.hasPrefix("<html") { return "HTML" }
    if beginning.hasPrefix("<?xml") { return "XML" }
    let json = "JSON, but not one object per line: convert it, for instance by `jq -c '.[]'`"
    // A brace or a bracket alone might begin the name of a column.
    let next = text.dropFirst().drop(while: isSpace).first
    switch text.first {
    case UInt8(ascii: "{") where next == UInt8(ascii: "\"") || next == UInt8(ascii: "}"): return json
    case UInt8(ascii: "[") where next == UInt8(ascii: "{"): return json
    default: return nil
    }
  }

  /// Returns whether a file name has an extension of JSON Lines, compressed or not.
  static func isNamedJSONLines(_ path: String) -> Bool {
    var name = path.lowercased()
    if let ending = Compression.endings.first(where: name.hasSuffix) { name.removeLast(ending.count) }
    return [".jsonl", ".ndjson"].contains(where: name.hasSuffix)
  }

  /// Returns whether lines are JSON objects: the first line, or half of the lines of a text that begins like an object.
  ///
  /// If the file's name has an extension of JSON Lines, one line is enough. A damaged line does not change the format
  /// of the other lines. The lines of a single object that spans several lines do not count.
  private static func isJSONLines(_ bytes: UnsafeRawBufferPointer, isWhole: Bool, isNamed: Bool) -> Bool {
    let isBlank = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
    var text = bytes.dropFirst(bytes.starts(with: byteOrderMark) ? byteOrderMark.count : 0).drop(while: isBlank)
    guard isNamed || beginsLikeObject(text) else { return false }
    var (count, objects) = (0, 0)
    while !text.isEmpty {
      let end = text.firstIndex(of: UInt8(ascii: "\n"))
      let line = text[..<(end ?? text.endIndex)]
      text = text[(end ?? text.endIndex)...].drop(while: isBlank)
      var scanner = JSONScanner(UnsafeRawBufferPointer(rebasing: line))
      let isObject = end == nil && !isWhole ? beginsLikeObject(line) : (try? scanner.object { _ in }) != nil
      count += 1
      if isObject { objects += 1 }
      if isObject, isNamed || count == 1 { return true }
    }
    return objects > 0 && objects * 2 >= count
  }

  /// Returns whether a text begins like an object that has a member, or no members, in its first line.
  private static func beginsLikeObject(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
    let next = text.dropFirst().drop { $0 == 0x20 || $0 == 0x09 }.first
    return text.first == UInt8(ascii: "{") && (next == UInt8(ascii: "\"") || next == UInt8(ascii: "}"))
  }

  /// Returns whether more than a tenth of the bytes, and more than a few, are control characters, which occurs in no
  /// text.
  ///
  /// Half as many are enough if one of them is NUL and other bytes are not ASCII.
  private static func isBinary(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let controls = bytes.count { $0 < 0x20 && !(0x09...0x0D).contains($0) && $0 != 0x1B || $0 == 0x7F }
    guard controls > 8 else { return false }
    return controls * 10 > bytes.count || (controls * 20 > bytes.count && bytes.contains(0) && !bytes.isASCII)
  }

  // MARK: Encodings

  private static func markedEncoding(_ bytes: UnsafeRawBufferPointer) -> CSVTextEncoding? {
    if bytes.starts(with: byteOrderMark) { return .utf8 }
    if bytes.starts(with: [0xFF, 0xFE, 0, 0]) || bytes.starts(with: [0, 0, 0xFE, 0xFF]) { return .utf32 }
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { return .utf16 }
    // Zeros next to characters that are usually ASCII, in these positions only.
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
}
