#if Dashboard
import AsyncHTTPClient
import Foundation
import HTTPTypes
import HeadwayJobs
import HeadwayTestSupport
import HeadwayWeb
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import HeadwayDashboard

@Suite("Access to the dashboard", .hangLimit) struct AccessTests {
  @Test(
    "J152: addresses of other machines require a password",
    arguments: ["0.0.0.0", "::", "192.168.1.7", "example.org", "127.0.0.1.example.org", ""])
  func address(listen: String) throws {
    let dashboard = JobsDashboard(Jobs(MemoryJobStore()))
    var options = JobsDashboardServer.Options()
    #expect(options.listen == "127.0.0.1")
    options.listen = listen
    let error = #expect(throws: JobsDashboardError.self) { try JobsDashboardServer(dashboard, options: options) }
    #expect(error?.code == .passwordRequired)
    #expect(error?.description.contains("\(listen), so the dashboard needs a password. Set one") == true)
    options.password = "too short"
    let other = #expect(throws: JobsDashboardError.self) { try JobsDashboardServer(dashboard, options: options) }
    #expect(other?.code == .shortPassword)
    options.password = "long enough for this"
    _ = try JobsDashboardServer(dashboard, options: options)
  }

  @Test("J152: nothing is shown or changed without a login, which the printed address makes possible once")
  func login() async throws {
    try await RunningDashboard.with(logsIn: false) { dashboard in
      let id = try await Scene(dashboard.jobs).fail(error: "a secret error")
      for path in PageTests.paths + ["/job/\(id)", "/events", "/login", "/login?token=guessed"] {
        let answer = try await dashboard.get(path)
        expect(answer.status, is: .forbidden)
        #expect(!answer.text.contains("mail") && !answer.text.contains("secret"))
      }
      expect(try await dashboard.post(["action": "retry", "id": "\(id)"]).status, is: .forbidden)
      expect(try await dashboard.get("/style.css").status, is: .ok)
      let path = "/login" + dashboard.login.drop { $0 != "?" }
      // A program that only looks at an address does not use it up.
      expect(try await dashboard.send(.HEAD, path).status, is: .forbidden)
      let answer = try await dashboard.get(path)
      expect(answer.status, is: .seeOther)
      let cookie = try #require(answer.headers.first(name: "Set-Cookie"))
      #expect(cookie.hasPrefix("headway-dashboard-\(dashboard.origin.split(separator: ":").last ?? "")="))
      #expect(cookie.contains("; HttpOnly; SameSite=Strict; Path=/"))
      expect(try await dashboard.get("/").status, is: .ok)
      var other = dashboard
      other.cookies = [:]
      let again = try await other.get(path)
      expect(again.status, is: .forbidden)
      #expect(again.text.contains("was used before"))
      expect(try await other.get("/").status, is: .forbidden)
    }
  }

  @Test("J152: the right password is accepted even after many wrong ones from the same address")
  func password() async throws {
    var server = JobsDashboardServer.Options()
    server.password = "correct horse battery"
    try await RunningDashboard.with(server: server, logsIn: false) { dashboard in
      expect(try await dashboard.get("/").text.contains("type=\"password\""), is: true)
      let foreign: HTTPHeaders = [
        "Content-Type": "application/x-www-form-urlencoded", "Origin": "http://example.org",
      ]
      let password = "correct horse battery"
      let refusal = try await dashboard.post(["password": password], headers: foreign, path: "/login")
      expect(refusal.status, is: .forbidden)
      #expect(refusal.text.contains("http://example.org"))
      let answer = try await dashboard.post(["password": password], path: "/login")
      expect(answer.status, is: .seeOther)
      expect(try await dashboard.get("/").status, is: .ok)
      expect(try await dashboard.get("/login").status, is: .seeOther)
      var other = dashboard
      other.cookies = [:]
      for _ in 0..<11 {
        expect(try await other.post(["password": "wrong"], path: "/login").status, is: .forbidden)
      }
      expect(try await other.post(["password": password], path: "/login").status, is: .seeOther)
      expect(try await dashboard.get("/").status, is: .ok)
    }
  }

  @Test("J152: guesses from one address wait for each other, and do not delay those from another address")
  func guesses() throws {
    var limit = GuessLimit()
    let now = ContinuousClock.now
    let waiting = Int(GuessLimit.maxWait / GuessLimit.pause) + 1
    for index in 0..<waiting { #expect(limit.turn(of: "a", at: now) == now + GuessLimit.pause * index) }
    #expect(limit.turn(of: "a", at: now) == nil)
    #expect(limit.turn(of: "b", at: now) == now)
    let later = now + GuessLimit.pause * waiting
    #expect(limit.turn(of: "a", at: later) == later)
  }

  @Test(
    "J156: behind a proxy, logging in works under the origin of the site, and cookies are secure",
    arguments: [
      ("https://jobs.example.org", [:], true), ("https://jobs.example.org:8443", [:], true),
      ("http://jobs.example.org", [:], false), ("http://jobs.example.org", ["X-Forwarded-Proto": "https"], true),
      ("http://jobs.example.org", ["Forwarded": "for=1.2.3.4;proto=https"], true),
      ("https://jobs.example.org", ["X-Forwarded-Proto": "http"], false),
    ] as [(String, [String: String], Bool)])
  func proxy(origin: String, headers: [String: String], isSecure: Bool) async throws {
    var server = JobsDashboardServer.Options()
    server.password = "correct horse battery"
    var options = JobsDashboard.Options()
    options.origins = ["https://jobs.example.org:8443/"]
    server.hosts = ["jobs.example.org"]
    try await RunningDashboard.with(options, server: server, logsIn: false) { dashboard in
      let form: HTTPHeaders = ["Content-Type": "application/x-www-form-urlencoded", "Origin": origin]
      let all = HTTPHeaders(form.map { ($0.name, $0.value) } + headers.map { ($0.key, $0.value) })
      let answer = try await dashboard.post(["password": "correct horse battery"], headers: all, path: "/login")
      expect(answer.status, is: .seeOther)
      let cookie = try #require(answer.headers.first(name: "Set-Cookie"))
      #expect(cookie.hasPrefix("__Host-") == isSecure)
      #expect(cookie.hasSuffix("; Secure") == isSecure)
      // The session indicates whether later requests, which have no origin, are encrypted.
      let page = try await dashboard.get("/", headers: HTTPHeaders(headers.map { ($0.key, $0.value) }))
      expect(page.status, is: .ok)
      expect(page.headers.first(name: "Set-Cookie")?.hasPrefix("__Host-headway-dashboard-token="), is: isSecure)
      // On an encrypted connection, a cookie that another page has set without encryption has no effect.
      var other = dashboard
      other.cookies = Dictionary(
        uniqueKeysWithValues: dashboard.cookies.map { ($0.key.replacing("__Host-", with: ""), $0.value) })
      let forged = try await other.get("/", headers: ["X-Forwarded-Proto": "https"])
      expect(forged.status, is: .forbidden)
    }
  }

  @Test("J156: an origin in the options, and no other origin, is also accepted as a host")
  func origins() async throws {
    var server = JobsDashboardServer.Options()
    server.password = "correct horse battery"
    var options = JobsDashboard.Options()
    options.origins = ["https://jobs.example.org"]
    try await RunningDashboard.with(options, server: server, logsIn: false) { dashboard in
      expect(try await dashboard.get("/", headers: ["Host": "jobs.example.org"]).status, is: .forbidden)
      for origin in [
        "https://jobs.example.org.evil.com", "https://evil.com", "http://jobs.example.org", "null",
        "https://jobs.example.org:444", "https://evil.com/https://jobs.example.org",
      ] {
        let headers: HTTPHeaders = ["Content-Type": "application/x-www-form-urlencoded", "Origin": origin]
        let answer = try await dashboard.post(["password": "correct horse battery"], headers: headers, path: "/login")
        expect(answer.status, is: .forbidden)
      }
    }
  }

  @Test("J156: below a path of a proxy that passes it on, all addresses and cookies are below the path")
  func prefix() async throws {
    var server = JobsDashboardServer.Options()
    server.prefix = "ops/jobs/"
    try await RunningDashboard.with(server: server, logsIn: false) { dashboard in
      let path = String(dashboard.login.trimmingPrefix(dashboard.origin))
      #expect(path.hasPrefix("/ops/jobs/login?token="))
      let answer = try await dashboard.get(path, headers: ["X-Forwarded-Proto": "https"])
      expect(answer.headers.first(name: "Location"), is: "./")
      let cookie = try #require(answer.headers.first(name: "Set-Cookie"))
      #expect(cookie.hasPrefix("__Secure-") && cookie.contains("; Path=/ops/jobs; Secure"))
      for prefix in ["/ops/jobs", ""] {
        let page = try await dashboard.get(prefix + "/job/1")
        expect(page.status, is: .notFound)
        #expect(page.text.contains("href=\"../queues\""))
        #expect(!page.text.contains("=\"/"))
        expect(try await dashboard.get(prefix + "/style.css").status, is: .ok)
        expect(try await dashboard.get(prefix + "/jobs").status, is: .ok)
      }
      expect(
        try await dashboard.get("/ops/jobs?done=pause").headers.first(name: "Location"), is: "/ops/jobs/?done=pause")
      expect(try await dashboard.get("/ops/jobsworth").status, is: .notFound)
    }
  }

  @Test("J156: the path of a proxy can be that of a page, whether the proxy passes it on or removes it")
  func prefixOfPage() async throws {
    var server = JobsDashboardServer.Options()
    server.prefix = "/jobs"
    try await RunningDashboard.with(server: server) { dashboard in
      // The proxy removes the path: this is the address /jobs/jobs of a browser.
      expect(try await dashboard.page("/jobs?state=failed").contains("There are no such jobs."), is: true)
      expect(try await dashboard.get("/job/7").status, is: .notFound)
    }
    try await RunningDashboard.with(server: server, logsIn: false) { dashboard in
      // The proxy keeps the path.
      _ = try await dashboard.get(String(dashboard.login.trimmingPrefix(dashboard.origin)))
      expect(try await dashboard.page("/jobs/jobs?state=failed").contains("There are no such jobs."), is: true)
      expect(try await dashboard.get("/jobs").headers.first(name: "Location"), is: "/jobs/")
      expect(try await dashboard.page("/jobs/").contains(">Overview</h1>"), is: true)
    }
  }

  @Test(
    "J156: the address of the first page is relative to the address of each page",
    arguments: [
      ("/", "", "."), ("/jobs", "", "."), ("/job/7", "", ".."), ("/jobs/", "", ".."), ("/admin", "/admin", "./admin"),
      ("/admin/", "/admin", "."), ("/admin/job/7", "/admin", ".."), ("/a/b", "/a/b", "./b"), ("//jobs", "", "."),
      ("//job/7", "", ".."),
    ])
  func relative(page: String, root: String, expected: String) {
    #expect(SitePath.wayBack(from: page, to: root) == expected)
  }

  @Test("J150: the response to HEAD is that to GET without its body")
  func head() async throws {
    try await RunningDashboard.with { dashboard in
      let page = try await dashboard.get("/style.css")
      let port = try #require(URL(string: dashboard.origin)?.port)
      // A client ignores the body until it reads the next response.
      let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .connect(host: "127.0.0.1", port: port) { channel in
          channel.eventLoop.makeCompletedFuture {
            try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
          }
        }
      let text = try await channel.executeThenClose { inbound, outbound in
        let request = "HEAD /style.css HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n"
        try await outbound.write(ByteBuffer(string: request))
        return try await inbound.reduce(into: "") { $0 += String(buffer: $1) }
      }
      #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(text.hasSuffix("\r\n\r\n"))
      #expect(text.contains("Content-Length: \(page.text.utf8.count)\r\n"))
    }
  }

  @Test("J152: a mounted dashboard shows and changes what its closure permits")
  func mounted() async throws {
    let jobs = Jobs(MemoryJobStore())
    let id = try await Scene(jobs).fail()
    let router = Router()
    router.get("/") { _, _ in "the application" }
    JobsDashboard(jobs).addRoutes(to: router, at: "/admin/jobs/") { request, _ in
      switch request.headers[HTTPField.Name("X-Person")!] {
      case "admin": .changes
      case "guest": .reading
      case "error": throw HTTPError(.unauthorized)
      default: .none
      }
    }
    try await MountedDashboard.with(router, jobs) { dashboard in
      expect(try await dashboard.get("/").text, is: "the application")
      for path in ["", "/jobs", "/job/\(id)", "/events"] {
        expect(try await dashboard.get("/admin/jobs\(path)").status, is: .forbidden)
        expect(try await dashboard.get("/admin/jobs\(path)", headers: ["X-Person": "error"]).status, is: .unauthorized)
      }
      let guest = try await dashboard.get("/admin/jobs/job/\(id)", headers: ["X-Person": "guest"])
      expect(guest.status, is: .ok)
      #expect(guest.text.contains("href=\"../style.css\"") && !guest.text.contains(">Retry</button>"))
      let cookie = try #require(guest.headers.first(name: "Set-Cookie"))
      #expect(cookie.hasSuffix("; HttpOnly; SameSite=Strict; Path=/"))
      let admin = try await dashboard.get("/admin/jobs/job/\(id)", headers: ["X-Person": "admin"])
      #expect(admin.text.contains("action=\"../change\""))
      let fields: KeyValuePairs = ["action": "retry", "id": "\(id)"]
      var headers: HTTPHeaders = [
        "Content-Type": "application/x-www-form-urlencoded", "Origin": dashboard.origin, "X-Person": "guest",
      ]
      expect(try await dashboard.post(fields, headers: headers, path: "/admin/jobs/change").status, is: .forbidden)
      headers.replaceOrAdd(name: "X-Person", value: "admin")
      let answer = try await dashboard.post(fields, headers: headers, path: "/admin/jobs/change")
      expect(answer.status, is: .seeOther)
      expect(answer.headers.first(name: "Location"), is: "./job/\(id)?done=retry")
      let state = try await jobs.job(id)?.state
      #expect(state == .waiting)
    }
  }
}

/// An application with a dashboard in its router.
enum MountedDashboard {
  static func with(
    _ router: Router<BasicRequestContext>, _ jobs: Jobs, _ body: (inout RunningDashboard) async throws -> Void
  ) async throws {
    let responder = router.buildResponder()
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let serving = Task.detached {
      defer { continuation.finish() }
      try await WebServer(host: "127.0.0.1", port: 0).run(responder) { continuation.yield($0) }
    }
    let first = await ports.first { _ in true }
    let port = try #require(first)
    var dashboard = RunningDashboard(jobs: jobs, origin: "http://127.0.0.1:\(port)", login: "")
    let result: Result<Void, any Error>
    do { result = .success(try await body(&dashboard)) } catch { result = .failure(error) }
    serving.cancel()
    _ = await serving.result
    try result.get()
  }
}
#endif
