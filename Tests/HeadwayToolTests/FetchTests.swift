#if SQLite && HTTP && Compression
import Foundation
import HeadwayHTTPTestSupport
import HeadwayTestSupport
import NIOHTTP1
import Synchronization
import Testing

@Suite("Downloads by the tool", .hangLimit) struct FetchTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let whole = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

  @Test("H2: several files are downloaded into a folder, and each is reported") func several() async throws {
    try await withServer { question in
      LoopbackServer.answer(.ok, [:], question.path == "/a%20b.txt?x=/../y" ? [1, 2] : Self.whole)
    } _: { server in
      let run = try await Tool.run(
        "fetch", server.url("/a%20b.txt?x=/../y"), server.url("/large.bin"), "--into", "files", in: folder)
      #expect(run.status == 0)
      #expect(try folder.bytes(of: "files/a b.txt") == Data([1, 2]))
      #expect(try folder.bytes(of: "files/large.bin") == Data(Self.whole))
      #expect(run.output == ["files/a b.txt: 2 bytes", "files/large.bin: 400.0 kB"])
      let named = try await Tool.run("fetch", server.url("/x?y"), "--output", "c", "--into", "files", in: folder)
      #expect(named.output == ["files/c: 400.0 kB"])
    }
  }

  @Test("H2: the proxy of the environment is used, except for excluded hosts") func proxy() async throws {
    try await withServer { _ in
      [.closeConnection]
    } _: { proxy in
      let environment = ["http_proxy": "127.0.0.1:\(proxy.port)", "no_proxy": "other.invalid, .local"]
      for host in ["example.invalid", "other.invalid", "printer.local"] {
        let arguments = ["fetch", "http://\(host)/a", "--retry", "0"]
        let run = try await Tool(arguments, in: folder, environment: environment).finish()
        #expect(run.status != 0)
      }
      #expect(proxy.questions.map(\.path) == ["example.invalid:80"])
      let tool = try Tool(["fetch", "http://example.invalid/a"], in: folder, environment: ["http_proxy": "ftp://x"])
      let run = await tool.finish()
      #expect(
        run.status == 64 && run.errors == ["headway: ftp://x: This is not the URL of a proxy. Use http://HOST:PORT."])
    }
  }

  @Test("H3: after an interruption, the same command resumes") func interrupted() async throws {
    let isFirst = Atomic(true)
    try await withServer { question in
      let headers: HTTPHeaders = ["ETag": "\"1\"", "Content-Length": "400000"]
      if isFirst.exchange(false, ordering: .relaxed) {
        return [.head(.ok, headers), .bytes(Array(Self.whole.prefix(200_000))), .hang]
      }
      let start = Int(question.header("Range")?.dropFirst(6).dropLast() ?? "") ?? 0
      let range: HTTPHeaders = ["ETag": "\"1\"", "Content-Range": "bytes \(start)-399999/400000"]
      return LoopbackServer.answer(.partialContent, range, Array(Self.whole[start...]))
    } _: { server in
      let tool = try Tool(["fetch", server.url("/file"), "--progress", "json"], in: folder)
      // Half of it has arrived.
      _ = await tool.output.first { $0.contains("\"percent\":50") }
      tool.send(SIGINT)
      let first = await tool.finish()
      #expect(first.status == 130)
      #expect(first.output.last?.contains("\"event\":\"cancelled\"") == true)
      #expect(folder.has("file.headway-part") && !folder.has("file"))
      let second = try await Tool.run("fetch", server.url("/file"), in: folder)
      #expect(second.status == 0)
      #expect(try folder.bytes(of: "file") == Data(Self.whole) && !folder.has("file.headway-part"))
      #expect(server.questions.last?.header("Range") == "bytes=200000-")
    }
  }

  @Test("H2: standard output contains only the content, and a link is written to its target")
  func standardOutput() async throws {
    try await withServer { _ in
      LoopbackServer.answer(.ok, ["ETag": "\"1\""], Array("one\ntwo\n".utf8))
    } _: { server in
      for options in [[], ["--quiet"], ["--progress", "plain"]] {
        let run = try await Tool.run(["fetch", server.url("/file"), "-o", "-"] + options, in: folder)
        #expect(run.status == 0 && run.output == ["one", "two"], "\(run)")
      }
      let mixed = try await Tool.run("fetch", server.url("/file"), "-o", "-", "--progress", "json", in: folder)
      #expect(mixed.status == 64 && mixed.output.isEmpty, "\(mixed)")
      try folder.write("", to: "target")
      try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/link", withDestinationPath: "target")
      let run = try await Tool.run("fetch", server.url("/file"), "-o", "link", in: folder)
      #expect(run.status == 0, "\(run)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["link", "target"])
      #expect(try folder.bytes(of: "target") == Data("one\ntwo\n".utf8))
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(folder.path)/link") == "target")
    }
  }

  @Test("H3: partial files do not conflict with other downloads or with files of the user")
  func partialNames() async throws {
    try await withServer { question in
      LoopbackServer.answer(.ok, [:], Array(question.path.utf8))
    } _: { server in
      try folder.write("mine", to: "doc.part")
      try folder.write("mine", to: "doc.part.json")
      let run = try await Tool.run(
        "fetch", server.url("/z"), server.url("/z.part"), server.url("/doc"), "--quiet", in: folder)
      #expect(run.status == 0, "\(run)")
      for name in ["z", "z.part", "doc"] { #expect(try folder.bytes(of: name) == Data("/\(name)".utf8)) }
      for name in ["doc.part", "doc.part.json"] { #expect(try folder.bytes(of: name) == Data("mine".utf8)) }
      let refused = try await Tool.run(
        "fetch", server.url("/z"), server.url("/z.headway-part"), "--quiet", in: folder)
      #expect(refused.status == 64, "\(refused)")
    }
  }

  @Test("H2: a failure is reported in one line, with a code of sysexits.h") func failures() async throws {
    try await withServer { question in
      switch question.path {
      case "/circle": LoopbackServer.answer(.found, ["Location": "/circle"])
      case "/file": LoopbackServer.answer(.ok, [:], Self.whole)
      case "/nonsense": [.raw(Array("nonsense\r\n\r\n".utf8)), .closeConnection]
      default: LoopbackServer.answer(.notFound)
      }
    } _: { server in
      let checksum = String(repeating: "0", count: 64)
      for (arguments, status, message) in [
        ([server.url("/none")], 69, "The server responded with 404 Not Found."),
        ([server.url("/circle")], 76, "The server redirected more than 10 times."),
        ([server.url("/file"), "--max-size", "300K"], 65, "The content is larger than 307200 bytes."),
        ([server.url("/file"), "--max-size", "1"], 65, "The content is larger than 1 byte."),
        ([server.url("/file"), "--checksum", checksum], 65, "not \(checksum)."),
        ([server.url("/nonsense")], 76, "not valid HTTP"),
        (["nonsense"], 64, "This is not an http or https URL."),
        (["http://127.0.0.1:1/file", "--retry", "0"], 69, "Could not connect to the server. (Connection refused)"),
        ([server.url("/file"), server.url("/a/file")], 64, "More than one of these files would be named “file”"),
        ([server.url("/file"), "--checksum", "12"], 64, "use 64 hexadecimal digits."),
        ([server.url("/file"), "--jobs", "0"], 64, "use 1 or more."),
        ([server.url("/a"), server.url("/b"), "--output", "c"], 64, "--output requires a single URL"),
      ] {
        let run = try await Tool.run(["fetch"] + arguments + ["--quiet"], in: folder)
        #expect(run.status == Int32(status), "\(arguments): \(run.errors)")
        #expect(run.errors.count == 1 && run.errors[0].contains(message), "\(arguments): \(run.errors)")
      }
      #expect(!folder.has("file") && !folder.has("file.headway-part") && !folder.has("none.headway-part"))
    }
  }

  @Test("H3: a file that is up to date is not downloaded again", arguments: [true, false])
  func upToDate(byTag: Bool) async throws {
    let content = Mutex((tag: "\"1\"", time: "Sun, 06 Nov 1994 08:49:37 GMT", bytes: Self.whole))
    try await withServer { question in
      let (tag, time, bytes) = content.withLock { $0 }
      let headers: HTTPHeaders = byTag ? ["ETag": tag] : ["Last-Modified": time]
      let isSame = question.header(byTag ? "If-None-Match" : "If-Modified-Since") == (byTag ? tag : time)
      return isSame ? [.head(.notModified, headers), .end] : LoopbackServer.answer(.ok, headers, bytes)
    } _: { server in
      let arguments = ["fetch", server.url("/file")]
      let condition = byTag ? "If-None-Match" : "If-Modified-Since"
      func run(_ options: String..., isUpToDate: Bool) async throws {
        let run = try await Tool.run(arguments + options, in: folder)
        #expect(run.status == 0, "\(run)")
        #expect((run.output == ["./file: up to date"]) == isUpToDate, "\(run)")
        #expect(try folder.bytes(of: "file") == Data(content.withLock { $0.bytes }) && !folder.has("file.headway-part"))
      }
      try await run(isUpToDate: false)
      try await run(isUpToDate: true)
      #expect(server.questions.map { $0.header(condition) == nil } == [true, false])
      // Not with --force, not if the file was changed locally, not if it lacks its checksum, and not if the server has
      // a new one.
      try await run("--force", isUpToDate: false)
      try Data([1, 2, 3]).write(to: URL(fileURLWithPath: "\(folder.path)/file"))
      try await run(isUpToDate: false)
      #expect(server.questions.last?.header(condition) == nil)
      try await run(isUpToDate: true)
      content.withLock { $0 = ("\"2\"", "Sun, 06 Nov 1994 08:49:38 GMT", [1, 2, 3]) }
      try await run(isUpToDate: false)
      #expect(server.questions.last?.header(condition) != nil)
      let wrong = try await Tool.run(arguments + ["--checksum", String(repeating: "0", count: 64)], in: folder)
      #expect(wrong.status == 65 && server.questions.last?.header(condition) == nil)
      let right = "039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81"
      try await run("--checksum", right, isUpToDate: true)
    }
  }

  @Test("H2: header fields are sent, and an invalid one is a usage error") func headerFields() async throws {
    try await withServer { _ in
      LoopbackServer.answer(.ok, [:], [1])
    } _: { server in
      let run = try await Tool.run(
        "fetch", server.url("/file"), "-H", "X-Test: a:b", "--header", "Authorization:Bearer c", in: folder)
      #expect(run.status == 0, "\(run)")
      #expect(server.questions.first?.header("X-Test") == "a:b")
      #expect(server.questions.first?.header("Authorization") == "Bearer c")
      for (field, message) in [
        ("X-Test", "use 'NAME: VALUE'."), (": a", "“” is not a valid name"),
        ("X Test: a", "“X Test” is not a valid name"),
        ("X-Test: a\r\nb: c", "The value of the header field X-Test has control characters."),
      ] {
        let run = try await Tool.run("fetch", server.url("/file"), "-H", field, in: folder)
        #expect(run.status == 64 && run.errors.first?.contains(message) == true, "\(run)")
      }
      #expect(server.questions.count == 1)
    }
  }

  @Test(
    "H2: bytes that are not UTF-8 in a header field or a URL are a usage error", arguments: ["header field", "URL"])
  func foreignBytes(place: String) async throws {
    try await withServer { _ in
      LoopbackServer.answer(.ok, [:], [1])
    } _: { server in
      // The shell creates the byte, because the arguments of a process are text here.
      let byte = #"$(printf '\351')"#
      let words = place == "URL" ? #""$1/caf\#(byte)""# : #""$1" -H "X-L: caf\#(byte)""#
      let launcher = ["/bin/sh", "-c", #"exec "$0" fetch \#(words)"#]
      let run = try await Tool([server.url("/a")], in: folder, launcher: launcher).finish()
      #expect(run.status == 64 && run.errors.count == 1, "\(run)")
      let error = try #require(run.errors.first)
      #expect(error.contains("\(place) has bytes that are not UTF-8.") && !error.contains("caf\u{10FEE9}"), "\(run)")
      #expect(error.contains(place == "URL" ? "caf\\xE9" : "'X-L'"), "\(run)")
      #expect(server.questions.isEmpty)
    }
  }

  @Test("H3: an archive that is labeled as compressed content is kept unchanged") func labelledArchive() async throws {
    try await withServer { _ in
      LoopbackServer.answer(.ok, ["Content-Encoding": "gzip"], [0x1F, 0x8B, 1, 2, 3])
    } _: { server in
      let sum = "00e25a5c69702c645cc56e219b40deb8c705148fec49c11ec875d8e11bcbdfa0"
      let run = try await Tool.run("fetch", server.url("/x.tar.gz"), "--checksum", sum, in: folder)
      #expect(run.status == 0, "\(run)")
      #expect(try folder.bytes(of: "x.tar.gz") == Data([0x1F, 0x8B, 1, 2, 3]))
    }
  }

  @Test("H3: content that was compressed for the transfer is decompressed before it is imported")
  func compressedFeed() async throws {
    try await withServer { _ in
      LoopbackServer.answer(
        .ok, ["Content-Encoding": "gzip", "ETag": "\"1\""], compressed(Array("id,name\n1,a\n".utf8), by: "gzip"))
    } _: { server in
      for _ in 0..<2 {
        let run = try await Tool.run("import", server.url("/people.csv"), "db", in: folder)
        #expect(run.status == 0, "\(run)")
        #expect(try folder.rowCount(of: "people", in: "db") == 1)
      }
      #expect(server.questions.map { $0.header("If-None-Match") } == [nil, "\"1\""])
    }
  }

  @Test("I3: a URL is downloaded and imported, and importing it again updates the rows in place") func importing()
    async throws
  {
    let text = Mutex("id,name\n1,a\n2,b\n")
    try await withServer { question in
      question.path == "/people.csv"
        ? LoopbackServer.answer(.ok, [:], Array(text.withLock { $0 }.utf8)) : LoopbackServer.answer(.notFound)
    } _: { server in
      let first = try await Tool.run("import", server.url("/people.csv"), "db", in: folder)
      #expect(first.status == 0, "\(first.errors)")
      #expect(try folder.rowCount(of: "people", in: "db") == 2 && folder.has("db.downloads/people.csv"))
      text.withLock { $0 = "id,name\n1,a\n2,c\n3,d\n" }
      let second = try await Tool.run("import", server.url("/people.csv"), "db", in: folder)
      #expect(second.status == 0, "\(second.errors)")
      #expect(try folder.query("SELECT name FROM people ORDER BY id", in: "db") == [["a"], ["c"], ["d"]])
      let none = try await Tool.run("import", server.url("/none.csv"), "other", in: folder)
      #expect(none.status == 69 && !folder.has("other"))
    }
  }

  #if Compression
  @Test("H2: a check downloads to a private temporary folder and removes it")
  func privateFolder() async throws {
    try folder.writeSmallFeed(to: "feed")
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/feed")
    let archive = zipped(try names.map { (name: $0, text: try folder.text(of: "feed/\($0)")) })
    try folder.write("", to: "victim/kept")
    let temporary = "\(folder.path)/tmp"
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: "\(temporary)/headway-downloads", withDestinationPath: "\(folder.path)/victim")
    let permissions = Mutex<[Int]>([])
    try await withServer { question in
      let found = (try? FileManager.default.contentsOfDirectory(atPath: temporary)) ?? []
      for name in found where name != "headway-downloads" {
        let attributes = try? FileManager.default.attributesOfItem(atPath: "\(temporary)/\(name)")
        permissions.withLock { $0.append(attributes?[.posixPermissions] as? Int ?? -1) }
      }
      return switch question.path {
      case "/feed.zip": LoopbackServer.answer(.ok, [:], archive)
      default: LoopbackServer.answer(.notFound)
      }
    } _: { server in
      for (path, status) in [("/feed.zip", 0), ("/none.zip", 69)] as [(String, Int32)] {
        let run = try await Tool(
          ["check", server.url(path), "--progress", "none"], in: folder, environment: ["TMPDIR": temporary]
        ).finish()
        #expect(run.status == status, "\(run.errors)")
        if status == 0 { #expect(run.output.last == "\(server.url(path)): 0 errors, 1 warning.") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary) == ["headway-downloads"])
      }
    }
    #expect(permissions.withLock { !$0.isEmpty && $0.allSatisfy { $0 == 0o700 } })
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/victim") == ["kept"])
  }
  #endif

  @Test("H2: SIGPIPE ends the tool if its output is closed, and received content stays")
  func brokenPipe() async throws {
    let gone = "\(folder.path)/gone"
    try await withServer { _ in
      [.wait { FileManager.default.fileExists(atPath: gone) }]
        + LoopbackServer.answer(.ok, ["ETag": "\"1\""], Self.whole)
    } _: { server in
      let tool = try Tool(
        ["fetch", server.url("/file"), "--progress", "json"], in: folder,
        launcher: [
          "/bin/bash", "-c", "\"$0\" \"$@\" | { exec <&-; touch gone; }; exit ${PIPESTATUS[0]}",
        ])
      let run = await tool.finish()
      #expect(run.status == 128 + SIGPIPE && run.errors.isEmpty, "\(run)")
      #expect(folder.has("file") || folder.has("file.headway-part"))
    }
  }

  @Test(
    "H2: output that can't be written is reported, and closed output does not affect the file",
    arguments: [("> /dev/full", 74), (">&-", 0), ("2>&-", 0), ("<&- >&- 2>&-", 0)])
  func unwritable(redirection: String, status: Int32) async throws {
    try await withServer { _ in
      LoopbackServer.answer(.ok, [:], Self.whole)
    } _: { server in
      let tool = try Tool(
        ["fetch", server.url("/file"), "--progress", "plain"], in: folder,
        launcher: ["/bin/bash", "-c", "exec \"$0\" \"$@\" \(redirection)"])
      let run = await tool.finish()
      #expect(run.status == status, "\(run)")
      #expect(try folder.bytes(of: "file") == Data(Self.whole))
      if status != 0 { #expect(run.errors.last?.contains("Standard output can't be written") == true) }
    }
  }

  @Test("H2: file names contain no control characters and are short enough for the file system")
  func strangeNames() async throws {
    try await withServer { _ in
      LoopbackServer.answer(.ok, [:], [1])
    } _: { server in
      let long = String(repeating: "%C3%BC", count: 200)
      let run = try await Tool.run(
        "fetch", server.url("/a%1B%5B2Jb%E2%80%AEc%0A%5Cd"), server.url("/\(long).tar.gz"), in: folder)
      #expect(run.status == 0, "\(run)")
      #expect(folder.has("a_[2Jb_c__d"))
      let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(files.count == 2 && files.contains { $0.hasPrefix("üü") && $0.hasSuffix(".gz") }, "\(files)")
    }
  }

  @Test(
    "H2: no URL leads to a file outside the folder",
    arguments: ["/..", "/%2e%2e%2fx", "/a/..%2F..%2Fx", "/", "/.x"])
  func names(path: String) async throws {
    try await withServer { _ in
      LoopbackServer.answer(.ok, [:], [1])
    } _: { server in
      let run = try await Tool.run("fetch", server.url(path), "--into", "in/here", in: folder)
      #expect(run.status == 0)
      let files = try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/in/here")
      #expect(files.count == 1 && files.allSatisfy { !$0.hasPrefix(".") })
      #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/in") == ["here"])
    }
  }
}
#endif
