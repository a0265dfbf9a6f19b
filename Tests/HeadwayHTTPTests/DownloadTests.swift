#if HTTP
import Foundation
import Headway
import HeadwayHTTP
import HeadwayHTTPTestSupport
import HeadwayTestSupport
import NIOHTTP1
import Synchronization
import Testing

@Suite("HTTP: downloads", .hangLimit) struct DownloadTests {
  private static let whole = content(700_001)

  private static func digest(_ bytes: [UInt8]) -> String {
    SHA256Tests.hash(bytes).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  /// Responds with the rest of the requested content if the tag is unchanged.
  ///
  /// At `end`, the connection breaks as soon as the file has the content before it.
  private static func rest(
    _ question: Server.Question, of whole: [UInt8], tag: String, to path: String, upTo end: Int? = nil
  ) -> [Server.Step] {
    var (start, headers): (Int, HTTPHeaders) = (0, ["ETag": tag])
    if let range = question.header("Range"), question.header("If-Range") == tag {
      start = Int(range.dropFirst("bytes=".count).dropLast()) ?? 0
      guard start < whole.count else { return Server.answer(.rangeNotSatisfiable) }
      headers.add(name: "Content-Range", value: "bytes \(start)-\(whole.count - 1)/\(whole.count)")
    }
    headers.add(name: "Content-Length", value: "\(whole.count - start)")
    let status = start > 0 ? HTTPResponseStatus.partialContent : .ok
    guard let end, end > start else { return [.head(status, headers), .bytes(Array(whole[start...])), .end] }
    return [
      .head(status, headers), .bytes(Array(whole[start..<end])), .wait { bytes("\(path).headway-part")?.count == end },
      .closeConnection,
    ]
  }

  @Test("H2: a folder is not replaced") func noFile() async throws {
    try await withFolder { folder in
      try await withServer { _ in
        Server.answer(.ok, [:], [7])
      } _: { server in
        try FileManager.default.createDirectory(atPath: "\(folder)/folder", withIntermediateDirectories: false)
        let download = DownloadOperation(server.url(), to: "\(folder)/folder")
        try await download.run()
        #expect(download.httpError?.code == .cannotWriteFile)
        #expect(files(folder) == ["folder"] && server.questions.isEmpty)
      }
    }
  }

  @Test("H2: a download creates its file only when it is complete") func download() async throws {
    try await withFolder { folder in
      let path = "\(folder)/file"
      let seen = Mutex<[String]>([])
      try await withServer { _ in
        [
          .head(.ok, ["Content-Length": "\(Self.whole.count)"]), .bytes(Array(Self.whole.prefix(1_000))),
          .call { seen.withLock { $0 = files(folder) } }, .bytes(Array(Self.whole.dropFirst(1_000))), .end,
        ]
      } _: { server in
        let download = DownloadOperation(server.url(), to: path)
        try await download.run()
        #expect(download.error == nil)
        #expect(bytes(path) == Self.whole && files(folder) == ["file"])
        #expect(seen.withLock { !$0.contains("file") })
        #expect(download.progress.completedUnitCount == 700_001 && download.progress.totalUnitCount == 700_001)
      }
    }
  }

  @Test("H3: the checksum is verified before the file gets its name") func checksum() async throws {
    try await withFolder { folder in
      try await withServer { _ in
        Server.answer(.ok, [:], Self.whole)
      } _: { server in
        let right = try SHA256Checksum("sha256:" + Self.digest(Self.whole))
        let good = DownloadOperation(server.url(), to: "\(folder)/good", checksum: right)
        try await good.run()
        #expect(good.error == nil && bytes("\(folder)/good") == Self.whole)
        let wrong = try SHA256Checksum(Self.digest([1]))
        let bad = DownloadOperation(server.url(), to: "\(folder)/bad", checksum: wrong, keepsPartialFile: true)
        try await bad.run()
        #expect(bad.httpError?.code == .checksumMismatch && files(folder) == ["good"])
      }
    }
    for text in ["", "12", String(repeating: "+1", count: 32), String(repeating: "ü", count: 32)] {
      #expect(throws: RequestError.self) { try SHA256Checksum(text) }
    }
  }

  @Test("H3: after a broken connection, the download continues") func resuming() async throws {
    try await withFolder { folder in
      let pieces = Mutex([200_000, 500_000, nil])
      try await withServer { question in
        Self.rest(
          question, of: Self.whole, tag: "\"1\"", to: "\(folder)/file", upTo: pieces.withLock { $0.removeFirst() })
      } _: { server in
        let checksum = try SHA256Checksum(Self.digest(Self.whole))
        let download = DownloadOperation(
          server.url(), to: "\(folder)/file", checksum: checksum, limits: .attempts(3))
        try await download.run()
        #expect(download.error == nil && bytes("\(folder)/file") == Self.whole && files(folder) == ["file"])
        #expect(server.questions.map { $0.header("Range") } == [nil, "bytes=200000-", "bytes=500000-"])
      }
    }
  }

  @Test("H3: a later download resumes an earlier one, unless the content has changed", arguments: [true, false])
  func later(isSame: Bool) async throws {
    try await withFolder { folder in
      let path = "\(folder)/file"
      let tag = Mutex("\"1\"")
      let changed = content(40_000).reversed() as [UInt8]
      let end = Mutex<Int?>(300_000)
      try await withServer { question in
        let tag = tag.withLock { $0 }
        return Self.rest(
          question, of: tag == "\"1\"" ? Self.whole : changed, tag: tag, to: path, upTo: end.withLock { $0.take() })
      } _: { server in
        let first = DownloadOperation(server.url(), to: path, keepsPartialFile: true, limits: .once)
        try await first.run()
        #expect(first.httpError?.code == .connectionBroken)
        #expect(files(folder) == ["file.headway-part", "file.headway-part.json"])
        #expect(bytes("\(path).headway-part")?.count == 300_000)
        if !isSame { tag.withLock { $0 = "\"2\"" } }
        let second = DownloadOperation(server.url(), to: path, keepsPartialFile: true, limits: .once)
        try await second.run()
        #expect(second.error == nil && files(folder) == ["file"])
        #expect(bytes(path) == (isSame ? Self.whole : changed))
        #expect(server.questions.last?.header("Range") == "bytes=300000-")
      }
    }
  }

  @Test(
    "H3: the complete content is requested if the server ignores or rejects ranges", arguments: [200, 416, 206])
  func ignoredRanges(status: Int) async throws {
    try await withFolder { folder in
      let path = "\(folder)/file"
      let isFirst = Atomic(true)
      try await withServer { question in
        if isFirst.exchange(false, ordering: .relaxed) {
          return Self.rest(question, of: Self.whole, tag: "\"1\"", to: path, upTo: 1_000)
        }
        guard question.header("Range") != nil, status != 200 else {
          return Server.answer(.ok, ["ETag": "\"1\""], Self.whole)
        }
        // A different part than requested.
        let headers: HTTPHeaders = status == 206 ? ["Content-Range": "bytes 5-9/700001"] : [:]
        return Server.answer(HTTPResponseStatus(statusCode: status), headers, status == 206 ? [1, 2, 3, 4, 5] : [])
      } _: { server in
        let download = DownloadOperation(server.url(), to: path, limits: .attempts(2))
        try await download.run()
        #expect(download.error == nil && bytes(path) == Self.whole && files(folder) == ["file"])
      }
    }
  }

  @Test("H2: a failed download causes a typed error and leaves no file")
  func failures() async throws {
    try await withFolder { folder in
      try await withServer { question in
        question.path == "/short"
          ? [.head(.ok, ["Content-Length": "10"]), .bytes([1]), .closeConnection]
          : Server.answer(.ok, [:], [1, 2, 3])
      } _: { server in
        let nowhere = DownloadOperation(server.url(), to: "\(folder)/none/file")
        try await nowhere.run()
        #expect(nowhere.httpError?.code == .cannotWriteFile)
        // The reason appears once.
        let text = nowhere.error.map { "\($0)" } ?? ""
        #expect(text.hasSuffix("file.headway-part can't be written. (\(String(cString: strerror(ENOENT))))"), "\(text)")
        var limits = HTTPLimits.once
        limits.maxBodyBytes = 2
        let large = DownloadOperation(server.url(), to: "\(folder)/file", limits: limits)
        try await large.run()
        #expect(large.httpError?.code == .bodyTooLarge)
        let short = DownloadOperation(server.url("/short"), to: "\(folder)/file", limits: .once)
        try await short.run()
        #expect(short.httpError?.code == .connectionBroken)
        #expect(files(folder) == [])
      }
    }
  }

  @Test("H2: a second download to the same file fails without affecting the first") func sameFile() async throws {
    try await withFolder { folder in
      let path = "\(folder)/file"
      let second = Mutex<DownloadOperation?>(nil)
      let finished = DispatchSemaphore(value: 0)
      try await withServer { question in
        [
          .head(.ok, ["Content-Length": "3"]), .bytes([1]),
          .call {
            guard let other = second.withLock({ $0.take() }) else { return }
            other.completionBlock = { finished.signal() }
            OperationQueue().addOperation(other)
            finished.wait()
          }, .bytes([2, 3]), .end,
        ]
      } _: { server in
        let other = DownloadOperation(server.url(), to: path)
        second.withLock { $0 = other }
        let first = DownloadOperation(server.url(), to: path)
        try await first.run()
        #expect(first.error == nil && bytes(path) == [1, 2, 3])
        #expect(other.httpError?.code == .fileInUse)
      }
    }
  }
}
#endif
