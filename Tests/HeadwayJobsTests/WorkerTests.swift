import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayTestKit
import Synchronization
import Testing

/// A worker runs jobs as operations of a queue.
@Suite struct WorkerTests {
  @Test("J1: a job runs, and its result can be read")
  func result() async throws {
    let workshop = Workshop()
    let value = try await workshop.run(workshop.worker(Sum.self)) {
      try await workshop.jobs.enqueue(Sum(left: 2, right: 3)).value
    }
    #expect(value == 5)
  }

  @Test("J1: a job that makes an operation runs as that operation")
  func operationJob() async throws {
    let workshop = Workshop()
    let handle = try await workshop.jobs.enqueue(Blocking(fails: false))
    let failing = try await workshop.jobs.enqueue(Blocking(fails: true), .retry(.never))
    try await workshop.run(workshop.worker(Blocking.self)) {
      try await handle.value
      await #expect(throws: JobFailure.self) { try await failing.value }
    }
    let job = try #require(try await failing.job())
    #expect(job.state == .failed)
    #expect(job.history.errors.map(\.text) == ["TestError(text: \"operation\")"])
  }

  @Test("J1: an operation that has run fails the attempt, and not the process", arguments: [false, true])
  func usedOperation(isQueued: Bool) async throws {
    let workshop = Workshop()
    let queue = OperationQueue()
    queue.isSuspended = isQueued
    let operation = BlockOperation {}
    queue.addOperation(operation)
    if !isQueued { try await operation.untilFinished() }
    let handle = try await workshop.jobs.enqueue(Reusing(), .retry(.never))
    try await Reusing.$operation.withValue(operation) {
      let worker = workshop.worker(Reusing.self)
      try await workshop.run(worker) { try await workshop.advance(until: handle.id, is: .failed) }
    }
    queue.isSuspended = false
    let text = try await handle.job()?.history.errors.first?.text
    #expect(text?.contains("Create a new operation each time.") == true)
  }

  @Test("J2: a job of a former name runs as its type, and other jobs keep waiting")
  func aliases() async throws {
    let workshop = Workshop()
    let payload = JobPayload(bytes: Array(#"{"left":1,"right":1}"#.utf8))
    let old = NewJob(kind: "addition", payload: payload)
    let unknown = NewJob(kind: "unknown", payload: payload)
    let newer = NewJob(kind: "sum", version: 2, payload: payload)
    let ids = try workshop.store.enqueue([unknown, newer, old]).map(\.id)
    let value = try await workshop.run(workshop.worker(Sum.self)) {
      try await workshop.jobs.handle(id: ids[2], of: Sum.self).value
    }
    #expect(value == 2)
    let states = try await workshop.jobs.jobs().map(\.state)
    #expect(states == [.waiting, .waiting, .succeeded])
  }

  @Test("J2: two types of one kind are a precondition failure")
  func sameKind() async {
    await #expect(processExitsWith: .failure) { _ = JobWorker(Jobs(MemoryJobStore()), kinds: [Sum.self, Twin.self]) }
  }

  @Test("J3: a payload of an older version is migrated")
  func migration() async throws {
    let workshop = Workshop()
    let old = NewJob(kind: "greeting", version: 1, payload: JobPayload(bytes: Array(#""Ada""#.utf8)))
    let id = try workshop.store.enqueue([old])[0].id
    let value = try await workshop.run(workshop.worker(Greeting.self)) {
      try await workshop.jobs.handle(id: id, of: Greeting.self).value
    }
    #expect(value == "Hello, Ada")
  }

  @Test("J4: a payload that can't be decoded fails its attempt, and the worker continues")
  func undecodable() async throws {
    let workshop = Workshop()
    let broken = NewJob(kind: "sum", payload: JobPayload(bytes: [0, 255]), options: [.retry(.never)])
    let id = try workshop.store.enqueue([broken])[0].id
    let value = try await workshop.run(workshop.worker(Sum.self)) {
      try await workshop.advance(until: id, is: .failed)
      return try await workshop.jobs.enqueue(Sum(left: 1, right: 2)).value
    }
    #expect(value == 3)
    let job = try #require(try await workshop.jobs.job(id))
    #expect(job.history.errors[0].text.contains("can't be decoded"))
  }

  @Test("J5: a payload that is too large is rejected, and nothing is stored")
  func tooLarge() async throws {
    let jobs = Jobs(MemoryJobStore(maxPayloadSize: 10))
    let error = await #expect(throws: JobError.self) { try await jobs.enqueue(Sum(left: 1_000, right: 1)) }
    #expect(error?.code == .payloadTooLarge)
    #expect(error?.context.contains("sum has 23 bytes") == true)
    #expect(try await jobs.counts().isEmpty)
  }

  @Test("J20: only as many jobs run as the queue allows, the urgent ones first")
  func limitAndPriority() async throws {
    let workshop = Workshop()
    let log = Log()
    for (name, priority) in [("a", Operation.QueuePriority.low), ("b", .normal), ("c", .veryHigh)] {
      try await workshop.jobs.enqueue(Logged(name: name), .priority(priority))
    }
    let queue = OperationQueue(maxConcurrentOperationCount: 1)
    try await Log.$current.withValue(log) {
      let worker = workshop.worker(Logged.self, on: queue)
      try await workshop.run(worker) { try await workshop.advance(until: JobID(rawValue: 1), is: .succeeded) }
    }
    #expect(log.entries == ["c", "b", "a"])
  }

  @Test("J20: while the queue is suspended, no jobs are claimed")
  func suspension() async throws {
    let workshop = Workshop()
    let queue = OperationQueue(maxConcurrentOperationCount: 1)
    queue.isSuspended = true
    let handle = try await workshop.jobs.enqueue(Sum(left: 1, right: 1))
    try await workshop.run(workshop.worker(Sum.self, on: queue)) {
      await workshop.passBeats(3)
      let state = try await handle.job()?.state
      #expect(state == .waiting)
      queue.isSuspended = false
      try await workshop.advance(until: handle.id, is: .succeeded)
    }
  }

  @Test("J20: a queue that was suspended since the last beat receives no job")
  func suspensionBetweenBeats() async throws {
    let workshop = Workshop()
    let queue = OperationQueue(maxConcurrentOperationCount: 1)
    try await workshop.run(workshop.worker(Sum.self, on: queue)) {
      let first = try await workshop.jobs.enqueue(Sum(left: 1, right: 1))
      try await workshop.advance(until: first.id, is: .succeeded)
      // After another beat, no claim from the time before is on its way.
      await workshop.passBeats(1)
      await workshop.clock.waitForSleepers(count: 1)
      queue.isSuspended = true
      let second = try await workshop.jobs.enqueue(Sum(left: 1, right: 1))
      // The hint has made the worker ask.
      for _ in 0..<1_000 { await Task.yield() }
      let state = try await second.job()?.state
      #expect(state == .waiting)
      queue.isSuspended = false
      try await workshop.advance(until: second.id, is: .succeeded)
    }
  }

  @Test("J25: a time limit below zero expires immediately")
  func negativeTimeout() async throws {
    let workshop = Workshop()
    let options: JobOptions = [.timeout(.seconds(-1)), .retry(.never)]
    let handle = try await workshop.jobs.enqueue(Patient(), .options(options))
    try await workshop.run(workshop.worker(Patient.self)) {
      try await workshop.advance(until: handle.id, is: .failed)
    }
  }

  @Test("J40: an error is kept, and the job runs again after a pause")
  func retry() async throws {
    let workshop = Workshop()
    let handle = try await workshop.jobs.enqueue(Flaky(failureCount: 2))
    try await workshop.run(workshop.worker(Flaky.self)) {
      try await workshop.advance(until: handle.id, is: .succeeded)
    }
    let job = try #require(try await handle.job())
    #expect(job.attempt == 3)
    #expect(job.history.errors.map(\.attempt) == [1, 2])
    #expect(job.history.errors[0].type.hasSuffix("TestError"))
  }

  @Test("J40: after the last attempt, the job has failed")
  func lastAttempt() async throws {
    let workshop = Workshop()
    let options: JobOptions = [.retry(.constant(maxAttemptCount: 2, delay: .seconds(1)))]
    let handle = try await workshop.jobs.enqueue(Flaky(failureCount: 9), .options(options))
    try await workshop.run(workshop.worker(Flaky.self)) {
      try await workshop.advance(until: handle.id, is: .failed)
    }
    let job = try #require(try await handle.job())
    #expect(job.attempt == 2)
    #expect(job.reason?.code == .failed)
  }

  @Test("J41: a job can discard itself, or wait without using an attempt")
  func signals() async throws {
    let workshop = Workshop()
    let discarded = try await workshop.jobs.enqueue(Signalling(signal: "discard"))
    let snoozed = try await workshop.jobs.enqueue(Signalling(signal: "snooze"))
    try await workshop.run(workshop.worker(Signalling.self)) {
      try await workshop.advance(until: discarded.id, is: .failed)
      try await workshop.advance(until: snoozed.id, is: .succeeded)
    }
    let (first, second) = (try await discarded.job(), try await snoozed.job())
    #expect(first?.reason == JobEndReason(.discarded, "useless"))
    #expect(second?.attempt == 1)
    #expect(second?.snoozeCount == 2)
  }
}
