import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayTestKit
import Testing

/// The capabilities of attempts and handles.
@Suite struct ContextTests {
  @Test("J24: a step runs once for all attempts")
  func checkpoint() async throws {
    let workshop = Workshop()
    let log = Log()
    let handle = try await workshop.jobs.enqueue(Steps())
    let value = try await Log.$current.withValue(log) {
      let worker = workshop.worker(Steps.self)
      return try await workshop.run(worker) {
        try await workshop.advance(until: handle.id, is: .succeeded)
        return try await handle.value
      }
    }
    #expect(value == 42)
    #expect(log.entries == ["charged", "key", "key", "duplicate checkpoint"])
  }

  @Test("J24: a step that returns nothing runs once for all attempts")
  func stepWithoutValue() async throws {
    let workshop = Workshop()
    let log = Log()
    let handle = try await workshop.jobs.enqueue(StepsWithoutValues())
    try await Log.$current.withValue(log) {
      try await workshop.run(workshop.worker(StepsWithoutValues.self)) {
        try await workshop.advance(until: handle.id, is: .succeeded)
      }
    }
    #expect(log.entries == ["greeted", "attempt 1", "attempt 2"])
  }

  @Test("J23, J31: writes of an abandoned attempt are rejected")
  func refused() async throws {
    let workshop = Workshop()
    let log = Log()
    let handle = try await workshop.jobs.enqueue(Writer())
    try await Log.$current.withValue(log) {
      let worker = workshop.worker(Writer.self)
      try await workshop.run(worker) {
        await log.wait(for: "begun")
        try await workshop.jobs.abandon(handle.id)
        await log.wait(for: "go on")
        await log.wait(for: "ended")
      }
    }
    #expect(log.entries == ["begun", "go on", "progress: lease lost", "log: lease lost", "child: lease lost", "ended"])
    let jobs = try await workshop.jobs.jobs()
    #expect(jobs.map(\.state) == [.cancelled])
  }

  @Test("J23: an attempt stores its progress, lines, and other jobs")
  func writes() async throws {
    let workshop = Workshop()
    let handle = try await workshop.jobs.enqueue(Producer())
    try await workshop.run(workshop.worker(Producer.self, Sum.self)) {
      try await workshop.advance(until: handle.id, is: .succeeded)
      try await workshop.advance(until: JobID(rawValue: 2), is: .succeeded)
    }
    let job = try #require(try await handle.job())
    #expect(job.progress == JobProgress(fraction: 0.5, text: "half"))
    #expect(job.history.transitions.map(\.note) == ["a line"])
  }

  @Test("J28: operations in memory depend on a job")
  func operation() async throws {
    let workshop = Workshop()
    let handle = try await workshop.jobs.enqueue(Sum(left: 20, right: 22))
    let queue = OperationQueue()
    let sum = handle.makeOperation()
    let double = queue.addTask(.dependingOn(sum)) { try await sum.value * 2 }
    queue.addOperation(sum)
    let value = try await workshop.run(workshop.worker(Sum.self)) { try await double.value }
    #expect(value == 84)
  }

  @Test("J90: if a task that waits for a result is cancelled, the wait ends, but not the job")
  func cancelledWait() async throws {
    let workshop = Workshop()
    let handle = try await workshop.jobs.enqueue(Sum(left: 1, right: 1))
    let waiting = Task { try await handle.value }
    await workshop.clock.waitForSleepers(count: 1)
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    let state = try await handle.job()?.state
    #expect(state == .waiting)
  }

  @Test(
    "J90: a job can't wait for a job that begins after the first job has ended", arguments: Impatient.Obstacle.allCases)
  func waitThatNeverEnds(obstacle: Impatient.Obstacle) async throws {
    let workshop = Workshop()
    if obstacle == .queue { try await workshop.jobs.changeQueue("default", .maxRunningJobCount(1)) }
    let options: JobOptions = obstacle == .key ? [.limits([.serial(key: "key")])] : []
    let waiting = try await workshop.jobs.enqueue(Impatient(obstacle: obstacle), .options(options))
    let isBehind = obstacle == .dependency || obstacle == .chain
    let second = try await workshop.jobs.enqueue(
      Sum(left: 1, right: 1), .options(options), .after(isBehind ? [waiting] : []))
    try await workshop.jobs.enqueue(Sum(left: 1, right: 2), .after(second))
    let text = try await workshop.run(workshop.worker(Impatient.self, Sum.self)) { try await waiting.value }
    switch obstacle {
    case .none: #expect(text == "2")
    case .itself, .dependency, .chain: #expect(text.contains(", because job 1 must end first."))
    case .key: #expect(text.contains(", because one job of the key “key” runs at a time."))
    case .queue: #expect(text.contains(", because the queue “default” runs one job at a time."))
    }
  }

  @Test("J90: reading the result of a deleted job fails")
  func deleted() async throws {
    let workshop = Workshop()
    let handle = workshop.jobs.handle(id: JobID(rawValue: 7), of: Sum.self)
    let error = await #expect(throws: JobError.self) { try await handle.value }
    #expect(error?.code == .unknownJob)
  }
}

/// Waits for another job and returns its value or the error.
struct Impatient: Job {
  static let kind: JobKind = "impatient"
  enum Obstacle: String, CaseIterable, Codable { case none, itself, dependency, chain, key, queue }
  var obstacle: Obstacle
  func perform(in context: JobContext) async throws -> String {
    let number: Int64 =
      switch obstacle {
      case .itself: 1
      case .chain: 3
      default: 2
      }
    do {
      return "\(try await context.jobs.handle(id: JobID(rawValue: number), of: Sum.self).value)"
    } catch let error as JobError where error.code == .wouldDeadlock {
      return error.context
    }
  }
}

/// Fails after its first step.
struct Steps: Job {
  static let kind: JobKind = "steps"
  func perform(in context: JobContext) async throws -> Int {
    let value = try await context.checkpoint("charge") {
      Log.current.append("charged")
      return 42
    }
    Log.current.append(context.idempotencyKey == "steps/1/1800000000000000" ? "key" : context.idempotencyKey)
    if context.attempt == 1 { throw TestError() }
    do {
      return try await context.checkpoint("charge") { 7 }
    } catch let error as JobError {
      Log.current.append(error.code.description)
    }
    return value
  }
}

/// Has a step that returns nothing, and one that returned a value only in an earlier version of the program.
struct StepsWithoutValues: Job {
  static let kind: JobKind = "steps without values"
  func perform(in context: JobContext) async throws {
    try await context.checkpoint("greet") { Log.current.append("greeted") }
    Log.current.append("attempt \(context.attempt)")
    if context.attempt == 1 {
      try await context.checkpoint("count") { 7 }
      throw TestError()
    }
    try await context.checkpoint("count") { Log.current.append("counted") }
  }
}

/// Writes after it was abandoned.
struct Writer: Job {
  static let kind: JobKind = "writer"
  func perform(in context: JobContext) async throws {
    Log.current.append("begun")
    while try await context.jobs.job(context.id)?.state == .running { await Task.yield() }
    Log.current.append("go on")
    await report("progress") { try await context.reportProgress(0.5) }
    await report("log") { try await context.log("line") }
    await report("child") { try await context.enqueue(Sum(left: 1, right: 1)) }
    Log.current.append("ended")
  }

  private func report(_ name: String, _ body: () async throws -> Void) async {
    do {
      try await body()
      Log.current.append("\(name): written")
    } catch {
      Log.current.append("\(name): \((error as? JobError)?.code.description ?? "other error")")
    }
  }
}

struct Producer: Job {
  static let kind: JobKind = "producer"
  func perform(in context: JobContext) async throws {
    try await context.reportProgress(0.5, message: "half")
    try await context.reportProgress(0.6)
    try await context.log("a line")
    try await context.enqueue(Sum(left: 1, right: 1))
  }
}
