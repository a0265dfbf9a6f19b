import Headway
@_spi(JobStore) import HeadwayJobs
@_spi(JobStore) import HeadwayJobsTestKit
import HeadwayTestKit
import Testing

/// The fixture for job tests.
@Suite struct JobTestTests {
  private let test = JobTest()

  /// Whether the store has no worker and no running job.
  private func isIdle() async throws -> Bool {
    let snapshot = try await test.jobs.snapshot()
    return snapshot.workers.isEmpty && snapshot.queues.allSatisfy { $0.counts[.running] == 0 }
  }

  @Test("J200: a test runs the code of one job, and reads its result and the jobs that it enqueues")
  func perform() async throws {
    let size = try await test.perform(Shrink(path: "a"))
    #expect(size == 1)
    let jobs = try await test.enqueued(Announce.self)
    #expect(jobs.map(\.job.path) == ["a"])
    #expect(jobs.map(\.record.state) == [.scheduled])
    let job = try #require(try await test.jobs.jobs(of: Shrink.self).first)
    #expect(job.record.state == .succeeded)
    #expect(job.record.result == (try JobPayload(encoding: 1)))
    #expect(job.record.history.transitions.map(\.note).contains("shrinking"))
    #expect(try await isIdle())
  }

  @Test("J200: the job runs as the attempt of the test, and is not stopped by its options or by other jobs")
  func attempt() async throws {
    try await test.jobs.enqueue(Numbered(), .unique(.unfinished("key")))
    let options: JobOptions = [
      .delay(.seconds(60)), .retry(.never), .unique(.unfinished("key")), .limits([.serial(key: "key")]),
    ]
    #expect(try await test.perform(Numbered(), .options(options), attempt: 3) == 3)
    let job = try #require(try await test.jobs.jobs(JobFilter(states: [.succeeded])).first)
    #expect(job.history.errors.map(\.attempt) == [1, 2])
    #expect(try await test.enqueued(Numbered.self).count == 1)
  }

  @Test("J200: the error of the code is thrown, and the job has ended", arguments: ["error", "discard", "snooze"])
  func failure(name: String) async throws {
    switch name {
    case "error": await #expect(throws: TestError.self) { try await test.perform(Flaky(failureCount: 1)) }
    default: await #expect(throws: JobOutcome.self) { try await test.perform(Signalling(signal: name)) }
    }
    let job = try #require(try await test.jobs.jobs().first)
    #expect(job.state == (name == "snooze" ? .cancelled : .failed))
    #expect(try await isIdle())
    // Nothing is left to run.
    let report = try await test.drain(Flaky.self, Signalling.self)
    #expect(report.succeededCount == 0 && report.failures.isEmpty)
  }

  @Test("J200: an operation of a job runs")
  func operationJob() async throws {
    try await test.perform(Blocking(fails: false))
    await #expect(throws: TestError(text: "operation")) { try await test.perform(Blocking(fails: true)) }
    #expect(try await test.jobs.jobs().map(\.state) == [.succeeded, .failed])
  }

  @Test("J200: a job that can't be decoded or encoded is rejected")
  func codable() async throws {
    let error = await #expect(throws: JobError.self) { try await test.perform(Lopsided()) }
    #expect(error?.code == .undecodablePayload)
    let other = await #expect(throws: JobError.self) { try await test.perform(Immense(number: .infinity)) }
    #expect(other?.code == .unencodablePayload)
    #expect(try await isIdle())
  }

  @Test("J200: a job reads the results of jobs that have ended, and can't wait for others")
  func dependencies() async throws {
    let sum = try await test.jobs.enqueue(Sum(left: 1, right: 2))
    let error = await #expect(throws: JobError.self) { try await test.perform(Addends(), .after(sum)) }
    #expect(error?.code == .unfinishedJob)
    try await test.drain(Sum.self)
    #expect(try await test.perform(Addends(), .after(sum)) == 3)
    #expect(try await test.enqueued(Addends.self).isEmpty)
  }

  @Test("J296: middleware is notified of the ending of a job that waits, without an error")
  func waitingMiddleware() async throws {
    let log = Log()
    await Log.$current.withValue(log) {
      await #expect(throws: JobSuspension.self) { try await test.perform(Tagged(waits: true)) }
    }
    #expect(log.entries == ["before", "cancelled: nil"])
  }

  @Test("J200: the code of a job is cancelled with the task of the test")
  func cancellation() async throws {
    let log = Log()
    await Log.$current.withValue(log) {
      let running = Task { try await test.perform(Patient()) }
      await log.wait(for: "begun 1")
      running.cancel()
      await #expect(throws: CancellationError.self) { try await running.value }
    }
    #expect(log.entries == ["begun 1", "cancelled"])
    #expect(try await test.jobs.jobs().map(\.state) == [.cancelled])
  }

  @Test("J200, J210: the job runs inside the middleware of its kind, which is notified of the ending")
  func middleware() async throws {
    let log = Log()
    try await Log.$current.withValue(log) {
      #expect(try await test.perform(Tagged()) == "tag")
      await #expect(throws: TestError.self) { try await test.perform(Tagged(fails: true)) }
      let error = await #expect(throws: JobError.self) { try await test.perform(Tagged(isSkipped: true)) }
      #expect(error?.code == .undecodablePayload)
      try await test.perform(Skipped())
    }
    #expect(
      log.entries == [
        "before", "after", "succeeded: nil", "before", "failed: TestError", "before", "succeeded: nil",
        "succeeded: nil",
      ])
    #expect(try await test.jobs.jobs().map(\.state) == [.succeeded, .failed, .succeeded, .succeeded])
    #expect(try await isIdle())
  }

  @Test("J201: a test runs all jobs, and moves the clock to the times when further jobs are due")
  func drain() async throws {
    try await test.jobs.enqueue(Shrink(path: "a"), .delay(.seconds(600)))
    try await test.jobs.enqueue(Shrink(path: "b"), .queue("other"))
    let report = try await test.drain(Shrink.self, Announce.self)
    #expect(report.succeededCount == 4)
    #expect(report.duration == .seconds(600 + 60))
    #expect(report.nextTime == nil)
    #expect(test.clock.now.offset == report.duration)
    #expect(try await isIdle())
  }

  @Test("J201: a test runs retries and snoozes, and reports how the jobs have ended")
  func endings() async throws {
    let options: JobOptions = [.retry(.constant(maxAttemptCount: 3, delay: .seconds(10)))]
    try await test.jobs.enqueue(Flaky(failureCount: 2), .options(options))
    let failing = try await test.jobs.enqueue(Flaky(failureCount: 3), .options(options))
    try await test.jobs.enqueue(Signalling(signal: "snooze"))
    try await test.jobs.enqueue(Signalling(signal: "snooze"), .maxSnoozeCount(1))
    try await test.jobs.enqueue(Numbered(), .after(failing.success))
    let report = try await test.drain(Flaky.self, Signalling.self, Numbered.self)
    #expect(report.succeededCount == 2)
    #expect(report.retriedCount == 4)
    #expect(report.snoozedCount == 4)
    #expect(report.cancelledCount == 1)
    #expect(report.failures.map(\.id.rawValue) == [2, 4])
    #expect(report.failures.first?.lastError?.text == "TestError(text: \"test\")")
    #expect(report.duration == .seconds(20))
  }

  @Test("J201: a job that was cancelled and can't run again is a failure, and not a retry")
  func cancelledRetry() async throws {
    let options: JobOptions = [.retry(.constant(maxAttemptCount: 3, delay: .zero))]
    // Without hints, the worker usually does not find out that the job was cancelled.
    let test = JobTest(jobs: Jobs(FaultyStore(MemoryJobStore(), .lostHints)))
    try await test.jobs.enqueue(Withdrawn(), .options(options))
    let report = try await Withdrawn.$jobs.withValue(test.jobs) { try await test.drain(Withdrawn.self) }
    #expect(report.retriedCount == 0)
    #expect(report.failures.map(\.lastError?.text) == ["TestError(text: \"test\")"])
    // Earlier failures are not reported again.
    #expect(try await test.drain(Withdrawn.self).failures.isEmpty)
  }

  @Test("J201: a job that is cancelled while it runs ends, although nothing moves the clock")
  func cancelledJob() async throws {
    let log = Log()
    let handle = try await test.jobs.enqueue(Patient())
    try await Log.$current.withValue(log) {
      let running = Task { try await test.drain(Patient.self) }
      await log.wait(for: "begun 1")
      try await handle.cancel()
      #expect(try await running.value.cancelledCount == 1)
    }
    #expect(log.entries == ["begun 1", "cancelled"])
  }

  @Test("J201: jobs that become ready after the worker has served their queue also run")
  func movedClock() async throws {
    let clock = ManualClock()
    let store = FaultyStore(MemoryJobStore(clock: clock), .lostHints) { clock.advance(by: .seconds(60)) }
    let test = JobTest(jobs: Jobs(store, clock: clock))
    for minutes in 0..<3 { try await test.jobs.enqueue(Sum(left: 1, right: 1), .delay(.seconds(60 * minutes))) }
    #expect(try await test.drain(Sum.self).succeededCount == 3)
  }

  @Test("J201: a test stops before jobs that are due after its duration, and can continue")
  func bound() async throws {
    try await test.jobs.schedule("numbered", .every(.seconds(3_600)), job: Numbered())
    let deadline = (test.store.now + .seconds(1_800)).date
    try await test.jobs.enqueue(Sum(left: 1, right: 1), .deadline(deadline))
    let first = try await test.drain(Numbered.self, for: .seconds(10_000))
    #expect(first.succeededCount == 2)
    #expect(first.cancelledCount == 1)
    let next = try #require(first.nextTime)
    #expect(first.duration == .seconds(10_000))
    #expect(test.store.now == JobTest.defaultStartTime + .seconds(10_000))
    #expect(next > test.store.now)
    #expect(try await test.drain(Numbered.self, for: next - test.store.now).succeededCount == 1)
  }

  @Test("J201: jobs of other kinds, and jobs in paused queues, do not run and remain stored")
  func others() async throws {
    try await test.jobs.enqueue(Sum(left: 1, right: 1), .queue("paused"))
    try await test.jobs.enqueue(Flaky(failureCount: 0))
    try await test.jobs.pauseQueue("paused")
    #expect(try await test.drain(Sum.self).succeededCount == 0)
    #expect(try await test.jobs.jobs().map(\.state) == [.waiting, .waiting])
    try await test.jobs.resumeQueue("paused")
    #expect(try await test.drain(kinds: [Sum.self, Flaky.self]).succeededCount == 2)
  }

  @Test("J201: without a clock that the test can move, jobs that are due later remain stored")
  func otherStore() async throws {
    let test = JobTest(jobs: Jobs(MemoryJobStore()))
    try await test.jobs.enqueue(Sum(left: 1, right: 1), .delay(.seconds(3_600)))
    try await test.jobs.enqueue(Sum(left: 1, right: 1))
    let report = try await test.drain(Sum.self)
    #expect(report.succeededCount == 1)
    #expect(report.nextTime != nil)
    #expect(try await test.perform(Sum(left: 1, right: 1)) == 2)
  }

  @Test("J202: jobs of a type are read with their decoded values, including jobs of a former kind")
  func typed() async throws {
    try await test.jobs.enqueue(Sum(left: 1, right: 1), .queue("a"))
    let former = NewJob(kind: "addition", payload: JobPayload(bytes: Array(#"{"left":2,"right":2}"#.utf8)))
    _ = try await test.jobs.backend.enqueue([former])
    try await test.jobs.enqueue(Numbered())
    #expect(try await test.enqueued(Sum.self).map(\.job.left) == [1, 2])
    #expect(try await test.enqueued(Sum.self, queue: "a").map(\.job.left) == [1])
    let current = try await test.jobs.jobs(of: Sum.self, JobFilter(kinds: ["sum", "numbered"]), limit: 5)
    #expect(current.map(\.record.kind) == ["sum"])
    _ = try await test.jobs.backend.enqueue([NewJob(kind: "sum", payload: JobPayload(bytes: [0]))])
    let error = await #expect(throws: JobError.self) { try await test.jobs.jobs(of: Sum.self) }
    #expect(error?.code == .undecodablePayload)
  }

  @Test("J202: all jobs of a type are read, even if there are many")
  func manyJobs() async throws {
    try await test.jobs.enqueue(contentsOf: (0..<2_000).map { Sum(left: $0, right: 0) })
    #expect(try await test.enqueued(Sum.self).map(\.job.left) == Array(0..<2_000))
  }
}

private struct Shrink: Job {
  static let kind: JobKind = "shrink"
  var path: String
  func perform(in context: JobContext) async throws -> Int {
    let size = try await context.checkpoint("size") { path.utf8.count }
    try await context.log("shrinking")
    try await context.enqueue(Announce(path: path), .delay(.seconds(60)))
    return size
  }
}

private struct Announce: Job {
  static let kind: JobKind = "announce"
  var path: String
  func perform(in context: JobContext) async throws {}
}

/// Returns the number of its attempt.
private struct Numbered: Job {
  static let kind: JobKind = "numbered"
  func perform(in context: JobContext) async throws -> Int { context.attempt }
}

/// Returns the value that its middleware sets.
private struct Tagged: Job {
  static let kind: JobKind = "tagged"
  static var middleware: [any JobMiddleware] { [Tagging()] }
  var fails = false
  var isSkipped = false
  var waits = false
  func perform(in context: JobContext) async throws -> String {
    if waits { _ = try await context.waitForSignal("go", timeLimit: .seconds(60)) }
    if fails { throw TestError() }
    return Tagging.tag
  }
}

/// Does not run and has no output.
private struct Skipped: Job {
  static let kind: JobKind = "skipped"
  static var middleware: [any JobMiddleware] { [Tagging()] }
  func perform(in context: JobContext) async throws { throw TestError() }
}

private struct Tagging: JobMiddleware {
  @TaskLocal static var tag = ""

  func perform(in context: JobContext, next: JobMiddlewareChain) async throws {
    if context.job.kind == Skipped.kind { return }
    Log.current.append("before")
    if try context.job.decoded(as: Tagged.self).isSkipped { return }
    try await Self.$tag.withValue("tag") { try await next() }
    Log.current.append("after")
  }

  func didEnd(_ context: JobContext, with ending: JobEnding.Action, error: (any Error)?) {
    Log.current.append("\(ending.status): \(error.map { "\(type(of: $0))" } ?? "nil")")
  }
}

/// Is cancelled by its own code and fails.
private struct Withdrawn: Job {
  static let kind: JobKind = "withdrawn"
  @TaskLocal static var jobs: Jobs?
  func perform(in context: JobContext) async throws {
    try await Self.jobs?.cancel(context.id)
    throw TestError()
  }
}

/// Returns the sum of the results that it has waited for.
private struct Addends: Job {
  static let kind: JobKind = "addends"
  func perform(in context: JobContext) async throws -> Int { try await context.values(of: Sum.self).reduce(0, +) }
}

/// Has an encoding that lacks its value, so it can't be decoded.
private struct Lopsided: Job {
  static let kind: JobKind = "lopsided"
  var name = "test"

  init() {}

  init(from decoder: any Decoder) throws {
    name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
  }

  func encode(to encoder: any Encoder) throws { _ = encoder.container(keyedBy: CodingKeys.self) }

  private enum CodingKeys: CodingKey {
    case name
  }

  func perform(in context: JobContext) async throws {}
}

/// Has a number that JSON can't represent.
private struct Immense: Job {
  static let kind: JobKind = "immense"
  var number: Double
  func perform(in context: JobContext) async throws {}
}
