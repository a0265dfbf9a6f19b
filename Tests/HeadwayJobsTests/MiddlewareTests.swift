import Headway
@_spi(JobStore) import HeadwayJobs
import Testing

/// Middleware around attempts.
@Suite struct MiddlewareTests {
  private let workshop = Workshop()
  private let log = Log()

  /// Runs a job until it has ended.
  private func run<Type: Job>(
    _ job: Type, _ middleware: any JobMiddleware..., attempts maxAttemptCount: Int = 1
  ) async throws -> JobRecord {
    let options: JobOptions = [.retry(.constant(maxAttemptCount: maxAttemptCount, delay: .milliseconds(1)))]
    let handle = try await workshop.jobs.enqueue(job, .options(options))
    try await Log.$current.withValue(log) {
      try await workshop.run(workshop.worker(Type.self, middleware: middleware)) {
        try await workshop.advanceUntilEnded(handle.id)
      }
    }
    return try #require(try await handle.job())
  }

  @Test("J210, J212: the worker's middleware encloses the kind's middleware, and the first middleware is outermost")
  func order() async throws {
    let job = try await run(Wrapped(), Named("a"), Named("b"))
    #expect(job.state == .succeeded)
    #expect(log.entries.prefix(7) == ["a begins", "b begins", "c begins", "job", "c ends", "b ends", "a ends"])
    #expect(log.entries.dropFirst(7) == ["c: succeeded", "b: succeeded", "a: succeeded"])
  }

  @Test("J210: the code of a job has the task-local values of its middleware")
  func taskLocals() async throws {
    let job = try await run(TenantJob(), SetTenant())
    #expect(job.result.map { String(decoding: $0.bytes, as: UTF8.self) } == #""tenant 1""#)
  }

  @Test("J210: an operation that a job creates has the task-local values of its middleware")
  func taskLocalsOfOperation() async throws {
    let job = try await run(TenantOperation(), SetTenant())
    #expect(job.state == .succeeded)
    #expect(log.entries == ["created for tenant 1", "runs for tenant 1"])
  }

  @Test("J210: with middleware, the error of an operation is the error of its attempt", arguments: [false, true])
  func operation(fails: Bool) async throws {
    let job = try await run(Blocking(fails: fails), Named("a"))
    #expect(job.state == (fails ? .failed : .succeeded))
    #expect(job.history.errors.map(\.text) == (fails ? [#"TestError(text: "operation")"#] : []))
    #expect(log.entries == ["a begins", "a ends", fails ? "a: failed" : "a: succeeded"])
  }

  @Test("J210, J180: with middleware, a job fails if it returns an operation that is used elsewhere")
  func usedOperation() async throws {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operation = BlockOperation {}
    queue.addOperation(operation)
    let job = try await Reusing.$operation.withValue(operation) {
      try await run(Reusing(), Named("a"), attempts: 5)
    }
    queue.isSuspended = false
    #expect(job.state == .failed)
    #expect(job.attempt == 1)
  }

  @Test("J211: after an error of middleware, the job is retried")
  func error() async throws {
    let failing = Around { context, next in
      try await next()
      if context.attempt == 1 { throw TestError() }
    }
    let job = try await run(Sum(left: 1, right: 2), failing, attempts: 5)
    #expect(job.state == .succeeded)
    #expect(job.attempt == 2)
    #expect(job.history.errors.map(\.type) == ["HeadwayJobsTests.TestError"])
  }

  @Test("J211: middleware can replace the error of a job")
  func replacedError() async throws {
    let replacing = Around { _, next in
      do { try await next() } catch is TestError { throw TestError(text: "replaced") }
    }
    let job = try await run(Flaky(failureCount: 1), replacing)
    #expect(job.state == .failed)
    #expect(job.history.errors.map(\.text) == [#"TestError(text: "replaced")"#])
  }

  @Test("J211: middleware can discard a job, which does not run")
  func discard() async throws {
    let discarding = Around { _, _ in throw JobOutcome.discard("The tenant was deleted.") }
    let job = try await run(Logged(name: "job"), discarding, attempts: 5)
    #expect(job.reason == JobEndReason(.discarded, "The tenant was deleted."))
    #expect(log.entries.isEmpty)
  }

  @Test("J211: middleware can snooze a job")
  func snooze() async throws {
    let snoozing = Around { context, next in
      if context.job.snoozeCount < 2 { throw JobOutcome.snooze(.seconds(5)) }
      try await next()
    }
    let job = try await run(Logged(name: "job"), snoozing)
    #expect(job.state == .succeeded)
    #expect(job.attempt == 1)
    #expect(job.snoozeCount == 2)
    #expect(log.entries == ["job"])
  }

  @Test("J211: an attempt succeeds without a result if its middleware returns without running the attempt")
  func skipped() async throws {
    let job = try await run(Sum(left: 1, right: 2), Around { _, _ in })
    #expect(job.state == .succeeded)
    #expect(job.result == nil)
  }

  @Test("J211: an attempt succeeds if its middleware catches the error")
  func caughtError() async throws {
    let job = try await run(Flaky(failureCount: 9), Around { _, next in try? await next() })
    #expect(job.state == .succeeded)
    #expect(job.history.errors.isEmpty)
  }

  @Test("J212: middleware is notified once of each ending, so the final failure is reported once")
  func finalFailure() async throws {
    let job = try await run(Flaky(failureCount: 9), Alarm(log: log), attempts: 3)
    #expect(job.state == .failed)
    #expect(log.entries == ["1 retried: TestError", "2 retried: TestError", "3 failed: TestError"])
  }

  @Test("J212: middleware is notified of an attempt whose payload can't be decoded")
  func undecodable() async throws {
    let broken = NewJob(kind: "sum", payload: JobPayload(bytes: [0, 255]), options: [.retry(.never)])
    let id = try workshop.store.enqueue([broken])[0].id
    let worker = workshop.worker(Sum.self, middleware: [Alarm(log: log), Around { _, _ in log.append("called") }])
    try await workshop.run(worker) { try await workshop.advance(until: id, is: .failed) }
    #expect(log.entries == ["1 failed: JobError"])
  }

  @Test("J213: middleware receives the error of a cancelled job", arguments: [false, true])
  func cancellation(ofOperation: Bool) async throws {
    let catching = Around { [log] _, next in
      do {
        try await next()
      } catch {
        log.append("caught \(type(of: error))")
        throw error
      }
    }
    let jobs = workshop.jobs
    let id =
      ofOperation
      ? try await jobs.enqueue(PatientOperation()).id : try await jobs.enqueue(Patient(outcome: "throw")).id
    try await Log.$current.withValue(log) {
      let worker = workshop.worker(Patient.self, PatientOperation.self, middleware: [Alarm(log: log), catching])
      try await workshop.run(worker) {
        await log.wait(for: "begun 1")
        try await jobs.cancel(id)
        try await workshop.advance(until: id, is: .cancelled)
      }
    }
    #expect(log.entries.prefix(3) == ["begun 1", "cancelled", "caught CancellationError"])
    #expect(log.entries.count == 4 && log.entries.last?.hasPrefix("1 cancelled") == true)
  }

  @Test("J213: the time limit of a job cancels an operation inside middleware")
  func timeout() async throws {
    let options: JobOptions = [.timeout(.milliseconds(1)), .retry(.never)]
    let handle = try await workshop.jobs.enqueue(PatientOperation(), .options(options))
    try await Log.$current.withValue(log) {
      try await workshop.run(workshop.worker(PatientOperation.self, middleware: [Around()])) {
        try await workshop.advance(until: handle.id, is: .failed)
      }
    }
    let job = try #require(try await handle.job())
    #expect(job.history.errors.map(\.type) == ["Headway.TimeLimitError"])
  }
}

// MARK: Middleware

/// Adds its name to the log before and after the code of a job.
private struct Named: JobMiddleware {
  let name: String

  init(_ name: String) { self.name = name }

  func perform(in context: JobContext, next: JobMiddlewareChain) async throws {
    Log.current.append("\(name) begins")
    defer { Log.current.append("\(name) ends") }
    try await next()
  }

  func didEnd(_ context: JobContext, with ending: JobEnding.Action, error: (any Error)?) {
    Log.current.append("\(name): \(ending.status)")
  }
}

/// Calls a function of the test.
private struct Around: JobMiddleware {
  var body: @Sendable (JobContext, JobMiddlewareChain) async throws -> Void = { _, next in try await next() }

  func perform(in context: JobContext, next: JobMiddlewareChain) async throws { try await body(context, next) }
}

/// Adds the endings of attempts to the log.
private struct Alarm: JobMiddleware {
  let log: Log

  func didEnd(_ context: JobContext, with ending: JobEnding.Action, error: (any Error)?) {
    log.append("\(context.attempt) \(ending.status)" + (error.map { ": \(type(of: $0))" } ?? ""))
  }
}

private enum Tenant {
  @TaskLocal static var name = "none"
}

private struct SetTenant: JobMiddleware {
  func perform(in context: JobContext, next: JobMiddlewareChain) async throws {
    try await Tenant.$name.withValue("tenant \(context.id)") { try await next() }
  }
}

// MARK: Jobs

private struct Wrapped: Job {
  static let kind: JobKind = "wrapped"
  static var middleware: [any JobMiddleware] { [Named("c")] }
  func perform(in context: JobContext) async throws { Log.current.append("job") }
}

private struct TenantJob: Job {
  static let kind: JobKind = "tenant"
  func perform(in context: JobContext) async throws -> String { Tenant.name }
}

private struct TenantOperation: OperationJob {
  static let kind: JobKind = "tenant operation"
  func makeOperation(in context: JobContext) -> Operation {
    Log.current.append("created for \(Tenant.name)")
    return TaskOperation { Log.current.append("runs for \(Tenant.name)") }
  }
}

/// Waits in its own operation until it is cancelled.
private struct PatientOperation: OperationJob {
  static let kind: JobKind = "patient operation"
  func makeOperation(in context: JobContext) -> Operation {
    TaskOperation {
      Log.current.append("begun \(context.attempt)")
      await Bell().wait()
      if context.isCancelled { Log.current.append("cancelled") }
      throw CancellationError()
    }
  }
}
