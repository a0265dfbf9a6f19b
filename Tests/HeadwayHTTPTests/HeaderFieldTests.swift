#if HTTP
import Headway
import HeadwayHTTP
import HeadwayHTTPTestSupport
import HeadwayTestSupport
import NIOHTTP1
import Testing

@Suite("HTTP: header fields and statuses", .hangLimit) struct HeaderFieldTests {
  @Test("H1: header fields are sent with their exact names in order, and cookies in one field")
  func sent() async throws {
    try await withServer { _ in
      Server.answer()
    } _: { server in
      var request = Request(url: server.url(), method: try #require(HTTPRequest.Method("PROPFIND")))
      try request.addHeaderField(name: "x-TEST", value: "1")
      request.headers[.cookie] = "a=1; b=2"
      try request.addHeaderField(name: "X-Test", value: "2")
      try request.addHeaderField(name: "Cookie", value: "c=3")
      try request.addHeaderField(name: "X-Text", value: "Grüße\t")
      #expect(request.headers[.cookie] == "a=1; b=2; c=3" && request.headers[values: .test] == ["1", "2"])
      let operation = RequestOperation(request, limits: .once)
      try await operation.run()
      #expect(operation.error == nil)
      let head = try #require(server.questions.first?.head)
      #expect(head.method == .PROPFIND)
      let fields = head.headers.filter { $0.name.lowercased().hasPrefix("x-") || $0.name == "Cookie" }
      #expect(fields.map(\.name) == ["x-TEST", "Cookie", "X-Test", "X-Text"])
      #expect(fields.map(\.value) == ["1", "a=1; b=2; c=3", "2", "Grüße"])
    }
  }

  @Test("H1: the header fields of a response keep their order and repeated names")
  func received() async throws {
    try await withServer { _ in
      Server.answer(.ok, ["Set-Cookie": "a=1, b", "X-Test": "2", "set-cookie": "c=3", "X-Empty": "", "x-test": "1"])
    } _: { server in
      let request = RequestOperation(server.url(), limits: .once)
      try await request.run()
      let headers = try #require(request.response?.headers)
      #expect(headers[values: .setCookie] == ["a=1, b", "c=3"] && headers[.test] == "2, 1")
      #expect(headers[try #require(HTTPField.Name("x-empty"))] == "")
      #expect(
        headers.map(\.name.rawName) == ["Set-Cookie", "X-Test", "set-cookie", "X-Empty", "x-test", "Content-Length"])
    }
  }

  @Test(
    "H2: a malformed header field causes an error, and invalid UTF-8 in a value is replaced",
    arguments: ["X@Y: 1", "X Y: 1", "\u{FC}: 1", ": 1", "X-Test: a\u{1B}b", "X-Test: a\u{0}b", "X", "X-Test: \u{FC}"])
  func malformed(field: String) async throws {
    try await withServer { _ in
      let head = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\(field)\r\nX-Last: 1\r\n\r\n"
      return [.raw(Array(head.unicodeScalars.map { UInt8($0.value) }) + [7])]
    } _: { server in
      let request = RequestOperation(server.url(), limits: .once)
      try await request.run()
      #expect(request.httpError?.code == (field.hasSuffix("\u{FC}") ? nil : .invalidResponse))
      #expect(request.response?.headers[.test] == (field.hasSuffix("\u{FC}") ? "\u{FFFD}" : nil))
    }
  }

  @Test("H2: a status without three digits causes an error, and its reason is optional") func statuses() async throws {
    try await withServer { question in
      [.raw(Array("HTTP/1.1 \(question.path.dropFirst().replacing("_", with: " "))\r\nContent-Length: 0\r\n\r\n".utf8))]
    } _: { server in
      for (status, code, message) in [
        ("404_Gone", 404, "The server responded with 404 Not Found."), ("799", 799, "The server responded with 799."),
        ("799_", 799, "The server responded with 799."), ("999", 999, "The server responded with 999."),
        ("1000_Large", nil, "The server's response is not valid HTTP."),
        ("20_Small", nil, "The server's response is not valid HTTP."),
        ("000_None", nil, "The server's response is not valid HTTP."),
        ("099", nil, "The server's response is not valid HTTP."),
      ] {
        let request = RequestOperation(server.url("/\(status)"), limits: .once)
        try await request.run()
        #expect(request.httpError?.status?.code == code, "\(status)")
        #expect(request.httpError?.code == (code == nil ? .invalidResponse : .unexpectedStatus), "\(status)")
        #expect(request.httpError?.context == message)
      }
    }
    // HTTP/2 can transfer such a status.
    #expect(HTTPResponse.Status(HTTPResponseStatus(statusCode: 1_000)) == nil)
  }
}
#endif
