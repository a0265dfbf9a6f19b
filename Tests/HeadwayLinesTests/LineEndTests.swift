import HeadwayLines
import HeadwayTestSupport
import Testing

@Suite(.hangLimit) struct LineEndTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let text: String
    let ends: LineReader.Options.LineEnding
    let lines: [String]
    var testDescription: String { "\(text.debugDescription) \(ends)" }

    init(_ text: String, _ ends: LineReader.Options.LineEnding, _ lines: [String]) {
      (self.text, self.ends, self.lines) = (text, ends, lines)
    }
  }

  static let cases: [Case] = [
    Case("", .lfOrCRLF, []), Case("", .any, []), Case("", .lf, []),
    Case("a", .lfOrCRLF, ["a"]), Case("a\n", .lfOrCRLF, ["a"]), Case("a\r\n", .lfOrCRLF, ["a"]),
    Case("\n", .lfOrCRLF, [""]), Case("\r\n", .lfOrCRLF, [""]), Case("\n\n", .lfOrCRLF, ["", ""]),
    Case("a\n\nb", .lfOrCRLF, ["a", "", "b"]), Case("a\r\n\r\nb\r\n", .lfOrCRLF, ["a", "", "b"]),
    Case("a\rb\n", .lfOrCRLF, ["a\rb"]), Case("a\r\r\nb", .lfOrCRLF, ["a\r", "b"]),
    Case("a\r", .lfOrCRLF, ["a\r"]), Case("\r", .lfOrCRLF, ["\r"]), Case("a\nb\r", .lfOrCRLF, ["a", "b\r"]),
    Case("\r\n\r", .lfOrCRLF, ["", "\r"]), Case("\n\r\n", .lfOrCRLF, ["", ""]),
    Case("a\r\nb\nc\r\n", .lfOrCRLF, ["a", "b", "c"]),
    Case("a\rb\rc", .any, ["a", "b", "c"]), Case("a\r", .any, ["a"]), Case("\r", .any, [""]),
    Case("\r\r", .any, ["", ""]), Case("\r\n", .any, [""]), Case("\n\r", .any, ["", ""]),
    Case("a\r\nb\rc\nd", .any, ["a", "b", "c", "d"]), Case("a\r\r\nb", .any, ["a", "", "b"]),
    Case("a\r\n\rb\r\n", .any, ["a", "", "b"]), Case("\n\n\r\r\n\n", .any, ["", "", "", "", ""]),
    Case("a\r\nb\rc\n", .lf, ["a\r", "b\rc"]), Case("\r\n", .lf, ["\r"]), Case("a\r", .lf, ["a\r"]),
  ]

  @Test("L2: each line ending is found with every chunk size and is not part of the line", arguments: cases)
  func everyChunkSize(_ example: Case) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(example.text.utf8)
    for chunkSize in 1...(example.text.utf8.count + 2) {
      let reader = LineReader(path: path, anyChunkSize: .init(lineEnding: example.ends, chunkSize: chunkSize))
      var lines: [String] = []
      try reader.forEachLine { line in
        lines.append(try line.string)
        #expect(line.number == lines.count)
      }
      #expect(lines == example.lines, "chunks of \(chunkSize)")
    }
  }

  @Test("L2: batches are adjacent and cover the file, regardless of its line endings", arguments: cases)
  func coverage(_ example: Case) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(example.text.utf8)
    for chunkSize in 1...(example.text.utf8.count + 2) {
      let reader = LineReader(path: path, anyChunkSize: .init(lineEnding: example.ends, chunkSize: chunkSize))
      var end = 0
      try reader.forEachBatch { batch, _ in
        #expect(batch.byteRange.lowerBound == end)
        end = batch.byteRange.upperBound
      }
      #expect(end == example.text.utf8.count, "chunks of \(chunkSize)")
    }
  }

  @Test("L2: the reference implementation of other tests handles these cases", arguments: cases)
  func reference(_ example: Case) {
    let lines = referenceLines(Array(example.text.utf8), example.ends)
    #expect(lines.map { String(decoding: $0.bytes, as: UTF8.self) } == example.lines)
  }

  @Test("L2: the last line is delivered with or without a line ending")
  func lastLine() throws {
    let folder = try TemporaryFolder()
    let text = String(repeating: "some line\r\n", count: 20_000)
    for (ending, count) in [("", 20_000), ("end", 20_001), ("end\n", 20_001), ("end\r\n", 20_001)] {
      let reader = LineReader(path: try folder.write((text + ending).utf8))
      var (seen, last) = (0, "")
      try reader.forEachLine { line in
        seen += 1
        last = try line.string
      }
      #expect(seen == count)
      #expect(last == (ending.isEmpty ? "some line" : "end"))
    }
  }
}
