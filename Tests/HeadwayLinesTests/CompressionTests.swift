#if Compression
import Foundation
import HeadwayLines
import HeadwayTestSupport
import Testing

@Suite("Compressed files", .hangLimit) struct CompressionTests {
  static let filters = ["gzip", "bzip2", "xz", "zstd", "lz4"]

  private func expectLines(_ reading: Form.Reading, _ lines: [String], _ location: SourceLocation = #_sourceLocation) {
    #expect(reading.error == nil, sourceLocation: location)
    #expect(reading.lines.map { String(decoding: $0.bytes, as: UTF8.self) } == lines, sourceLocation: location)
  }

  @Test("L6: every form decompresses a compressed file, with any chunk size", arguments: filters)
  func formats(filter: String) async throws {
    let folder = try TemporaryFolder()
    let lines = (1...20_000).map { "line \($0) \($0 &* 2_654_435_761)" }
    let path = try folder.write(compressed(Array((lines.joined(separator: "\n") + "\n").utf8), by: filter))
    for form in Form.allCases { expectLines(await form.read(LineReader(path: path)), lines) }
    expectLines(await Form.lines.read(LineReader(path: path, options: .init(chunkSize: 4_096))), lines)
  }

  @Test(
    "L6: the compressed parts of a file are read in order",
    arguments: ["gzip", "bzip2", "xz", "zstd"])
  func pieces(filter: String) async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(
      compressed(Array("a\nb".utf8), by: filter) + compressed(Array("c\nd\n".utf8), by: filter))
    expectLines(await Form.lines.read(LineReader(path: path)), ["a", "bc", "d"])
  }

  @Test(
    "L6: a compressed empty file has no lines",
    arguments: [
      // As `gzip`, `bzip2`, `xz`, `zstd` and `lz4` write it.
      "1f8b080000000000000303000000000000000000", "425a683917724538509000000000",
      "fd377a585a000004e6d6b446000000001cdf44211fb6f37d010000000004595a", "28b52ffd240001000099e9d851",
      "04224d186440a700000000055dcc02",
    ])
  func nothing(hexadecimal: String) async throws {
    let folder = try TemporaryFolder()
    let digits = Array(hexadecimal)
    let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    let path = try folder.write(bytes)
    expectLines(await Form.lines.read(LineReader(path: path)), [])
  }

  @Test("L6, L5: a truncated compressed file causes an error after its complete lines", arguments: filters)
  func cut(filter: String) async throws {
    let folder = try TemporaryFolder()
    // The bytes can't be compressed, so several blocks are complete.
    var state: UInt64 = 1
    let lines = (1...60_000).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return String(state, radix: 36)
    }
    let whole = compressed(Array((lines.joined(separator: "\n") + "\n").utf8), by: filter)
    let path = try folder.write(whole[..<(whole.count * 9 / 10)])
    let reading = await Form.batches.read(LineReader(path: path))
    #expect(reading.readerError?.code == .damaged)
    let read = reading.lines.map { String(decoding: $0.bytes, as: UTF8.self) }
    #expect(!read.isEmpty || ["bzip2", "xz", "lz4"].contains(filter))
    #expect(read == Array(lines[..<read.count]))
  }

  @Test(
    "L6, L5: a compressed file with a flipped bit causes an error",
    // Zstandard has a checksum only if one is requested.
    arguments: filters.filter { $0 != "zstd" })
  func wrongBit(filter: String) async throws {
    let folder = try TemporaryFolder()
    let text = (1...2_000).map { "line \($0) \($0 &* 2_654_435_761)\n" }.joined()
    let whole = compressed(Array(text.utf8), by: filter)
    // The header contains times that no checksum covers, so the flipped bit is after it.
    for position in stride(from: 40, to: whole.count, by: whole.count / 30) {
      var bytes = whole
      bytes[position] ^= 4
      let path = try folder.write(bytes, to: "\(position)")
      let reading = await Form.batches.read(LineReader(path: path))
      #expect(reading.readerError?.code == .damaged, "at \(position)")
    }
  }

  @Test("L6: zeros after the compressed data are ignored, and other bytes cause an error") func padding() async throws {
    let folder = try TemporaryFolder()
    let bytes = compressed(Array("a\nb\n".utf8), by: "gzip")
    let padded = try folder.write(bytes + [UInt8](repeating: 0, count: 500_000), to: "padded")
    expectLines(await Form.lines.read(LineReader(path: padded)), ["a", "b"])
    for garbage in ["x", "garbage\n"] {
      let path = try folder.write(bytes + garbage.utf8, to: garbage.trimmingCharacters(in: .newlines))
      let reading = await Form.lines.read(LineReader(path: path))
      #expect(reading.lines.count == 2 && reading.readerError?.code == .damaged)
    }
  }

  @Test("L6: the size and the offset of a compressed file refer to its compressed bytes") func places() throws {
    let folder = try TemporaryFolder()
    let bytes = compressed([UInt8](repeating: 65, count: 1_000_000), by: "gzip")
    var source = try FileSource(path: folder.write(bytes))
    #expect(source.size == bytes.count)
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var count = 0
    while case let read = try buffer.withUnsafeMutableBytes({ buffer throws(LineReaderError) in
      try source.read(into: buffer)
    }), read > 0 {
      count += read
    }
    let (isUnpacked, place) = (source.countsCompressedBytes, source.bytesRead)
    #expect(isUnpacked && count == 1_000_000 && place == bytes.count)
  }

  @Test(
    "L6: a file that only begins like a compressed file is read as it is",
    arguments: ["B\n", "BZh\n", "(", "\u{4}\n", "BZhead 1AY\n"])
  func plain(text: String) async throws {
    let folder = try TemporaryFolder()
    let lines = text.split(separator: "\n").map(String.init)
    let path = try folder.write(text.utf8)
    expectLines(await Form.lines.read(LineReader(path: path)), lines)
  }

  @Test("L6: a compressed pipe is read, regardless of the sizes of its pieces") func pipe() async throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/pipe"
    try #require(mkfifo(path, 0o600) == 0)
    let bytes = compressed(Array("first\nsecond\n".utf8), by: "gzip")
    Thread.detachNewThread {
      guard let file = FileHandle(forWritingAtPath: path) else { return }
      for byte in bytes { try? file.write(contentsOf: Data([byte])) }
    }
    expectLines(await Form.batches.read(LineReader(path: path)), ["first", "second"])
  }
}
#endif
