#if Observability && Jobs
import Headway
import HeadwayJobs
import HeadwayMetrics
import HeadwayTestKit
import MetricsTestKit
import Testing

@Suite("Metrics of durable jobs", .hangLimit)
struct JobMetricsTests {
  private let metrics = TestMetrics()
  private let clock = ManualClock()
  private let jobs: Jobs

  init() {
    let startTime = StoreTime(microseconds: 1_800_000_000_000_000)
    jobs = Jobs(MemoryJobStore(clock: clock, startTime: startTime), clock: clock)
  }

  private func meter(_ label: String, _ dimensions: (String, String)...) -> Double? {
    try? metrics.expectMeter(label, dimensions).lastValue
  }

  private func counter(_ label: String, _ dimensions: (String, String)...) -> Int64 {
    (try? metrics.expectCounter(label, dimensions).totalValue) ?? 0
  }

  @Test("J111: meters have the depth of each queue, the age of the oldest job, and the number of workers")
  func meters() async throws {
    try await jobs.enqueue(Empty(fails: false), .queue("mail"))
    try await jobs.enqueue(Empty(fails: false), .queue("mail"), .delay(.seconds(60)))
    let recording = jobs.recordMetrics(every: .seconds(5), factory: metrics, clock: clock)
    await clock.waitForSleepers(count: 1)
    #expect(meter("headway.jobs.depth", ("queue", "mail"), ("status", "waiting")) == 1)
    #expect(meter("headway.jobs.depth", ("queue", "mail"), ("status", "scheduled")) == 1)
    #expect(meter("headway.jobs.depth", ("queue", "mail"), ("status", "retrying")) == 0)
    #expect(meter("headway.jobs.workers") == 0)
    clock.advance(by: .seconds(5))
    await clock.waitForSleepers(count: 1)
    #expect(meter("headway.jobs.oldest.waiting.duration", ("queue", "mail")) == 5)
    try await jobs.cancel(.all)
    try await jobs.perform(.delete(.all))
    clock.advance(by: .seconds(5))
    await clock.waitForSleepers(count: 1)
    #expect(meter("headway.jobs.depth", ("queue", "mail"), ("status", "waiting")) == 0)
    #expect(meter("headway.jobs.oldest.waiting.duration", ("queue", "mail")) == 0)
    recording.cancel()
    await recording.value
  }

  @Test("J357: meters have the attempts of the last minutes, the levels of checks, late schedules, and dead workers")
  func health() async throws {
    let worker = JobWorker(jobs, kinds: [Empty.self])
    worker.serve(on: OperationQueue())
    let running = Task { try await worker.run() }
    let handle = try await jobs.enqueue(Empty(fails: true), .retry(.never))
    while try await jobs.job(handle.id)?.state.isFinished != true { await Task.yield() }
    worker.stop()
    try await running.value
    try await jobs.enqueue(Empty(fails: false), .queue("mail"))
    try await jobs.schedule("often", .every(.seconds(60)), job: Empty(fails: false))
    let recording = jobs.recordMetrics(every: .seconds(120), factory: metrics, clock: clock)
    await clock.waitForSleepers(count: 1)
    #expect(meter("headway.jobs.health", ("check", "Workers")) == 2)
    #expect(meter("headway.jobs.health", ("check", "Failures")) == 0)
    #expect(meter("headway.jobs.late.schedules") == 0)
    #expect(meter("headway.jobs.dead.workers") == 0)
    #expect(meter("headway.jobs.store.available") == 1)
    #expect(meter("headway.jobs.depth", ("queue", "mail"), ("status", "retrying")) == 0)
    #expect(meter("headway.jobs.failed") == 1)
    #expect(meter("headway.jobs.recent.attempts", ("kind", "empty"), ("status", "failed")) == 1)
    #expect(meter("headway.jobs.recent.attempts", ("kind", "empty"), ("status", "succeeded")) == 0)
    clock.advance(by: .seconds(120))
    await clock.waitForSleepers(count: 1)
    // The schedule is a minute late at the next read.
    clock.advance(by: .seconds(120))
    await clock.waitForSleepers(count: 1)
    #expect(meter("headway.jobs.late.schedules") == 1)
    #expect(meter("headway.jobs.health", ("check", "Schedules")) == 2)
    recording.cancel()
    await recording.value
  }

  @Test("J111: counters have the outcomes of attempts by kind")
  func counters() async throws {
    let recording = jobs.recordMetrics(factory: metrics, clock: clock)
    let worker = JobWorker(jobs, kinds: [Empty.self])
    worker.serve(on: OperationQueue())
    let running = Task { try await worker.run() }
    try await jobs.enqueue(Empty(fails: false)).value
    let failing = try await jobs.enqueue(Empty(fails: true), .retry(.never))
    await #expect(throws: JobFailure.self) { try await failing.value }
    for status in ["succeeded", "failed"] {
      while counter("headway.jobs.attempts", ("kind", "empty"), ("status", status)) != 1 { await Task.yield() }
    }
    worker.stop()
    try await running.value
    recording.cancel()
    await recording.value
  }
}

private struct Empty: Job {
  static let kind: JobKind = "empty"
  var fails: Bool
  func perform(in context: JobContext) async throws {
    if fails { throw TestError() }
  }
}

private struct TestError: Error {}
#endif
