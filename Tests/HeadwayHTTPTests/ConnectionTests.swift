#if HTTP
  import Foundation
  import Headway
  import HeadwayHTTP
  import HeadwayTestSupport
  import NIOHTTP1
  import Synchronization
  import Testing

  @Suite("HTTP: connections", .hangLimit) struct ConnectionTests {
    /// An answer whose body comes some milliseconds after its head.
    private static func late(_ status: HTTPResponseStatus, _ headers: HTTPHeaders = [:]) -> [Server.Step] {
      let polls = Atomic(20)
      var headers = headers
      headers.add(name: "Content-Length", value: "2")
      return [
        .head(status, headers), .wait { polls.subtract(1, ordering: .relaxed).newValue <= 0 }, .bytes([1, 2]), .end,
      ]
    }

    @Test("H1: a redirect is followed by its own connection, so that none is left behind when it is cancelled")
    func redirects() async throws {
      try await withServer { question in
        question.path == "/" ? Self.late(.found, ["Location": "/next"]) : Server.answer(.ok, [:], [7])
      } _: { server in
        let connections = try HTTPConnections(HTTPConnections.Configuration())
        for _ in 0..<5 {
          let request = RequestOperation(server.url(), connections: connections)
          try await request.run()
          #expect(request.response?.body == [7])
        }
        #expect(server.questions.count == 10 && server.connectionCount == 1)
      }
    }

    @Test("H3: an answer with a status that is an error keeps its connection for the next request")
    func errors() async throws {
      try await withServer { _ in
        Self.late(.notFound)
      } _: { server in
        let connections = try HTTPConnections(HTTPConnections.Configuration())
        for _ in 0..<5 {
          let request = RequestOperation(server.url(), limits: .once, connections: connections)
          try await request.run()
          #expect(request.httpError?.status == .notFound)
        }
        #expect(server.connectionCount == 1)
      }
    }

    @Test("H3: a large body that is not wanted is not read") func largeBody() async throws {
      try await withServer { _ in
        [.head(.notFound, ["Content-Length": "1000000"]), .hang]
      } _: { server in
        let request = RequestOperation(server.url(), limits: .once)
        try await request.run()
        #expect(request.httpError?.status == .notFound)
        await until { server.openConnectionCount == 0 }
      }
    }

    @Test("H2: time limits without end are none") func endless() async throws {
      try await withServer { _ in
        Server.answer(.ok, [:], [7])
      } _: { server in
        var configuration = HTTPConnections.Configuration()
        configuration.connectTime = .seconds(Int64.max)
        configuration.idleTime = .seconds(Int64.max)
        var limits = HTTPLimits()
        limits.totalTime = .seconds(Int64.max)
        limits.retries.firstDelay = .seconds(Int64.max)
        let request = RequestOperation(server.url(), limits: limits, connections: try HTTPConnections(configuration))
        try await request.run()
        #expect(request.response?.body == [7])
      }
    }

    @Test("H2: a connection that is reset while the answer comes is broken, and there was one") func reset()
      async throws
    {
      try await withServer { _ in
        [.head(.ok, ["Content-Length": "10"]), .bytes([1]), .resetConnection]
      } _: { server in
        let request = RequestOperation(server.url(), limits: .once)
        try await request.run()
        #expect(request.httpError?.code == .connectionBroken, "\(String(describing: request.error))")
      }
    }

    @Test("H2: what can't be sent as it is, is an error at once") func unsendable() async throws {
      try await withServer { _ in
        Server.answer()
      } _: { server in
        let request = RequestOperation(HTTPRequest(url: server.url(), headers: ["X-Test": "a\r\nb: c"]))
        try await request.run()
        #expect(request.httpError.map { "\($0.code)" } == "invalidRequest")
        // AsyncHTTPClient knows addresses of local sockets.
        for url in ["http+unix://%2Ftmp%2Fsocket/", "https+unix://%2Ftmp%2Fsocket/", "unix:///tmp/socket"] {
          let local = RequestOperation(url)
          try await local.run()
          #expect(local.httpError?.code == .invalidURL, "\(url): \(String(describing: local.error))")
        }
        #expect(server.questions.isEmpty)
      }
    }

    @Test(
      "H2: a number that is no port is an error, in an address, a redirect and a proxy", arguments: [0, 65_536, 99_999])
    func ports(port: Int) async throws {
      try await withServer { _ in
        Server.answer(.found, ["Location": "http://127.0.0.1:\(port)/"])
      } _: { server in
        let request = RequestOperation("http://127.0.0.1:\(port)/", limits: .once)
        try await request.run()
        #expect(request.httpError?.code == .invalidURL)
        let sent = RequestOperation(server.url(), limits: .once)
        try await sent.run()
        #expect(sent.httpError?.code == .refusedRedirect)
      }
      var configuration = HTTPConnections.Configuration()
      configuration.proxy = "http://127.0.0.1:\(port)"
      #expect(throws: HTTPError.self) { try HTTPConnections(configuration) }
    }

    @Test("H3: there is one connection to a host at least") func atLeastOne() async throws {
      try await withServer { _ in
        Server.answer(.ok, [:], [7])
      } _: { server in
        var configuration = HTTPConnections.Configuration()
        configuration.maximumConnectionsPerHost = 0
        let request = RequestOperation(server.url(), connections: try HTTPConnections(configuration))
        try await request.run()
        #expect(request.response?.body == [7])
      }
    }

    @Test("H2: an answer that can't be decompressed is broken, not too large") func corrupt() async throws {
      try await withServer { _ in
        Server.answer(.ok, ["Content-Encoding": "gzip"], content(100))
      } _: { server in
        let request = RequestOperation(server.url(), limits: .once)
        try await request.run()
        #expect(request.httpError?.code == .connectionBroken, "\(String(describing: request.error))")
      }
    }

    @Test("H2: a file that is replaced while it is sent does not mix with the other") func replacedBody() async throws {
      try await withFolder { folder in
        let (path, size) = ("\(folder)/body", 24 << 20)
        #expect(FileManager.default.createFile(atPath: path, contents: Data(repeating: 1, count: size)))
        #expect(FileManager.default.createFile(atPath: "\(folder)/other", contents: Data(repeating: 2, count: size)))
        try await withServer { _ in
          Server.answer()
        } _: { server in
          let request = RequestOperation(HTTPRequest(url: server.url(), method: .PUT, body: .file(path: path)))
          request.start()
          await until { isOpen(path) || request.isFinished }
          #expect(rename("\(folder)/other", path) == 0)
          try await request.finished()
          #expect(request.error == nil && server.questions.first?.body.count == size)
          #expect(server.questions.first?.body.allSatisfy { $0 == 1 } == true)
        }
      }
    }

    @Test("H2: what is added to a file while it is sent is not sent") func grownBody() async throws {
      try await withFolder { folder in
        let (path, size) = ("\(folder)/body", 24 << 20)
        #expect(FileManager.default.createFile(atPath: path, contents: Data(repeating: 1, count: size)))
        let observer = Server.HeadObserver { _ in
          let file = FileHandle(forWritingAtPath: path)
          _ = try? file?.seekToEnd()
          try? file?.write(contentsOf: Data(repeating: 2, count: 1 << 20))
          try? file?.close()
        }
        try await withServer(observer: observer) { _ in
          Server.answer()
        } _: { server in
          let request = RequestOperation(
            HTTPRequest(url: server.url(), method: .PUT, body: .file(path: path)), limits: .once)
          try await request.run()
          #expect(request.error == nil)
          #expect(server.questions.first?.body.count == size)
        }
      }
    }
  }
#endif
