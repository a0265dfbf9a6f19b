#if HTTP
import Foundation
import Headway
import HeadwayHTTP
import HeadwayHTTPTestSupport
import HeadwayTestKit
import HeadwayTestSupport
import NIOHTTP1
import Testing

@Suite("HTTP: requests", .hangLimit) struct RequestTests {
  @Test("H1, H2: a response is kept with its status, header fields and body") func answer() async throws {
    try await withServer { _ in
      Server.answer(.ok, ["X-Test": "1"], Array("Grüße".utf8))
    } _: { server in
      let request = RequestOperation(server.url("/a?b=c"))
      try await request.run()
      #expect(request.error == nil)
      let response = try await request.value
      #expect(response.status == .ok && response.text == "Grüße" && response.headers[.test] == "1")
      #expect(response.url == server.url("/a?b=c"))
      #expect(server.questions.map(\.path) == ["/a?b=c"])
      #expect(request.progress.completedUnitCount == 7 && request.progress.totalUnitCount == 7)
    }
  }

  @Test("B7, H1: running a request returns its response, and running a stream the value of its closure")
  func values() async throws {
    try await withServer { _ in
      Server.answer(.ok, [:], Array("hello".utf8))
    } _: { server in
      let queue = OperationQueue()
      let response = try await queue.run(RequestOperation(server.url("/")))
      #expect(response.text == "hello")
      let stream = StreamOperation(server.url("/")) { response in
        var count = 0
        for try await chunk in response.chunks { count += chunk.count }
        return count
      }
      let count = try await queue.run(stream)
      #expect(count == 5)
    }
  }

  @Test("H1: the description of an error is a sentence, followed by other causes in parentheses")
  func errorDescriptions() {
    struct Refusal: LocalizedError { var errorDescription: String? { "Closed today" } }
    struct Cause: Error, CustomStringConvertible { var description: String { "a cause" } }

    func text(_ context: String, _ cause: (any Error)? = nil, number: Int32? = nil) -> String {
      RequestError(.cannotConnect, url: "u", context: context, systemErrorNumber: number, underlyingError: cause)
        .description
    }
    #expect(text("Really?") == "u: Really?")
    #expect(text("Stop!") == "u: Stop!")
    #expect(text("The answer was “no.”") == "u: The answer was “no.”")
    #expect(text("No sentence") == "u: No sentence.")
    #expect(text("It failed.", Refusal()) == "u: It failed. (Closed today)")
    #expect(text("It failed.", Cause()) == "u: It failed. (a cause)")
    #expect(text("It failed: a cause.", Cause()) == "u: It failed: a cause.")
    #expect(text("It failed.", POSIXError(.ECONNREFUSED)) == "u: It failed. (Connection refused)")
    #expect(text("Connection refused.", number: ECONNREFUSED) == "u: Connection refused.")
    #expect(text("It failed.", Cause(), number: ECONNREFUSED) == "u: It failed. (Connection refused; a cause)")
    let error = RequestError(.cannotConnect, url: "", context: "It failed.", underlyingError: POSIXError(.ENOSPC))
    #expect(error.systemErrorDescription == "No space left on device")
    #expect(RequestError(.timedOut, url: "", context: "It failed.").systemErrorDescription == nil)
  }

  @Test("H1: an operation that depends on a request can read its response") func dependency() async throws {
    try await withServer { _ in
      Server.answer(.ok, [:], [1, 2, 3])
    } _: { server in
      let request = RequestOperation(server.url())
      let parse = TaskOperation { request.response?.body.count }
      parse.addDependency(request)
      let queue = OperationQueue()
      queue.addOperations([request, parse], waitUntilFinished: false)
      let count = try await parse.value
      #expect(count == 3)
    }
  }

  @Test("H1: method, header fields and body are sent", arguments: [true, false])
  func sending(fromFile: Bool) async throws {
    let body = content(300_000)
    try await withFolder { folder in
      let path = "\(folder)/body"
      #expect(FileManager.default.createFile(atPath: path, contents: Data(body)))
      try await withServer { _ in
        Server.answer(.created)
      } _: { server in
        let request = RequestOperation(
          Request(
            url: server.url(), method: .post, headers: [.test: "1"],
            body: fromFile ? .file(path: path) : .bytes(body)))
        try await request.run()
        #expect(request.response?.status == .created)
        let question = try #require(server.questions.first)
        #expect(question.head.method == .POST && question.header("X-Test") == "1")
        #expect(question.header("Content-Length") == "300000")
        #expect(question.body == body)
      }
    }
  }

  @Test("H2: a proxy receives a CONNECT request for the server") func proxy() async throws {
    try await withServer { _ in
      [.closeConnection]
    } _: { proxy in
      var configuration = HTTPConnectionPool.Configuration.patient
      configuration.proxy = "http://me:secret@127.0.0.1:\(proxy.port)"
      let connectionPool = try HTTPConnectionPool(configuration)
      let request = RequestOperation("http://example.invalid/a", limits: .once, connectionPool: connectionPool)
      try await request.run()
      #expect(request.error != nil)
      #expect(proxy.questions.map(\.path) == ["example.invalid:80"])
      #expect(proxy.questions.first?.head.method == .CONNECT)
      #expect(proxy.questions.first?.header("Proxy-Authorization") == "Basic bWU6c2VjcmV0")
      configuration.proxy = "nonsense"
      #expect(throws: RequestError.self) { try HTTPConnectionPool(configuration) }
    }
  }

  @Test("H2: credentials in a URL are sent in a header field, and do not appear in names or errors")
  func credentials() async throws {
    try await withServer { question in
      question.path == "/sent" ? Server.answer(.unauthorized) : Server.answer(.found, ["Location": "/sent"])
    } _: { server in
      let url = server.url("/first").replacing("127.0.0.1", with: "me:s%3Acret@127.0.0.1")
      let request = RequestOperation(url, limits: .once)
      try await request.run()
      // me:s:cret
      #expect(server.questions.map { $0.header("Authorization") } == Array(repeating: "Basic bWU6czpjcmV0", count: 2))
      #expect(request.request.url == server.url("/first") && request.name == server.url("/first"))
      #expect(!"\(try #require(request.error))".contains("cret"))
    }
  }

  @Test(
    "H2: credentials do not appear in names or errors, even if the URL is not valid because of them",
    arguments: [
      "http://me:s3cret@host:99999/", "ftp://me:s3cret@127.0.0.1/", "me:s3cret@127.0.0.1", "http://me:s3cret@/",
    ])
  func invalidCredentials(url: String) async throws {
    let request = RequestOperation(url, limits: .once)
    try await request.run()
    let error = try #require(request.httpError)
    #expect(error.code == .invalidURL)
    #expect(!"\(error) \(request.name ?? "") \(request.request.url)".contains("s3cret"))
    var configuration = HTTPConnectionPool.Configuration()
    configuration.proxy = url
    let failure = #expect(throws: RequestError.self) { try HTTPConnectionPool(configuration) }
    #expect(failure.map { "\($0)".contains("s3cret") } == false)
  }

  @Test("H2: a status outside 200 to 299 causes an error, unless it is accepted") func statuses() async throws {
    try await withServer { question in
      Server.answer(HTTPResponseStatus(statusCode: Int(question.path.dropFirst()) ?? 200))
    } _: { server in
      for status in [200, 204, 299, 304, 400, 404, 500] {
        let request = RequestOperation(server.url("/\(status)"), limits: .once)
        try await request.run()
        #expect(request.httpError?.code == ((200...299).contains(status) ? nil : .unexpectedStatus))
        #expect(request.httpError?.status?.code == ((200...299).contains(status) ? nil : status))
      }
      var limits = HTTPLimits.once
      limits.acceptedStatuses = [404]
      let request = RequestOperation(server.url("/404"), limits: limits)
      try await request.run()
      #expect(request.error == nil && request.response?.status == .notFound)
    }
  }

  @Test("H2: a body that is too large causes an error, even if its length is not announced", arguments: [true, false])
  func largeBody(isAnnounced: Bool) async throws {
    try await withServer { _ in
      Server.answer(.ok, isAnnounced ? [:] : ["Transfer-Encoding": "chunked"], content(5_000))
    } _: { server in
      for (most, code) in [(5_000, nil), (4_999, RequestError.Code.bodyTooLarge)] {
        var limits = HTTPLimits.once
        limits.maxBodyBytes = most
        let request = RequestOperation(server.url(), limits: limits)
        try await request.run()
        #expect(request.httpError?.code == code)
        #expect(request.response?.body.count == (code == nil ? 5_000 : nil))
      }
    }
  }

  @Test("H2: a broken connection, a port without a listener, and an invalid URL cause typed errors")
  func failures() async throws {
    try await withServer { question in
      switch question.path {
      case "/closes": [.closeConnection]
      case "/short": [.head(.ok, ["Content-Length": "10"]), .bytes([1, 2, 3]), .closeConnection]
      case "/cut":
        [.raw(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n".utf8)), .closeConnection]
      case "/lengths":
        [.raw(Array("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab".utf8)), .closeConnection]
      default: [.raw(Array("nonsense\r\n\r\n".utf8)), .closeConnection]
      }
    } _: { server in
      for (path, code) in [
        ("/closes", RequestError.Code.connectionBroken), ("/short", .connectionBroken), ("/cut", .connectionBroken),
        ("/nonsense", .invalidResponse), ("/lengths", .invalidResponse),
      ] {
        let request = RequestOperation(server.url(path), limits: .once)
        try await request.run()
        #expect(request.httpError?.code == code, "\(path): \(String(describing: request.error))")
        // Only content that is not HTTP has this description.
        #expect(request.httpError?.context.contains("not valid HTTP") == (code == .invalidResponse))
        #expect(request.response == nil)
      }
    }
    // Not the port of a server that was stopped, because another test can use it.
    let nobody = RequestOperation("http://127.0.0.1:1/", limits: .once)
    try await nobody.run()
    #expect(nobody.httpError?.code == .cannotConnect, "\(String(describing: nobody.error))")
    #expect(
      nobody.httpError?.description == "http://127.0.0.1:1/: Could not connect to the server. (Connection refused)")
    for url in ["", "nonsense", "ftp://example.org/", "http://"] {
      let request = RequestOperation(url, limits: .once)
      try await request.run()
      #expect(request.httpError?.code == .invalidURL, "\(url): \(String(describing: request.error))")
    }
  }

  @Test("H2: a connection that stalls, and a request that takes too long in total, time out") func time()
    async throws
  {
    try await withServer { _ in
      [.head(.ok, ["Content-Length": "10"]), .bytes([1]), .hang]
    } _: { server in
      var configuration = HTTPConnectionPool.Configuration.patient
      configuration.idleTimeout = .milliseconds(20)
      let idle = RequestOperation(server.url(), limits: .once, connectionPool: try HTTPConnectionPool(configuration))
      try await idle.run()
      #expect(idle.httpError?.code == .timedOut, "\(String(describing: idle.error))")
      var limits = HTTPLimits.once
      limits.totalTimeout = .seconds(1)
      let total = RequestOperation(server.url(), limits: limits)
      let clock = ManualClock()
      total.clock = clock
      OperationQueue().addOperation(total)
      // The request is sent first, because an unused connection would be kept.
      await until { server.questions.count == 2 && clock.sleeperCount == 1 }
      clock.advance(by: .seconds(1))
      try await total.untilFinished()
      #expect(total.httpError?.code == .timedOut, "\(String(describing: total.error))")
      await until { server.openConnectionCount == 0 }
    }
  }

  @Test("H1: a subclass can process the response, and an error that it throws fails the request")
  func subclass() async throws {
    final class Count: RequestOperation, @unchecked Sendable {
      nonisolated(unsafe) var count = 0
      override func handleResponse(_ response: Response) async throws {
        guard response.body.count > 2 else { throw POSIXError(.EINVAL) }
        count = response.body.count
      }
    }
    try await withServer { question in
      Server.answer(.ok, [:], content(Int(question.path.dropFirst()) ?? 0))
    } _: {
      server in
      let good = Count(Request(url: server.url("/5")))
      try await good.run()
      #expect(good.count == 5 && good.error == nil)
      let bad = Count(Request(url: server.url("/2")))
      try await bad.run()
      #expect(bad.error is POSIXError && bad.response == nil)
    }
  }
}
#endif
