#if HTTP
import Headway
import HeadwayHTTP
import HeadwayHTTPTestSupport
import HeadwayTestSupport
import NIOHTTP1
import Synchronization
import Testing

@Suite("HTTP: streamed content", .hangLimit) struct StreamTests {
  private static let whole = content(300_000)

  @Test("H2: the caller receives chunks before all of the content has arrived") func pieces() async throws {
    let isRead = Atomic(false)
    try await withServer { _ in
      [
        .head(.ok, ["Content-Length": "\(Self.whole.count)"]), .bytes(Array(Self.whole.prefix(1_000))),
        // The rest arrives when the beginning has been read.
        .wait { isRead.load(ordering: .acquiring) }, .bytes(Array(Self.whole.dropFirst(1_000))), .end,
      ]
    } _: { server in
      let stream = StreamOperation(server.url()) { response in
        #expect(response.status == .ok)
        var bytes: [UInt8] = []
        for try await chunk in response.chunks {
          #expect(!chunk.isEmpty)
          bytes += chunk
          if bytes.count == 1_000 { isRead.store(true, ordering: .releasing) }
        }
        return bytes
      }
      try await stream.run()
      let value = try await stream.value
      #expect(value == Self.whole)
      #expect(stream.progress.completedUnitCount == 300_000 && stream.progress.totalUnitCount == 300_000)
    }
  }

  @Test("H2: the server can't send more content while the caller does not read") func backPressure() async throws {
    let piece = [UInt8](repeating: 7, count: 1 << 20)
    let size = 64 * piece.count
    // The number of bytes that were sent, and how often the connection has not accepted further bytes since.
    let sent = Atomic(0)
    let refusals = Atomic(0)
    let pieces = (0..<64).flatMap { _ -> [Server.Step] in
      [
        .bytes(piece), .drain { refusals.add(1, ordering: .relaxed) },
        .call {
          sent.add(1 << 20, ordering: .relaxed)
          refusals.store(0, ordering: .relaxed)
        },
      ]
    }
    try await withServer { _ in
      [.head(.ok, ["Content-Length": "\(size)"])] + pieces + [.end]
    } _: { server in
      let stream = StreamOperation(server.url()) { response in
        var chunks = response.chunks.makeAsyncIterator()
        var count = try await chunks.next()?.count ?? 0
        await until { refusals.load(ordering: .relaxed) > 200 || sent.load(ordering: .relaxed) == size }
        #expect(sent.load(ordering: .relaxed) < size / 2)
        while let chunk = try await chunks.next() { count += chunk.count }
        return count
      }
      try await stream.run()
      let count = try await stream.value
      #expect(count == size)
    }
  }

  @Test("H1: the connection is closed if the caller returns early or throws", arguments: [true, false])
  func early(fails: Bool) async throws {
    try await withServer { _ in
      [.head(.ok, ["Content-Length": "10"]), .bytes([1]), .hang]
    } _: { server in
      let stream = StreamOperation(server.url(), limits: .attempts(3)) { response in
        var chunks = response.chunks.makeAsyncIterator()
        let first = try await chunks.next()
        if fails { throw RequestError(.timedOut, url: "", context: "Of the caller.") }
        return first
      }
      try await stream.run()
      #expect(stream.httpError?.code == (fails ? .timedOut : nil))
      if !fails {
        let value = try await stream.value
        #expect(value == [1])
      }
      await until { server.openConnectionCount == 0 }
      #expect(server.questions.count == 1)
    }
  }

  @Test("H1: an operation that is cancelled while the caller reads finishes as cancelled")
  func cancelled() async throws {
    try await withServer { _ in
      [.head(.ok, ["Content-Length": "10"]), .bytes([1]), .hang]
    } _: { server in
      let hasBegun = Atomic(false)
      let stream = StreamOperation(server.url()) { response in
        for try await _ in response.chunks { hasBegun.store(true, ordering: .relaxed) }
      }
      OperationQueue().addOperation(stream)
      await until { hasBegun.load(ordering: .relaxed) }
      stream.cancel()
      try await stream.untilFinished()
      #expect(stream.isCancelled && stream.error == nil)
      await #expect(throws: CancellationError.self) { try await stream.value }
      await until { server.openConnectionCount == 0 }
    }
  }

  @Test("H2: reading throws if the connection breaks or a limit is exceeded; a status fails earlier")
  func failures() async throws {
    try await withServer { question in
      switch question.path {
      case "/short": [.head(.ok, ["Content-Length": "10"]), .bytes([1]), .closeConnection]
      case "/large": Server.answer(.ok, ["Transfer-Encoding": "chunked"], content(100))
      default: Server.answer(.notFound, [:], Array("none".utf8))
      }
    } _: { server in
      for (path, code, calls) in [
        ("/short", RequestError.Code.connectionBroken, 1), ("/large", .bodyTooLarge, 1),
        ("/none", .unexpectedStatus, 0),
      ] {
        let called = Atomic(0)
        var limits = HTTPLimits.attempts(3)
        limits.maxBodyBytes = 99
        let stream = StreamOperation(server.url(path), limits: limits) { response in
          called.add(1, ordering: .relaxed)
          for try await _ in response.chunks {}
        }
        try await stream.run()
        #expect(stream.httpError?.code == code, "\(path): \(String(describing: stream.error))")
        #expect(called.load(ordering: .relaxed) == calls)
        if calls == 0 { #expect(stream.httpError?.body == Array("none".utf8)) }
      }
    }
  }
}

@Suite("HTTP: decoded responses", .hangLimit) struct DecodingTests {
  private struct Stop: Decodable, Equatable { var name: String }

  @Test("H1: a response is decoded from JSON") func decoding() async throws {
    try await withServer { _ in
      Server.answer(.ok, [:], Array("[{\"name\": \"Süd\"}]".utf8))
    } _: { server in
      let request = RequestOperation(server.url())
      OperationQueue().addOperation(request)
      let stops = try await request.decoded(as: [Stop].self)
      #expect(stops == [Stop(name: "Süd")])
      let others: [Stop]? = try request.response?.decoded()
      #expect(others == stops)
    }
  }

  @Test(
    "H2: content that can't be decoded is reported in one line, with the position",
    arguments: [
      ("[{\"name\": 1}]", "expected a string at [0].name."), ("[{}]", "the key “name” is missing at [0]."),
      ("[{\"name\": null}]", "found null instead of a string at [0].name."), ("{}", "decoded: expected an array."),
      ("[7]", "expected an object at [0]."), ("[null]", "found null instead of"),
      ("<html>", "The content could not be decoded: "),
    ])
  func failures(body: String, text: String) async throws {
    try await withServer { _ in
      Server.answer(.ok, [:], Array(body.utf8))
    } _: { server in
      let request = RequestOperation(server.url())
      OperationQueue().addOperation(request)
      let error = await #expect(throws: RequestError.self) { try await request.decoded(as: [Stop].self) }
      #expect(error?.code == .cannotDecode && error?.body == Array(body.utf8) && error?.status == .ok)
      let message = "\(try #require(error))"
      #expect(message.contains(text) && !message.contains("\n") && request.error == nil, "\(message)")
      #expect(!message.contains("Stop") && !message.contains("<S"), "The message has names of Swift types: \(message)")
    }
  }
}
#endif
