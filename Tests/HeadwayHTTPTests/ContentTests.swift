#if HTTP && Compression
import Headway
import HeadwayHTTP
import HeadwayHTTPTestSupport
import HeadwayTestSupport
import NIOHTTP1
import Synchronization
import Testing

@Suite("HTTP: compressed content", .hangLimit) struct ContentTests {
  private static let text = Array(String(repeating: "a text that comes again, ", count: 40).utf8)

  /// The gzip format without its header and its end, which many servers call `deflate`.
  private static func raw(_ bytes: [UInt8]) -> [UInt8] {
    Array(compressed(bytes, by: "gzip").dropFirst(10).dropLast(8))
  }

  /// The zlib format.
  private static func zlib(_ bytes: [UInt8]) -> [UInt8] {
    let (low, high) = bytes.reduce((UInt32(1), UInt32(0))) { sums, byte in
      let low = (sums.0 + UInt32(byte)) % 65_521
      return (low, (sums.1 + low) % 65_521)
    }
    return [0x78, 0x9C] + raw(bytes) + [high >> 8, high & 255, low >> 8, low & 255].map { UInt8($0) }
  }

  /// The result of a request that receives the given response.
  private func request(
    _ headers: HTTPHeaders, _ body: [UInt8], status: HTTPResponseStatus = .ok, method: HTTPRequest.Method = .get,
    accepting: String? = nil
  ) async throws -> Result<[UInt8], RequestError> {
    var result: Result<[UInt8], RequestError>?
    try await withServer { _ in
      Server.answer(status, headers, body)
    } _: { server in
      var limits = HTTPLimits.once
      limits.acceptedStatuses = [304]
      var request = Request(url: server.url(), method: method)
      if let accepting { request.headers[.acceptEncoding] = accepting }
      let operation = RequestOperation(request, limits: limits)
      try await operation.run()
      #expect(server.questions.first?.header("Accept-Encoding") == accepting ?? "gzip, deflate")
      result =
        if let error = operation.httpError { .failure(error) } else { .success(try await operation.value.body) }
    }
    return try #require(result)
  }

  @Test(
    "H2: transfer codings are decompressed without a TE field, and an unknown one causes an error",
    arguments: ["gzip, chunked", "gzip", "br, chunked"])
  func messageCodings(name: String) async throws {
    try await withServer { _ in
      var body = compressed(Self.text, by: "gzip")
      if name.hasSuffix("chunked") {
        body = Array("\(String(body.count, radix: 16))\r\n".utf8) + body + Array("\r\n0\r\n\r\n".utf8)
      }
      // The server announces that it closes the connection. Otherwise, the client can reuse it for the next request.
      let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: \(name)\r\n\r\n"
      return [.raw(Array(head.utf8) + body), .closeConnection]
    } _: { server in
      let code: RequestError.Code? = name.hasPrefix("br") ? .unsupportedCoding : nil
      let request = RequestOperation(server.url(), limits: .once)
      try await request.run()
      #expect(request.httpError?.code == code && request.response?.body == (code == nil ? Self.text : nil))
      // A transfer coding is not part of the content, so a download decodes it.
      try await withFolder { folder in
        let download = DownloadOperation(server.url(), to: "\(folder)/file", limits: .once)
        try await download.run()
        #expect(download.httpError?.code == code && bytes("\(folder)/file") == (code == nil ? Self.text : nil))
      }
    }
  }

  @Test(
    "H2: content is decompressed according to its codings",
    arguments: [
      "gzip", "x-gzip", "GZIP", " gzip ", "gzip, identity", "identity,gzip", "gzip,", "deflate", "zlib-deflate",
      "gzip, gzip", "deflate, gzip", "none", "",
    ])
  func codings(name: String) async throws {
    let zipped = compressed(Self.text, by: "gzip")
    let (coding, body) =
      switch name {
      case "deflate": (name, Self.raw(Self.text))
      case "zlib-deflate": ("deflate", Self.zlib(Self.text))
      case "gzip, gzip": (name, compressed(zipped, by: "gzip"))
      case "deflate, gzip": (name, compressed(Self.raw(Self.text), by: "gzip"))
      case "none", "": (name, Self.text)
      default: (name, zipped)
      }
    let result = try await request(["Content-Encoding": coding], body)
    #expect(try result.get() == Self.text)
  }

  @Test("H2: codings in several header fields are one list") func severalFields() async throws {
    let body = compressed(Self.raw(Self.text), by: "gzip")
    let result = try await request(["Content-Encoding": "deflate", "content-encoding": "gzip"], body)
    #expect(try result.get() == Self.text)
  }

  @Test(
    "H2: all gzip members are decompressed, and bytes that follow the members are ignored",
    arguments: [[], [0, 0], [0x1F, 0x8B, 9]])
  func members(end: [UInt8]) async throws {
    let body = compressed(Self.text, by: "gzip") + compressed([1, 2, 3], by: "gzip") + end
    let result = try await request(["Content-Encoding": "gzip"], body)
    #expect(try result.get() == Self.text + [1, 2, 3])
  }

  @Test(
    "H2: nothing is decompressed if there is no content",
    arguments: [("GET", 200), ("HEAD", 200), ("GET", 204), ("GET", 304), ("HEAD", 304), ("POST", 200)],
    ["gzip", "deflate", "gzip, gzip"])
  func nothing(asked: (method: String, status: Int), coding: String) async throws {
    var headers: HTTPHeaders = ["Content-Encoding": coding]
    if asked.method == "HEAD" { headers.add(name: "Content-Length", value: "1000") }
    let result = try await request(
      headers, [], status: HTTPResponseStatus(statusCode: asked.status),
      method: try #require(HTTPRequest.Method(asked.method)))
    #expect(try result.get() == [])
  }

  @Test(
    "H2: nothing is decompressed if a response has no content, even if it announces a length",
    arguments: [
      ("HEAD", "200 OK", "Transfer-Encoding: chunked"), ("HEAD", "200 OK", "Content-Length: 100"),
      ("GET", "304 Not Modified", "Content-Length: 100"), ("GET", "304 Not Modified", "Transfer-Encoding: chunked"),
      ("GET", "204 No Content", "Content-Length: 100"), ("GET", "200 OK", "Content-Length: 0"),
      ("GET", "200 OK", "Transfer-Encoding: chunked\r\n\r\n0"),
    ])
  func announced(method: String, status: String, field: String) async throws {
    try await withServer { _ in
      [.raw(Array("HTTP/1.1 \(status)\r\nContent-Encoding: gzip\r\n\(field)\r\n\r\n".utf8))]
    } _: { server in
      var limits = HTTPLimits.once
      limits.acceptedStatuses = [304]
      let request = RequestOperation(
        Request(url: server.url(), method: try #require(HTTPRequest.Method(method))), limits: limits)
      try await request.run()
      #expect(request.response?.body == [], "\(String(describing: request.error))")
      #expect(request.progress.totalUnitCount == 0)
    }
  }

  @Test("H2: compressed content can be empty, and can arrive byte by byte") func bytewise() async throws {
    // The output of `gzip` for an empty file.
    let empty: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    for (coding, body, content) in [
      ("gzip", empty, []), ("gzip", empty + compressed([1, 2], by: "gzip") + empty, [1, 2]), ("deflate", [3, 0], []),
      ("gzip", compressed(Self.text, by: "gzip"), Self.text), ("deflate", Self.zlib(Self.text), Self.text),
      ("gzip, gzip", compressed(compressed(Self.text, by: "gzip"), by: "gzip"), Self.text),
    ] {
      try await withServer { _ in
        [.head(.ok, ["Content-Encoding": coding, "Transfer-Encoding": "chunked"])] + body.map { .bytes([$0]) }
          + [.end]
      } _: { server in
        let request = RequestOperation(server.url(), limits: .once)
        try await request.run()
        #expect(request.response?.body == content, "\(coding): \(String(describing: request.error))")
      }
    }
  }

  @Test("H2: only the expansion of large content is limited") func expanding() async throws {
    let rows = [UInt8](repeating: 0, count: 3_000_000)
    let small = try await request(["Content-Encoding": "gzip"], compressed(rows, by: "gzip"))
    #expect(try small.get() == rows)
    let bomb = compressed([UInt8](repeating: 0, count: 20_000_000), by: "gzip")
    for (coding, body) in [("gzip", bomb), ("gzip, gzip", compressed(bomb, by: "gzip"))] {
      let large = try await request(["Content-Encoding": coding], body)
      #expect(throws: RequestError.self) { try large.get() }
      if case .failure(let error) = large { #expect(error.code == .bodyTooLarge) }
    }
  }

  @Test("H2: the size limit applies to decompressed content") func size() async throws {
    let body = compressed([UInt8](repeating: 0, count: 5_000), by: "gzip")
    try await withServer { _ in
      Server.answer(.ok, ["Content-Encoding": "gzip"], body)
    } _: { server in
      for (most, code) in [(5_000, nil), (4_999, RequestError.Code.bodyTooLarge)] {
        var limits = HTTPLimits.once
        limits.maxBodyBytes = most
        let request = RequestOperation(server.url(), limits: limits)
        try await request.run()
        #expect(request.httpError?.code == code)
      }
    }
  }

  @Test(
    "H6: content that can't be decompressed causes an error, and is not requested again",
    arguments: ["gzip", "deflate"])
  func damaged(coding: String) async throws {
    let whole = coding == "gzip" ? compressed(Self.text, by: "gzip") : Self.zlib(Self.text)
    var wrong = whole
    wrong[whole.count - 6] ^= 1
    var bodies = [Array(whole.dropLast()), Array(whole.prefix(1)), wrong]
    // Without a header, any other bytes might be raw `deflate`.
    if coding == "gzip" { bodies.append(Self.text) }
    for body in bodies {
      for headers in [["Content-Encoding": coding], ["Content-Encoding": coding, "Transfer-Encoding": "chunked"]] {
        try await withServer { _ in
          Server.answer(.ok, HTTPHeaders(headers.map { ($0.key, $0.value) }), body)
        } _: { server in
          let request = RequestOperation(server.url(), limits: .attempts(3))
          try await request.run()
          #expect(request.httpError?.code == .cannotDecode)
          try await withFolder { folder in
            let download = DownloadOperation(server.url(), to: "\(folder)/file", limits: .attempts(3))
            download.decodesContent = true
            try await download.run()
            #expect(download.httpError?.code == .cannotDecode && files(folder) == [])
          }
          #expect(server.questions.count == 2)
        }
      }
    }
  }

  @Test("H6: compressed content that ends with its connection might be incomplete, and is requested again")
  func cutOff() async throws {
    let whole = compressed(Self.text, by: "gzip")
    let head = Array("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".utf8)
    let isFirst = Atomic(true)
    try await withServer { _ in
      let isCut = isFirst.exchange(false, ordering: .relaxed)
      return [.raw(head + (isCut ? whole.dropLast() : whole[...])), .closeConnection]
    } _: { server in
      let request = RequestOperation(server.url(), limits: .attempts(2))
      try await request.run()
      #expect(request.error == nil && request.response?.body == Self.text && server.questions.count == 2)
    }
  }

  @Test("H2: an unknown coding causes an error, unless the request accepts it by name") func unknown() async throws {
    let result = try await request(["Content-Encoding": "br"], [1, 2])
    #expect(throws: RequestError.self) { try result.get() }
    if case .failure(let error) = result { #expect(error.code == .unsupportedCoding) }
    let wanted = try await request(["Content-Encoding": "br"], [1, 2], accepting: "gzip, br;q=0.5")
    #expect(try wanted.get() == [1, 2])
    let outer = try await request(["Content-Encoding": "br, gzip"], compressed([1, 2], by: "gzip"), accepting: "br")
    #expect(try outer.get() == [1, 2])
  }

  @Test("H2: the content of an error is decompressed, kept if its coding is unknown, or dropped if damaged")
  func errors() async throws {
    let zipped = compressed(Self.text, by: "gzip")
    for (coding, body, kept) in [("gzip", zipped, Self.text), ("br", [1, 2], [1, 2]), ("gzip", [1, 2, 3], [])] {
      let result = try await request(["Content-Encoding": coding], body, status: .badRequest)
      guard case .failure(let error) = result else { throw POSIXErrorNotExpected() }
      #expect(error.status == .badRequest && error.body == kept)
    }
  }

  private struct POSIXErrorNotExpected: Error {}
}
#endif
