#if Dashboard
import HTTPTypes
import Headway
import HeadwayJobs
import HeadwayTestSupport
import Hummingbird
import NIOHTTP1
import Testing

@testable import HeadwayDashboard

@Suite("The page with the changes of people", .hangLimit) struct ChangePageTests {
  @Test("J344: the page lists changes with their authors, values and jobs, newest first")
  func list() async throws {
    try await RunningDashboard.with { dashboard in
      expect(try await dashboard.page("/changes").contains("No person has changed anything."), is: true)
      let scene = try await Scene(dashboard.jobs)
      var ids: [JobID] = []
      for _ in 0..<12 { ids.append(try await scene.enqueue()) }
      let anna = dashboard.jobs.changing(as: "<anna>")
      try await anna.change(JobFilter(kinds: ["mail"]), .priority(.high))
      try await anna.cancel(ids[0])
      let page = try await dashboard.page("/changes")
      #expect(page.contains("<strong>&lt;anna&gt;</strong>") && !page.contains("<anna>"))
      let cancelled = try #require(page.firstRange(of: "Cancelled job \(ids[0])."))
      let changed = try #require(page.firstRange(of: "Changed 12 jobs: kind mail."))
      #expect(cancelled.lowerBound < changed.lowerBound)
      #expect(page.contains("priority: <del>normal</del> → <ins>high</ins>"))
      #expect(page.contains("state: <del>waiting</del> → <ins>cancelled</ins>"))
      #expect(page.contains("<a href=\"./job/\(ids[7])\">\(ids[7])</a>") && page.contains("of 12 jobs"))
      #expect(page.contains("Changes are kept for 90 d."))
      let job = try await dashboard.page("/job/\(ids[0])")
      #expect(job.contains("<a href=\"../changes?job=\(ids[0])\">&lt;anna&gt; cancelled job \(ids[0])</a>"))
      let unchanged = try await dashboard.page("/job/\(ids[1])")
      #expect(!unchanged.contains("last-change"))
      let ofJob = try await dashboard.page("/changes?job=\(ids[0])")
      #expect(ofJob.contains("Cancelled job") && !ofJob.contains("Changed 12 jobs"))
      let other = try await dashboard.page("/changes?job=\(ids[1])")
      #expect(other.contains("No person has changed this job alone."))
    }
  }

  @Test("J344: a page has 50 changes and links to older changes") func pages() async throws {
    try await RunningDashboard.with { dashboard in
      let anna = dashboard.jobs.changing(as: "anna")
      for number in 1...51 { try await anna.changeQueue("mail", .maxRunningJobCount(number)) }
      let page = try await dashboard.page("/changes")
      #expect(page.contains("<ins>51</ins>") && page.contains("<ins>2</ins>") && !page.contains("<ins>1</ins>"))
      #expect(page.contains("href=\"./changes?before=2\" rel=\"next\""))
      let older = try await dashboard.page("/changes?before=2")
      #expect(older.contains("<ins>1</ins>") && !older.contains("rel=\"next\"") && older.contains(">Newest</a>"))
    }
  }

  @Test("J344: hidden values in payloads are also hidden in the list of changes") func redacted() async throws {
    try await RunningDashboard.with { dashboard in
      let id = try await Scene(dashboard.jobs).enqueue("mail", #"{"password":"old secret","to":"a"}"#)
      let payload = JobPayload(bytes: Array(#"{"password":"new secret","to":"b"}"#.utf8))
      try await dashboard.jobs.changing(as: "anna").change(id, .payload(payload, version: 1))
      let page = try await dashboard.page("/changes")
      #expect(!page.contains("secret") && page.contains("•••"))
      #expect(page.contains("&quot;to&quot;: &quot;a&quot;") && page.contains("&quot;to&quot;: &quot;b&quot;"))
    }
  }

  @Test("J344: all forms of the dashboard record the person who is logged in") func forms() async throws {
    var server = JobsDashboardServer.Options()
    server.owner = "anna"
    try await RunningDashboard.with(server: server) { dashboard in
      let scene = try await Scene(dashboard.jobs)
      let id = try await scene.fail()
      _ = try await dashboard.change(["action": "retry", "id": "\(id)"])
      let until = (dashboard.jobs.store.now + .seconds(60)).microseconds
      _ = try await dashboard.change(["action": "cancel", "kind": "mail", "until": "\(until)"])
      _ = try await dashboard.change(["action": "settings", "queue": "mail", "limit": "3"])
      let changes = try await dashboard.jobs.changes()
      #expect(changes.map(\.action) == [.configureQueue, .cancel, .retry])
      #expect(Set(changes.map(\.author)) == ["anna"])
      #expect(changes[1].subject != .jobs(.all) && changes[1].ids == [id])
    }
  }

  @Test("J348: a mounted dashboard records and shows the name that its closure returns") func mounted() async throws {
    let jobs = Jobs(MemoryJobStore())
    let router = Router()
    JobsDashboard(jobs).addRoutes(to: router, at: "/jobs") { request, _ in
      switch request.headers[HTTPField.Name("X-Person")!] {
      case "anna": .changes(as: "anna")
      case "bob": .reading(as: "bob")
      case "nameless": .changes
      default: .none
      }
    }
    try await MountedDashboard.with(router, jobs) { dashboard in
      for person in ["anna", "nameless", "bob"] {
        let page = try await dashboard.get("/jobs/queues", headers: ["X-Person": person])
        #expect(page.text.contains(">\(person)</span>") == (person != "nameless") && !page.text.contains("Log out"))
        let headers: HTTPHeaders = [
          "Content-Type": "application/x-www-form-urlencoded", "Origin": dashboard.origin, "X-Person": person,
        ]
        let fields: KeyValuePairs = ["action": "pause", "queue": person]
        let status = try await dashboard.post(fields, headers: headers, path: "/jobs/change").status
        #expect(status == (person == "bob" ? .forbidden : .seeOther))
      }
      let changes = try await jobs.changes()
      #expect(changes.map(\.author) == [JobsDashboard.Access.unnamed, "anna"])
      #expect(changes.map(\.subject) == [.queue("nameless"), .queue("anna")])
    }
  }
}
#endif
