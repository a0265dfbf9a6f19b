import Headway
@_spi(JobStore) import HeadwayJobs
@_spi(JobStore) import HeadwayJobsTestKit
import HeadwayTestKit
import Testing

/// Cancelling jobs, stopping workers, and stores that fail.
@Suite struct StoppingTests {
  @Test("J50: a waiting job is cancelled in the store")
  func cancelWaiting() async throws {
    let workshop = Workshop()
    let handle = try await workshop.jobs.enqueue(Sum(left: 1, right: 1))
    let isCancelled = try await handle.cancel()
    #expect(isCancelled)
    let error = await #expect(throws: JobFailure.self) { try await handle.value }
    #expect(error?.state == .cancelled)
    let isCancelledAgain = try await handle.cancel()
    #expect(!isCancelledAgain)
  }

  @Test(
    "J51, J52: a running job is cancelled by its worker, and is not run again", arguments: ["throw", "error", "return"])
  func cancelRunning(outcome: String) async throws {
    let workshop = Workshop()
    let log = Log()
    let handle = try await workshop.jobs.enqueue(Patient(outcome: outcome))
    try await Log.$current.withValue(log) {
      let worker = workshop.worker(Patient.self)
      try await workshop.run(worker) {
        await log.wait(for: "begun 1")
        try await handle.cancel()
        let expected: [String: JobState] = ["throw": .cancelled, "error": .failed, "return": .cancelled]
        try await workshop.advance(until: handle.id, is: expected[outcome] ?? .held)
      }
    }
    #expect(log.entries == ["begun 1", "cancelled"])
  }

  @Test(
    "J52: a job whose child task was cancelled is retried, and the error is in its history", arguments: [false, true])
  func unrequestedCancellation(ofOperation: Bool) async throws {
    let test = JobTest()
    let options: JobOptions = [.retry(.constant(maxAttemptCount: 5, delay: .milliseconds(1)))]
    let id =
      ofOperation
      ? try await test.jobs.enqueue(RacingOperation(), .options(options)).id
      : try await test.jobs.enqueue(Racing(), .options(options)).id
    try await test.drain(Racing.self, RacingOperation.self)
    let job = try #require(try await test.jobs.job(id))
    #expect(job.state == .succeeded)
    #expect(job.attempt == 2)
    #expect(job.history.errors.map(\.type) == ["Swift.CancellationError"])
  }

  @Test("J54: a job that was abandoned has ended, and its operation is cancelled")
  func abandon() async throws {
    let workshop = Workshop()
    let log = Log()
    let queue = OperationQueue(maxConcurrentOperationCount: 1)
    let handle = try await workshop.jobs.enqueue(Patient(outcome: "return"))
    try await Log.$current.withValue(log) {
      let worker = workshop.worker(Patient.self, on: queue)
      try await workshop.run(worker) {
        await log.wait(for: "begun 1")
        let wasRunning = try await workshop.jobs.abandon(handle.id)
        #expect(wasRunning)
        // The next beat cancels the operation. Anything that it then records is rejected.
        while queue.operationCount > 0 { await workshop.passBeats(1) }
      }
    }
    let job = try #require(try await handle.job())
    #expect(job.reason?.code == .abandoned)
  }

  @Test("J25: after its time limit, an attempt is cancelled and has failed")
  func timeout() async throws {
    let workshop = Workshop()
    let options: JobOptions = [.timeout(.milliseconds(1)), .retry(.never)]
    let log = Log()
    let handle = try await workshop.jobs.enqueue(Patient(outcome: "throw"), .options(options))
    try await Log.$current.withValue(log) {
      try await workshop.run(workshop.worker(Patient.self)) {
        try await workshop.advance(until: handle.id, is: .failed)
      }
    }
    #expect(log.entries == ["begun 1", "cancelled"])
    let job = try #require(try await handle.job())
    #expect(job.history.errors.map(\.type) == ["Headway.TimeLimitError"])
  }

  @Test("J101, J42: a worker that stops gives back jobs that have not begun, and waits for all other jobs")
  func drain() async throws {
    let workshop = Workshop()
    let log = Log()
    let first = try await workshop.jobs.enqueue(Patient())
    let second = try await workshop.jobs.enqueue(Patient())
    try await Log.$current.withValue(log) {
      let worker = workshop.worker(Patient.self, on: OperationQueue(maxConcurrentOperationCount: 1))
      let running = Task { try await worker.run() }
      await log.wait(for: "begun 1")
      worker.stop()
      // One sleeps until the next beat, and one until the end of the grace period of 25 s. The job has three more
      // seconds to react to its cancellation, which do not pass here.
      await workshop.clock.waitForSleepers(count: 2)
      workshop.clock.advance(by: .seconds(25))
      while try await first.job()?.state != .waiting { await Task.yield() }
      try await running.value
    }
    let jobs = try await workshop.jobs.jobs()
    #expect(jobs.map(\.state) == [.waiting, .waiting])
    #expect(jobs.map(\.attempt) == [0, 0])
    #expect(log.entries == ["begun 1", "cancelled"])
    #expect(workshop.clock.now.offset >= .seconds(25))
    #expect(try await second.job()?.crashCount == 0)
  }

  @Test("J101: the ending of code that outlives its worker is recorded, and then the worker leaves the store")
  func outlivingCode() async throws {
    let workshop = Workshop()
    let log = Log()
    let handle = try await workshop.jobs.enqueue(Stubborn())
    try await Log.$current.withValue(log) {
      let worker = workshop.worker(Stubborn.self)
      let running = Task { try await worker.run() }
      await log.wait(for: "begun")
      try await workshop.stop(worker, running)
    }
    #expect(try await handle.job()?.state == .running)
    #expect(try await workshop.jobs.snapshot().workers.map(\.isStopped) == [true])
    log.append("go on")
    while try await !workshop.jobs.snapshot().workers.isEmpty { await Task.yield() }
    #expect(try await handle.job()?.state == .succeeded)
  }

  @Test("J101: a worker whose task is cancelled stops without a grace period")
  func cancelledTask() async throws {
    let workshop = Workshop()
    let log = Log()
    let handle = try await workshop.jobs.enqueue(Patient())
    try await Log.$current.withValue(log) {
      let worker = workshop.worker(Patient.self)
      let running = Task { try await worker.run() }
      await log.wait(for: "begun 1")
      running.cancel()
      try await running.value
    }
    let job = try #require(try await handle.job())
    #expect(job.state == .waiting)
    #expect(workshop.clock.now.offset < .seconds(25))
  }

  @Test("J43: a worker that must stop before its store is back reports how many results it has lost")
  func storeGone() async throws {
    let workshop = Workshop()
    let (store, jobs, worker) = faultyStore(of: workshop)
    try await jobs.enqueue(Sum(left: 1, right: 1))
    let running = Task { try await worker.run() }
    while store.successCount == 0 {
      await Task.yield()
      if workshop.clock.sleeperCount > 0 { workshop.clock.advance(by: .milliseconds(500)) }
    }
    store.isGone = true
    let error = await #expect(throws: JobError.self) { try await workshop.stop(worker, running) }
    #expect(error?.code == .storeFailed)
    #expect(error?.context.contains("Some endings, 1 in all, are not recorded") == true)
  }

  @Test("J101: a worker can stop with a grace period without an end")
  func endlessGracePeriod() async throws {
    let jobs = Jobs(MemoryJobStore())
    let log = Log()
    try await Log.$current.withValue(log) {
      let worker = JobWorker(jobs, kinds: [Patient.self], gracePeriod: .seconds(Int64.max))
      worker.serve(on: OperationQueue(maxConcurrentOperationCount: 1))
      let running = Task { try await worker.run() }
      let handle = try await jobs.enqueue(Patient(outcome: "return"))
      await log.wait(for: "begun 1")
      worker.stop()
      try await handle.cancel()
      try await running.value
      #expect(try await handle.job()?.state == .cancelled)
    }
  }

  @Test("J43, J103: while the store is unavailable, the worker retries, and records every ending once")
  func storeAway() async throws {
    let workshop = Workshop()
    let (store, jobs, worker) = faultyStore(of: workshop)
    let handles = try await jobs.enqueue(contentsOf: (1...20).map { Sum(left: $0, right: 1) })
    let running = Task { try await worker.run() }
    for handle in handles { try await workshop.advance(until: handle.id, is: .succeeded) }
    try await workshop.stop(worker, running)
    let records = try await jobs.jobs()
    #expect(records.allSatisfy { $0.attempt == 1 })
    #expect(store.failureCount > 5)
  }

  @Test("J37: the jobs of a dead worker are rescued even if the store can't be advanced")
  func rescueDespiteFailures() async throws {
    let workshop = Workshop()
    let (store, jobs, worker) = faultyStore(of: workshop)
    store.isStuck = true
    let handle = try await jobs.enqueue(Sum(left: 1, right: 1))
    let dead = workshop.store.register(
      WorkerDescription(name: "dead", processIdentifier: 1, queues: ["default"], kinds: [Sum.kind: 1]))
    let claim = JobClaim(queue: "default", count: 1, allowsSuspect: true, kinds: [Sum.kind: 1])
    #expect(workshop.store.exchange(JobExchange(worker: dead, claims: [claim])).claimed[0].count == 1)
    workshop.store.kill(dead)
    let running = Task { try await worker.run() }
    try await workshop.advance(until: handle.id, is: .succeeded)
    try await workshop.stop(worker, running)
  }

  private func faultyStore(of workshop: Workshop) -> (FaultyStore, Jobs, JobWorker) {
    let store = FaultyStore(workshop.store)
    let jobs = Jobs(store, clock: workshop.clock)
    let worker = JobWorker(jobs, kinds: [Sum.self], clock: workshop.clock)
    worker.serve(on: OperationQueue(maxConcurrentOperationCount: 2))
    return (store, jobs, worker)
  }
}
