#if Dashboard
import AsyncHTTPClient
import Foundation
import HTTPTypes
import HeadwayDashboard
import HeadwayJobs
import HeadwayTestSupport
import HeadwayWeb
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@Suite("Access to the dashboard", .hangLimit) struct AccessTests {
  @Test(
    "J152: other addresses than those of this machine require a password",
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

  @Test("J152: with a password, people log in by it, and after many wrong ones no person can for a while")
  func password() async throws {
    var server = JobsDashboardServer.Options()
    server.password = "correct horse battery"
    try await RunningDashboard.with(server: server, logsIn: false) { dashboard in
      expect(try await dashboard.get("/").text.contains("type=\"password\""), is: true)
      let foreign: HTTPHeaders = [
        "Content-Type": "application/x-www-form-urlencoded", "Origin": "http://example.org",
      ]
      let password = "correct horse battery"
      expect(
        try await dashboard.post(["password": password], headers: foreign, path: "/login").status, is: .forbidden)
      let answer = try await dashboard.post(["password": password], path: "/login")
      expect(answer.status, is: .seeOther)
      expect(try await dashboard.get("/").status, is: .ok)
      var other = dashboard
      other.cookies = [:]
      for _ in 0..<10 {
        expect(try await other.post(["password": "wrong"], path: "/login").status, is: .forbidden)
      }
      expect(try await other.post(["password": password], path: "/login").status, is: .tooManyRequests)
      expect(try await dashboard.get("/").status, is: .ok)
    }
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
      #expect(guest.text.contains("href=\"/admin/jobs/style.css\"") && !guest.text.contains(">Retry</button>"))
      let cookie = try #require(guest.headers.first(name: "Set-Cookie"))
      #expect(cookie.hasSuffix("; HttpOnly; SameSite=Strict; Path=/admin/jobs"))
      let admin = try await dashboard.get("/admin/jobs/job/\(id)", headers: ["X-Person": "admin"])
      #expect(admin.text.contains("action=\"/admin/jobs/change\""))
      let fields: KeyValuePairs = ["action": "retry", "id": "\(id)"]
      var headers: HTTPHeaders = [
        "Content-Type": "application/x-www-form-urlencoded", "Origin": dashboard.origin, "X-Person": "guest",
      ]
      expect(try await dashboard.post(fields, headers: headers, path: "/admin/jobs/change").status, is: .forbidden)
      headers.replaceOrAdd(name: "X-Person", value: "admin")
      let answer = try await dashboard.post(fields, headers: headers, path: "/admin/jobs/change")
      expect(answer.status, is: .seeOther)
      expect(answer.headers.first(name: "Location"), is: "/admin/jobs/job/\(id)?done=retry")
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
