#if HTTP
import Headway
import HeadwayHTTP
import HeadwayHTTPTestSupport
import HeadwayTestSupport
import NIOHTTP1
import Synchronization
import Testing

@Suite("HTTP: redirects", .hangLimit) struct RedirectTests {
  @Test("H2: redirects are followed, even to relative addresses") func following() async throws {
    try await withServer { question in
      question.path == "/a/b" ? Server.answer(.found, ["Location": "../c"]) : Server.answer(.ok, [:], [7])
    } _: { server in
      let request = RequestOperation(server.url("/a/b"))
      try await request.run()
      #expect(request.response?.body == [7] && request.response?.url == server.url("/c"))
    }
  }

  @Test(
    "H7: bytes of a location that are not UTF-8 are preserved, even after other responses on the same connection",
    arguments: [
      ("Location: /caf\u{E9}", "/caf%E9"), ("LOCATION:/\u{80}a\u{FF}?\u{E9}", "/%80a%FF?%E9"),
      ("Location: /?\u{E9}", "/?%E9"), ("Location: /a%E9/b?c", "/a%E9/b?c"),
      ("X: \u{E9}\r\nlocation: /x", "/x"), ("Location: /caf\u{C3}\u{A9}", "/caf%C3%A9"),
    ])
  func foreignBytes(field: String, path: String) async throws {
    // Each character is a byte.
    @Sendable func bytes(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8($0.value) } }
    let head = "HTTP/1.1 103 Early Hints\r\nX: a\r\n\r\nHTTP/1.1 302 Found\r\n\(field)\r\nConnection: close\r\n\r\n\n\n"
    let middle = head.index(head.startIndex, offsetBy: 57)
    try await withServer { question in
      let calls = Atomic(0)
      if question.path != "/" { return Server.answer(.ok, [:], [7]) }
      return [
        .raw(bytes(String(head[..<middle]))), .wait { calls.add(1, ordering: .relaxed).newValue > 2 },
        .raw(bytes(String(head[middle...]))), .closeConnection,
      ]
    } _: { server in
      let request = RequestOperation(server.url(), limits: .once)
      try await request.run()
      #expect(request.response?.body == [7] && server.questions.map(\.path) == ["/", path])
    }
  }

  @Test("H2: redirects in a cycle, to an invalid URL, or to another scheme cause an error")
  func refused() async throws {
    try await withServer { question in
      let place = ["/circle": "/circle", "/file": "file:///etc/passwd", "/none": "http://"][question.path] ?? ""
      return Server.answer(.movedPermanently, ["Location": place])
    } _: { server in
      for path in ["/circle", "/file", "/none"] {
        let request = RequestOperation(server.url(path))
        try await request.run()
        #expect(request.httpError?.code == .refusedRedirect, "\(path): \(String(describing: request.error))")
      }
      #expect(server.questions.count { $0.path == "/circle" } == 11)
    }
  }

  @Test(
    "H2: a redirect sends no credentials to another host, and a body only if the status requires it",
    arguments: [302, 303, 307])
  func otherHost(status: Int) async throws {
    try await withServer { _ in
      Server.answer()
    } _: { other in
      let place = other.url("/there")
      try await withServer { question in
        question.path == "/same"
          ? Server.answer(HTTPResponseStatus(statusCode: status), ["Location": place])
          : Server.answer(.temporaryRedirect, ["Location": "/same"])
      } _: { server in
        let headers: HTTPFields = [.authorization: "secret", .cookie: "secret", .test: "1"]
        let request = RequestOperation(
          Request(url: server.url("/first"), method: .post, headers: headers, body: .bytes([1, 2])))
        try await request.run()
        #expect(request.error == nil)
        #expect(server.questions.map { $0.header("Authorization") } == ["secret", "secret"])
        let question = try #require(other.questions.first)
        #expect(question.header("Authorization") == nil && question.header("Cookie") == nil)
        #expect(question.header("X-Test") == "1")
        #expect(question.head.method == (status == 307 ? .POST : .GET))
        #expect(question.body == (status == 307 ? [1, 2] : []))
      }
    }
  }
}
#endif
