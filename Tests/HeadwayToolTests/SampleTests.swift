#if SQLite
import Foundation
import HeadwayTestSupport
import Testing

@Suite("headway sample", .hangLimit)
struct SampleTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Writes a sample and returns the bytes of its files.
  private func sample(_ name: String, _ options: String...) async throws -> [String: Data] {
    let run = try await Tool.run(["sample", name, "--stop-times", "2000"] + options, in: folder)
    #expect(run.status == 0)
    #expect(run.errors.isEmpty && run.output.count == 1 && run.output[0].hasPrefix("Wrote \(name): "))
    var files: [String: Data] = [:]
    for file in try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/\(name)") {
      files[file] = try folder.bytes(of: "\(name)/\(file)")
    }
    return files
  }

  @Test("The same seed produces the same bytes, and another seed produces different ones") func seeds() async throws {
    let seven = try await sample("a", "--seed", "7")
    #expect(try await sample("b/in/folders", "--seed", "7") == seven)
    let eight = try await sample("c", "--seed", "8")
    #expect(eight.keys == seven.keys)
    #expect(eight["stop_times.txt"] != seven["stop_times.txt"])
    #expect(String(decoding: seven["stop_times.txt"] ?? Data(), as: UTF8.self).split(separator: "\n").count == 2_001)
  }

  @Test("--crlf changes only the line endings") func lineEnding() async throws {
    let lf = try await sample("lf")
    let crlf = try await sample("crlf", "--crlf")
    #expect(crlf.keys == lf.keys)
    for (name, data) in crlf {
      let text = String(decoding: data, as: UTF8.self)
      let feeds = data.count { $0 == UInt8(ascii: "\n") }
      #expect(feeds > 1)
      #expect(data.count { $0 == UInt8(ascii: "\r") } == feeds)
      #expect(Data(text.replacing("\r\n", with: "\n").utf8) == lf[name])
    }
  }

  @Test("I4: a sample is a feed without rejected rows") func imports() async throws {
    _ = try await sample("feed", "--crlf")
    let run = try await Tool.run("import", "feed", "db", "--strict", "--progress", "none", in: folder)
    #expect(run.status == 0, "\(run.errors)")
    #expect(!folder.has("db.rejected-rows"))
    #expect(try folder.rowCount(of: "stop_times", in: "db") == 2_000)
  }

  @Test("Existing files are not replaced without --force") func force() async throws {
    let first = try await sample("feed", "--seed", "7")
    let refused = try await Tool.run("sample", "feed", "--seed", "8", in: folder)
    #expect(refused.status == 73)
    #expect(refused.errors.count == 1 && refused.errors[0].contains("--force"))
    #expect(try folder.bytes(of: "feed/stop_times.txt") == first["stop_times.txt"])
    #expect(try await sample("feed", "--seed", "8", "--force")["stop_times.txt"] != first["stop_times.txt"])
  }

  @Test("The command exits with 73 if it can't create the folder, and the message names the folder")
  func noFolder() async throws {
    try folder.write("", to: "file")
    for path in ["file", "file/feed"] {
      let run = try await Tool.run("sample", path, in: folder)
      #expect(run.status == 73)
      #expect(run.errors.count == 1)
      #expect(run.errors.first?.contains(path) == true)
    }
  }
}
#endif
