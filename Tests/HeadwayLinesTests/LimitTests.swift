import HeadwayLines
import HeadwayTestSupport
import Testing

@Suite(.hangLimit) struct LimitTests {
  @Test(
    "L4: a line whose length is exactly the limit is accepted, whatever its line ending", arguments: [4, 64, 5_000])
  func exactly(limit: Int) throws {
    let folder = try TemporaryFolder()
    let line = String(repeating: "x", count: limit)
    for ends in [LineReader.Options.LineEnding.lfOrCRLF, .any] {
      for text in [line, line + "\n", line + "\r\n", "\u{FEFF}\(line)\r\n\(line)"] {
        for chunkSize in [1, 3, limit, limit + 1, limit + 2, 8_192] {
          let options = LineReader.Options(lineEnding: ends, maxLineLength: limit, chunkSize: chunkSize)
          var lines: Set<String> = []
          let reader = LineReader(path: try folder.write(text.utf8), anyChunkSize: options)
          try reader.forEachLine { lines.insert(try $0.string) }
          #expect(lines == [line])
        }
      }
    }
  }

  @Test("L4: a line over the limit causes an error with its number after all lines before it", arguments: Form.allCases)
  func tooLong(form: Form) async throws {
    let folder = try TemporaryFolder()
    let start = "one\ntwo\n12345678901"
    for (text, chunkSize) in [(start + "\nend\n", 4_096), (start, 4_096), (start + "\n", 2)] {
      let options = LineReader.Options(maxLineLength: 10, chunkSize: chunkSize)
      let reading = await form.read(LineReader(path: try folder.write(text.utf8), anyChunkSize: options))
      #expect(reading.lines.map { String(decoding: $0.bytes, as: UTF8.self) } == ["one", "two"])
      #expect(reading.readerError?.code == .lineTooLong)
      #expect(reading.readerError?.lineNumber == 3)
      #expect(reading.readerError?.byteOffset == 8)
    }
  }

  @Test("L4: a line that is longer than many chunks, and the lines after it, are read")
  func longerThanChunks() throws {
    let folder = try TemporaryFolder()
    let long = String(repeating: "0123456789", count: 100_000)
    let path = try folder.write("a\n\(long)\nb\n\(long)\r\nc".utf8)
    for chunkSize in [4_096, 128 << 10] {
      var lines: [String] = []
      try LineReader(path: path, options: .init(chunkSize: chunkSize)).forEachLine { lines.append(try $0.string) }
      #expect(lines == ["a", long, "b", long, "c"])
    }
  }
}
