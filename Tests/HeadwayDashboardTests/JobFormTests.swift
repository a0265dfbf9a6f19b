#if Dashboard
import Foundation
import Headway
@_spi(JobStore) import HeadwayJobs
import NIOHTTP1
import Testing

@testable import HeadwayDashboard

@Suite("The form that changes a job", .hangLimit) struct JobFormTests {
  private static let payload = #"{"count":1.50,"name":"Ünal \"x\" & co"}"#
  /// The payload as a browser sends it.
  private static let shownPayload =
    "{\r\n  \"count\": 1.50,\r\n  \"name\": \"Ünal \\\"x\\\" & co\"\r\n}"

  /// The text that shows which values of the job the page contains.
  private static func version(_ page: String) throws -> String {
    String(try #require(page.firstMatch(of: /name="shown" value="([^"]+)"/)).1)
  }

  @Test("J206: a job that waits for its time or for its next attempt runs now")
  func runNow() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      let later: JobOptions = [.delay(.seconds(3_600))]
      let id = try await scene.enqueue(options: later)
      expect(try await dashboard.page("/job/\(id)").contains(">Run now</button>"), is: true)
      let page = try await dashboard.change(["action": "run-now", "id": "\(id)"])
      #expect(page.contains("The job is due now."))
      #expect(!page.contains(">Run now</button>"))
      expect(try await scene.state(id), is: .waiting)
      let again = try await dashboard.change(["action": "run-now", "id": "\(id)"])
      #expect(again.contains("nothing was done"))
      let error = JobErrorDescription(type: "E", text: "down")
      try await scene.end(scene.claim(), .retry(after: .seconds(3_600), error))
      _ = try await dashboard.change(["action": "run-now", "id": "\(id)"])
      expect(try await scene.claim().attempt, is: 2)
    }
  }

  @Test("J315: retrying jobs have a number, a list, and buttons")
  func retrying() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      expect(try await dashboard.page("/").contains("retrying-text"), is: false)
      var ids: [JobID] = []
      for _ in 0..<2 {
        ids.append(try await scene.enqueue())
        let error = JobErrorDescription(type: "E", text: "no route")
        try await scene.end(scene.claim(), .retry(after: .seconds(3_600), error))
      }
      let overview = try await dashboard.page("/")
      #expect(overview.contains(#"<li class="warn" data-key="retrying"><a href="./jobs?state=retrying">"#))
      #expect(overview.contains(#"<td class="number retrying-text">"#))
      expect(try await dashboard.page("/queues").contains(#"<div class="retrying-text"><dt>retrying</dt>"#), is: true)
      let list = try await dashboard.page("/jobs?state=retrying")
      #expect(list.contains(#"<option value="retrying" selected>"#) && list.contains("no route"))
      #expect(list.contains(">Run all now…</a>") && list.contains(">Cancel all…</a>") && !list.contains("Retry all"))
      let page = try await dashboard.page("/job/\(ids[0])")
      #expect(page.contains("retries at") && page.contains(">Run now</button>") && page.contains(">Cancel</button>"))
      _ = try await dashboard.change(["action": "run-now", "id": "\(ids[0])"])
      expect(try await scene.state(ids[0]), is: .waiting)
      let question = try await dashboard.page("/confirm?action=cancel&state=retrying")
      #expect(question.contains("<h1>Cancel 1 job?</h1>"))
      let until = try #require(question.firstMatch(of: /name="until" value="(\d+)"/)).1
      _ = try await dashboard.change(["action": "cancel", "state": "retrying", "until": String(until)])
      expect(try await scene.state(ids[1]), is: .cancelled)
    }
  }

  @Test("J206: after their count was shown, many jobs become due, except jobs that wait for other jobs")
  func runManyNow() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      let first = try await scene.enqueue()
      var ids: [JobID] = []
      for _ in 0..<3 { ids.append(try await scene.enqueue(options: [.delay(.seconds(3_600))])) }
      let held = try await scene.enqueue(
        options: [.delay(.seconds(3_600)), .after(JobDependency(.job(first)))])
      let due = try await dashboard.jobs.job(held)?.dueTime
      #expect(due != nil)
      expect(try await dashboard.page("/job/\(held)").contains(">Run now</button>"), is: false)
      expect(try await dashboard.change(["action": "run-now", "id": "\(held)"]).contains("nothing was done"), is: true)
      let list = try await dashboard.page("/jobs?kind=mail")
      #expect(list.contains("/confirm?action=run-now&amp;kind=mail\">Run all now…</a>"))
      expect(try await dashboard.page("/jobs?state=held").contains("run-now"), is: false)
      let page = try await dashboard.page("/confirm?action=run-now&kind=mail")
      #expect(page.contains("<h1>Run 3 jobs now?</h1>"))
      #expect(page.contains("They start after the jobs that already wait."))
      let until = try #require(page.firstMatch(of: /name="until" value="(\d+)"/)).1
      let fields: KeyValuePairs = ["action": "run-now", "kind": "mail", "until": String(until)]
      expect(try await dashboard.change(fields).contains("Due now: 3 jobs."), is: true)
      for id in ids { expect(try await scene.state(id), is: .waiting) }
      expect(try await dashboard.jobs.job(held)?.dueTime, is: due)
      let refusal = try await dashboard.post(["action": "run-now", "state": "held", "until": String(until)])
      expect(refusal.status, is: .badRequest)
    }
  }

  @Test("J207: the form of a waiting job changes its values, and keeps its version")
  func change() async throws {
    try await RunningDashboard.with { dashboard in
      let new = NewJob(
        kind: "mail", version: 3, payload: JobPayload(bytes: Array(Self.payload.utf8)), options: [])
      let id = try await dashboard.jobs.backend.enqueue([new])[0].id
      let page = try await dashboard.page("/job/\(id)")
      #expect(page.contains("<section id=\"change\">"))
      #expect(page.contains("<option selected>normal</option>"))
      #expect(page.contains("name=\"queue\" value=\"default\""))
      #expect(page.contains("&quot;count&quot;: 1.50,\n"))
      let changed = try await dashboard.change([
        "action": "change", "id": "\(id)", "shown": try Self.version(page), "priority": "very high", "queue": "b & c",
        "start": "2100-02-28T23:05", "deadline": "2100-03-01T00:00:30",
        "payload": "{\r\n  \"b\" : [1.0, \",]\", 12345678901234567890],\r\n  \"a b\":\"\\\" \\\\\"\r\n}",
      ])
      #expect(changed.contains("The job is changed."))
      let job = try #require(try await dashboard.jobs.job(id))
      #expect(job.priority == 8 && job.queue == "b & c" && job.version == 3 && job.state == .scheduled)
      #expect(job.dueTime?.description == "2100-02-28T23:05:00.000Z")
      #expect(job.deadline?.description == "2100-03-01T00:00:30.000Z")
      let stored = #"{"b":[1.0,",]",12345678901234567890],"a b":"\" \\"}"#
      #expect(job.payload.bytes == Array(stored.utf8))
      #expect(changed.contains("name=\"start\" value=\"2100-02-28T23:05:00\""))
      // A browser leaves out seconds that are zero. A time in the past makes the job due.
      let removed = try await dashboard.change([
        "action": "change", "id": "\(id)", "shown": try Self.version(changed), "priority": "low", "queue": "b & c",
        "start": "2001-01-01T00:00", "deadline": "2100-03-01T00:00:30", "no-deadline": "1",
        "payload": "[]",
      ])
      #expect(removed.contains("The job is changed."))
      let last = try #require(try await dashboard.jobs.job(id))
      #expect(last.priority == -4 && last.state == .waiting && last.dueTime == nil && last.deadline == nil)
      #expect(last.payload.bytes == Array("[]".utf8))
    }
  }

  @Test("J207: values that were not edited remain exactly as they are")
  func unedited() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      var options: JobOptions = [.queue("a\r\nb\u{202E}"), .delay(.milliseconds(3_600_123))]
      options.set(.deadline(Date(timeIntervalSinceNow: 7_200.456)))
      let id = try await scene.enqueue("mail", Self.payload, options: options)
      let before = try #require(try await dashboard.jobs.job(id))
      let page = try await dashboard.page("/job/\(id)")
      let start = String(try #require(page.firstMatch(of: /name="start" value="([^"]+)"/)).1)
      let deadline = String(try #require(page.firstMatch(of: /name="deadline" value="([^"]+)"/)).1)
      let version = try Self.version(page)
      let same = try await dashboard.change([
        "action": "change", "id": "\(id)", "shown": version, "priority": "normal", "queue": "ab\u{FFFD}",
        "start": start, "deadline": deadline, "payload": Self.shownPayload,
      ])
      #expect(same.contains("The job already had these values."))
      expect(try await dashboard.jobs.job(id), is: before)
      // Empty fields are not changed either.
      _ = try await dashboard.change([
        "action": "change", "id": "\(id)", "shown": version, "priority": "high", "queue": "ab\u{FFFD}",
        "start": "", "deadline": "", "payload": Self.shownPayload,
      ])
      let after = try #require(try await dashboard.jobs.job(id))
      #expect(after.priority == 4 && after.queue == before.queue && after.payload == before.payload)
      #expect(after.dueTime == before.dueTime && after.deadline == before.deadline)
    }
  }

  @Test(
    "J207: if a value is not valid, nothing is changed",
    arguments: [
      ("priority", "highest", "“highest” is not a priority."), ("start", "soon", "“soon” is not a time such as"),
      ("start", "2100-02-30T10:00", "is not a time such as"), ("start", "0000-01-01T10:00", "is not a time such as"),
      ("deadline", "2100-01-01T25:00", "is not a time such as"),
      ("deadline", "2001-01-01T10:00", "“2001-01-01T10:00” is not in the future."),
      ("payload", "{\"a\":1,}", "is not JSON."), ("payload", "[\",]\",", "is not JSON."),
      ("payload", "1\u{0}", "is not JSON."),
      ("payload", "\"\(String(repeating: "x", count: 300))\"", "The new payload of a job has 302 bytes"),
      ("queue", String(repeating: "q", count: 600), "The queue of a job"),
    ])
  func invalid(name: String, value: String, text: String) async throws {
    let jobs = Jobs(MemoryJobStore(maxPayloadSize: 200))
    try await RunningDashboard.with(jobs) { dashboard in
      let id = try await Scene(jobs).enqueue()
      let before = try await jobs.job(id)
      let version = try Self.version(try await dashboard.page("/job/\(id)"))
      func field(_ other: String, _ usual: String) -> String { name == other ? value : usual }
      let answer = try await dashboard.post([
        "action": "change", "id": "\(id)", "shown": version, "priority": field("priority", "high"),
        "queue": field("queue", "other"), "start": field("start", "2100-01-01T00:00"),
        "deadline": field("deadline", "2100-01-02T00:00"), "payload": field("payload", "[1]"),
      ])
      expect(answer.status, is: .unprocessableEntity)
      #expect(answer.text.contains(text))
      #expect(answer.text.contains("Nothing was changed."))
      expect(try await jobs.job(id), is: before)
    }
  }

  @Test("J207: a job that has changed in the meantime remains as it is, and the page shows a notice")
  func changedInMeantime() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      let id = try await scene.enqueue()
      let version = try Self.version(try await dashboard.page("/job/\(id)"))
      try await dashboard.jobs.change(id, .priority(.low))
      let fields: KeyValuePairs = [
        "action": "change", "id": "\(id)", "shown": version, "priority": "normal", "queue": "other", "payload": "{}",
      ]
      expect(try await dashboard.change(fields).contains("nothing was done"), is: true)
      try await dashboard.jobs.change(id, .priority(.normal))
      let claimed = try await scene.claim()
      // The text that a person has typed must remain in the page until the next attempt.
      let running = try await dashboard.page("/job/\(id)")
      #expect(running.contains("<section id=\"change\" hidden>") && running.contains("<fieldset disabled>"))
      expect(try await dashboard.change(fields).contains("nothing was done"), is: true)
      try await scene.end(claimed, .fail(JobEndReason(.failed), nil))
      let ended = try await dashboard.change(fields)
      #expect(ended.contains("nothing was done") && !ended.contains("id=\"change\""))
      let job = try #require(try await dashboard.jobs.job(id))
      #expect(job.queue == "default" && job.priority == 0)
    }
  }

  @Test("J207: a payload that has changed since a person began to edit it remains as it is, even in a live page")
  func changedPayload() async throws {
    try await RunningDashboard.with { dashboard in
      let id = try await Scene(dashboard.jobs).enqueue("mail", "[1]")
      func base(_ page: String) throws -> String {
        String(try #require(page.firstMatch(of: /name="payload-shown" value="([^"]+)"/)).1)
      }
      let first = try base(try await dashboard.page("/job/\(id)"))
      try await dashboard.jobs.change(id, .payload(JobPayload(bytes: Array("[2]".utf8)), version: 1))
      // The page has become the newer version, except what belongs to the typed text.
      let page = try await dashboard.page("/job/\(id)")
      func save(_ base: String) async throws -> String {
        try await dashboard.change([
          "action": "change", "id": "\(id)", "shown": try Self.version(page), "priority": "normal", "queue": "default",
          "payload": "[3]", "payload-shown": base,
        ])
      }
      expect(try await save(first).contains("nothing was done"), is: true)
      expect(try await dashboard.jobs.job(id)?.payload.bytes, is: Array("[2]".utf8))
      expect(try await save(try base(page)).contains("The job is changed."), is: true)
      expect(try await dashboard.jobs.job(id)?.payload.bytes, is: Array("[3]".utf8))
    }
  }

  @Test("J207: a payload with hidden values is neither shown nor changed, and a form must be complete")
  func hiddenPayload() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      let id = try await scene.enqueue("mail", #"{"password":"hunter2"}"#)
      let page = try await dashboard.page("/job/\(id)")
      #expect(!page.contains("<textarea") && !page.contains("hunter2"))
      #expect(page.contains("The payload can't be changed here"))
      let version = try Self.version(page)
      let refusal = try await dashboard.post([
        "action": "change", "id": "\(id)", "shown": version, "priority": "high", "queue": "default", "payload": "{}",
      ])
      expect(refusal.status, is: .badRequest)
      let incomplete = try await dashboard.post(["action": "change", "id": "\(id)", "shown": version, "queue": "q"])
      expect(incomplete.status, is: .badRequest)
      _ = try await dashboard.change([
        "action": "change", "id": "\(id)", "shown": version, "priority": "high", "queue": "default",
      ])
      let job = try #require(try await dashboard.jobs.job(id))
      #expect(job.priority == 4 && job.payload.bytes == Array(#"{"password":"hunter2"}"#.utf8))
    }
  }

  @Test("J207: read-only pages have no form, and a form requires the token and the origin of the page")
  func protection() async throws {
    var options = JobsDashboard.Options()
    options.isReadOnly = true
    try await RunningDashboard.with(options) { dashboard in
      let id = try await Scene(dashboard.jobs).enqueue()
      expect(try await dashboard.page("/job/\(id)").contains("id=\"change\""), is: false)
      expect(try await dashboard.post(["action": "change", "id": "\(id)"]).status, is: .forbidden)
    }
    try await RunningDashboard.with { dashboard in
      let id = try await Scene(dashboard.jobs).enqueue()
      let version = try Self.version(try await dashboard.page("/job/\(id)"))
      let fields: KeyValuePairs = [
        "action": "change", "id": "\(id)", "shown": version, "priority": "high", "queue": "default", "payload": "{}",
      ]
      expect(try await dashboard.post(fields, token: "wrong").status, is: .forbidden)
      let form: HTTPHeaders = ["Content-Type": "application/x-www-form-urlencoded", "Origin": "http://example.org"]
      expect(try await dashboard.post(fields, headers: form).status, is: .forbidden)
      expect(try await dashboard.jobs.job(id)?.priority, is: 0)
      expect(try await dashboard.post(fields).status, is: .seeOther)
      expect(try await dashboard.jobs.job(id)?.priority, is: 4)
    }
  }
}
#endif
