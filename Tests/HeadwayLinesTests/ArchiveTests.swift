#if Compression
import Foundation
import HeadwayLines
import HeadwayTestSupport
import Testing

@Suite("Files in zip archives", .hangLimit) struct ArchiveTests {
  private let lines = (1...20_000).map { "line \($0) \($0 &* 2_654_435_761)" }
  private var text: String { lines.joined(separator: "\n") + "\n" }

  @Test("L6: every form reads a file in an archive by the archive's path and the file's name")
  func forms() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(
      zipped([("a.txt", "other\n"), ("Größe/", ""), ("Größe/b c.txt", text), ("z.txt", "other\n")]))
    for form in Form.allCases {
      let reading = await form.read(LineReader(path: "\(path)/Größe/b c.txt"))
      #expect(reading.error == nil)
      #expect(reading.lines.map { String(decoding: $0.bytes, as: UTF8.self) } == lines)
    }
  }

  @Test("L6: the size and the offset of a file in an archive refer to its decompressed content")
  func places() throws {
    let folder = try TemporaryFolder()
    var source = try FileSource(path: folder.write(zipped([("a.txt", text)])) + "/a.txt")
    #expect(source.size == text.utf8.count)
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while case let read = try buffer.withUnsafeMutableBytes({ buffer throws(LineReaderError) in
      try source.read(into: buffer)
    }), read > 0 {}
    let (isCompressed, place) = (source.countsCompressedBytes, source.bytesRead)
    #expect(!isCompressed && place == text.utf8.count)
  }

  private func code(of bytes: some Sequence<UInt8>, _ name: String = "a.txt") async throws -> LineReaderError.Code? {
    let folder = try TemporaryFolder()
    let path = try folder.write(Array(bytes))
    return await Form.batches.read(LineReader(path: "\(path)/\(name)")).readerError?.code
  }

  @Test("L5, L6: missing entries, folders in an archive, and files that are not archives cause errors")
  func notThere() async throws {
    let archive = zipped([("b/", ""), ("b/a.txt", "x\n")])
    for name in ["a.txt", "b", "b/", "b/a", "../a.txt", "b/a.txt/x"] {
      #expect(try await code(of: archive, name) == .fileNotFound, "\(name)")
    }
    #expect(try await code(of: Array("x\n".utf8)) == .fileNotFound)
    #expect(try await code(of: zipped([])) == .fileNotFound)
  }

  @Test("L5, L6: a truncated or modified archive is reported as damaged") func damaged() async throws {
    let archive = zipped([("a.txt", text)])
    #expect(try await code(of: archive.dropLast(100)) == .damaged)
    var flipped = archive
    for place in 5_000..<5_010 { flipped[place] ^= 0xFF }
    #expect(try await code(of: flipped) == .damaged)
  }

  @Test("L5, L6: encrypted files and decompression bombs cause specific errors")
  func refused() async throws {
    #expect(try await code(of: zipped([("a.txt", text)], password: "x")) == .encrypted)
    #expect(try await code(of: claiming(.max / 2, zipped([("a.txt", text)]))) == .expandsTooFar)
    // The reader accepts no more bytes than the entry declares.
    #expect(try await code(of: claiming(1_000, zipped([("a.txt", text)]))) == .damaged)
  }

  @Test(
    "L6: an archive causes an error if a name in it leads outside the archive or occurs twice",
    arguments: [["../a.txt"], ["/a.txt"], ["b/../../a.txt"], ["a.txt", "a.txt"]])
  func unsafeNames(names: [String]) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(zipped(names.map { ($0, "x\n") }))
    let error = #expect(throws: LineReaderError.self) { try ZipArchive(path: path) }
    #expect(error?.code == .unsafeName)
  }

  @Test("L6: an archive lists its files without its folders") func list() throws {
    let folder = try TemporaryFolder()
    let entries = try ZipArchive(path: folder.write(zipped([("b/", ""), ("b/a.txt", "x\n"), ("c", "")]))).entries
    #expect(entries.map(\.name) == ["b/a.txt", "c"] && entries.map(\.size) == [2, 0])
  }
}
#endif
