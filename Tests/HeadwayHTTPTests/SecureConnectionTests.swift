#if HTTP
import Foundation
import Headway
import HeadwayHTTP
import HeadwayHTTPTestSupport
import HeadwayTestSupport
import NIOHTTP1
import Testing

@Suite("HTTP: secure connections", .hangLimit) struct SecureConnectionTests {
  private func trusting(_ certificate: LoopbackCertificate? = .usual) throws -> HTTPConnectionPool {
    var configuration = HTTPConnectionPool.Configuration.patient
    configuration.trustedCertificates = certificate?.text
    return try HTTPConnectionPool(configuration)
  }

  @Test("H1: a server is trusted only if its certificate is trusted") func trust() async throws {
    try await withServer(certificate: .usual) { _ in
      Server.answer(.ok, [:], [1])
    } _: { server in
      let trusted = RequestOperation(server.url(), limits: .once, connectionPool: try trusting())
      try await trusted.run()
      #expect(trusted.response?.body == [1], "\(String(describing: trusted.error))")
      let unknown = RequestOperation(server.url(), limits: .attempts(3), connectionPool: try trusting(nil))
      try await unknown.run()
      #expect(unknown.httpError?.code == .secureConnectionFailed, "\(String(describing: unknown.error))")
      #expect("\(try #require(unknown.error))" == "\(server.url()): The certificate is not trusted: self-signed.")
      #expect(server.questions.count == 1)
    }
    var configuration = HTTPConnectionPool.Configuration.patient
    configuration.trustedCertificates = "none"
    #expect(throws: RequestError.self) { try HTTPConnectionPool(configuration) }
  }

  @Test("H9: a download uses HTTP/1.1 even if the server prefers HTTP/2") func protocols() async throws {
    try await withFolder { folder in
      // This server announces HTTP/2 but can't speak it.
      try await withServer(certificate: .usual, protocols: ["h2", "http/1.1"]) { _ in
        Server.answer(.ok, [:], content(1_000))
      } _: { server in
        let pool = try trusting()
        let request = RequestOperation(server.url(), limits: .once, connectionPool: pool)
        try await request.run()
        #expect(request.error != nil && server.questions.isEmpty)
        let download = DownloadOperation(server.url(), to: "\(folder)/file", limits: .once, connectionPool: pool)
        try await download.run()
        #expect(download.error == nil && bytes("\(folder)/file") == content(1_000))
      }
    }
  }

  @Test("H9: a download tries HTTP/2 if the response to HTTP/1.1 is not valid") func onlyHTTP2() async throws {
    try await withFolder { folder in
      try await withServer(certificate: .usual, protocols: ["h2"]) { _ in
        [.raw(Array("no HTTP/1.1\r\n\r\n".utf8)), .closeConnection]
      } _: { server in
        let download = DownloadOperation(
          server.url(), to: "\(folder)/file", limits: .once, connectionPool: try trusting())
        try await download.run()
        #expect(download.error != nil && server.connectionCount == 2 && server.questions.count == 1)
      }
    }
  }

  @Test("H3: a TLS failure is described in words, and the request is not retried") func words() async throws {
    try await withServer { _ in
      Server.answer()
    } _: { plain in
      let url = plain.url().replacing("http:", with: "https:")
      let request = RequestOperation(url, limits: .attempts(3))
      try await request.run()
      #expect(request.httpError?.code == .secureConnectionFailed)
      let text = "\(try #require(request.error))"
      #expect(text == "\(url): The server's response is not TLS. If the server does not support TLS, use http://.")
      #expect(plain.connectionCount == 1)
    }
  }

  /// The issuer in the form of RFC 4514.
  private static let unknownIssuer =
    ##"CN=\#1\ ,E=a@example.org,2.5.4.4=odd,OU=\ two\ \ +UID=x,O=Größe\, \"A\" \;\<\\\>,DC=org,C=DE"##

  @Test(
    "H3: the error describes the problem of a certificate",
    arguments: [
      (LoopbackCertificate.expired, false, "self-signed, and it expired on 2020-12-31"),
      (.expired, true, "it expired on 2020-12-31"),
      (.ofOtherHosts, false, "self-signed, and it is not for 127.0.0.1"),
      (.ofOtherHosts, true, "it is not for 127.0.0.1"),
      (.issued, false, "its chain ends in a self-signed certificate (CN=Headway Test)"),
      (.fromUnknownIssuer, false, "unknown issuer (\(unknownIssuer))"),
    ])
  func certificates(certificate: LoopbackCertificate, isTrusted: Bool, reason: String) async throws {
    try await withServer(certificate: certificate) { _ in
      Server.answer()
    } _: { server in
      let request = RequestOperation(
        server.url(), limits: .attempts(3), connectionPool: try trusting(isTrusted ? certificate : nil))
      try await request.run()
      #expect(request.httpError?.code == .secureConnectionFailed)
      #expect("\(try #require(request.error))" == "\(server.url()): The certificate is not trusted: \(reason).")
      #expect(server.questions.isEmpty)
    }
  }

  @Test("H2: a certificate for another host is not trusted") func otherHost() async throws {
    try await withServer(certificate: .usual) { _ in
      Server.answer()
    } _: { server in
      // An address of the same machine that the certificate does not name.
      let url = server.url().replacing("127.0.0.1", with: "[::ffff:127.0.0.1]")
      let request = RequestOperation(url, limits: .once, connectionPool: try trusting())
      try await request.run()
      #expect(request.httpError?.code == .secureConnectionFailed, "\(String(describing: request.error))")
      #expect(request.httpError?.context == "The certificate is not trusted: it is not for ::ffff:127.0.0.1.")
      #expect(server.questions.isEmpty)
    }
  }

  @Test("H2: a redirect from https to http is rejected") func downgrade() async throws {
    try await withServer { _ in
      Server.answer()
    } _: { plain in
      let place = plain.url()
      try await withServer(certificate: .usual) { _ in
        Server.answer(.found, ["Location": place])
      } _: { server in
        let request = RequestOperation(server.url(), connectionPool: try trusting())
        try await request.run()
        #expect(request.httpError?.code == .refusedRedirect, "\(String(describing: request.error))")
        #expect(plain.questions.isEmpty)
      }
    }
  }

  @Test("H1: a request that is cancelled during the TLS handshake finishes") func handshake() async throws {
    // The kernel accepts the connection, and no process sends anything.
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(listener, pointer, length) == 0 && listen(listener, 1) == 0
          && getsockname(listener, pointer, &length) == 0
      }
    }
    try #require(isListening)
    let request = RequestOperation("https://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/")
    OperationQueue().addOperation(request)
    // Its first bytes have arrived.
    let connection = accept(listener, nil, nil)
    defer { close(connection) }
    var byte: UInt8 = 0
    #expect(recv(connection, &byte, 1, Int32(MSG_PEEK)) == 1)
    request.cancel()
    try await request.untilFinished()
    #expect(request.isCancelled && request.error == nil && request.response == nil)
  }
}
#endif
