import HeadwayLines
import HeadwayTestSupport
import Testing

@Suite(.hangLimit) struct DecodingTests {
  private let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  private func read(_ bytes: [UInt8], _ options: LineReader.Options) throws -> [SeenLine] {
    let folder = try TemporaryFolder()
    var lines: [SeenLine] = []
    try LineReader(path: folder.write(bytes), anyChunkSize: options).forEachLine { lines.append(SeenLine($0)) }
    return lines
  }

  @Test("L3: lines contain the bytes of the file, including NUL and invalid UTF-8")
  func bytesAreData() throws {
    let lines = try read([0xFF, 0x00, 0x0A, 0x00, 0x0A, 0xC3], .init())
    #expect(lines.map(\.bytes) == [[0xFF, 0x00], [0x00], [0xC3]])
  }

  @Test("L3: NUL bytes are part of a string")
  func nulInString() throws {
    let folder = try TemporaryFolder()
    var lines: [String] = []
    try LineReader(path: folder.write("a\0b\n".utf8)).forEachLine { lines.append(try $0.string) }
    #expect(lines == ["a\0b"])
  }

  @Test("L3: strings are decoded with characters of each encoded length at every position")
  func strings() throws {
    let folder = try TemporaryFolder()
    var expected: [String] = []
    for length in 0...34 {
      expected.append(String(repeating: "x", count: length))
      for place in 0...length {
        for character in ["ü", "€", "🚋"] {
          let after = String(repeating: "x", count: length - place)
          expected.append(String(repeating: "x", count: place) + character + after)
        }
      }
    }
    let path = try folder.write((expected.joined(separator: "\n") + "\n").utf8)
    var lines: [String] = []
    try LineReader(path: path).forEachLine { lines.append(try $0.string) }
    #expect(lines == expected)
  }

  static let invalid: [(bytes: [UInt8], valid: Int)] = [
    ([0xFF], 0), ([0x61, 0x80], 1), ([0x61, 0xC3], 1), ([0x61, 0xC3, 0x28], 1), ([0xC3, 0xBC, 0xC0, 0xAF], 2),
    ([0x61, 0x62, 0xED, 0xA0, 0x80], 2), ([0xF4, 0x90, 0x80, 0x80], 0), ([0xE2, 0x82], 0),
    ([0xE2, 0x82, 0xAC, 0xF0, 0x9F], 3),
    (Array(repeating: 0x61, count: 23) + [0xFE], 23), ([0xEF, 0xBF, 0xBD, 0xBF], 3),
  ]

  @Test(
    "L3: invalid UTF-8 is reported with the line's number and the offset of the first wrong byte", arguments: invalid)
  func reported(bytes: [UInt8], valid: Int) async throws {
    let folder = try TemporaryFolder()
    let before = Array("erste Zeile\nzweite, größer\r\n".utf8)
    let path = try folder.write(before + bytes + Array("\nlast\n".utf8))
    for form in Form.allCases {
      for chunkSize in [1, 3, 7, 4096] {
        let reader = LineReader(path: path, anyChunkSize: .init(chunkSize: chunkSize))
        let reading = await form.read(reader, asStrings: true)
        #expect(reading.lines.map { String(decoding: $0.bytes, as: UTF8.self) } == ["erste Zeile", "zweite, größer"])
        #expect(reading.readerError?.code == .invalidUTF8)
        #expect(reading.readerError?.lineNumber == 3)
        #expect(reading.readerError?.byteOffset == before.count + valid)
        #expect(reading.readerError?.path == path)
      }
    }
  }

  @Test("L3: invalid UTF-8 is repaired if an option requests it, and the lines after it are read", arguments: invalid)
  func repaired(bytes: [UInt8], valid: Int) async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(bytes + Array("\nlast\n".utf8))
    for form in Form.allCases {
      let reading = await form.read(
        LineReader(path: path, options: .init(invalidUTF8Policy: .replace)), asStrings: true)
      let strings = reading.lines.map { String(decoding: $0.bytes, as: UTF8.self) }
      #expect(strings == [String(decoding: bytes, as: UTF8.self), "last"])
      #expect(strings[0].contains("\u{FFFD}"))
      #expect(reading.error == nil)
    }
  }

  @Test("L3: a consumer of batches can continue after a line with invalid UTF-8")
  func goingOn() async throws {
    let folder = try TemporaryFolder()
    let reader = LineReader(path: try folder.write([0xFF, 0x0A, 0x61, 0x0A]))
    var strings: [String?] = []
    for try await batch in reader.batches {
      for position in batch.indices { strings.append(try? batch.string(at: position)) }
    }
    #expect(strings == [nil, "a"])
  }

  @Test("L3: a byte order mark is omitted, even if chunks split it, but offsets include it", arguments: 1...6)
  func byteOrderMark(chunkSize: Int) throws {
    let lines = try read(mark + Array("a\nb".utf8), .init(chunkSize: chunkSize))
    #expect(lines.map(\.bytes) == [[0x61], [0x62]])
    #expect(lines.map(\.byteOffset) == [3, 5])
    #expect(try read(mark, .init(chunkSize: chunkSize)).isEmpty)
    #expect(try read(mark + [0x0A], .init(chunkSize: chunkSize)).map(\.bytes) == [[]])
  }

  @Test("L3: bytes that only resemble a byte order mark, or are not at the start, are data", arguments: 1...6)
  func noByteOrderMark(chunkSize: Int) throws {
    for bytes: [UInt8] in [[0xEF], [0xEF, 0xBB], [0xEF, 0xBB, 0x61], [0x61, 0xEF, 0xBB, 0xBF], [0xEF, 0x61, 0x61]] {
      #expect(try read(bytes, .init(chunkSize: chunkSize)).map(\.bytes) == [bytes])
    }
    #expect(try read([0x0A] + mark, .init(chunkSize: chunkSize)).map(\.bytes) == [[], mark])
    #expect(try read(mark + mark, .init(chunkSize: chunkSize)).map(\.bytes) == [mark])
  }

  @Test("L3: a byte order mark is kept if an option requests it")
  func keptByteOrderMark() throws {
    #expect(try read(mark + [0x61], .init(chunkSize: 2, keepsByteOrderMark: true)).map(\.bytes) == [mark + [0x61]])
  }
}
