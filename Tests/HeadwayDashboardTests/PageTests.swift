#if Dashboard
import AsyncHTTPClient
import Headway
import HeadwayDashboard
@_spi(JobStore) import HeadwayJobs
import HeadwayTestSupport
import NIOCore
import NIOHTTP1
import Testing

@Suite("The pages of the dashboard", .hangLimit) struct PageTests {
  static let paths = ["/", "/queues", "/jobs", "/errors", "/trends", "/schedules", "/workers", "/changes", "/health"]

  @Test("J150: each page of an empty store is complete and links to the other pages", arguments: paths)
  func empty(path: String) async throws {
    let check: (inout RunningDashboard) async throws -> Void = { dashboard in
      let page = try await dashboard.page(path)
      #expect(page.hasPrefix("<!doctype html>"))
      #expect(page.hasSuffix("</html>\n"))
      for other in Self.paths { #expect(page.contains("href=\".\(other)\"")) }
      #expect(page.contains("aria-current=\"page\""))
      #expect(!page.contains("{{"))
    }
    try await RunningDashboard.with(Jobs(MemoryJobStore())) { try await check(&$0) }
    try await RunningDashboard.with { try await check(&$0) }
  }

  @Test("J150: the overview shows the numbers, rates, and waiting times, the queues, and the running jobs")
  func overview() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      for _ in 0..<3 { try await scene.enqueue(options: [.queue("bulk")]) }
      let id = try await scene.enqueue("resize")
      _ = try await scene.claim()
      let failed = try await scene.fail()
      let page = try await dashboard.page("/")
      #expect(page.contains("<a href=\"./jobs?queue=bulk\">bulk</a>"))
      #expect(page.contains("<a class=\"plain\" href=\"./jobs?state=waiting&amp;queue=bulk\">3</a>"))
      #expect(page.contains("no worker"))
      #expect(page.contains("<a href=\"./job/\(id)\">\(id)</a>"))
      #expect(page.contains("<a href=\"./job/\(failed)\">\(failed)</a>"))
      #expect(page.contains("<strong>1</strong><span class=\"note\">100% failed</span>"))
      #expect(page.contains("<rect "))
    }
  }

  @Test("J150: jobs are filtered by state, kind, queue, tag, label, and time, and listed in pages by their numbers")
  func list() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      var ids: [JobID] = []
      for index in 0..<60 {
        let isOdd = !index.isMultiple(of: 2)
        var options: JobOptions = isOdd ? [.queue("images"), .tags(["a b"])] : []
        options.set(.label("Job & <\(index)>"))
        ids.append(try await scene.enqueue(isOdd ? "resize" : "mail", options: options))
      }
      let first = try await dashboard.page("/jobs")
      #expect(Self.listed(first) == ids.reversed().prefix(50).map(\.description))
      #expect(first.contains("/jobs?before=\(ids[10])\" rel=\"next\""))
      let second = try await dashboard.page("/jobs?before=\(ids[10])")
      #expect(Self.listed(second) == ids[..<10].reversed().map(\.description))
      #expect(!second.contains("rel=\"next\""))
      #expect(second.contains(">Newest</a>"))
      let odd = ids.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element.description)
      for query in ["queue=images", "kind=resize", "tag=a+b", "tag=a%20b&state=waiting&age=1h"] {
        expect(Self.listed(try await dashboard.page("/jobs?\(query)")), is: odd.reversed())
      }
      let label = try await dashboard.page("/jobs?label=%3C7%3E&state=&kind=")
      #expect(Self.listed(label) == [ids[7].description])
      #expect(label.contains("<input name=\"label\" value=\"&lt;7&gt;\">"))
      expect(Self.listed(try await dashboard.page("/jobs?state=failed")).isEmpty, is: true)
      expect(try await dashboard.get("/jobs?state=broken").status, is: .badRequest)
      expect(try await dashboard.get("/jobs?age=forever").status, is: .badRequest)
    }
  }

  private static func listed(_ page: String) -> [String] {
    page.matches(of: /<tr data-key="\d+">.*\n<td><a href="\.\/job\/(\d+)">/).map { String($0.1) }
  }

  @Test("J150: the page of a job has its payload without secrets, errors, log, graph, and diagnosis")
  func job() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      let parent = try await scene.enqueue("resize", options: [.label("parent")])
      let payload = #"{"address":"a@b.c","login":{"Password":"hunter2","user":"me"},"number":12345678901234567890.5}"#
      let id = try await scene.enqueue(
        "mail", payload, options: [.label("the mail"), .tags(["t1"]), .after(JobDependency(.job(parent)))])
      let held = try await dashboard.page("/job/\(id)")
      #expect(held.contains("waits for job \(parent)."))
      #expect(held.contains("<svg class=\"graph\""))
      try await scene.end(scene.claim(), .succeed(result: nil))
      let job = try await scene.claim()
      let fence = try #require(job.fence)
      _ = try await dashboard.jobs.backend.write([FencedWrite(fence, .log("hello from the log"))])
      try await scene.end(job, .fail(JobEndReason(.failed), JobErrorDescription(type: "MailError", text: "no route")))
      let page = try await dashboard.page("/job/\(id)")
      #expect(page.contains("&quot;Password&quot;: •••"))
      #expect(!page.contains("hunter2"))
      #expect(page.contains("&quot;number&quot;: 12345678901234567890.5"))
      #expect(page.contains("<strong>MailError</strong> in attempt 1"))
      #expect(page.contains("hello from the log"))
      #expect(page.contains("Job \(id) (the mail) has failed at"))
      #expect(page.contains("href=\"../job/\(parent)\""))
      #expect(page.contains(">Retry</button>"))
      for path in ["/job/99999", "/job/x", "/job", "/nothing", "/job/1/2"] {
        expect(try await dashboard.get(path).status, is: .notFound)
      }
    }
  }

  @Test("J150: the pages show schedules, workers and their jobs, and problems")
  func others() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      let cron = try JobSchedule.cron("0 3 * * *")
      try await dashboard.jobs.schedule("nightly", cron, job: Report())
      let id = try await scene.enqueue("resize")
      _ = try await scene.claim()
      try await scene.enqueue("unknown")
      try await dashboard.jobs.pauseQueue("mail")
      let schedules = try await dashboard.page("/schedules")
      #expect(schedules.contains("<strong>nightly</strong>"))
      #expect(schedules.contains("0 3 * * *"))
      let workers = try await dashboard.page("/workers")
      #expect(workers.contains("<h2>scene</h2>"))
      #expect(workers.contains("<a href=\"./job/\(id)\">\(id)</a>"))
      let health = try await dashboard.page("/health")
      #expect(health.contains("No running worker supports “unknown”, version 1"))
      #expect(health.contains("The queue “mail” is paused."))
      #expect(health.contains("SQLiteJobStore"))
    }
  }

  @Test("J155: an open page receives an event when a job changes, even through a proxy that buffers")
  func live() async throws {
    try await RunningDashboard.with { dashboard in
      let response = try await dashboard.events()
      expect(response.status, is: .ok)
      #expect(response.headers.first(name: "Content-Type")?.hasPrefix("text/event-stream") == true)
      var (body, text) = (response.body.makeAsyncIterator(), "")
      func read(until end: String) async throws {
        while !text.contains(end), let part = try await body.next(isolation: #isolation) {
          text += String(buffer: part)
        }
        #expect(text.contains(end))
      }
      try await read(until: "retry: 2000\n\n")
      try await Scene(dashboard.jobs).enqueue()
      try await read(until: "event: change\n")
      #expect(response.headers.first(name: "X-Accel-Buffering") == "no")
    }
  }

  @Test(
    "J368: if there are many queues, the overview lists the worst queues, and the page of queues lists and finds all")
  func manyQueues() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      let queues = (100..<200).map { "queue-\($0)" }
      for queue in queues { try await scene.enqueue(options: [.queue(queue)]) }
      _ = try await dashboard.jobs.backend.register(
        WorkerDescription(name: "all", processIdentifier: 8, queues: queues, kinds: ["mail": 1]))
      try await dashboard.jobs.pauseQueue("other")
      let overview = try await dashboard.page("/")
      #expect(overview.matches(of: /<td><a href="\.\/jobs\?queue=/).count == 30)
      #expect(overview.contains(">other</a>"))
      #expect(overview.contains(">All 101 queues</a>"))
      var (path, names) = ("/queues", [String]())
      while true {
        let page = try await dashboard.page(path)
        names += page.matches(of: /<h2><a href="[^"]+">([^<]+)<\/a><\/h2>/).map { String($0.1) }
        guard let next = page.firstMatch(of: /href="([^"]+)" rel="next">More queues/) else { break }
        path = String(next.1).replacing("&amp;", with: "&")
      }
      #expect(names == ["other"] + queues)
      let found = try await dashboard.page("/queues?name=e-15")
      #expect(found.matches(of: /<h2><a href/).count == 10)
      #expect(found.contains("10 queues"))
      let paused = try await dashboard.change(["action": "pause", "queue": "queue-199"])
      #expect(paused.contains("id=\"queue-queue-199\""))
    }
  }

  @Test("J373: each page has at most 200 kB, even with many queues, schedules, and workers with long lists")
  func size() async throws {
    try await RunningDashboard.with(Jobs(MemoryJobStore())) { dashboard in
      func name(_ number: Int) -> String { "queue-of-a-customer-with-a-long-name-\(1_000 + number)" }
      let jobs = (0..<1_500).map { number in
        NewJob(kind: "mail", payload: JobPayload(bytes: [1]), options: [.queue(name(number)), .label(name(number))])
      }
      _ = try await dashboard.jobs.backend.enqueue(jobs)
      let kinds = Dictionary(uniqueKeysWithValues: (0..<300).map { (JobKind(rawValue: name($0)), 1) })
      for number in 0..<50 {
        _ = try await dashboard.jobs.backend.register(
          WorkerDescription(
            name: "worker", processIdentifier: Int32(number), queues: (0..<1_500).map(name), kinds: kinds))
      }
      for number in 0..<200 {
        try await dashboard.jobs.schedule(name(number), .every(.seconds(3_600)), job: Report())
      }
      for path in Self.paths {
        let page = try await dashboard.page(path)
        #expect(page.utf8.count < 200_000, "\(path)")
      }
    }
  }

  @Test("J373: the pages of workers and of schedules list a part, and link to the other parts")
  func parts() async throws {
    try await RunningDashboard.with(Jobs(MemoryJobStore())) { dashboard in
      var ids: [String] = []
      for _ in 0..<45 {
        let worker = WorkerDescription(
          name: "worker", processIdentifier: 1, queues: (10..<32).map { "queue-\($0)" }, kinds: ["mail": 1])
        ids.append("\(try await dashboard.jobs.backend.register(worker))")
      }
      let names = (100..<190).map { "schedule-\($0)" }
      for name in names { try await dashboard.jobs.schedule(name, .every(.seconds(3_600)), job: Report()) }
      for (start, subject, expected, count) in [
        ("/workers", "worker", ids, 20), ("/schedules", "schedule", names, 80),
      ] {
        var (path, found) = (start, [String]())
        while true {
          let page = try await dashboard.page(path)
          let anchors = page.matches(of: /id="(worker|schedule)-([^"]+)"/).map { String($0.2) }
          #expect(anchors.count <= count)
          found += anchors
          #expect(page.contains(">First</a>") == (path != start))
          guard let next = page.firstMatch(of: /href="([^"]+)" rel="next">/) else { break }
          path = "/" + String(next.1).trimmingPrefix("./").replacing("&amp;", with: "&")
        }
        #expect(found == expected, "\(subject)")
      }
      let workers = try await dashboard.page("/workers?from=\(ids[21])")
      #expect(workers.contains("id=\"worker-\(ids[21])\"") && workers.contains("and 2 more"))
    }
  }

  @Test("J150: a HEAD request has the headers of the page, and no body")
  func head() async throws {
    try await RunningDashboard.with { dashboard in
      let answer = try await dashboard.send(.HEAD, "/jobs")
      expect(answer.status, is: .ok)
      #expect(answer.text.isEmpty)
    }
  }
}
#endif
