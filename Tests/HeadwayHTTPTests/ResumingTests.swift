#if HTTP
import Foundation
import Headway
import HeadwayHTTP
import HeadwayHTTPTestSupport
import HeadwayTestSupport
import NIOHTTP1
import Synchronization
import Testing

/// Correct and incorrect responses of servers to range requests.
@Suite("HTTP: resuming a download", .hangLimit) struct ResumingTests {
  private static let whole = resumedContent
  private static let other = content(10_000).reversed() as [UInt8]

  @Test(
    "H3: a range of other content is not added to the partial file, even if If-Range is ignored",
    arguments: [
      ["ETag": "\"1\""] as HTTPHeaders,
      ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:38 GMT"],
    ], [true, false])
  func otherContent(headers: HTTPHeaders, saysWhich: Bool) async throws {
    try await withBreak(headers) { question in
      let headers: HTTPHeaders = ["ETag": "\"2\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:40 GMT"]
      guard question.header("Range") != nil else { return Server.answer(.ok, headers, Self.other) }
      var part = saysWhich ? headers : [:]
      part.add(name: "Content-Range", value: "bytes 1000-9999/10000")
      return Server.answer(.partialContent, part, Array(Self.other[1_000...]))
    } _: { server, path in
      let download = DownloadOperation(server.url(), to: path, limits: .attempts(2))
      try await download.run()
      #expect(download.error == nil && bytes(path) == Self.other)
      #expect(server.questions.map { $0.header("Range") } == [nil, "bytes=1000-", nil])
    }
  }

  @Test(
    "H3: a download can be resumed by its modification time if that is earlier than the response's date",
    arguments: [("38", true), ("37", false), (nil, false)])
  func sameSecond(second: String?, goesOn: Bool) async throws {
    var headers: HTTPHeaders = ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"]
    if let second { headers.add(name: "Date", value: "Sun, 06 Nov 1994 08:49:\(second) GMT") }
    try await withBreak(headers) { question in
      guard question.header("Range") != nil else { return Server.answer(.ok, [:], Self.whole) }
      return Server.answer(
        .partialContent,
        ["Content-Range": "bytes 1000-9999/10000", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"],
        Array(Self.whole[1_000...]))
    } _: { server, path in
      let download = DownloadOperation(server.url(), to: path, limits: .attempts(2))
      try await download.run()
      #expect(download.error == nil && bytes(path) == Self.whole)
      #expect(server.questions.last?.header("Range") == (goesOn ? "bytes=1000-" : nil))
    }
  }

  /// Bytes in the gzip format in stored blocks, which can be decompressed byte by byte.
  private static func stored(_ bytes: [UInt8]) -> [UInt8] {
    func little(_ number: UInt32, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
    }
    let check = bytes.reduce(UInt32.max) { check, byte in
      (0..<8).reduce(check ^ UInt32(byte)) { rest, _ in (rest >> 1) ^ (rest & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
    let size = UInt32(bytes.count)
    return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1] + little(size, 2) + little(~size, 2) + bytes
      + little(~check, 4) + little(size, 4)
  }

  @Test(
    "H3: compressed content is stored as sent, and can be resumed; decompressed content is requested again",
    arguments: [false, true])
  func compressed(decodes: Bool) async throws {
    try await withFolder { folder in
      let path = "\(folder)/file"
      let encoded = Self.stored(Self.whole)
      let isFirst = Atomic(true)
      try await withServer { question in
        let headers: HTTPHeaders = ["ETag": "\"1\"", "Content-Encoding": "gzip"]
        if isFirst.exchange(false, ordering: .relaxed) {
          return [
            .head(.ok, headers), .bytes(Array(encoded.prefix(1_015))),
            .wait { (bytes("\(path).headway-part")?.count ?? 0) > 0 }, .closeConnection,
          ]
        }
        guard let range = question.header("Range"), let start = Int(range.dropFirst(6).dropLast()) else {
          return Server.answer(.ok, headers, encoded)
        }
        var part = headers
        part.add(name: "Content-Range", value: "bytes \(start)-\(encoded.count - 1)/\(encoded.count)")
        return Server.answer(.partialContent, part, Array(encoded[start...]))
      } _: { server in
        let download = DownloadOperation(server.url(), to: path, limits: .attempts(2))
        download.decodesContent = decodes
        try await download.run()
        #expect(download.error == nil, "\(String(describing: download.error))")
        #expect(bytes(path) == (decodes ? Self.whole : encoded))
        #expect(server.questions.map { $0.header("Range") } == [nil, decodes ? nil : "bytes=1015-"])
        #expect(server.questions.map { $0.header("Accept-Encoding") } == ["identity", "identity"])
      }
    }
  }

  @Test("H2: a range in a response with the complete content does not determine its length")
  func strayRange() async throws {
    try await withFolder { folder in
      try await withServer { _ in
        Server.answer(.ok, ["Content-Range": "bytes 0-9/1000"], [1, 2, 3])
      } _: { server in
        let download = DownloadOperation(server.url(), to: "\(folder)/file", limits: .once)
        try await download.run()
        #expect(download.error == nil && bytes("\(folder)/file") == [1, 2, 3])
      }
    }
  }

  @Test(
    "H3: an invalid range is ignored",
    arguments: ["bytes 1000-9999/-5", "bytes 1000-1001/7", "bytes */10000", "bytes", "pages 1-2/3", ""])
  func noRange(text: String) async throws {
    try await withBreak(["ETag": "\"1\""]) { question in
      guard question.header("Range") != nil else { return Server.answer(.ok, [:], Self.whole) }
      return Server.answer(.partialContent, ["Content-Range": text, "ETag": "\"1\""], [1, 2])
    } _: { server, path in
      let download = DownloadOperation(server.url(), to: path, limits: .attempts(2))
      try await download.run()
      #expect(download.error == nil && bytes(path) == Self.whole)
    }
  }

  @Test("H3: a decompressing download does not resume a compressed file or consider it up to date")
  func otherForm() async throws {
    try await withFolder { folder in
      let path = "\(folder)/file"
      let encoded = Self.stored(Self.whole)
      let breaksOff = Atomic(true)
      try await withServer { question in
        var headers: HTTPHeaders = ["ETag": "\"1\"", "Content-Encoding": "gzip"]
        if question.header("If-None-Match") == "\"1\"" { return Server.answer(.notModified, headers) }
        guard breaksOff.exchange(false, ordering: .relaxed) else { return Server.answer(.ok, headers, encoded) }
        headers.add(name: "Content-Length", value: "\(encoded.count)")
        return [
          .head(.ok, headers), .bytes(Array(encoded.prefix(1_000))),
          .wait { bytes("\(path).headway-part")?.count == 1_000 }, .closeConnection,
        ]
      } _: { server in
        func run(decodes: Bool) async throws -> DownloadOperation {
          let download = DownloadOperation(server.url(), to: path, keepsPartialFile: true, limits: .once)
          (download.decodesContent, download.skipsUnchanged) = (decodes, true)
          try await download.run()
          return download
        }
        let broken = try await run(decodes: false)
        #expect(broken.error != nil && files(folder) == ["file.headway-part", "file.headway-part.json"])
        for (decodes, isUpToDate) in [(true, false), (true, true), (false, false), (false, true)] {
          let download = try await run(decodes: decodes)
          #expect(download.error == nil && download.isUpToDate == isUpToDate)
          #expect(bytes(path) == (decodes ? Self.whole : encoded) && files(folder) == ["file"])
        }
        #expect(server.questions.allSatisfy { $0.header("Range") == nil })
      }
    }
  }

  @Test(
    "H3: a partial file becomes the file if the server confirms that it is complete",
    arguments: ["bytes */1000", "bytes */1001", "bytes */x", ""])
  func complete(range: String) async throws {
    let first = Array(Self.whole.prefix(1_000))
    try await withBreak(["ETag": "\"1\""], announcing: nil) { question in
      guard question.header("Range") != nil else { return Server.answer(.ok, [:], Self.other) }
      return Server.answer(.rangeNotSatisfiable, ["Content-Range": range, "ETag": "\"1\""])
    } _: { server, path in
      let download = DownloadOperation(server.url(), to: path, limits: .attempts(2))
      try await download.run()
      let isWhole = range == "bytes */1000"
      #expect(download.error == nil && bytes(path) == (isWhole ? first : Self.other))
      #expect(server.questions.map { $0.header("Range") } == [nil, "bytes=1000-"] + (isWhole ? [] : [nil]))
    }
  }

  @Test("H3: a complete partial file is discarded if the content has changed") func completeOther() async throws {
    try await withBreak(["ETag": "\"1\""], announcing: nil) { question in
      guard question.header("Range") != nil else { return Server.answer(.ok, [:], Self.other) }
      return Server.answer(.rangeNotSatisfiable, ["Content-Range": "bytes */1000", "ETag": "\"2\""])
    } _: { server, path in
      let download = DownloadOperation(server.url(), to: path, limits: .attempts(2))
      try await download.run()
      #expect(download.error == nil && bytes(path) == Self.other)
    }
  }

  @Test(
    "H3: a range of content with another length restarts the download, unlike an unknown length",
    arguments: [("20000", false), ("*", true), ("10000", true)])
  func otherTotal(total: String, goesOn: Bool) async throws {
    try await withBreak(["ETag": "\"1\""]) { question in
      guard question.header("Range") != nil else { return Server.answer(.ok, [:], Self.other) }
      return Server.answer(
        .partialContent, ["Content-Range": "bytes 1000-9999/\(total)", "ETag": "\"1\""], Array(Self.whole[1_000...]))
    } _: { server, path in
      let download = DownloadOperation(server.url(), to: path, limits: .attempts(2))
      try await download.run()
      #expect(download.error == nil && bytes(path) == (goesOn ? Self.whole : Self.other))
    }
  }

  @Test(
    "H3: an invalid range in a response restarts the download",
    arguments: [
      "bytes 1000-9223372036854775807/*", "bytes 1000-99999999999999999999/*", "bytes 5--3/10", "bytes -1--1/10000",
      "bytes 1000-999/10000", "bytes 1000-10000/10000", "bytes 999-9999/10000", "pages 1000-9999/10000", "bytes", "",
    ])
  func noRange(range: String) async throws {
    try await withBreak(["ETag": "\"1\""]) { question in
      guard question.header("Range") != nil else { return Server.answer(.ok, [:], Self.other) }
      return Server.answer(.partialContent, ["Content-Range": range, "ETag": "\"1\""], Array(Self.whole[1_000...]))
    } _: { server, path in
      let download = DownloadOperation(server.url(), to: path, limits: .attempts(2))
      try await download.run()
      #expect(download.error == nil && bytes(path) == Self.other, "\(String(describing: download.error))")
    }
  }

  @Test("H3: if a server sends less than the requested range, the rest is requested") func shortParts() async throws {
    try await withBreak(["ETag": "\"1\""]) { question in
      let match = question.header("Range")?.wholeMatch(of: /bytes=(\d+)-/)
      guard let match, let start = Int(match.1) else { return Server.answer(.ok, [:], Self.other) }
      let end = min(start + 2_000, 10_000)
      return Server.answer(
        .partialContent, ["Content-Range": "bytes \(start)-\(end - 1)/10000", "ETag": "\"1\""],
        Array(Self.whole[start..<end]))
    } _: { server, path in
      let download = DownloadOperation(server.url(), to: path, limits: .attempts(2))
      try await download.run()
      #expect(download.error == nil && bytes(path) == Self.whole)
      #expect(server.questions.count == 6)
    }
  }

  @Test("H2: the file stays unchanged if the server responds that nothing has changed")
  func notModified() async throws {
    try await withFolder { folder in
      let path = "\(folder)/file"
      #expect(FileManager.default.createFile(atPath: path, contents: Data([1, 2, 3])))
      try await withServer { _ in
        [.head(.notModified, ["ETag": "\"1\""]), .end]
      } _: { server in
        var limits = HTTPLimits.once
        limits.acceptedStatuses = [304]
        let request = Request(url: server.url(), headers: [.ifNoneMatch: "\"1\""])
        let download = DownloadOperation(request, to: path, limits: limits)
        try await download.run()
        #expect(download.error == nil && bytes(path) == [1, 2, 3] && files(folder) == ["file"])
      }
    }
  }

  @Test(
    "H3: a link that has the name of a partial file is not followed",
    arguments: ["file.headway-part", "file.headway-part.json"])
  func links(name: String) async throws {
    try await withFolder { folder in
      let victim = "\(folder)/victim"
      #expect(FileManager.default.createFile(atPath: victim, contents: Data([1, 2, 3])))
      try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(name)", withDestinationPath: victim)
      try await withServer { _ in
        Server.answer(.ok, ["ETag": "\"1\""], [7])
      } _: { server in
        let download = DownloadOperation(server.url(), to: "\(folder)/file", limits: .once)
        try await download.run()
        #expect(bytes(victim) == [1, 2, 3])
        #expect(download.httpError?.code == .cannotWriteFile)
      }
    }
  }

  @Test(
    "H3: another program's file with the name of a partial file or its metadata stays unchanged",
    arguments: ["file.headway-part", "file.headway-part.json"])
  func foreignFiles(name: String) async throws {
    try await withFolder { folder in
      let text = Array("{\"mine\": 1}".utf8)
      #expect(FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: Data(text)))
      try await withServer { _ in
        Server.answer(.ok, ["ETag": "\"1\""], [7])
      } _: { server in
        for keeps in [false, true] {
          let download = DownloadOperation(
            server.url(), to: "\(folder)/file", keepsPartialFile: keeps, limits: .once)
          try await download.run()
          #expect(download.httpError?.code == .cannotWriteFile)
          #expect(bytes("\(folder)/\(name)") == text && files(folder) == [name])
        }
      }
    }
  }

  @Test("H3: a partial file without a validator is recognized, and its download starts over") func withoutValidator()
    async throws
  {
    try await withFolder { folder in
      let note = try JSONEncoder().encode(["url": "http://127.0.0.1:1/"])
      for (name, content) in [("file.headway-part", Data([1, 2])), ("file.headway-part.json", note)] {
        #expect(FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: content))
      }
      try await withServer { _ in
        Server.answer(.ok, [:], [7])
      } _: { server in
        let download = DownloadOperation(server.url(), to: "\(folder)/file", limits: .once)
        try await download.run()
        #expect(download.error == nil && bytes("\(folder)/file") == [7] && files(folder) == ["file"])
        #expect(server.questions.map { $0.header("Range") } == [nil])
      }
    }
  }

  @Test("H3: a partial file that another program has replaced does not become the file") func replacedPart()
    async throws
  {
    try await withFolder { folder in
      let path = "\(folder)/file"
      let part = "\(path).headway-part"
      try await withServer { _ in
        [
          .head(.ok, ["Content-Length": "2", "ETag": "\"1\""]), .bytes([1]),
          .call {
            #expect(FileManager.default.createFile(atPath: "\(folder)/other", contents: Data([9])))
            #expect(rename("\(folder)/other", part) == 0)
          }, .bytes([2]), .end,
        ]
      } _: { server in
        let download = DownloadOperation(server.url(), to: path, limits: .once)
        try await download.run()
        #expect(download.httpError?.code == .cannotWriteFile)
        #expect(bytes(path) == nil && bytes(part) == [9])
      }
    }
  }

  @Test("H2: a download to a link keeps the link and replaces its target") func link() async throws {
    try await withFolder { folder in
      try FileManager.default.createDirectory(atPath: "\(folder)/other", withIntermediateDirectories: false)
      #expect(FileManager.default.createFile(atPath: "\(folder)/other/target", contents: Data([1])))
      try FileManager.default.createSymbolicLink(atPath: "\(folder)/link", withDestinationPath: "other/target")
      try await withServer { _ in
        Server.answer(.ok, [:], [7, 8])
      } _: { server in
        let download = DownloadOperation(server.url(), to: "\(folder)/link", limits: .once)
        try await download.run()
        #expect(download.error == nil && bytes("\(folder)/other/target") == [7, 8])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/link") == "other/target")
        #expect(files("\(folder)/other") == ["target"])
      }
    }
  }

  @Test("H3: an interrupted download to a pipe is resumed, but never restarted", arguments: [true, false])
  func pipe(goesOn: Bool) async throws {
    try await withFolder { folder in
      let path = "\(folder)/link"
      #expect(mkfifo("\(folder)/pipe", 0o600) == 0)
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "pipe")
      let read = Mutex<[UInt8]?>(nil)
      // A reader blocks its thread.
      Thread.detachNewThread {
        let content = try? FileHandle(forReadingAtPath: path)?.readToEnd()
        read.withLock { $0 = Array(content ?? Data()) }
      }
      let isFirst = Atomic(true)
      try await withServer { question in
        if isFirst.exchange(false, ordering: .relaxed) {
          return [
            .head(.ok, ["ETag": "\"1\"", "Content-Length": "10000"]), .bytes(Array(Self.whole.prefix(1_000))),
            .closeConnection,
          ]
        }
        guard goesOn, let range = question.header("Range"), let start = Int(range.dropFirst(6).dropLast()) else {
          return Server.answer(.ok, [:], Self.other)
        }
        return Server.answer(
          .partialContent, ["ETag": "\"1\"", "Content-Range": "bytes \(start)-9999/10000"],
          Array(Self.whole[start...]))
      } _: { server in
        let download = DownloadOperation(server.url(), to: path, limits: .attempts(2))
        download.skipsUnchanged = true
        try await download.run()
        await until { read.withLock { $0 != nil } }
        let received = try #require(read.withLock { $0 })
        if goesOn {
          #expect(download.error == nil && received == Self.whole)
        } else {
          #expect(download.error != nil && Self.whole.starts(with: received))
        }
        #expect(files(folder) == ["link", "pipe"])
      }
    }
  }

  @Test("H1: a download into a pipe that has no reader, or whose reader does not read, can be cancelled")
  func cancelledPipe() async throws {
    try await withFolder { folder in
      let path = "\(folder)/pipe"
      #expect(mkfifo(path, 0o600) == 0)
      try await withServer { _ in
        Server.answer(.ok, [:], content(8 << 20))
      } _: { server in
        let queue = OperationQueue()
        let alone = DownloadOperation(server.url(), to: path)
        queue.addOperation(alone)
        await until { alone.isExecuting }
        alone.cancel()
        try await alone.untilFinished()
        #expect(alone.isFinished && alone.error == nil && alone.progress.completedUnitCount == 0)

        let reader = open(path, O_RDONLY | O_NONBLOCK)
        try #require(reader >= 0)
        defer { close(reader) }
        let unread = DownloadOperation(server.url(), to: path)
        queue.addOperation(unread)
        // More than a pipe holds, so the writer waits.
        await until { unread.progress.completedUnitCount > 1 << 19 }
        unread.cancel()
        try await unread.untilFinished()
        #expect(unread.isFinished && unread.error == nil && files(folder) == ["pipe"])
      }
    }
  }

  @Test("H1, H3: a download can be cancelled while it reads an earlier partial file")
  func hashing() async throws {
    try await withFolder { folder in
      let path = "\(folder)/file"
      let url = "http://127.0.0.1:1/"
      #expect(FileManager.default.createFile(atPath: "\(path).headway-part", contents: Data()))
      // More than can be read while a test runs; it uses no disk space.
      #expect(truncate("\(path).headway-part", 4 << 40) == 0)
      let note = try JSONEncoder().encode(["url": url, "validator": "\"1\""])
      #expect(FileManager.default.createFile(atPath: "\(path).headway-part.json", contents: note))
      let checksum = try SHA256Checksum(String(repeating: "0", count: 64))
      let download = DownloadOperation(url, to: path, checksum: checksum, keepsPartialFile: true)
      download.start()
      await until { isOpen("\(path).headway-part") }
      download.cancel()
      try await download.untilFinished()
      #expect(download.error == nil && files(folder) == ["file.headway-part", "file.headway-part.json"])
    }
  }
}
#endif
