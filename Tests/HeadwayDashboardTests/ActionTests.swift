#if Dashboard
import Headway
import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestSupport
import NIOHTTP1
import Testing

@testable import HeadwayDashboard

@Suite("The changes of the dashboard", .hangLimit) struct ActionTests {
  @Test("J151: a job is retried, cancelled and abandoned by the buttons of its page")
  func job() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      let failed = try await scene.fail()
      let retried = try await dashboard.change(["action": "retry", "id": "\(failed)"])
      #expect(retried.contains("The job runs again."))
      expect(try await scene.state(failed), is: .waiting)
      let cancelled = try await dashboard.change(["action": "cancel", "id": "\(failed)"])
      #expect(cancelled.contains("The job is cancelled."))
      expect(try await scene.state(failed), is: .cancelled)
      let again = try await dashboard.change(["action": "cancel", "id": "\(failed)"])
      #expect(again.contains("nothing was done"))
      let running = try await scene.enqueue()
      _ = try await scene.claim()
      let page = try await dashboard.page("/job/\(running)")
      #expect(page.contains("/confirm?action=abandon&amp;id=\(running)"))
      let confirmation = try await dashboard.page("/confirm?action=abandon&id=\(running)")
      #expect(confirmation.contains("Abandon 1 job?"))
      _ = try await dashboard.change(["action": "abandon", "id": "\(running)"])
      expect(try await scene.state(running), is: .cancelled)
    }
  }

  @Test("J151: a job is retried with the dependents that were cancelled because of it")
  func dependents() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      let first = try await scene.enqueue()
      let second = try await scene.enqueue(
        options: [.after(JobDependency(.job(first), requiring: .success))])
      try await scene.end(scene.claim(), .fail(JobEndReason(.failed), nil))
      expect(try await scene.state(second), is: .cancelled)
      let page = try await dashboard.page("/job/\(first)")
      #expect(page.contains("Retry with dependents"))
      _ = try await dashboard.change(["action": "retry", "id": "\(first)", "dependents": "1"])
      expect(try await scene.state(second), is: .held)
    }
  }

  @Test("J151: a command for a filter changes the jobs that were counted, but no jobs that were added later")
  func bulk() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      var ids: [JobID] = []
      for index in 0..<5 {
        ids.append(try await scene.enqueue(options: index < 3 ? [.tags(["old"])] : []))
      }
      let list = try await dashboard.page("/jobs?tag=old")
      #expect(list.contains("/confirm?action=cancel&amp;tag=old"))
      let page = try await dashboard.page("/confirm?action=cancel&tag=old")
      #expect(page.contains("Cancel 3 jobs?"))
      let until = try #require(page.firstMatch(of: /name="until" value="(\d+)"/)).1
      // The clock has microseconds, so this is later.
      while dashboard.jobs.store.now.microseconds <= Int64(until) ?? 0 { await Task.yield() }
      let new = try await scene.enqueue(options: [.tags(["old"])])
      let result = try await dashboard.change(["action": "cancel", "tag": "old", "until": String(until)])
      #expect(result.contains("Cancelled: 3 jobs."))
      for (index, id) in ids.enumerated() { expect(try await scene.state(id), is: index < 3 ? .cancelled : .waiting) }
      expect(try await scene.state(new), is: .waiting)
      // Without the time of the count, nothing is changed.
      expect(try await dashboard.post(["action": "cancel"]).status, is: .badRequest)
      _ = try await dashboard.change(["action": "retry", "state": "cancelled", "until": String(until)])
      expect(try await scene.state(ids[0]), is: .waiting)
      let nothing = try await dashboard.page("/confirm?action=retry&state=failed")
      #expect(nothing.contains("There is nothing to change."))
      expect(try await dashboard.get("/confirm?action=retry&state=waiting").status, is: .badRequest)
      expect(try await dashboard.get("/confirm?action=explode").status, is: .notFound)
    }
  }

  @Test("J151: a change of many jobs continues after its page has appeared, and the page shows the result")
  func longChange() async throws {
    let jobs = Jobs(MemoryJobStore())
    let scene = try await Scene(jobs)
    for _ in 0..<5 { try await scene.enqueue() }
    let changes = RunningChanges()
    let name = try await changes.begin(.cancel, .all, in: ListSearch(jobs, hiding: []), waitingAtMost: .zero)
    while changes.text(for: name) != "Cancelled: 5 jobs." { await Task.yield() }
    #expect(changes.text(for: "another") == nil)
  }

  @Test("J151: if a store rejects a change, the request fails")
  func refusedChange() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteJobStore(path: folder.path + "/jobs.sqlite")
    await store.close()
    let search = ListSearch(Jobs(store), hiding: [])
    await #expect(throws: JobError.self) { try await RunningChanges().begin(.cancel, .all, in: search) }
  }

  @Test("J151: queues are paused and resumed, and their limits are set")
  func queues() async throws {
    try await RunningDashboard.with { dashboard in
      try await Scene(dashboard.jobs).enqueue(options: [.queue("b & c")])
      let paused = try await dashboard.change(["action": "pause", "queue": "b & c"])
      #expect(paused.contains("The queue is paused."))
      var counts = try await dashboard.jobs.counts()["b & c"]
      #expect(counts?.isPaused == true)
      expect(try await dashboard.page("/queues").contains("Resume"), is: true)
      let resumed = try await dashboard.change(["action": "resume", "queue": "b & c"])
      #expect(resumed.contains("The queue is resumed."))
      _ = try await dashboard.change([
        "action": "settings", "queue": "b & c", "limit": "3", "pendingLimit": "100", "failureLimit": "5", "aging": "60",
      ])
      counts = try await dashboard.jobs.counts()["b & c"]
      var expected = JobQueueSettings()
      (expected.maxRunningJobCount, expected.maxPendingJobCount, expected.maxFailureCount) = (3, 100, 5)
      expected.agingInterval = .seconds(60)
      #expect(counts?.settings == expected)
      let refusal = try await dashboard.post([
        "action": "settings", "queue": "b & c", "limit": "9", "pendingLimit": "0",
      ])
      expect(refusal.status, is: .unprocessableEntity)
      counts = try await dashboard.jobs.counts()["b & c"]
      #expect(counts?.settings == expected)
      _ = try await dashboard.change(["action": "settings", "queue": "b & c", "limit": "", "aging": "60"])
      counts = try await dashboard.jobs.counts()["b & c"]
      #expect(counts?.settings.maxRunningJobCount == nil && counts?.settings.agingInterval == .seconds(60))
    }
  }

  @Test("J151: schedules are paused, resumed, and run immediately")
  func schedules() async throws {
    try await RunningDashboard.with { dashboard in
      try await dashboard.jobs.schedule("nightly", .every(.seconds(86_400)), job: Report())
      _ = try await dashboard.change(["action": "pause-schedule", "schedule": "nightly"])
      expect(try await dashboard.jobs.schedules().map(\.isPaused), is: [true])
      let page = try await dashboard.change(["action": "run", "schedule": "nightly"])
      #expect(page.contains("The schedule has added this job."))
      expect(try await dashboard.jobs.jobs().map(\.kind), is: ["report"])
      _ = try await dashboard.change(["action": "resume-schedule", "schedule": "nightly"])
      expect(try await dashboard.jobs.schedules().map(\.isPaused), is: [false])
      let refusal = try await dashboard.post(["action": "run", "schedule": "none"])
      expect(refusal.status, is: .conflict)
      #expect(refusal.text.contains("The store has no schedule with the name none."))
    }
  }

  @Test("J151: a job whose key is held is not retried, and the page explains why")
  func heldKey() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      let options: JobOptions = [.unique(.unfinished("k"))]
      let first = try await scene.enqueue(options: options)
      try await scene.end(scene.claim(), .fail(JobEndReason(.failed), nil))
      try await scene.enqueue(options: options)
      let refusal = try await dashboard.post(["action": "retry", "id": "\(first)"])
      expect(refusal.status, is: .conflict)
      expect(try await scene.state(first), is: .failed)
    }
  }

  @Test("J151: a dashboard that is read-only shows no buttons, and rejects all changes", arguments: PageTests.paths)
  func readOnly(path: String) async throws {
    var options = JobsDashboard.Options()
    options.isReadOnly = true
    try await RunningDashboard.with(options) { dashboard in
      let scene = try await Scene(dashboard.jobs)
      try await dashboard.jobs.schedule("nightly", .every(.seconds(86_400)), job: Report())
      let id = try await scene.fail()
      try await scene.enqueue()
      for path in [path, "/job/\(id)"] {
        let page = try await dashboard.page(path)
        #expect(!page.contains("method=\"post\"><input type=\"hidden\" name=\"token\""))
        #expect(!page.contains("/confirm"))
        #expect(!page.contains("<button>"))
        #expect(page.contains("read only"))
      }
      for action in ["retry", "cancel", "pause", "run", "settings"] {
        let answer = try await dashboard.post(["action": action, "id": "\(id)", "queue": "default"])
        expect(answer.status, is: .forbidden)
      }
      expect(try await dashboard.get("/confirm?action=retry&state=failed").status, is: .forbidden)
      expect(try await scene.state(id), is: .failed)
    }
  }
}
#endif
