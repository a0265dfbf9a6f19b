#if HTTP
import Headway
import HeadwayHTTP
import HeadwayTestSupport
import NIOHTTP1
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
