#if Dashboard
import AsyncHTTPClient
import HTTPTypes
import HeadwayJobs
import HeadwayTestSupport
import HeadwayWeb
import Hummingbird
import NIOCore
import NIOHTTP1
import Testing

@testable import HeadwayDashboard

@Suite("People whom a proxy signs in", .hangLimit) struct ProxySignInTests {
  private static let form = [
    ("Content-Type", "application/x-www-form-urlencoded"), ("Origin", "https://jobs.example.org"),
  ]

  private static func with(
    _ proxy: JobsDashboardServer.Proxy, _ body: (inout RunningDashboard) async throws -> Void
  ) async throws {
    var (server, options) = (JobsDashboardServer.Options(), JobsDashboard.Options())
    server.proxy = proxy
    options.origins = ["https://jobs.example.org"]
    try await RunningDashboard.with(options, server: server, logsIn: false, body)
  }

  @Test("J346: a header of a proxy has no effect if the connection comes from another address")
  func untrusted() async throws {
    try await Self.with(JobsDashboardServer.Proxy(addresses: ["10.0.0.1", "127.0.0.2", "::1"])) { dashboard in
      let headers: HTTPHeaders = [
        "X-Forwarded-User": "anna", "X-Forwarded-For": "10.0.0.1", "Forwarded": "for=10.0.0.1",
        "X-Real-IP": "10.0.0.1",
      ]
      for path in ["/", "/jobs", "/events"] {
        expect(try await dashboard.get(path, headers: headers).status, is: .forbidden)
      }
      let all = HTTPHeaders(Self.form + headers.map { ($0.name, $0.value) })
      let fields: KeyValuePairs = ["action": "pause", "queue": "mail"]
      expect(try await dashboard.post(fields, headers: all).status, is: .forbidden)
      let changes = try await dashboard.jobs.changes()
      #expect(changes.isEmpty)
      // The printed address still works, and the header does not change the name.
      try await dashboard.logIn()
      let page = try await dashboard.get("/", headers: headers)
      expect(page.status, is: .ok)
      #expect(!page.text.contains("anna") && page.text.contains(">dashboard</span>"))
    }
  }

  @Test("J346: a trusted proxy signs in a person, who may look, and changes are recorded under the name")
  func trusted() async throws {
    var proxy = JobsDashboardServer.Proxy(addresses: ["127.0.0.0/8"])
    try await Self.with(proxy) { dashboard in
      let page = try await dashboard.get("/", headers: ["X-Forwarded-User": " anna@example.org "])
      expect(page.status, is: .ok)
      #expect(page.text.contains(">anna@example.org</span>") && page.text.contains("read only"))
      #expect(!page.text.contains("Log out"))
      expect(try await dashboard.get("/").status, is: .forbidden)
      expect(try await dashboard.get("/", headers: ["X-Forwarded-User": ""]).status, is: .forbidden)
      expect(try await dashboard.get("/", headers: ["X-Remote-User": "anna"]).status, is: .forbidden)
    }
    proxy.role = .operate
    proxy.userHeader = "Remote-User"
    proxy.logOutAddress = "/oauth2/sign_out"
    try await Self.with(proxy) { dashboard in
      let page = try await dashboard.get("/queues", headers: ["Remote-User": "anna"])
      #expect(page.text.contains("href=\"/oauth2/sign_out\">Log out"))
      let headers = HTTPHeaders(Self.form + [("Remote-User", "anna")])
      let token = dashboard.cookies["__Host-headway-dashboard-token"]
      let answer = try await dashboard.post(["action": "pause", "queue": "mail"], headers: headers, token: token)
      expect(answer.status, is: .seeOther)
      let author = try await dashboard.jobs.changes().first?.author
      #expect(author == "anna")
    }
  }

  @Test("J346: a person is not signed in if the header occurs twice, because one might be from the browser")
  func twice() async throws {
    try await Self.with(JobsDashboardServer.Proxy(addresses: ["127.0.0.1"])) { dashboard in
      let headers = HTTPHeaders([("X-Forwarded-User", "anna"), ("x-forwarded-user", "root")])
      expect(try await dashboard.get("/", headers: headers).status, is: .forbidden)
    }
  }

  @Test(
    "J346: a header with groups determines the role",
    arguments: [
      ([], false), (["operate"], true), (["look"], false), (["staff, ops ,x"], true), (["operates"], false),
      (["staff", "ops"], false), (["Ops"], false), (["staff|ops"], true),
    ] as [([String], Bool)])
  func roles(values: [String], canChange: Bool) async throws {
    var proxy = JobsDashboardServer.Proxy(addresses: ["127.0.0.1"])
    proxy.roleHeader = "X-Forwarded-Groups"
    proxy.operatorRoles = ["operate", "ops"]
    // It has no effect if there is a header for the role.
    proxy.role = .operate
    try await Self.with(proxy) { dashboard in
      let headers = [("X-Forwarded-User", "anna")] + values.map { ("X-Forwarded-Groups", $0) }
      let page = try await dashboard.get("/queues", headers: HTTPHeaders(headers))
      expect(page.status, is: .ok)
      #expect(page.text.contains("read only") != canChange)
    }
  }

  @Test("J346: the dashboard receives no header that names a person")
  func stripped() throws {
    var proxy = JobsDashboardServer.Proxy(addresses: ["127.0.0.1"])
    proxy.roleHeader = "X-Forwarded-Groups"
    let signIn = try ProxySignIn(proxy)
    var head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/")
    head.headerFields = [.accept: "text/html"]
    for name in ["X-Forwarded-User", "X-Forwarded-Groups"] {
      head.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: "a"))
    }
    let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
    #expect(signIn.access(of: request, from: WebClient("127.0.0.1")) != nil)
    #expect(signIn.access(of: request, from: WebClient("127.0.0.2")) == nil)
    #expect(signIn.access(of: request, from: WebClient("")) == nil)
    #expect(signIn.withoutHeaders(request).headers == [.accept: "text/html"])
  }

  @Test(
    "J346: guesses are limited by the address of the browser, as far as trusted proxies know it",
    arguments: [
      ("10.0.0.1", "1.2.3.4", "1.2.3.4"), ("10.0.0.1", "9.9.9.9, 1.2.3.4", "1.2.3.4"),
      ("10.0.0.1", "1.2.3.4, 10.0.0.2", "1.2.3.4"), ("10.0.0.1", "10.0.0.2", "10.0.0.1"),
      ("10.0.0.1", "1.2.3.4, unknown", "10.0.0.1"), ("5.5.5.5", "1.2.3.4", "5.5.5.5"),
    ])
  func browser(connection: String, header: String, expected: String) throws {
    let signIn = try ProxySignIn(JobsDashboardServer.Proxy(addresses: ["10.0.0.0/24"]))
    var head = HTTPRequest(method: .post, scheme: "http", authority: "localhost", path: "/login")
    head.headerFields = [try #require(HTTPField.Name("X-Forwarded-For")): header]
    let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
    #expect(signIn.browser(of: request, from: WebClient(connection)).address == expected)
  }

  @Test(
    "J346: networks contain the addresses with the same first bits",
    arguments: [
      ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false), ("10.0.0.0/8", "10.255.0.1", true),
      ("10.0.0.0/8", "11.0.0.1", false), ("192.168.4.0/22", "192.168.7.255", true),
      ("192.168.4.0/22", "192.168.8.0", false), ("::1", "::1", true), ("fd00::/8", "fd12::7", true),
      ("fd00::/8", "fe80::1", false), ("127.0.0.1", "::ffff:127.0.0.1", true), ("127.0.0.1", "", false),
      ("127.0.0.1", "::1", false), ("::/1", "1.2.3.4", false),
    ])
  func network(network: String, address: String, isMember: Bool) throws {
    #expect(try #require(NetworkRange(network)).contains(address) == isMember)
  }

  @Test(
    "J345: all addresses of an IPv6 network count as one client, however they are written",
    arguments: [
      ("2001:db8::1", "2001:db8::2", true), ("2001:db8::1:2:3:4", "2001:db8:0:0:ffff::", true),
      ("2001:db8:0:1::1", "2001:db8:0:2::1", false), ("fe80::1", "fe80::a:b:c:d", true),
      ("1.2.3.4", "::ffff:1.2.3.4", true), ("1.2.3.4", "1.2.3.5", false), ("", "1.2.3.4", false),
    ])
  func client(address: String, other: String, isSame: Bool) {
    #expect((WebClient(address).network == WebClient(other).network) == isSame)
  }

  @Test(
    "J346: a proxy without a possible address or header is rejected",
    arguments: ["", "localhost", "10.0.0.1/33", "10.0.0/8", "0.0.0.0/0", "::/0", "10.0.0.1/-1", "10.0.0.1/"])
  func invalid(address: String) throws {
    var server = JobsDashboardServer.Options()
    server.proxy = JobsDashboardServer.Proxy(addresses: [address])
    let dashboard = JobsDashboard(Jobs(MemoryJobStore()))
    var error = #expect(throws: JobsDashboardError.self) { try JobsDashboardServer(dashboard, options: server) }
    #expect(error?.code == .invalidProxy)
    server.proxy = JobsDashboardServer.Proxy(addresses: [])
    error = #expect(throws: JobsDashboardError.self) { try JobsDashboardServer(dashboard, options: server) }
    #expect(error?.code == .invalidProxy)
    var proxy = JobsDashboardServer.Proxy(addresses: ["10.0.0.1"])
    proxy.userHeader = "no header"
    server.proxy = proxy
    error = #expect(throws: JobsDashboardError.self) { try JobsDashboardServer(dashboard, options: server) }
    #expect(error?.code == .invalidProxy)
  }
}
#endif
