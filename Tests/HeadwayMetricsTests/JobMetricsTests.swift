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
