#if HTTP
import Headway
import HeadwayHTTP
import HeadwayHTTPTestSupport
import HeadwayTestSupport
import NIOHTTP1
import Testing

@Suite("HTTP: proxies of the environment", .hangLimit) struct ProxyTests {
  @Test(
    "H8: no_proxy contains hosts, domains, addresses, networks and ports",
    arguments: [
      ("example.org", "http://example.org/"), ("example.org", "http://a.b.example.org/"),
      (".example.org", "http://example.org/"), (".example.org", "http://a.example.org/"),
      ("*.example.org", "http://a.example.org/"), ("EXAMPLE.org.", "http://Example.ORG/"),
      ("example.org", "http://example.org./"), ("a, b ,,c\tlocalhost", "http://localhost/"),
      ("*", "http://example.org/"), ("a,*", "http://example.org/"), ("127.0.0.1", "http://127.0.0.1:8080/"),
      ("127.0.0.0/8", "http://127.9.9.9/"), ("192.168.0.0/22", "http://192.168.3.255/"),
      ("0.0.0.0/0", "http://8.8.8.8/"), ("8.8.8.8/32", "http://8.8.8.8/"), ("::1", "http://[::1]:8080/"),
      ("[::1]", "http://[::1]/"), ("0:0:0:0:0:0:0:1", "http://[::1]/"), ("2001:db8::/33", "http://[2001:db8:7fff::1]/"),
      ("[2001:db8::]/32", "http://[2001:DB8::1]/"), ("example.org:8080", "http://example.org:8080/"),
      ("example.org:80", "http://a.example.org/"), ("example.org:443", "https://example.org/"),
      ("127.0.0.1:9301", "http://127.0.0.1:9301/"), ("10.0.0.0/8:9301", "http://10.1.1.1:9301/"),
      ("[::1]:9301", "http://[::1]:9301/"),
    ])
  func excepted(list: String, url: String) {
    for name in ["no_proxy", "NO_PROXY"] {
      let environment = ProxyEnvironment(["http_proxy": "p:1", "https_proxy": "p:1", name: list])
      #expect(environment.proxy(for: url) == nil)
    }
    // An empty variable counts as missing, and the lowercase variable takes precedence.
    let values = ["all_proxy": "p:1", "http_proxy": "", "no_proxy": "", "NO_PROXY": list]
    #expect(ProxyEnvironment(values).proxy(for: url) == nil)
  }

  @Test(
    "H8: other hosts have a proxy",
    arguments: [
      ("", "http://example.org/"), ("example.org", "http://nonexample.org/"), ("a.example.org", "http://example.org/"),
      ("org", "http://127.0.0.1/"), ("0.0.1", "http://127.0.0.1/"), (".0.0.1", "http://127.0.0.1/"),
      ("127.0.0.0/8", "http://128.0.0.1/"), ("127.0.0.1/33", "http://127.0.0.1/"), ("127/8", "http://127.0.0.1/"),
      ("127.0.0.1/x", "http://127.0.0.1/"), ("127.0.0.1/-1", "http://127.0.0.1/"),
      ("192.168.0.0/22", "http://192.168.4.0/"), ("::/0", "http://127.0.0.1/"), ("0.0.0.0/0", "http://[::1]/"),
      ("::2/127", "http://[::1]/"), ("example.org:8080", "http://example.org/"),
      ("example.org:80", "https://example.org/"), ("example.org:x", "http://example.org/"),
      ("[::1]:80", "http://[::1]:81/"), (".", "http://example.org/"), (",", "http://example.org/"),
      ("example.org/8", "http://example.org/"), ("127.0.0.0/8", "http://localhost/"),
    ])
  func notExcepted(list: String, url: String) {
    let environment = ProxyEnvironment(["http_proxy": "p:1", "https_proxy": "p:1", "no_proxy": list])
    #expect(environment.proxy(for: url) == "http://p:1")
  }

  @Test("H8: the variables are the same as curl's") func variables() {
    func proxy(_ variables: [String: String], _ url: String = "http://a/") -> String? {
      ProxyEnvironment(variables).proxy(for: url)
    }
    #expect(proxy(["HTTP_PROXY": "p"]) == nil && proxy([:]) == nil && proxy(["https_proxy": "p"]) == nil)
    #expect(proxy(["HTTPS_PROXY": "p"], "HTTPS://a/") == "http://p")
    #expect(proxy(["ALL_PROXY": "http://p", "http_proxy": "q"]) == "http://q")
    #expect(proxy(["http_proxy": "p", "no_proxy": "b", "NO_PROXY": "a"]) == "http://p")
  }

  @Test("H8: the target of a redirect has its own proxy") func redirect() async throws {
    try await withServer { _ in
      [.closeConnection]
    } _: { proxy in
      try await withServer { question in
        Server.answer(.found, ["Location": "http://outside.invalid/a"])
      } _: { server in
        let pool = HTTPConnectionPool(
          ProxyEnvironment(["http_proxy": "http://127.0.0.1:\(proxy.port)", "no_proxy": "127.0.0.0/8"]))
        let request = RequestOperation(Request(url: server.url()), limits: .once, connectionPool: pool)
        try await request.run()
        #expect(request.error != nil && server.questions.count == 1)
        #expect(proxy.questions.map(\.path) == ["outside.invalid:80"])
      }
    }
  }
}
#endif
