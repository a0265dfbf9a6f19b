#if Dashboard
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayTestSupport
import Testing

@testable import HeadwayDashboard

@Suite("Current problems in the dashboard", .hangLimit) struct HealthTests {
  /// Reads the page of the health until it has a text: its report can be a second old.
  ///
  /// The other pages then show a report that is at least as new.
  private func readHealth(_ dashboard: inout RunningDashboard, until text: String) async throws -> String {
    while true {
      let page = try await dashboard.page("/health")
      if page.contains(text) { return page }
    }
  }

  @Test(
    "J355: each page begins with at most three problems, worst first, with links to them and to the remaining problems")
  func problems() async throws {
    try await RunningDashboard.with(Jobs(MemoryJobStore())) { dashboard in
      let scene = try await Scene(dashboard.jobs)
      for queue in ["a b", "c", "d"] { try await scene.enqueue(options: [.queue(queue)]) }
      try await dashboard.jobs.pauseQueue("default")
      let health = try await readHealth(&dashboard, until: "The queue “default” is paused.")
      #expect(health.contains("<span class=\"level warning\">warning</span> <strong>Pauses</strong>"))
      #expect(health.contains("href=\"./queues?from=default#queue-default\">Show the queue</a>"))
      #expect(health.contains("<span class=\"level good\">good</span> <strong>Clock</strong>"))
      #expect(!health.contains("id=\"health\""))
      for path in PageTests.paths where path != "/health" {
        let page = try await dashboard.page(path)
        #expect(page.contains("<div id=\"health\" role=\"region\" aria-label=\"What is wrong now\">"))
        #expect(page.matches(of: /<li data-key="Queues-/).count == 3, "\(path)")
        #expect(page.contains("href=\"./jobs?state=waiting&amp;queue=a%20b\">Show these jobs</a>"))
        #expect(page.contains("<a href=\"./health\">and 1 more</a>"), "\(path)")
        #expect(!page.contains("The queue “default” is paused."))
      }
      expect(try await dashboard.page("/queues").contains("id=\"queue-default\""), is: true)
    }
  }

  @Test("J355: without a problem, each page has a short sign, and a change by the dashboard appears immediately")
  func calm() async throws {
    try await RunningDashboard.with(Jobs(MemoryJobStore())) { dashboard in
      _ = try await Scene(dashboard.jobs)
      _ = try await readHealth(&dashboard, until: "1 worker running.")
      let page = try await dashboard.page("/jobs")
      #expect(page.contains("<a class=\"plain\" href=\"./health\">No check has found a problem.</a>"))
      #expect(!page.contains("class=\"findings now\""))
      _ = try await dashboard.post(["action": "pause", "queue": "default"])
      expect(try await dashboard.page("/jobs").contains("The queue “default” is paused."), is: true)
    }
  }

  @Test("J355: pages that are read at the same time share one report") func sharing() async throws {
    let watch = HealthWatch(Jobs(MemoryJobStore()), JobsHealth.Options())
    let times = await withTaskGroup { group in
      for _ in 0..<20 { group.addTask { await watch.report().time } }
      return await group.reduce(into: Set<ContinuousClock.Instant>()) { $0.insert($1) }
    }
    // The reports are those of one check, unless a page was read later than the maximum age.
    let first = try #require(times.min())
    #expect(times.allSatisfy { $0 == first || $0 - first >= HealthWatch.freshAge })
  }

  @Test("J372: the checks use what a page has read, unless the dashboard has changed something since")
  func reading() async throws {
    let jobs = Jobs(MemoryJobStore())
    let watch = HealthWatch(jobs, JobsHealth.Options())
    func pauses(_ reading: HealthWatch.Reading?) async throws -> JobsHealth.Level? {
      try await watch.report(using: reading).health.get().findings.first { $0.name == "Pauses" }?.level
    }
    let early = try await watch.read()
    try await jobs.perform(.setPaused(queue: "mail", true))
    #expect(try await pauses(early) == .good)
    watch.forget()
    #expect(try await pauses(early) == .warning)
  }
}
#endif
