#if HTTP
import Foundation
import Headway
import HeadwayHTTP
import HeadwayHTTPTestSupport
import HeadwayTestKit
import HeadwayTestSupport
import NIOHTTP1
import Synchronization
import Testing

@Suite("HTTP: connections", .hangLimit) struct ConnectionTests {
  /// A response whose body arrives some milliseconds after its head.
  private static func late(_ status: HTTPResponseStatus, _ headers: HTTPHeaders = [:]) -> [Server.Step] {
    let polls = Atomic(20)
    var headers = headers
    headers.add(name: "Content-Length", value: "2")
    return [
      .head(status, headers), .wait { polls.subtract(1, ordering: .relaxed).newValue <= 0 }, .bytes([1, 2]), .end,
    ]
  }

  @Test("H1: a redirect reuses the connection of the first request")
  func redirects() async throws {
    try await withServer { question in
      question.path == "/" ? Self.late(.found, ["Location": "/next"]) : Server.answer(.ok, [:], [7])
    } _: { server in
      let connectionPool = try HTTPConnectionPool(.patient)
      for _ in 0..<5 {
        let request = RequestOperation(server.url(), limits: .once, connectionPool: connectionPool)
        try await request.run()
        #expect(request.response?.body == [7])
      }
      #expect(server.questions.count == 10 && server.connectionCount == 1)
    }
  }

  @Test("H3: after a response with an error status, the connection is kept for the next request")
  func errors() async throws {
    try await withServer { _ in
      Self.late(.notFound)
    } _: { server in
      let connectionPool = try HTTPConnectionPool(.patient)
      for _ in 0..<5 {
        let request = RequestOperation(server.url(), limits: .once, connectionPool: connectionPool)
        try await request.run()
        #expect(request.httpError?.status == .notFound)
      }
      #expect(server.connectionCount == 1)
    }
  }

  @Test("H2: the beginning of an error's content is kept, up to a limit") func largeBody() async throws {
    let page = content(1_000_000)
    try await withServer { _ in
      Server.answer(.notFound, [:], page)
    } _: { server in
      var limits = HTTPLimits.once
      limits.maxErrorBodyBytes = 1_000
      let request = RequestOperation(server.url(), limits: limits)
      try await request.run()
      #expect(request.httpError?.status == .notFound && request.httpError?.body == Array(page.prefix(1_000)))
      await until { server.openConnectionCount == 0 }
    }
  }

  @Test(
    "H2: an error response is reported if its content stalls for too long", arguments: ["/error", "/redirect"])
  func stalledBody(path: String) async throws {
    try await withServer { question in
      switch question.path {
      case "/error": [.head(.notFound, ["Content-Length": "100"]), .bytes([1, 2, 3]), .hang]
      case "/redirect": [.head(.found, ["Content-Length": "100", "Location": "/error"]), .bytes([1]), .hang]
      default: Server.answer()
      }
    } _: { server in
      let clock = ManualClock()
      var limits = HTTPLimits.once
      limits.errorBodyTimeout = .seconds(1)
      let request = RequestOperation(server.url(path), limits: limits)
      request.clock = clock
      OperationQueue().addOperation(request)
      for _ in 0..<(path == "/error" ? 1 : 2) {
        await until { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        await until { clock.sleeperCount == 0 }
      }
      try await request.untilFinished()
      #expect(request.httpError?.status == .notFound, "\(String(describing: request.error))")
    }
  }

  @Test("H2: an infinite time limit has no effect") func endless() async throws {
    try await withServer { _ in
      Server.answer(.ok, [:], [7])
    } _: { server in
      var configuration = HTTPConnectionPool.Configuration.patient
      configuration.connectTimeout = .seconds(Int64.max)
      configuration.idleTimeout = .seconds(Int64.max)
      var limits = HTTPLimits()
      limits.totalTimeout = .seconds(Int64.max)
      limits.retryPolicy.backoff = .constant(.seconds(Int64.max))
      let request = RequestOperation(
        server.url(), limits: limits, connectionPool: try HTTPConnectionPool(configuration))
      try await request.run()
      #expect(request.response?.body == [7])
    }
  }

  @Test("H2: a connection that is reset during the response is reported as broken, not as failed") func reset()
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

  @Test("H2: any invalid part of a request causes an error before a connection is opened")
  func unsendable() async throws {
    try await withServer { _ in
      Server.answer()
    } _: { server in
      let url = server.url()
      let injection = "GET /injected HTTP/1.1\r\nA: b\r\n\r\nGET"
      for method in ["", " ", "GET ", "G\u{E9}T", "GET\u{0}", injection] {
        #expect(HTTPRequest.Method(method) == nil)
      }
      var requests = [Request(url: url, method: .connect)]
      for (name, value) in [
        ("X-Test", "a\r\nb: c"), ("X-Test", "a\nb"), ("X-Test", "a\u{0}"), ("X-Test", "a\u{1B}"), ("", "a"),
        ("X Test", "a"), ("X-Test:", "a"), ("X\r\nY", "a"), ("Ü", "a"), ("Host", "a\r\nb"),
        ("Content-Length", "0\r\nA: b"), ("Authorization", "a\r"), (":path", "/"),
      ] {
        var request = Request(url: url)
        let error = #expect(throws: RequestError.self) { try request.addHeaderField(name: name, value: value) }
        #expect(error?.code == .invalidRequest && error?.url == url && request.headers.isEmpty)
      }
      for bytes in [[0x61, 0x1B], [0xE9]] as [[UInt8]] {
        requests.append(Request(url: url, headers: HTTPFields([HTTPField(name: .test, lenientValue: bytes)])))
      }
      let host = try #require(HTTPField.Name("Host"))
      requests.append(Request(url: url, headers: [host: "a", host: "b"]))
      requests.append(Request(url: url, method: .trace, body: .bytes([1])))
      for request in requests {
        let operation = RequestOperation(request)
        try await operation.run()
        #expect(operation.httpError?.code == .invalidRequest, "\(request): \(String(describing: operation.error))")
      }
      let address = "127.0.0.1:\(server.port)"
      for url in [
        // AsyncHTTPClient supports addresses of local sockets.
        "http+unix://%2Ftmp%2Fsocket/", "https+unix://%2Ftmp%2Fsocket/", "unix:///tmp/socket",
        "http://\(address)/a\r\nA: b", "http://\(address)/\u{0}", "http://\(address)/?a=\tb", "http://\(address)\r\n/",
        "http://a%0d%0aA:%20b/", "http://a%00b/", "http://a%20b/", "http://a%2Fb/", "http:///a", "http://",
      ] {
        let operation = RequestOperation(url)
        try await operation.run()
        #expect(operation.httpError?.code == .invalidURL, "\(url): \(String(describing: operation.error))")
      }
      #expect(server.connectionCount == 0)
    }
    for proxy in ["http://a%0d%0ab:80", "http://a\r\nb", "http://", "https://a", "http://a%20b", "http://a:0"] {
      var configuration = HTTPConnectionPool.Configuration.patient
      configuration.proxy = proxy
      #expect(throws: RequestError.self, "\(proxy)") { try HTTPConnectionPool(configuration) }
    }
  }

  @Test("H2: a host can't inject header fields into a redirected request or a proxy request")
  func unsendableRedirect() async throws {
    try await withServer { _ in
      Server.answer(.found, ["Location": "http://a%0d%0aA:%20b/"])
    } _: { server in
      let sent = RequestOperation(server.url(), limits: .once)
      try await sent.run()
      #expect(sent.httpError?.code == .refusedRedirect)
      var configuration = HTTPConnectionPool.Configuration.patient
      configuration.proxy = server.url()
      let request = RequestOperation(
        "http://a%0d%0aA:%20b/", limits: .once, connectionPool: try HTTPConnectionPool(configuration))
      try await request.run()
      #expect(request.httpError?.code == .invalidURL && server.questions.count == 1)
    }
  }

  @Test("H2: an error's description contains its reason once and no control characters") func texts() async throws {
    try await withServer { _ in
      [.raw(Array("HTTP/1.1 404 Gone\u{1B}[2J\r\nContent-Length: 0\r\n\r\n".utf8))]
    } _: { server in
      let request = RequestOperation(server.url(), limits: .once)
      try await request.run()
      #expect(!"\(try #require(request.error))".unicodeScalars.contains("\u{1B}"))
    }
    for host in ["127.0.0.1", "localhost"] {
      let request = RequestOperation("http://\(host):1/", limits: .once)
      try await request.run()
      let text = "\(try #require(request.error))"
      #expect(text == "http://\(host):1/: Could not connect to the server. (Connection refused)")
    }
    let refused = RequestOperation("http://127.0.0.1:1/", limits: .once)
    try await refused.run()
    #expect(refused.httpError?.systemErrorNumber == ECONNREFUSED && refused.httpError?.underlyingError != nil)
    #expect(refused.httpError?.context == "Could not connect to the server.")
    #expect(refused.httpError?.code.description == "failed connection")
    let unknown = RequestOperation("http://name.invalid/", limits: .once)
    try await unknown.run()
    #expect("\(try #require(unknown.error))" == "http://name.invalid/: Could not resolve the host name.invalid.")
  }

  @Test(
    "H2: an invalid port is rejected, in a URL, a redirect and a proxy", arguments: [0, 65_536, 99_999])
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
    var configuration = HTTPConnectionPool.Configuration.patient
    configuration.proxy = "http://127.0.0.1:\(port)"
    #expect(throws: RequestError.self) { try HTTPConnectionPool(configuration) }
  }

  @Test("H3: a host gets one connection even if the configured maximum is 0") func atLeastOne() async throws {
    try await withServer { _ in
      Server.answer(.ok, [:], [7])
    } _: { server in
      var configuration = HTTPConnectionPool.Configuration.patient
      configuration.maxConnectionsPerHost = 0
      let request = RequestOperation(server.url(), connectionPool: try HTTPConnectionPool(configuration))
      try await request.run()
      #expect(request.response?.body == [7])
    }
  }

  @Test("H6: a response that can't be decompressed is reported as such, not as too large") func corrupt() async throws {
    try await withServer { _ in
      Server.answer(.ok, ["Content-Encoding": "gzip"], content(100))
    } _: { server in
      let request = RequestOperation(server.url(), limits: .once)
      try await request.run()
      #expect(request.httpError?.code == .cannotDecode, "\(String(describing: request.error))")
    }
  }

  @Test("H2: a file that is replaced while it is sent is sent unchanged") func replacedBody() async throws {
    try await withFolder { folder in
      let (path, size) = ("\(folder)/body", 24 << 20)
      #expect(FileManager.default.createFile(atPath: path, contents: Data(repeating: 1, count: size)))
      #expect(FileManager.default.createFile(atPath: "\(folder)/other", contents: Data(repeating: 2, count: size)))
      try await withServer { _ in
        Server.answer()
      } _: { server in
        let request = RequestOperation(Request(url: server.url(), method: .put, body: .file(path: path)))
        request.start()
        await until { isOpen(path) || request.isFinished }
        #expect(rename("\(folder)/other", path) == 0)
        try await request.untilFinished()
        #expect(request.error == nil && server.questions.first?.body.count == size)
        #expect(server.questions.first?.body.allSatisfy { $0 == 1 } == true)
      }
    }
  }

  @Test("H2: bytes that are added to a file while it is sent are not sent") func grownBody() async throws {
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
          Request(url: server.url(), method: .put, body: .file(path: path)), limits: .once)
        try await request.run()
        #expect(request.error == nil)
        #expect(server.questions.first?.body.count == size)
      }
    }
  }
}
#endif
