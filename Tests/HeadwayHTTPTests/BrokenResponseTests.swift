#if HTTP
import AsyncHTTPClient
import Headway
import HeadwayHTTPTestSupport
import HeadwayTestSupport
import NIOHTTP1
import Synchronization
import Testing
@testable import HeadwayHTTP

@Suite("HTTP: broken responses", .hangLimit) struct BrokenResponseTests {
  private static let whole = content(300_000)
  private static let pieceBytes = 60_000

  @Test("H5: a download keeps all bytes that arrived before the connection ended, and makes progress each time")
  func pieces() async throws {
    try await withFolder { folder in
      try await withServer { question in
        let start = Int(question.header("Range")?.dropFirst("bytes=".count).dropLast() ?? "") ?? 0
        var headers: HTTPHeaders = ["ETag": "\"1\"", "Content-Length": "\(Self.whole.count - start)"]
        if start > 0 {
          headers.add(name: "Content-Range", value: "bytes \(start)-\(Self.whole.count - 1)/\(Self.whole.count)")
        }
        return [
          .head(start > 0 ? .partialContent : .ok, headers), .bytes(Array(Self.whole[start..<start + Self.pieceBytes])),
          .closeConnection,
        ]
      } _: { server in
        let download = DownloadOperation(server.url(), to: "\(folder)/file", limits: .attempts(5))
        try await download.run()
        #expect(download.error == nil && bytes("\(folder)/file") == Self.whole)
        let ranges = server.questions.map { $0.header("Range") }
        #expect(ranges == [nil, "bytes=60000-", "bytes=120000-", "bytes=180000-", "bytes=240000-"])
      }
    }
  }

  /// How a server can send a body that does not end.
  enum Framing: CaseIterable {
    case length, chunks, chunkInTheMiddle, invalidChunk
  }

  @Test("H5: a stream receives all bytes that arrived before the error", arguments: Framing.allCases)
  func stream(framing: Framing) async throws {
    let received = Mutex(0)
    let piece = Array(Self.whole.prefix(Self.pieceBytes))
    try await withServer { _ in
      let (field, chunk): (String, [UInt8]) =
        switch framing {
        case .length: ("Content-Length: 100000", piece)
        case .chunks: ("Transfer-Encoding: chunked", Array("ea60\r\n".utf8) + piece + Array("\r\n".utf8))
        case .chunkInTheMiddle: ("Transfer-Encoding: chunked", Array("fffff\r\n".utf8) + piece)
        case .invalidChunk: ("Transfer-Encoding: chunked", Array("ea60\r\n".utf8) + piece + Array("\r\nxyz\r\n".utf8))
        }
      return [.raw(Array("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n".utf8) + chunk), .closeConnection]
    } _: { server in
      let stream = StreamOperation(server.url(), limits: .once) { response in
        for try await chunk in response.chunks { received.withLock { $0 += chunk.count } }
      }
      try await stream.run()
      #expect(received.withLock { $0 } == Self.pieceBytes)
      #expect(stream.httpError?.code == (framing == .invalidChunk ? .invalidResponse : .connectionBroken))
    }
  }

  @Test("H10: a cancellation that was not requested is a broken connection") func cancellation() async {
    for error in [CancellationError(), HTTPClientError.cancelled] as [any Error] {
      let broken = HTTPExchange.translated(error, "http://a.example/")
      #expect((broken as? RequestError)?.code == .connectionBroken)
      let requested = await Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return HTTPExchange.translated(error, "http://a.example/")
      }.value
      #expect(requested is CancellationError)
    }
  }

  @Test("H5: a request that waits for a connection is not sent through a broken one") func waiting() async throws {
    try await withServer { question in
      if question.head.method == .POST { return Server.answer() }
      return [.head(.ok, ["Content-Length": "10"]), .bytes([1]), .closeConnection]
    } _: { server in
      var configuration = HTTPConnectionPool.Configuration.patient
      configuration.maxConnectionsPerHost = 1
      let pool = try HTTPConnectionPool(configuration)
      let queue = OperationQueue()
      let requests = (0..<20).map { number in
        RequestOperation(
          Request(url: server.url(), method: number % 2 == 0 ? .get : .post), limits: .once, connectionPool: pool)
      }
      queue.addOperations(requests, waitUntilFinished: false)
      for (number, request) in requests.enumerated() {
        try await request.untilFinished()
        #expect(request.httpError?.code == (number % 2 == 0 ? .connectionBroken : nil))
      }
    }
  }
}
#endif
