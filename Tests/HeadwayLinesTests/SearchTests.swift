import HeadwayLines
import HeadwayTestKit
import HeadwayTestSupport
import Testing

@Suite("Lines: searching and splitting", .hangLimit) struct SearchTests {
  /// Reads lines and examines each.
  private func look(_ lines: [[UInt8]], _ body: (Int, borrowing LineReader.Line) throws -> Void) throws {
    let folder = try TemporaryFolder()
    let bytes: [UInt8] = lines.flatMap { $0 + [0x0A] }
    let path = try folder.write(bytes)
    for chunkSize in [16, 128 << 10] {
      var number = 0
      let reader = LineReader(path: path, anyChunkSize: LineReader.Options(chunkSize: chunkSize))
      try reader.forEachLine { line in
        try body(number, line)
        number += 1
      }
      #expect(number == lines.count)
    }
  }

  private func naiveOffset(of pattern: [UInt8], in text: [UInt8]) -> Int? {
    guard pattern.count <= text.count else { return nil }
    return (0...text.count - pattern.count).first { Array(text[$0..<$0 + pattern.count]) == pattern }
  }

  @Test("L3: the first occurrence in a line is found, regardless of what follows the line")
  func random() throws {
    var generator = SeededGenerator(seed: 4)
    // Few letters, so there are many near matches.
    func bytes(_ lengths: ClosedRange<Int>) -> [UInt8] {
      (0..<Int.random(in: lengths, using: &generator)).map { _ in
        [0x61, 0x62, 0x63, 0xE2].randomElement(using: &generator)!
      }
    }
    let lines = (0..<2_000).map { _ in bytes(0...40) }
    let patterns = lines.map { _ in bytes(0...6) }
    try look(lines) { number, line in
      let expected = naiveOffset(of: patterns[number], in: lines[number])
      #expect(line.firstIndex(of: patterns[number]) == expected, "line \(number)")
      #expect(line.contains(patterns[number]) == (expected != nil))
    }
  }

  @Test("L3: a match is found at each position of lines of each length, but never across a line ending")
  func places() throws {
    var (lines, offsets): ([[UInt8]], [Int?]) = ([], [])
    for length in 0...33 {
      for place in 0...length {
        var line = [UInt8](repeating: 0x2D, count: length)
        for (offset, letter) in "xyz".utf8.enumerated() where place + offset < length { line[place + offset] = letter }
        lines.append(line)
        offsets.append(place + 3 <= length ? place : nil)
        // The next line begins with the bytes that are missing at the end of this one.
        lines.append(Array("yz".utf8))
        offsets.append(nil)
      }
    }
    try look(lines) { number, line in #expect(line.firstIndex(of: "xyz") == offsets[number], "line \(number)") }
  }

  @Test("L3: text is found by its UTF-8 bytes, and every line contains empty text") func text() throws {
    try look([Array("Straße, 500 m".utf8), []]) { number, line in
      #expect(line.contains("ße") == (number == 0) && line.contains(", 500 ") == (number == 0))
      #expect(!line.contains("SS") && !line.contains("501"))
      #expect(line.contains("") && line.firstIndex(of: [UInt8]()) == 0)
    }
  }

  @Test("L3: a line is split at each separator, and a line without separators is a single field") func fields() throws {
    let lines = ["a\tbc\t\td", "\t", "", "one", "last\t"]
    try look(lines.map { Array($0.utf8) }) { number, line in
      let fields = line.split(separator: UInt8(ascii: "\t")).map(\.string)
      #expect(fields == lines[number].split(separator: "\t", omittingEmptySubsequences: false).map(String.init))
    }
  }

  @Test("L3: a line is split at text of any length, with and without empty fields") func textFields() throws {
    var generator = SeededGenerator(seed: 9)
    // Few letters, so that there are many separators, adjacent and overlapping.
    let lines = (0..<1_000).map { _ in
      (0..<Int.random(in: 0...30, using: &generator)).map { _ in ["a", "b", " ", "ß"].randomElement(using: &generator)!
      }
      .joined()
    }
    let separators = [" ", "a", "ab", "ß", "  ", "aba", " ß a"]
    try look(lines.map { Array($0.utf8) }) { number, line in
      for separator in separators {
        for omits in [false, true] {
          var expected = parts(of: lines[number], at: separator)
          if omits { expected.removeAll(where: \.isEmpty) }
          let fields = line.split(separator: separator, omittingEmptySubsequences: omits).map(\.string)
          #expect(fields == expected, "line \(number) at '\(separator)'")
          for position in 0...expected.count + 1 {
            let field = line.field(position, separator: separator, omittingEmptySubsequences: omits)?.string
            #expect(field == (position < expected.count ? expected[position] : nil))
          }
        }
      }
    }
  }

  /// Splits a text at each occurrence of a separator, from its start.
  private func parts(of text: String, at separator: String) -> [String] {
    let (text, separator) = (Array(text.utf8), Array(separator.utf8))
    var (parts, part, position): ([[UInt8]], [UInt8], Int) = ([], [], 0)
    while position < text.count {
      if text[position...].starts(with: separator) {
        parts.append(part)
        part = []
        position += separator.count
      } else {
        part.append(text[position])
        position += 1
      }
    }
    return (parts + [part]).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("L3: a field is found by its position, as a byte or a text separates it") func fieldAtPosition() throws {
    try look([Array("GET  /index.html 200 512".utf8), []]) { number, line in
      guard number == 0 else {
        #expect(line.field(0, separator: " ")?.string == "" && line.field(1, separator: " ") == nil)
        #expect(line.field(0, separator: " ", omittingEmptySubsequences: true) == nil)
        return
      }
      #expect(line.field(1, separator: " ")?.string == "")
      #expect(line.field(1, separator: " ", omittingEmptySubsequences: true)?.string == "/index.html")
      #expect(line.field(3, separator: UInt8(ascii: " "))?.integer == 200)
      #expect(line.field(3, separator: UInt8(ascii: " "), omittingEmptySubsequences: true)?.integer == 512)
      #expect(line.field(5, separator: " ") == nil)
    }
  }

  @Test("L3: an empty separator and a negative position are programming errors") func misuse() async {
    await #expect(processExitsWith: .failure) {
      try LineReader(path: "/etc/passwd").forEachLine { line in _ = line.split(separator: "") }
    }
    await #expect(processExitsWith: .failure) {
      try LineReader(path: "/etc/passwd").forEachLine { line in _ = line.field(-1, separator: ":") }
    }
  }

  @Test("L3: numbers are read in place, and nothing else is accepted as a number")
  func numbers() throws {
    let lines = ["42", " -7 ", "+9223372036854775807", "9223372036854775808", "", "1.5", "1e3", "0x10", "nan", "12a"]
    let integers: [Int?] = [42, -7, .max, nil, nil, nil, nil, nil, nil, nil]
    let doubles: [Double?] = [42, -7, 0x1p63, 0x1p63, nil, 1.5, 1_000, nil, nil, nil]
    try look(lines.map { Array($0.utf8) }) { number, line in
      #expect(line.field.integer == integers[number] && line.field.double == doubles[number])
      #expect(line.field.string == lines[number])
    }
  }
}
