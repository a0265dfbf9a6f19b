import HeadwayLines
import HeadwayTestKit
import HeadwayTestSupport
import Testing

@Suite(.hangLimit) struct DifferentialTests {
  /// Bytes with so many line endings that all combinations occur, even at chunk boundaries.
  private func randomBytes(_ random: inout SeededGenerator, count: Int) -> [UInt8] {
    let alphabets: [[UInt8]] = [
      [0x0A, 0x0D], [0x0A, 0x0D, 0x61], [0x0A, 0x0D, 0x00, 0x0B, 0x8A, 0x8D, 0xFF, 0x61],
      Array(repeating: 0x61, count: 60) + [0x0A, 0x0D], Array(repeating: 0xC3, count: 200) + [0x0A],
      Array(0...255), [0x0A],
    ]
    let alphabet = alphabets[Int(random.next() % UInt64(alphabets.count))]
    return (0..<count).map { _ in alphabet[Int(random.next() % UInt64(alphabet.count))] }
  }

  @Test(
    "L2, L3: lines, numbers and offsets match a simple splitter for random bytes and chunk sizes", arguments: 0..<12)
  func sameAsReference(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let folder = try TemporaryFolder()
    for _ in 0..<25 {
      // Sometimes long enough that the first lines of a chunk are only a sample.
      let isLarge = random.next() % 4 == 0
      let bytes = randomBytes(&random, count: Int(random.next() % (isLarge ? 12_000 : 2_000)))
      let path = try folder.write(bytes)
      for ends in [LineReader.Options.LineEnding.lfOrCRLF, .any, .lf] {
        let chunkSize = 1 + Int(random.next() % (isLarge ? 8_000 : 700))
        let reader = LineReader(path: path, anyChunkSize: .init(lineEnding: ends, chunkSize: chunkSize))
        var lines: [SeenLine] = []
        try reader.forEachLine { lines.append(SeenLine($0)) }
        #expect(lines == referenceLines(bytes, ends), "seed \(seed), \(bytes.count) bytes, \(ends), by \(chunkSize)")
      }
    }
  }

  @Test(
    "L4: lines before a line that is too long, and the number and offset of that line, match a simple splitter",
    arguments: 0..<8)
  func limitsSameAsReference(seed: Int) throws {
    var random = SeededGenerator(seed: 1_000 + UInt64(seed))
    let folder = try TemporaryFolder()
    for _ in 0..<25 {
      let bytes = randomBytes(&random, count: Int(random.next() % 600))
      let path = try folder.write(bytes)
      for ends in [LineReader.Options.LineEnding.lfOrCRLF, .any, .lf] {
        let limit = 1 + Int(random.next() % 80)
        let options = LineReader.Options(
          lineEnding: ends, maxLineLength: limit, chunkSize: 1 + Int(random.next() % 200))
        let expected = referenceLines(bytes, ends)
        let tooLong = expected.firstIndex { $0.bytes.count > limit }
        var lines: [SeenLine] = []
        var error: LineReaderError?
        do {
          try LineReader(path: path, anyChunkSize: options).forEachLine { lines.append(SeenLine($0)) }
        } catch let caught as LineReaderError {
          error = caught
        }
        #expect(lines == Array(expected[..<(tooLong ?? expected.count)]), "seed \(seed), \(options)")
        #expect(error?.code == tooLong.map { _ in .lineTooLong })
        #expect(error?.lineNumber == tooLong.map { $0 + 1 })
        #expect(error?.byteOffset == tooLong.map { expected[$0].byteOffset })
      }
    }
  }
}
