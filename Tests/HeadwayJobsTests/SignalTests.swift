import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsTestKit
import HeadwayTestKit
import Testing

/// Jobs that wait for signals, or sleep.
@Suite struct SignalTests {
  private let test = JobTest()
  private let log = Log()

  /// Runs the orders that can run within a time.
  private func drain(for duration: Duration = .zero) async throws -> JobTestReport {
    try await Log.$current.withValue(log) { try await test.drain(Order.self, for: duration) }
  }

  @Test("J220: a job waits for a signal and sleeps without occupying a worker, and its steps run once")
  func order() async throws {
    let handle = try await test.jobs.enqueue(Order())
    let first = try await drain()
    #expect(first.suspendedCount == 1)
    #expect(first.nextTime == test.jobs.store.now + .seconds(60))
    let waiting = try #require(try await handle.job())
    #expect(waiting.state == .scheduled)
    #expect(waiting.wait == .signal("sent"))
    #expect(try await test.jobs.snapshot().workers.isEmpty)
    test.clock.advance(by: .seconds(10))
    #expect(try await test.jobs.signal(handle.id, "sent", "parcel 7"))
    let second = try await drain()
    #expect(second.suspendedCount == 1)
    #expect(try await handle.job()?.wait == .sleep("cool down"))
    let last = try await drain(for: .seconds(3_600))
    #expect(last.duration == .seconds(600))
    #expect(try await handle.value == "parcel 7")
    #expect(log.entries == ["charge", "review"])
  }

  @Test("J223: a wait returns nil if no signal arrives in time, and the job compensates its steps")
  func timeLimit() async throws {
    let handle = try await test.jobs.enqueue(Order())
    let report = try await drain(for: .seconds(60))
    #expect(report.duration == .seconds(60))
    #expect(try await handle.value == "refunded")
    #expect(log.entries == ["charge", "refund"])
  }

  @Test("J233: code that catches the error of a wait runs no further step, and the job still waits")
  func caughtSuspension() async throws {
    let handle = try await test.jobs.enqueue(Careless())
    let report = try await Log.$current.withValue(log) { try await test.drain(Careless.self, for: .zero) }
    #expect(report.suspendedCount == 1)
    #expect(log.entries == ["suspended", "suspended", "suspended"])
    #expect(try await handle.job()?.wait == .signal("go"))
    try await test.jobs.signal(handle.id, "go")
    _ = try await Log.$current.withValue(log) { try await test.drain(Careless.self, for: .zero) }
    #expect(try await handle.value)
  }

  @Test("J233, J212: middleware receives the error of a wait, and its ending without an error")
  func middleware() async throws {
    try await test.jobs.enqueue(Watched())
    let report = try await Log.$current.withValue(log) { try await test.drain(Watched.self, for: .seconds(60)) }
    #expect(report.suspendedCount == 1 && report.succeededCount == 1)
    #expect(log.entries == ["JobSuspension", "suspended: nil", "returned", "succeeded: nil"])
  }

  @Test("J222: a loop receives the values of signals in the order they were sent")
  func loop() async throws {
    let handle = try await test.jobs.enqueue(Counter())
    _ = try await test.drain(Counter.self, for: .zero)
    for value in 1...3 { try await test.jobs.signal(handle.id, "add", value) }
    _ = try await test.drain(Counter.self, for: .zero)
    #expect(try await handle.job()?.wait == .signal("add"))
    try await test.jobs.signal(handle.id, "add", 0)
    _ = try await test.drain(Counter.self, for: .zero)
    #expect(try await handle.value == [1, 2, 3])
  }

  @Test("J222: a wait inside a checkpoint is rejected, because later attempts don't run the step")
  func waitInStep() async throws {
    let error = await #expect(throws: JobError.self) { try await test.perform(Nested()) }
    #expect(error?.code == .waitInCheckpoint)
    #expect(error?.isRetryable == false)
  }

  @Test("J222: a wait whose answer was lost is the same wait if the code calls it again")
  func lostAnswers() async throws {
    let test = JobTest(jobs: Jobs(FaultyStore(MemoryJobStore(), .lostWriteAnswers)))
    let handle = try await test.jobs.enqueue(Persistent())
    for value in 1...2 { try await test.jobs.signal(handle.id, "add", value) }
    _ = try await Log.$current.withValue(log) { try await test.drain(Persistent.self, for: .zero) }
    #expect(try await handle.value == [1, 2])
    #expect(log.entries == ["failed", "failed"])
  }

  @Test("J233: a step that has begun when another task reaches a wait stores its value and runs once")
  func concurrentStep() async throws {
    let handle = try await test.jobs.enqueue(Concurrent())
    for isSent in [false, true] {
      if isSent { try await test.jobs.signal(handle.id, "go") }
      _ = try await Log.$current.withValue(log) { try await test.drain(Concurrent.self, for: .zero) }
    }
    #expect(try await handle.value)
    #expect(log.entries == ["charge", "suspended"])
  }

  @Test("J223: a wait throws an error if the value has another type")
  func undecodable() async throws {
    let handle = try await test.jobs.enqueue(Order(), .retry(.never))
    try await test.jobs.signal(handle.id, "sent", 7)
    // The order catches the error and refunds the charge.
    _ = try await drain()
    #expect(try await handle.value == "refunded")
    #expect(log.entries == ["charge", "refund"])
  }

  @Test("J295: a job that receives a value of another type fails and is not retried, and the code can wait again")
  func permanentlyUndecodable() async throws {
    let handle = try await test.jobs.enqueue(Counter())
    try await test.jobs.signal(handle.id, "add", "seven")
    let report = try await test.drain(Counter.self, for: .seconds(86_400))
    #expect(report.failedCount == 1 && report.retriedCount == 0)
    #expect(try await handle.job()?.attempt == 1)
    let patient = try await test.jobs.enqueue(Lenient())
    for value in ["1", "2"] { try await test.jobs.signal(patient.id, "add", value) }
    try await test.jobs.signal(patient.id, "add", 3)
    _ = try await Log.$current.withValue(log) { try await test.drain(Lenient.self, for: .zero) }
    #expect(try await patient.value == 3)
    #expect(log.entries == ["undecodable signal", "undecodable signal"])
  }

  @Test("J234: signals with invalid names or values are rejected, and checkpoints can't use reserved names")
  func misuse() async throws {
    let handle = try await test.jobs.enqueue(Order())
    let long = await #expect(throws: JobError.self) {
      try await test.jobs.signal(handle.id, String(repeating: "n", count: 513))
    }
    #expect(long?.code == .nameTooLong)
    let large = await #expect(throws: JobError.self) {
      try await test.jobs.signal(handle.id, "sent", String(repeating: "v", count: 65_536))
    }
    #expect(large?.code == .payloadTooLarge)
    let invalid = await #expect(throws: JobError.self) {
      try await test.jobs.signal(handle.id, "sent", Double.infinity)
    }
    #expect(invalid?.code == .unencodablePayload)
    #expect(try await test.jobs.signal(JobID(rawValue: 1_000), "sent", "parcel") == false)
    let reserved = await #expect(throws: JobError.self) { try await test.perform(Reserving()) }
    #expect(reserved?.code == .refusedValue)
    #expect(reserved?.isRetryable == false)
  }

  @Test("J200, J233: a test that performs one attempt of a job that waits receives the error of the wait")
  func performed() async throws {
    let suspension = try await Log.$current.withValue(log) {
      try #require(await #expect(throws: JobSuspension.self) { try await test.perform(Order()) })
    }
    #expect(suspension.wait == .signal("sent"))
    #expect(suspension.endTime == test.jobs.store.now + .seconds(60))
    let job = try #require(try await test.jobs.jobs().first)
    #expect(job.state == .cancelled)
    #expect(log.entries == ["charge"])
  }

  @Test("J235: a diagnosis, the history and events describe what a job waits for")
  func descriptions() async throws {
    let handle = try await test.jobs.enqueue(Order())
    _ = try await drain()
    let until = test.jobs.store.now + .seconds(60)
    let diagnosis = try await test.jobs.diagnose(handle.id)
    #expect(diagnosis == "job 1 (order) waits for the signal “sent”, at most until \(until)")
    let job = try #require(try await handle.job())
    #expect(job.history.transitions.last?.note == "waits for the signal “sent”")
    let fence = try #require(job.fence)
    let event = JobEvent.ended(JobAttempt(job, fence), .wait(.sleep("nap"), until: until))
    #expect(
      event.description
        == "attempt 0 of job 1 (order) has ended, and the job waits for the end of the sleep “nap”, until \(until)")
    try await test.jobs.signal(handle.id, "sent", "parcel")
    #expect(try await handle.job()?.history.transitions.last?.note == "received the signal “sent”")
    let signal = try JobSignal("sent", "secret")
    #expect("\(signal)" == "signal “sent” with 8 bytes")
    for wait in [JobWait.signal("a b"), .sleep(""), .signal("ß")] { #expect(JobWait(stored: wait.stored) == wait) }
    #expect(JobWait(stored: "moon full") == nil)
  }
}

/// Charges, waits until the goods are sent, and asks for a review later; refunds the charge if something fails.
private struct Order: Job {
  static let kind: JobKind = "order"

  func perform(in context: JobContext) async throws -> String {
    try await context.step("charge")
    do {
      let parcel = try await context.waitForSignal("sent", as: String.self, timeLimit: .seconds(60))
      guard let parcel else { throw TestError(text: "late") }
      try await context.sleep("cool down", for: .seconds(600))
      try await context.step("review")
      return parcel
    } catch {
      // Has no effect if the job waits.
      try await context.step("refund")
      return "refunded"
    }
  }
}

/// Catches the error of its wait again and again.
private struct Careless: Job {
  static let kind: JobKind = "careless"

  func perform(in context: JobContext) async throws -> Bool {
    do { return try await context.waitForSignal("go", timeLimit: .seconds(60)) } catch is JobSuspension {
      Log.current.append("suspended")
    }
    do { try await context.step("step") } catch is JobSuspension { Log.current.append("suspended") }
    do { try await context.sleep("nap", for: .zero) } catch is JobSuspension { Log.current.append("suspended") }
    return false
  }
}

/// Waits inside a step.
private struct Nested: Job {
  static let kind: JobKind = "nested"

  func perform(in context: JobContext) async throws -> Bool {
    try await context.checkpoint("step") { try await context.waitForSignal("go", timeLimit: .seconds(60)) }
  }
}

/// Comes to a wait while a step runs in another task.
private struct Concurrent: Job {
  static let kind: JobKind = "concurrent"

  func perform(in context: JobContext) async throws -> Bool {
    let log = Log.current
    async let charge = context.checkpoint("charge") {
      log.append("charge")
      await log.wait(for: "suspended")
      return true
    }
    await log.wait(for: "charge")
    do {
      _ = try await context.waitForSignal("go", timeLimit: .seconds(60))
    } catch {
      log.append("suspended")
      _ = try await charge
      throw error
    }
    return try await charge
  }
}

/// Collects two numbers and calls a wait again after an error of the store.
private struct Persistent: Job {
  static let kind: JobKind = "persistent"

  func perform(in context: JobContext) async throws -> [Int] {
    var values: [Int] = []
    while values.count < 2 {
      do {
        let value = try await context.waitForSignal("add", as: Int.self, timeLimit: .seconds(60))
        values.append(value ?? 0)
      } catch let error as JobError where error.code == .storeFailed {
        Log.current.append("failed")
      }
    }
    return values
  }
}

/// Waits for a number; ignores signals that contain none.
private struct Lenient: Job {
  static let kind: JobKind = "lenient"

  func perform(in context: JobContext) async throws -> Int {
    while true {
      do {
        return try await context.waitForSignal("add", as: Int.self, timeLimit: .seconds(60)) ?? 0
      } catch let error as JobError where error.code == .undecodableSignal {
        Log.current.append("\(error.code)")
      }
    }
  }
}

/// Collects numbers until the first zero.
private struct Counter: Job {
  static let kind: JobKind = "counter"

  func perform(in context: JobContext) async throws -> [Int] {
    var values: [Int] = []
    while let value = try await context.waitForSignal("add", as: Int.self, timeLimit: .seconds(60)), value != 0 {
      values.append(value)
    }
    return values
  }
}

/// Waits inside middleware.
private struct Watched: Job {
  static let kind: JobKind = "watched"
  static var middleware: [any JobMiddleware] { [Watching()] }

  func perform(in context: JobContext) async throws -> Bool {
    try await context.waitForSignal("go", timeLimit: .seconds(60))
  }
}

private struct Watching: JobMiddleware {
  func perform(in context: JobContext, next: JobMiddlewareChain) async throws {
    do {
      try await next()
      Log.current.append("returned")
    } catch {
      Log.current.append("\(type(of: error))")
      throw error
    }
  }

  func didEnd(_ context: JobContext, with ending: JobEnding.Action, error: (any Error)?) {
    Log.current.append("\(ending.status): \(error.map { "\(type(of: $0))" } ?? "nil")")
  }
}

/// Uses the name of a row of signals for a checkpoint.
private struct Reserving: Job {
  static let kind: JobKind = "reserving"

  func perform(in context: JobContext) async throws {
    _ = try await context.checkpoint("headway/signals") { true }
  }
}

extension JobContext {
  /// Logs a step once.
  fileprivate func step(_ name: String) async throws {
    _ = try await checkpoint(name) {
      Log.current.append(name)
      return true
    }
  }
}
