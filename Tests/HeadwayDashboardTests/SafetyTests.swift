#if Dashboard
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayTestSupport
import NIOHTTP1
import Testing

@testable import HeadwayDashboard

@Suite("Safety of the dashboard", .hangLimit) struct SafetyTests {
  private let form = "application/x-www-form-urlencoded"

  @Test("J153: only requests with a local host name and the correct port are answered")
  func host() async throws {
    try await RunningDashboard.with { dashboard in
      let port = dashboard.origin.split(separator: ":").last ?? ""
      for name in ["localhost:\(port)", "127.0.0.1:\(port)", "[::1]:\(port)"] {
        expect(try await dashboard.get("/", headers: ["Host": name]).status, is: .ok)
      }
      for name in ["example.org", "example.org:\(port)", "127.0.0.1", "localhost:1", "127.0.0.1.example.org:\(port)"] {
        expect(try await dashboard.get("/", headers: ["Host": name]).status, is: .misdirectedRequest)
      }
    }
  }

  @Test("J153: a server for other machines answers under its names and addresses, and no others")
  func hostNames() async throws {
    var server = JobsDashboardServer.Options()
    (server.listen, server.password, server.hosts) = ("0.0.0.0", "correct horse battery", ["jobs.example.org"])
    try await RunningDashboard.with(server: server) { dashboard in
      for name in ["jobs.example.org", "jobs.example.org:443", "192.168.1.7:8090", "[fe80::1]:8090"] {
        expect(try await dashboard.get("/", headers: ["Host": name]).status, is: .ok)
      }
      for name in ["example.org", "jobs.example.org.evil.com", "evil.com:80", "1.2.3.4.evil.com"] {
        expect(try await dashboard.get("/", headers: ["Host": name]).status, is: .misdirectedRequest)
      }
    }
  }

  @Test("J153: browsers send host names in lowercase, however the options contain them")
  func hostNamesInLowercase() {
    let names = HostNames(listen: "DB1.Example.org", others: ["Jobs.example.org"])
    for name in ["jobs.example.org", "Jobs.example.org:443", "db1.example.org:8090"] {
      #expect(names.contain(name, port: 8_090))
    }
    #expect(!names.contain("example.org", port: 8_090))
  }

  @Test("J153: a change requires POST, the origin of the page, and its token")
  func changes() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      let id = try await scene.fail()
      let fields: KeyValuePairs = ["action": "retry", "id": "\(id)"]
      for origin in ["http://example.org", "null", dashboard.origin + "1", "http://127.0.0.1"] {
        let headers: HTTPHeaders = ["Content-Type": form, "Origin": origin]
        expect(try await dashboard.post(fields, headers: headers).status, is: .forbidden)
      }
      expect(try await dashboard.post(fields, headers: ["Content-Type": form]).status, is: .forbidden)
      for token in ["", "wrong", String(dashboard.token.dropLast()), dashboard.token + "a"] {
        expect(try await dashboard.post(fields, token: token).status, is: .forbidden)
      }
      let text: HTTPHeaders = ["Content-Type": "text/plain", "Origin": dashboard.origin]
      expect(try await dashboard.post(fields, headers: text).status, is: .unsupportedMediaType)
      let query = "?token=\(dashboard.token)&action=retry&id=\(id)"
      expect(try await dashboard.get("/change\(query)").status, is: .notFound)
      expect(try await dashboard.post(fields, path: "/jobs").status, is: .notFound)
      for method in [HTTPMethod.PUT, .DELETE, .PATCH] {
        let status = try await dashboard.send(method, "/change\(query)").status
        #expect(status == .notFound || status == .methodNotAllowed)
      }
      // A token that another site has put into the form and the cookie does not pass the check of the origin.
      var other = dashboard
      other.cookies["headway-dashboard-token"] = "short"
      expect(try await other.post(fields, token: "short").status, is: .forbidden)
      expect(try await scene.state(id), is: .failed)
      expect(try await dashboard.post(fields).status, is: .seeOther)
      expect(try await scene.state(id), is: .waiting)
    }
  }

  @Test("J153: pages of other sites can link to the dashboard, but can't use anything of it")
  func otherSites() async throws {
    try await RunningDashboard.with { dashboard in
      for site in ["cross-site", "same-site"] {
        for path in ["/", "/jobs", "/events", "/style.css"] {
          let headers: HTTPHeaders = ["Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"]
          expect(try await dashboard.get(path, headers: headers).status, is: .forbidden)
        }
        let link: HTTPHeaders = ["Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"]
        expect(try await dashboard.get("/", headers: link).status, is: .ok)
      }
    }
  }

  @Test(
    "J153: the content policy of each response allows no foreign and no inline script or style",
    arguments: PageTests.paths + ["/style.css", "/nothing", "/login", "/job/1"])
  func policy(path: String) async throws {
    try await RunningDashboard.with { dashboard in
      try await Scene(dashboard.jobs).fail()
      let answer = try await dashboard.get(path)
      let policy = try #require(answer.headers.first(name: "Content-Security-Policy"))
      #expect(policy.hasPrefix("default-src 'none'; "))
      #expect(policy.contains("style-src 'self'"))
      #expect(policy.contains("frame-ancestors 'none'") && policy.contains("base-uri 'none'"))
      #expect(!policy.contains("unsafe") && !policy.contains("data:") && !policy.contains("http"))
      #expect(answer.headers.first(name: "X-Content-Type-Options") == "nosniff")
      // With `no-referrer`, a browser would send the forms of the pages without their origin.
      #expect(answer.headers.first(name: "Referrer-Policy") == "same-origin")
      let inline = /<style|\sstyle=|\son[a-z]+=|<script(?! type="module" src="\.{1,2}\/(live|lists|keys|zone)\.js">)/
      #expect(answer.text.firstMatch(of: inline) == nil)
    }
  }

  static let attacks = [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='alert(1)", "javascript:alert(1)",
    "</title></pre></textarea><svg/onload=alert(1)>", "{{{token}}}{{#jobs}}", "&lt;script&gt;", "\u{0}<b>\u{202E}",
    // Mustache's own function does not escape the quotation mark and the bracket here.
    "\"\u{301} autofocus onfocus=alert(1) x=\"\u{301}", "<\u{338}script>", "a\r\nSet-Cookie: b=c",
  ]

  @Test("J153: text from jobs, queues, schedules, workers, and errors is shown as text", arguments: attacks)
  func escaping(attack: String) async throws {
    try await RunningDashboard.with { dashboard in
      let kind = JobKind(rawValue: attack)
      let worker = try await dashboard.jobs.backend.register(
        WorkerDescription(name: attack, processIdentifier: 1, queues: [attack], kinds: [kind: 2]))
      let scheduled: JobOptions = [.queue(attack), .label(attack), .tags([attack])]
      func enqueue() async throws -> JobID {
        let payload = try JobPayload(encoding: [attack: attack])
        return try await dashboard.jobs.backend.enqueue([NewJob(kind: kind, payload: payload, options: scheduled)])[0]
          .id
      }
      let id = try await enqueue()
      let claim = JobClaim(queue: attack, count: 1, allowsSuspect: true, kinds: [kind: 2])
      let job = try await dashboard.jobs.backend.exchange(JobExchange(worker: worker, claims: [claim])).claimed[0][0]
      let fence = try #require(job.fence)
      _ = try await dashboard.jobs.backend.write([
        FencedWrite(fence, .log(attack)), FencedWrite(fence, .progress(JobProgress(fraction: 0.5, text: attack))),
      ])
      let (workers, running) = (try await dashboard.page("/workers"), try await dashboard.page("/job/\(id)"))
      let error = JobErrorDescription(type: attack, text: attack)
      let ending = JobEnding(fence, .fail(JobEndReason(.failed, attack), error))
      _ = try await dashboard.jobs.backend.exchange(JobExchange(worker: worker, endings: [ending]))
      let waiting = try await enqueue()
      try await dashboard.jobs.schedule(attack, .every(.seconds(60)), job: Report(), .options(scheduled))
      try await dashboard.jobs.pauseQueue(attack)
      let query = RunningDashboard.encoded(attack)
      let fields = ["kind", "queue", "tag", "label"].map { "\($0)=\(query)" }.joined(separator: "&")
      var pages = [workers, running, try await dashboard.page("/job/\(waiting)")]
      for path in PageTests.paths + ["/job/\(id)", "/jobs?\(fields)", "/confirm?action=retry&\(fields)"] {
        pages.append(try await dashboard.page(path))
      }
      for path in ["/jobs?state=\(query)", "/jobs?age=\(query)", "/\(query)", "/job/\(query)"] {
        let answer = try await dashboard.get(path)
        #expect(answer.status.code >= 400)
        #expect(answer.headers["Set-Cookie"].isEmpty)
        pages.append(answer.text)
      }
      let plain = try await dashboard.page("/?done=\(query)&count=\(query)")
      #expect(!plain.contains("class=\"notice\""))
      for page in pages {
        for scalar in "<>\"'" {
          // The remaining ones belong to the templates, where no mark follows them.
          #expect(!page.unicodeScalars.containsPair(scalar, followedBy: "\u{301}"))
          #expect(!page.unicodeScalars.containsPair(scalar, followedBy: "\u{338}"))
        }
        for text in ["<script>", "<img", "<svg/", "onerror=alert(1)>", "='alert", "<b>", "href=\"javascript:"] {
          #expect(!page.contains(text), "\(text)")
        }
        // The text between quotation marks is the value of an attribute.
        let tags = page.replacing(/"[^"]*"/, with: "")
        let hasHandler = tags.contains(/<[^>]*\s(onfocus|onmouseover|onload|onerror|autofocus)/)
        #expect(!hasHandler)
        #expect(page.hasSuffix("</html>\n"))
      }
      // The filter finds the job by its strange names.
      #expect(attack.contains("\u{0}") || pages[pages.count - 6].contains("/job/\(id)"))
    }
  }

  @Test("J153: a link can't make the page of a change say anything but its own sentences")
  func notices() async throws {
    try await RunningDashboard.with { dashboard in
      expect(try await dashboard.page("/queues?done=pause").contains("The queue is paused."), is: true)
      for query in ["done=Call+me", "done=", "count=5", "change=1", "change=many&done=pause"] {
        expect(try await dashboard.page("/queues?\(query)").contains("notice"), is: false)
      }
    }
  }
}

extension String.UnicodeScalarView {
  fileprivate func containsPair(_ first: Character, followedBy second: Unicode.Scalar) -> Bool {
    zip(self, dropFirst()).contains { Character($0.0) == first && $0.1 == second }
  }
}
#endif
