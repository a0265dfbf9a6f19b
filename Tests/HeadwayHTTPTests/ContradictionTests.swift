#if HTTP
import Foundation
import Headway
import HeadwayHTTP
import HeadwayHTTPTestSupport
import HeadwayTestSupport
import NIOHTTP1
import Synchronization
import Testing

/// Responses that contradict a range request or the known facts about the content.
@Suite("HTTP: contradictory responses", .hangLimit) struct ContradictionTests {
  private static let rest = Array(resumedContent[1_000...])
  private static let boundary = Array("--B\r\nContent-Range: bytes 1000-9999/10000\r\n\r\n".utf8)

  /// A response to the request for the rest of the content.
  struct Response: Sendable {
    let status: HTTPResponseStatus
    let headers: HTTPHeaders
    let body: [UInt8]

    init(_ status: Int, _ headers: HTTPHeaders, _ body: [UInt8]) {
      (self.status, self.headers, self.body) = (HTTPResponseStatus(statusCode: status), headers, body)
    }
  }

  /// Downloads content from a server that breaks off the first response and answers range requests with `response`.
  ///
  /// - Returns: The requests for ranges.
  private func ranges(
    _ response: Response, after headers: HTTPHeaders = ["ETag": "\"1\""]
  ) async throws -> [String?] {
    var ranges: [String?] = []
    try await withBreak(headers) { question in
      guard question.header("Range") != nil else { return Server.answer(.ok, headers, resumedContent) }
      return Server.answer(response.status, response.headers, response.body)
    } _: { server, path in
      let download = DownloadOperation(server.url(), to: path, limits: .attempts(2))
      try await download.run()
      #expect(download.error == nil, "\(String(describing: download.error))")
      #expect(bytes(path) == resumedContent)
      ranges = server.questions.map { $0.header("Range") }
    }
    return ranges
  }

  @Test(
    "H4: a response with the status 200 continues the file if it contains the requested part",
    arguments: ["bytes 1000-9999/10000", "bytes 1000-9999/*"])
  func partWithWrongStatus(range: String) async throws {
    let response = Response(200, ["ETag": "\"1\"", "Content-Range": range], Self.rest)
    #expect(try await ranges(response) == [nil, "bytes=1000-"])
  }

  @Test(
    "H4: the whole content in response to a range request replaces the file, regardless of the status",
    arguments: [200, 206])
  func wholeContent(status: Int) async throws {
    let response = Response(status, ["ETag": "\"1\"", "Content-Range": "bytes 0-9999/10000"], resumedContent)
    #expect(try await ranges(response) == [nil, "bytes=1000-"])
  }

  @Test(
    "H4: a response that does not match the request is not used, and the whole content is requested",
    arguments: [
      // Another part, with either status.
      Response(200, ["ETag": "\"1\"", "Content-Range": "bytes 2000-9999/10000"], Array(resumedContent[2_000...])),
      Response(200, ["ETag": "\"1\"", "Content-Range": "bytes 500-9999/10000"], Array(resumedContent[500...])),
      Response(206, ["ETag": "\"1\"", "Content-Range": "bytes 500-9999/10000"], Array(resumedContent[500...])),
      Response(203, ["ETag": "\"1\"", "Content-Range": "bytes 500-9999/10000"], Array(resumedContent[500...])),
      // A part of different content, with the status 200.
      Response(200, ["ETag": "\"2\"", "Content-Range": "bytes 1000-9999/10000"], Self.rest),
      Response(200, ["Content-Range": "bytes 1000-9999/10000"], Self.rest),
      // A part that looks like the whole content.
      Response(200, ["ETag": "\"1\""], Self.rest),
      Response(200, ["ETag": "\"1\""], []),
      // A body with another length than the range.
      Response(206, ["ETag": "\"1\"", "Content-Range": "bytes 1000-9999/10000"], resumedContent),
      Response(206, ["ETag": "\"1\"", "Content-Range": "bytes 1000-9999/10000"], Array(Self.rest.prefix(10))),
      Response(
        206, ["ETag": "\"1\"", "Content-Range": "bytes 1000-9999/10000", "Transfer-Encoding": "chunked"],
        resumedContent),
      // Several parts, even if they are announced as one.
      Response(
        206,
        [
          "ETag": "\"1\"", "Content-Range": "bytes 1000-9999/10000", "Transfer-Encoding": "chunked",
          "Content-Type": "Multipart/ByteRanges; boundary=B",
        ], Self.boundary + Self.rest.dropLast(Self.boundary.count)),
      // Two ranges, two tags, and numbers with a sign.
      Response(
        206,
        [
          "ETag": "\"1\"", "Content-Range": "bytes 1000-9999/10000", "content-range": "bytes 0-8999/10000",
        ], Self.rest),
      Response(206, ["ETag": "\"1\"", "etag": "\"2\"", "Content-Range": "bytes 1000-9999/10000"], Self.rest),
      Response(206, ["ETag": "\"1\"", "Content-Range": "bytes +1000-9999/10000"], Self.rest),
      Response(206, ["ETag": "\"1\"", "Content-Range": "bytes 1000-9999/+10000"], Self.rest),
      // Past the known end.
      Response(206, ["ETag": "\"1\"", "Content-Range": "bytes 1000-10000/*"], Self.rest + [0]),
      // A successful response without content.
      Response(204, ["ETag": "\"1\""], []),
      Response(202, [:], [1, 2, 3]),
    ])
  func contradictions(response: Response) async throws {
    #expect(try await ranges(response) == [nil, "bytes=1000-", nil])
  }

  @Test("H4: a part with a different weak tag belongs to different content, even if its modification date is the same")
  func weakTag() async throws {
    let date: HTTPHeaders = [
      "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 09:49:37 GMT",
    ]
    for (tag, continues) in [("W/\"1\"", true), ("W/\"2\"", false)] {
      var (first, part) = (date, date)
      first.add(name: "ETag", value: "W/\"1\"")
      part.add(name: "ETag", value: tag)
      part.add(name: "Content-Range", value: "bytes 1000-9999/10000")
      let ranges = try await ranges(Response(206, part, Self.rest), after: first)
      #expect(ranges == [nil, "bytes=1000-"] + (continues ? [] : [nil]))
    }
  }

  @Test("H4: a part that was not requested is rejected, regardless of its status", arguments: [200, 206])
  func notRequested(status: Int) async throws {
    try await withFolder { folder in
      try await withServer { _ in
        Server.answer(HTTPResponseStatus(statusCode: status), ["Content-Range": "bytes 5-7/10"], [1, 2, 3])
      } _: { server in
        let download = DownloadOperation(server.url(), to: "\(folder)/file", limits: .once)
        try await download.run()
        #expect(download.httpError?.code == .unexpectedStatus && files(folder) == [])
      }
    }
  }

  @Test("H4: a partial file that is longer than the content is not continued") func longFile() async throws {
    try await withFolder { folder in
      try await withServer { _ in
        Server.answer(.ok, ["ETag": "\"1\""], [7, 8])
      } _: { server in
        let note = "{\"url\":\"\(server.url())\",\"validator\":\"\\\"1\\\"\",\"size\":2}"
        for (name, content) in [("file.headway-part", Data([1, 2, 3])), ("file.headway-part.json", Data(note.utf8))] {
          #expect(FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: content))
        }
        let download = DownloadOperation(server.url(), to: "\(folder)/file", limits: .once)
        try await download.run()
        #expect(download.error == nil && bytes("\(folder)/file") == [7, 8])
        #expect(server.questions.map { $0.header("Range") } == [nil])
      }
    }
  }

  @Test(
    "H4: a file is up to date only if the response refers to its content",
    arguments: [("\"1\"", true), ("W/\"1\"", true), (nil, true), ("\"2\"", false)])
  func notModified(tag: String?, isBelieved: Bool) async throws {
    try await withFolder { folder in
      let path = "\(folder)/file"
      let isFirst = Atomic(true)
      try await withServer { question in
        if isFirst.exchange(false, ordering: .relaxed) { return Server.answer(.ok, ["ETag": "\"1\""], [1]) }
        guard question.header("If-None-Match") != nil else { return Server.answer(.ok, ["ETag": "\"2\""], [2]) }
        return [.head(.notModified, tag.map { ["ETag": $0] } ?? [:]), .end]
      } _: { server in
        for _ in 0..<2 {
          let download = DownloadOperation(server.url(), to: path, limits: .once)
          download.skipsUnchanged = true
          try await download.run()
          #expect(download.error == nil)
        }
        #expect(bytes(path) == (isBelieved ? [1] : [2]))
      }
    }
  }
}
#endif
