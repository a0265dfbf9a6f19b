#if HTTP && Compression
  import Headway
  import HeadwayHTTP
  import HeadwayTestSupport
  import NIOHTTP1
  import Testing

  @Suite("HTTP: compressed content", .hangLimit) struct ContentTests {
    @Test("H2: compressed content is decompressed, unless it expands boundlessly") func decompressing() async throws {
      let text = Array(String(repeating: "a text that comes again, ", count: 40).utf8)
      let small = compressed(text, by: "gzip")
      let bomb = compressed([UInt8](repeating: 0, count: 20_000_000), by: "gzip")
      try await withServer { question in
        LoopbackServer.answer(.ok, ["Content-Encoding": "gzip"], question.path == "/bomb" ? bomb : small)
      } _: { server in
        let request = RequestOperation(server.url(), limits: .once)
        try await request.run()
        #expect(request.response?.body == text)
        #expect(server.questions.first?.header("Accept-Encoding") == "gzip, deflate")
        let large = RequestOperation(server.url("/bomb"), limits: .once)
        try await large.run()
        #expect(large.httpError?.code == .bodyTooLarge, "\(String(describing: large.error))")
      }
    }
  }
#endif
