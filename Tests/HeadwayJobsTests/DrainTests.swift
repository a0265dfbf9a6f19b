import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayTestKit
import Testing

/// A worker that runs until none of its jobs can run.
@Suite struct DrainTests {
  private let workshop = Workshop()

  private var jobs: Jobs { workshop.jobs }

  private func states() async throws -> [JobState] { try await jobs.jobs().map(\.state) }

  @Test("J199: a drain runs all jobs, including jobs that other jobs enqueue, and leaves the store")
  func chain() async throws {
    try await jobs.enqueue(contentsOf: (0..<20).map { _ in Chained(left: 5) })
    try await workshop.worker(Chained.self).drain()
    #expect(try await states() == Array(repeating: .succeeded, count: 120))
    #expect(try await jobs.snapshot().workers.isEmpty)
    #expect(workshop.clock.now.offset == .zero)
  }

  @Test("J199: a worker can drain a store several times, and then run")
  func repeated() async throws {
    let worker = workshop.worker(Sum.self)
    try await worker.drain()
    for number in 1...3 {
      let handle = try await jobs.enqueue(Sum(left: number, right: 1))
      try await worker.drain()
      #expect(try await handle.job()?.state == .succeeded)
    }
    worker.serve("other", on: OperationQueue())
    let handle = try await jobs.enqueue(Sum(left: 1, right: 1), .queue("other"))
    #expect(try await workshop.run(worker) { try await handle.value } == 2)
  }

  @Test("J199: a drain needs no hints to find the jobs that an ending makes ready in another queue")
  func lostHints() async throws {
    let jobs = Jobs(FaultyStore(workshop.store, .lostHints), clock: workshop.clock)
    var last: JobHandle<Int>?
    for number in 0..<10 {
      last = try await jobs.enqueue(
        Sum(left: number, right: 1), .queue("queue \(number % 3)"), .after(last.map { [$0] } ?? []))
    }
    let worker = JobWorker(jobs, kinds: [Sum.self], clock: workshop.clock)
    for number in 0..<3 { worker.serve("queue \(number)", on: OperationQueue(maxConcurrentOperationCount: 2)) }
    try await worker.drain()
    #expect(try await states() == Array(repeating: .succeeded, count: 10))
  }

  @Test("J199: a drain ends, even if a hint arrives during each of its claims")
  func steadyHints() async throws {
    let jobs = Jobs(FaultyStore(workshop.store, .constantHints), clock: workshop.clock)
    try await jobs.enqueue(contentsOf: (0..<10).map { Sum(left: $0, right: 1) })
    // For another worker.
    try await jobs.enqueue(Flaky(failureCount: 0))
    let worker = JobWorker(jobs, kinds: [Sum.self], clock: workshop.clock)
    worker.serve(on: OperationQueue(maxConcurrentOperationCount: 2))
    worker.serve("other", on: OperationQueue(maxConcurrentOperationCount: 2))
    try await worker.drain()
    #expect(try await states() == Array(repeating: .succeeded, count: 10) + [.waiting])
  }

  @Test("J199: a drain runs due jobs and due retries, even if one transaction can't make all of them ready")
  func dueJobs() async throws {
    let options: JobOptions = [.delay(.seconds(60)), .retry(.constant(maxAttemptCount: 3, delay: .zero))]
    try await jobs.enqueue(contentsOf: (0..<2_100).map { _ in Flaky(failureCount: 2) }, .options(options))
    workshop.clock.advance(by: .seconds(60))
    try await workshop.worker(Flaky.self).drain()
    let found = try await jobs.jobs(limit: 10_000)
    #expect(found.allSatisfy { $0.state == .succeeded && $0.attempt == 3 })
    #expect(found.count == 2_100)
  }

  @Test("J199: a drain does not wait for jobs that can't run now")
  func stuckJobs() async throws {
    let later = try await jobs.enqueue(Sum(left: 1, right: 1), .delay(.seconds(60)))
    try await jobs.enqueue(Sum(left: 1, right: 1), .after(later))
    try await jobs.enqueue(Sum(left: 1, right: 1), .queue("paused"))
    try await jobs.enqueue(Sum(left: 1, right: 1), .queue("limited"))
    try await jobs.enqueue(Flaky(failureCount: 0))
    try await jobs.enqueue(Sum(left: 1, right: 1), .limits([.serial(key: "key")]))
    let failing: JobOptions = [.retry(.constant(maxAttemptCount: 2, delay: .seconds(60)))]
    try await jobs.enqueue(Blocking(fails: true), .options(failing))
    try await jobs.pauseQueue("paused")
    try await jobs.changeQueue("limited", .maxRunningJobCount(0))
    let worker = workshop.worker(Sum.self, Blocking.self)
    for queue in ["paused", "limited"] { worker.serve(queue, on: OperationQueue()) }
    try await worker.drain()
    let expected: [JobState] = [.scheduled, .held, .waiting, .waiting, .waiting, .succeeded, .retrying]
    #expect(try await states() == expected)
  }

  @Test("J199: a drain does not wait for a suspended operation queue")
  func suspended() async throws {
    let queue = OperationQueue(maxConcurrentOperationCount: 1)
    let worker = workshop.worker(Sum.self, on: queue)
    try await jobs.enqueue(Sum(left: 1, right: 1))
    queue.isSuspended = true
    // An operation of other code also waits there.
    let operation = BlockOperation {}
    queue.addOperation(operation)
    try await worker.drain()
    #expect(try await states() == [.waiting])
    queue.isSuspended = false
    try await operation.untilFinished()
    try await worker.drain()
    #expect(try await states() == [.succeeded])
  }

  @Test("J199: a drain waits for a slot that other operations use")
  func otherOperations() async throws {
    let log = Log()
    let queue = OperationQueue(maxConcurrentOperationCount: 1)
    queue.addOperation(TaskOperation { await log.wait(for: "go on") })
    try await jobs.enqueue(Sum(left: 1, right: 1))
    let worker = workshop.worker(Sum.self, on: queue)
    let running = Task { try await worker.drain() }
    await workshop.passBeats(2)
    #expect(try await states() == [.waiting])
    log.append("go on")
    try await workshop.advance(untilEndOf: running)
    #expect(try await states() == [.succeeded])
  }

  @Test("J199, J43: if the store fails, a drain tries again until all endings are recorded")
  func faultyStore() async throws {
    let jobs = Jobs(FaultyStore(workshop.store), clock: workshop.clock)
    try await jobs.enqueue(contentsOf: (0..<20).map { Sum(left: $0, right: 1) })
    let worker = JobWorker(jobs, kinds: [Sum.self], clock: workshop.clock)
    worker.serve(on: OperationQueue(maxConcurrentOperationCount: 2))
    try await workshop.advance(untilEndOf: Task { try await worker.drain() })
    #expect(try await states() == Array(repeating: .succeeded, count: 20))
  }

  @Test("J199: a worker that the store no longer knows registers again, and runs the rest of the jobs")
  func lostWorker() async throws {
    try await jobs.enqueue(Fatal())
    try await Fatal.$store.withValue(workshop.store) {
      let worker = workshop.worker(Fatal.self)
      try await workshop.advance(untilEndOf: Task { try await worker.drain() })
    }
    let job = try #require(try await jobs.jobs().first)
    #expect(job.state == .succeeded)
    #expect(job.crashCount == 1)
  }

  @Test("J199, J39: a drain finds suspects in all queues, although a claim returns only one suspect")
  func suspects() async throws {
    let queues = ["a", "b", "c"]
    for queue in queues { try await jobs.enqueue(Sum(left: 1, right: 1), .queue(queue)) }
    let kinds = [Sum.kind: 1]
    let dead = workshop.store.register(
      WorkerDescription(name: "dead", processIdentifier: 1, queues: queues, kinds: kinds))
    let claims = ["b", "c"].map { JobClaim(queue: $0, count: 1, allowsSuspect: false, kinds: kinds) }
    #expect(workshop.store.exchange(JobExchange(worker: dead, claims: claims)).claimed.map(\.count) == [1, 1])
    workshop.store.kill(dead)
    let worker = JobWorker(jobs, kinds: [Sum.self], clock: workshop.clock)
    for queue in queues { worker.serve(queue, on: OperationQueue(maxConcurrentOperationCount: 1)) }
    try await worker.drain()
    #expect(try await states() == [.succeeded, .succeeded, .succeeded])
    #expect(try await jobs.jobs().map(\.crashCount) == [0, 1, 1])
  }

  @Test("J199: a drain whose task is cancelled gives its jobs back, and the worker can drain the store again")
  func cancelled() async throws {
    let log = Log()
    let worker = workshop.worker(Patient.self)
    let handle = try await jobs.enqueue(Patient())
    try await Log.$current.withValue(log) {
      let running = Task { try await worker.drain() }
      await log.wait(for: "begun 1")
      running.cancel()
      try await running.value
    }
    #expect(try await states() == [.waiting])
    try await handle.cancel()
    try await worker.drain()
    #expect(try await states() == [.cancelled])
  }

  @Test("J199: a drain of a stopped worker returns immediately")
  func stopped() async throws {
    try await jobs.enqueue(Sum(left: 1, right: 1))
    let worker = workshop.worker(Sum.self)
    worker.stop()
    try await worker.drain()
    #expect(try await states() == [.waiting])
  }
}

/// Enqueues another job of its kind until none remains.
private struct Chained: Job {
  static let kind: JobKind = "chained"
  var left: Int
  func perform(in context: JobContext) async throws {
    if left > 0 { try await context.enqueue(Chained(left: left - 1)) }
  }
}

/// Removes its worker from the store in its first run, as another process does after the end of a lease.
private struct Fatal: Job {
  static let kind: JobKind = "fatal"
  @TaskLocal static var store: MemoryJobStore?
  func perform(in context: JobContext) async throws {
    guard context.job.crashCount == 0 else { return }
    Self.store?.kill(context.fence.owner)
    _ = Self.store?.rescue()
  }
}
