#if Observability && Jobs
import Headway
import HeadwayDistributedTracing
@_spi(JobStore) import HeadwayJobs
import HeadwayTestSupport
import InMemoryTracing
import Testing
import Tracing

@Suite("Distributed tracing of jobs", .hangLimit) struct JobTracingTests {
  private let tracer = InMemoryTracer()
  private let store = MemoryJobStore()

  /// The spans of attempts after a worker has run all jobs.
  private func spans(count: Int, _ enqueue: (Jobs) async throws -> Void) async throws -> [FinishedInMemorySpan] {
    let jobs = Jobs(store)
    jobs.recordSpans(with: tracer)
    try await enqueue(jobs)
    // The worker has another object, as in another process.
    let running = Jobs(store)
    running.recordSpans(with: tracer)
    let worker = JobWorker(running, kinds: [Report.self, Checksum.self])
    worker.serve(on: OperationQueue(maxConcurrentOperationCount: 1))
    let work = Report.$tracer.withValue(tracer) { Task { try await worker.run() } }
    await until { tracer.finishedSpans.filter { $0.kind == .consumer }.count == count }
    worker.stop()
    try await work.value
    return tracer.finishedSpans.filter { $0.kind == .consumer }
  }

  @Test("J111: the span of an attempt has a link to the span of the code that enqueued the job")
  func link() async throws {
    let request = tracer.startSpan("POST /reports")
    let spans = try await spans(count: 1) { jobs in
      _ = try await ServiceContext.withValue(request.context) { try await jobs.enqueue(Report()) }
    }
    request.end()
    let span = try #require(spans.first)
    #expect(span.operationName == "report" && span.parentSpanID == nil && span.traceID != request.traceID)
    #expect(span.links.map(\.context.inMemorySpanContext?.spanID) == [request.spanID])
    #expect(span.attributes.get("headway.job.id") == .int64(1))
    #expect(span.attributes.get("headway.job.queue") == .string("default"))
    #expect(span.attributes.get("headway.job.attempt") == .int64(1))
    #expect(span.attributes.get("headway.job.status") == .string("succeeded"))
    let child = try #require(tracer.finishedSpans.first { $0.operationName == "write" })
    #expect(child.parentSpanID == span.spanID)
  }

  @Test("J111: each attempt has a span, and the span of a failed attempt contains the error")
  func errors() async throws {
    let retry: JobOptions = [.retry(.constant(maxAttemptCount: 2, delay: .zero))]
    let spans = try await spans(count: 2) { jobs in
      try await jobs.enqueue(Report(failureCount: 1), .options(retry))
    }
    #expect(spans.map { $0.attributes.get("headway.job.attempt") } == [.int64(1), .int64(2)])
    #expect(spans.map { $0.attributes.get("headway.job.status") } == [.string("retried"), .string("succeeded")])
    #expect(spans.map(\.errors.count) == [1, 0] && spans.map { $0.status?.code } == [.error, nil])
    #expect(spans.map(\.links.count) == [0, 0])
  }

  @Test("J111: the operation of a job also has a span, and setting a schedule again changes nothing")
  func operations() async throws {
    let spans = try await spans(count: 1) { jobs in
      try await jobs.enqueue(Checksum())
      let request = tracer.startSpan("start")
      try await ServiceContext.withValue(request.context) {
        try await jobs.schedule("nightly", .cron("0 3 * * *"), job: Report())
      }
      let definition = try await jobs.schedules().first?.definition
      #expect(definition?.job.settings.traceContext == nil)
    }
    #expect(spans.map(\.operationName) == ["checksum"])
  }
}

private struct TestError: Error {}

private struct Report: Job {
  static let kind: JobKind = "report"
  @TaskLocal static var tracer: InMemoryTracer?
  var failureCount = 0

  func perform(in context: JobContext) async throws {
    let tracer = try #require(Self.tracer)
    tracer.withSpan("write") { _ in }
    if context.attempt <= failureCount { throw TestError() }
  }
}

private struct Checksum: OperationJob {
  static let kind: JobKind = "checksum"

  func makeOperation(in context: JobContext) -> Operation { BlockOperation {} }
}
#endif
