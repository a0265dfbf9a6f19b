#if Dashboard
import Headway
import HeadwayDashboard
@_spi(JobStore) import HeadwayJobs
import HeadwayTestSupport
import NIOHTTP1
import Testing

@Suite("The page of errors", .hangLimit) struct ErrorsPageTests {
  @Test("J338: each error is shown with its counts, its times, and links that list exactly its jobs")
  func groups() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      let error = JobErrorDescription(type: "MailError", text: "host 1 is down\nsecond line")
      let retrying = try await scene.enqueue()
      try await scene.end(scene.claim(), .retry(after: .seconds(1_000), error))
      let failed = try await scene.fail(error: "host 7 <is> down")
      let other = try await scene.fail("resize", error: "no memory")
      let groups = try await dashboard.jobs.errorGroups()
      #expect(groups.count == 3)
      let page = try await dashboard.page("/errors")
      for group in groups { #expect(page.contains("id=\"error-\(group.id)\"")) }
      #expect(page.contains("host # is down second line"))
      #expect(page.contains("host # &lt;is&gt; down"))
      #expect(page.contains("1 attempt failed, 1 in the last 24 hours"))
      #expect(page.contains("<svg class=\"spark\""))
      #expect(page.contains("<a href=\"./job/\(other)\">job \(other)</a>"))
      let mail = try #require(groups.first { $0.type == "MailError" && $0.retryingCount == 1 })
      let list = try await dashboard.page("/jobs?state=retrying&error=\(mail.id)")
      #expect(list.contains("<a href=\"./job/\(retrying)\">"))
      #expect(!list.contains("<a href=\"./job/\(failed)\">"))
      #expect(list.contains("name=\"error\" value=\"\(mail.id)\""))
      #expect(list.contains("host # is down second line"))
      let job = try await dashboard.page("/job/\(failed)")
      let failedGroup = try #require(groups.first { $0.lastJob == failed })
      #expect(job.contains("/jobs?error=\(failedGroup.id)"))
      expect(try await dashboard.get("/jobs?error=7").status, is: .badRequest)
    }
  }

  @Test("J338: the jobs of an error are retried, run now and cancelled after their number was confirmed")
  func changes() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      let error = JobErrorDescription(type: "MailError", text: "down")
      var waiting: [JobID] = []
      for _ in 0..<2 {
        waiting.append(try await scene.enqueue())
        try await scene.end(scene.claim(), .retry(after: .seconds(1_000), error))
      }
      let failed = try await scene.enqueue()
      try await scene.end(scene.claim(), .fail(JobEndReason(.failed), error))
      let other = try await scene.fail(error: "another")
      let id = try #require(try await dashboard.jobs.job(failed)?.errorGroup)
      let page = try await dashboard.page("/errors")
      #expect(page.contains("/confirm?action=retry&amp;state=failed&amp;error=\(id)"))
      #expect(page.contains("/confirm?action=run-now&amp;state=retrying&amp;error=\(id)"))
      #expect(page.contains("/confirm?action=cancel&amp;error=\(id)"))
      let retry = try await dashboard.page("/confirm?action=retry&state=failed&error=\(id)")
      #expect(retry.contains("Retry 1 job?"))
      #expect(retry.contains("<strong>MailError</strong> down"))
      _ = try await change(&dashboard, "retry", id, state: "failed")
      expect(try await scene.state(failed), is: .waiting)
      expect(try await scene.state(other), is: .failed)
      let cancel = try await dashboard.page("/confirm?action=cancel&error=\(id)")
      #expect(cancel.contains("Cancel 3 jobs?"))
      _ = try await change(&dashboard, "cancel", id)
      for job in waiting + [failed] { expect(try await scene.state(job), is: .cancelled) }
    }
  }

  private func change(
    _ dashboard: inout RunningDashboard, _ action: String, _ id: JobErrorGroup.ID, state: String = ""
  ) async throws -> String {
    let until = "\(dashboard.jobs.store.now.microseconds)"
    return try await dashboard.change(["action": action, "error": "\(id)", "state": state, "until": until])
  }

  @Test("J338: an error is muted with a note, listed separately, and unmuted")
  func mute() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      try await scene.fail(error: "known")
      let id = try #require(try await dashboard.jobs.errorGroups().first?.id)
      let muted = try await dashboard.change(["action": "mute", "error": "\(id)", "note": "vendor <is> down"])
      #expect(muted.contains("The error is muted."))
      #expect(muted.contains("All errors are muted."))
      #expect(!muted.contains("id=\"error-"))
      #expect(muted.contains("./errors?muted=1"))
      let list = try await dashboard.page("/errors?muted=1")
      #expect(list.contains("vendor &lt;is&gt; down"))
      let group = try await dashboard.jobs.errorGroup(id)
      #expect(group?.mute?.note == "vendor <is> down")
      let again = try await dashboard.change(["action": "mute", "error": "\(id)", "note": "vendor <is> down"])
      #expect(again.contains("nothing was done"))
      let unmuted = try await dashboard.change(["action": "unmute", "error": "\(id)"])
      #expect(unmuted.contains("The error is no longer muted."))
      #expect(unmuted.contains("No error is muted."))
      expect(try await dashboard.post(["action": "mute", "error": "\(id)"]).status, is: .unprocessableEntity)
      expect(try await dashboard.post(["action": "mute", "error": "7", "note": "x"]).status, is: .badRequest)
    }
  }

  @Test("J338: the former address of the page leads to the page")
  func redirect() async throws {
    try await RunningDashboard.with { dashboard in
      let answer = try await dashboard.get("/failures")
      expect(answer.status, is: .movedPermanently)
      expect(answer.headers.first(name: "Location"), is: "./errors")
    }
  }

  @Test("J338: a page lists 30 errors, and is small even if their texts are long")
  func size() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      let letters = Array("abcdefghijklmnopqrstuvwxyz")
      for number in 0..<35 {
        let word = "\(letters[number / letters.count])\(letters[number % letters.count])"
        try await scene.fail(error: word + String(repeating: " <", count: 300))
      }
      let first = try await dashboard.page("/errors")
      #expect(first.matches(of: /id="error-/).count == 30)
      #expect(first.utf8.count < 200_000)
      #expect(first.contains("./errors?from=30"))
      let second = try await dashboard.page("/errors?from=30")
      #expect(second.matches(of: /id="error-/).count == 5)
      #expect(second.contains(">Latest</a>"))
      let empty = try await dashboard.page("/errors?from=99999999999999999999")
      #expect(empty.matches(of: /id="error-/).count == 30)
    }
  }
}
#endif
