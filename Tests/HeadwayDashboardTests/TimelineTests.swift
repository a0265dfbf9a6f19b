#if Dashboard
import Headway
@_spi(JobStore) import HeadwayJobs
import Testing

@testable import HeadwayDashboard

@Suite("The history of a job", .hangLimit) struct TimelineTests {
  private static let start = StoreTime(microseconds: 1_800_000_000_000_000)

  private static func time(_ seconds: Int) -> StoreTime { start + .seconds(seconds) }

  /// A job whose attempts are made without a store.
  private struct Attempts {
    var job = JobRecord(
      id: JobID(rawValue: 7), queue: "q", kind: "k", version: 1, payload: JobPayload(bytes: []), state: .waiting,
      priority: 0, enqueuedTime: start, settings: JobSettings())

    /// Makes an attempt with a log line.
    mutating func attempt(from begin: Int, to end: Int, log: String? = nil, _ action: JobEnding.Action) throws {
      job.state = .waiting
      JobTransitions.claim(&job, by: WorkerID(rawValue: 3), at: time(begin))
      if let log { job.history.append(JobTransition(time: time(begin), state: .running, worker: job.owner, note: log)) }
      let fence = try #require(job.fence)
      #expect(JobTransitions.end(&job, JobEnding(fence, action), at: time(end)) == .recorded)
    }
  }

  private static let error = JobErrorDescription(type: "E", text: "no route")

  @Test("J363: each attempt has its number, start, end, worker, outcome, error and log lines")
  func attempts() throws {
    var attempts = Attempts()
    try attempts.attempt(from: 1, to: 3, log: "first", .retry(after: .seconds(5), Self.error))
    JobTransitions.becomeWaiting(&attempts.job, at: Self.time(8))
    try attempts.attempt(from: 9, to: 10, .snooze(.seconds(1)))
    try attempts.attempt(from: 20, to: 21, log: "second", .fail(JobEndReason(.failed), Self.error))
    let timeline = JobTimeline(attempts.job)
    let worker = WorkerID(rawValue: 3)
    func record(_ attempt: Int, _ seconds: Int) -> JobErrorRecord {
      JobErrorRecord(attempt: attempt, time: Self.time(seconds), type: "E", text: "no route")
    }
    func line(_ seconds: Int, _ text: String) -> JobTransition {
      JobTransition(time: Self.time(seconds), state: .running, worker: worker, note: text)
    }
    #expect(
      timeline.entries == [
        .change(Self.start, .waiting, "enqueued"),
        .attempt(
          .init(
            number: 1, start: Self.time(1), end: Self.time(3), worker: worker, outcome: "failed, runs again",
            state: .failed, error: record(1, 3), log: [line(1, "first")])),
        .change(Self.time(8), .waiting, "due"),
        .attempt(
          .init(start: Self.time(9), end: Self.time(10), worker: worker, outcome: "snoozed", state: .scheduled)),
        .attempt(
          .init(
            number: 2, start: Self.time(20), end: Self.time(21), worker: worker, outcome: "failed", state: .failed,
            error: record(2, 21), log: [line(20, "second")])),
      ])
    #expect(!timeline.isPartial)
    // Run again on request, the attempts before remain.
    #expect(JobTransitions.retry(&attempts.job, at: Self.time(30)))
    #expect(JobTimeline(attempts.job).attempts.map(\.number) == [1, nil, 2])
    #expect(JobTimeline(attempts.job).attempts.last?.error == record(2, 21))
  }

  @Test("J363: an attempt that runs has no end, and a job that ended while it waited has no further attempt")
  func lastAttempt() throws {
    var attempts = Attempts()
    try attempts.attempt(from: 1, to: 2, .retry(after: .seconds(60), Self.error))
    var cancelled = attempts.job
    #expect(JobTransitions.cancel(&cancelled, at: Self.time(5)))
    let timeline = JobTimeline(cancelled)
    #expect(timeline.attempts.count == 1)
    #expect(timeline.entries.last == .change(Self.time(5), .cancelled, "cancelled"))
    JobTransitions.becomeWaiting(&attempts.job, at: Self.time(62))
    JobTransitions.claim(&attempts.job, by: WorkerID(rawValue: 4), at: Self.time(63))
    let last = try #require(JobTimeline(attempts.job).attempts.last)
    #expect((last.number, last.start, last.end) == (2, Self.time(63), nil))
    JobTransitions.rescue(&attempts.job, isCrash: true, at: Self.time(70))
    #expect(JobTimeline(attempts.job).attempts.last?.outcome == "the worker died")
    #expect(JobTimeline(attempts.job).attempts.last?.end == Self.time(70))
  }

  @Test("J363: if log lines have displaced the changes, the attempts of the stored errors remain")
  func displaced() throws {
    var attempts = Attempts()
    try attempts.attempt(from: 1, to: 2, .retry(after: .zero, Self.error))
    JobTransitions.claim(&attempts.job, by: WorkerID(rawValue: 4), at: Self.time(3))
    for index in 0..<JobHistory.maxTransitionCount {
      attempts.job.history.append(JobTransition(time: Self.time(4), state: .running, note: "\(index)"))
    }
    let timeline = JobTimeline(attempts.job)
    #expect(timeline.isPartial)
    #expect(timeline.attempts.map(\.number) == [1, 2])
    #expect(timeline.attempts[0].start == nil)
    #expect(timeline.attempts[1].log.count == JobHistory.maxTransitionCount)
  }

  @Test("J364: equal errors are shown once, and the words that differ from the previous error are marked")
  func errors() {
    func error(_ attempt: Int, _ text: String) -> JobErrorRecord {
      JobErrorRecord(attempt: attempt, time: Self.time(attempt), type: "E", text: text)
    }
    let comparison = ErrorComparison([
      error(1, "host a is down"), error(2, "host b is down"), error(3, "host a is down"), error(4, "host b is down"),
    ])
    #expect(comparison.groups.map(\.attempts) == [[2, 4], [1, 3]])
    #expect(comparison.groups.map(\.time) == [Self.time(4), Self.time(3)])
    let parts = ErrorComparison.parts(of: "host b is down", unlike: "host a is down")
    #expect((parts.same, parts.changed, parts.rest) == ("host ", "b ", "is down"))
    #expect(ErrorComparison.parts(of: "x", unlike: nil) == ("x", "", ""))
    #expect(ErrorComparison.parts(of: "one", unlike: "two") == ("one", "", ""))
    #expect(ErrorComparison.parts(of: "a b", unlike: "a b c") == ("a ", "b", ""))
  }

  @Test("J363, J364: the page of a job shows its attempts, and its errors side by side")
  func page() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      let id = try await scene.enqueue()
      for number in 1...2 {
        let error = JobErrorDescription(type: "E", text: "host \(number) is <down>")
        try await scene.end(scene.claim(), .retry(after: .zero, error))
      }
      let page = try await dashboard.page("/job/\(id)")
      #expect(page.contains("<strong>Attempt 1</strong>"))
      #expect(page.contains("<strong>Attempt 2</strong>"))
      #expect(page.contains("failed, runs again"))
      #expect(page.contains("host <mark>2 </mark>is &lt;down&gt;</pre>"))
      #expect(page.contains("aria-label=\"2 attempts\""))
    }
  }

  @Test("J369: the page of a held job names the jobs that it waits for, and where the chain begins")
  func neighbors() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      let first = try await scene.enqueue("resize", options: [.label("the first")])
      let second = try await scene.enqueue("mail", options: [.after(JobDependency(.job(first)))])
      let third = try await scene.enqueue("mail", options: [.after(JobDependency(.job(second)))])
      let page = try await dashboard.page("/job/\(third)")
      #expect(page.contains("waits for job \(second)."))
      #expect(page.contains("The chain begins with job \(first) (the first), which is waiting."))
      #expect(page.contains("<h3>Waits for</h3>"))
      #expect(page.contains("<a href=\"../job/\(second)\">\(second)</a>"))
      let middle = try await dashboard.page("/job/\(second)")
      #expect(middle.contains("<h3>Wait for this job</h3>"))
      #expect(!middle.contains("The chain begins"))
    }
  }
}
#endif
