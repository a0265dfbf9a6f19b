import Headway
@_spi(JobStore) import HeadwayJobs
import Synchronization
import Testing

/// Failures that would occur again in each attempt.
@Suite struct PermanentFailureTests {
  @Test(
    "J180: if an attempt fails because of a value, neither it nor its effects are repeated", arguments: Demand.all
  )
  func runsOnce(demand: String) async throws {
    let workshop = Workshop()
    let log = Log()
    let options: JobOptions = [.retry(.constant(maxAttemptCount: 5, delay: .milliseconds(1)))]
    let handle = try await workshop.jobs.enqueue(Demand(name: demand), .options(options))
    try await Log.$current.withValue(log) {
      try await workshop.worker(Demand.self).drain()
    }
    let job = try #require(try await handle.job())
    #expect(job.state == .failed)
    #expect(job.attempt == 1)
    #expect(job.history.errors.map(\.type) == ["HeadwayJobs.JobError"])
    #expect(log.entries == ["effect"])
  }

  @Test("J182: results and checkpoints can be as large as the store accepts, which is adjustable")
  func sizes() async throws {
    let jobs = Jobs(MemoryJobStore(maxResultSize: 20))
    let worker = JobWorker(jobs, kinds: [Echo.self])
    worker.serve(on: OperationQueue())
    let running = Task { try await worker.run() }
    // Two of the bytes are quotation marks.
    #expect(try await jobs.enqueue(Echo(count: 18)).value.count == 18)
    let error = await #expect(throws: JobFailure.self) {
      try await jobs.enqueue(Echo(count: 19)).value
    }
    #expect(error?.lastError?.text.contains("has 21 bytes, but the store accepts 20") == true)
    worker.stop()
    try await running.value
  }
}

/// Requires something that can't be stored.
private struct Demand: Job {
  static let kind: JobKind = "demand"
  static let all = [
    "result", "number", "checkpoint", "number of a checkpoint", "name of a checkpoint", "repeated checkpoint",
    "payload",
    "number of a job", "label", "unknown dependency", "cycle", "result of an unknown job",
  ]
  private static let large = String(repeating: "x", count: 1_100_000)
  var name: String

  func perform(in context: JobContext) async throws -> Value {
    Log.current.append("effect")
    switch name {
    case "result": return Value(text: Self.large)
    case "number": return Value(number: .nan)
    case "checkpoint": _ = try await context.checkpoint("step") { Self.large }
    case "number of a checkpoint": _ = try await context.checkpoint("step") { Double.infinity }
    case "name of a checkpoint": _ = try await context.checkpoint(String(repeating: "n", count: 513)) { 1 }
    case "repeated checkpoint": for _ in 0..<2 { _ = try await context.checkpoint("step") { 1 } }
    case "payload": try await context.enqueue(Demand(name: Self.large))
    case "number of a job": try await context.enqueue(Weight(number: .nan))
    case "label": try await context.enqueue(Weight(number: 1), .label(Self.large))
    case "unknown dependency": try await context.enqueue(Weight(number: 1), .after(JobID(rawValue: 99)))
    case "cycle":
      var batch = JobBatch()
      let first = batch.add(Weight(number: 1))
      let second = batch.add(Weight(number: 2), .after(first))
      batch.addDependency(second, to: first)
      try await context.enqueue(batch)
    default: _ = try await context.value(of: JobID(rawValue: 99), as: Int.self)
    }
    return Value()
  }

  struct Value: Codable, Sendable {
    var text = ""
    var number = 0.0
  }
}

private struct Weight: Job {
  static let kind: JobKind = "weight"
  var number: Double
  func perform(in context: JobContext) async throws {}
}

/// Returns a string with the given length.
private struct Echo: Job {
  static let kind: JobKind = "echo"
  static let options: JobOptions = [.retry(.never)]
  var count: Int
  func perform(in context: JobContext) async throws -> String { String(repeating: "x", count: count) }
}
