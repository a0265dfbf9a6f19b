#if PostgreSQL
import Foundation
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsPostgreSQL
import HeadwayTestSupport
import Synchronization
import Testing

@testable import PostgresCrashProgram

/// Workers of several processes: leases, rescues and hints.
@Suite(.hangLimit, .serialized) struct PostgresFleetTests {
  private let description = WorkerDescription(
    name: "test", processIdentifier: 1, queues: ["default"], kinds: ["plain": 1])

  private func claim(_ store: PostgresJobStore, _ worker: WorkerID) async throws -> [JobRecord] {
    let claim = JobClaim(queue: "default", count: 9, allowsSuspect: true, kinds: ["plain": 1])
    return try await store.exchange(JobExchange(worker: worker, claims: [claim])).claimed[0]
  }

  @Test("J35: a lease is renewed on a thread of the store, even while all of Swift's threads are blocked")
  func renewal() async throws {
    let test = try await TestStore(leaseLength: .seconds(3))
    let worker = try await test.store.register(description)
    let lease = "SELECT extract(epoch FROM lease) FROM worker WHERE id = \(worker)"
    let first = try test.psql(lease)
    // psql blocks this thread of the pool.
    while try test.psql(lease) == first {}
    let beat = try await test.store.beat(worker, running: [])
    #expect(beat == WorkerBeat(isRegistered: true))
    try await test.store.unregister(worker, isRunningCode: false)
    await test.store.close()
  }

  @Test("J35: an expired lease is not renewed, and the worker claims nothing more")
  func expiry() async throws {
    let test = try await TestStore(leaseLength: .seconds(3))
    let worker = try await test.store.register(description)
    let handle = try await test.jobs.enqueue(PlainJob(number: 1))
    let fence = try #require(try await claim(test.store, worker).first?.fence)
    try test.psql("UPDATE worker SET lease = clock_timestamp()")
    try await poll { try await !test.store.beat(worker, running: [fence]).isRegistered }
    let rescued = try await test.store.rescue()
    #expect(rescued == [handle.id])
    let claimed = try await claim(test.store, worker)
    #expect(claimed.isEmpty)
    let ending = JobExchange(worker: worker, endings: [JobEnding(fence, .succeed(result: nil))])
    let verdicts = try await test.store.exchange(ending).verdicts
    #expect(verdicts == [.refused])
    let job = try #require(try await handle.job())
    #expect(job.attempt == 0)
    #expect(job.crashCount == 1)
    await test.store.close()
  }

  @Test("J36: a worker that can't reach the server counts its lease as lost before others rescue its jobs")
  func unconfirmed() async throws {
    let server = try PostgresServer()
    let test = try await TestStore(leaseLength: .seconds(3), server: server)
    let worker = try await test.store.register(description)
    let isNotified = Mutex(false)
    let token = test.store.observeHints { hint in
      if hint == .leaseLost(worker) { isNotified.withLock { $0 = true } }
    }
    defer { withExtendedLifetime(token) {} }
    try server.stop(.immediate)
    try await poll { isNotified.withLock { $0 } }
    // The answer does not need the server.
    let beat = try await test.store.beat(worker, running: [])
    #expect(!beat.isRegistered)
    try server.start()
    try await poll {
      _ = try? await test.store.rescue()
      return try test.psql("SELECT count(*) FROM worker") == "0"
    }
    await test.store.close()
  }

  @Test("J36: a control connection that is blocked does not delay the report of a lost lease")
  func blockedControl() async throws {
    var limits = PostgresTimeLimits()
    (limits.lock, limits.statement) = (.seconds(3_600), .seconds(3_600))
    let test = try await TestStore(leaseLength: .seconds(3), limits: limits)
    let losses = Losses(test.store)
    let worker = try await test.store.register(description)
    let (table, mayEnd) = ("\(test.schema).worker", Gate())
    let blocker = Task {
      try await test.store.transaction(within: .seconds(3_600)) { transaction in
        // The control connection can't renew the lease and waits.
        try transaction.execute("LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE")
        mayEnd.wait()
      }
    }
    try await poll { losses[worker] == 1 }
    mayEnd.open()
    try await blocker.value
    await test.store.close()
  }

  @Test("J36: a lease that the server does not renew is reported as lost, and each lost lease is reported once")
  func refusal() async throws {
    let server = try PostgresServer()
    let test = try await TestStore(leaseLength: .seconds(3), server: server)
    let losses = Losses(test.store)
    let first = try await test.store.register(description)
    try test.psql("UPDATE worker SET lease = clock_timestamp()")
    try await poll { losses[first] > 0 }
    // This lease is lost by time, after the first one would have been.
    let second = try await test.store.register(description)
    try server.stop(.immediate)
    try await poll { losses[second] > 0 }
    #expect(losses[first] == 1)
    #expect(losses[second] == 1)
    await test.store.close()
  }

  @Test("J36: a worker that can't reach the server cancels its operations")
  func cancellation() async throws {
    let server = try PostgresServer()
    let test = try await TestStore(leaseLength: .seconds(3), server: server)
    let worker = JobWorker(test.jobs, kinds: [EndlessJob.self], gracePeriod: .zero)
    worker.serve(on: OperationQueue())
    let run = Task { try await worker.run() }
    let handle = try await test.jobs.enqueue(EndlessJob())
    try await poll { try await handle.job()?.state == .running }
    try server.stop(.immediate)
    for await _ in EndlessJob.cancellation.stream {}
    try server.start()
    // The worker registers again and returns the job of its former identity. This does not count as a crash: the
    // process is alive.
    try await poll { try await handle.job()?.epoch == 2 }
    #expect(try await handle.job()?.crashCount == 0)
    worker.stop()
    try await run.value
    await test.store.close()
  }

  @Test("J43: the ending of a job that another client has locked does not hold up the other endings")
  func lockedJob() async throws {
    var limits = PostgresTimeLimits()
    limits.lock = .milliseconds(50)
    let test = try await TestStore(limits: limits)
    let worker = try await test.store.register(description)
    for number in 0..<3 { try await test.jobs.enqueue(PlainJob(number: number)) }
    let fences = try await claim(test.store, worker).compactMap(\.fence)
    let (table, isLocked, mayEnd) = ("\(test.schema).job", AsyncStream.makeStream(of: Void.self), Gate())
    let locked = try #require(fences.first).id.description
    let blocker = Task {
      try await test.store.transaction(within: .seconds(60)) { transaction in
        try transaction.execute("SELECT id FROM \(table) WHERE id = $1 FOR UPDATE", locked)
        isLocked.continuation.finish()
        mayEnd.wait()
      }
    }
    for await _ in isLocked.stream {}
    let endings = fences.map { JobEnding($0, .succeed(result: nil)) }
    await #expect(throws: JobError.self) {
      try await test.store.exchange(JobExchange(worker: worker, endings: endings))
    }
    let counts = try await test.jobs.counts()["default"]?.byState
    #expect(counts == [.running: 1, .succeeded: 2])
    mayEnd.open()
    try await blocker.value
    let verdicts = try await test.store.exchange(JobExchange(worker: worker, endings: endings)).verdicts
    #expect(verdicts == [.recorded, .recorded, .recorded])
    await test.store.close()
  }

  @Test("J37: of several processes that rescue at the same time, one returns each job")
  func rescue() async throws {
    let test = try await TestStore()
    let others = try await [test.openAgain(), test.openAgain(), test.openAgain()]
    var ids: [JobID] = []
    for number in 0..<5 {
      let worker = try await test.store.register(description)
      ids.append(try await test.jobs.enqueue(PlainJob(number: number)).id)
      #expect(try await claim(test.store, worker).count == 1)
      try await test.store.kill(worker)
    }
    let rescued = try await withThrowingTaskGroup(of: [JobID].self) { group in
      for other in others { group.addTask { try await other.store.rescue() } }
      return try await group.reduce([], +)
    }
    #expect(rescued.sorted() == ids)
    #expect(try test.psql("SELECT count(*) FROM job WHERE crashes = 1 AND \(JobState.waiting.condition)") == "5")
    for other in others { await other.store.close() }
    await test.store.close()
  }

  @Test("J19, J107: hints reach other processes after the commit, gathered to at most ten per second")
  func hints() async throws {
    let test = try await TestStore()
    let other = try await test.openAgain()
    let hints = Mutex<[JobHint]>([])
    let token = other.store.observeHints { hint in hints.withLock { $0.append(hint) } }
    defer { withExtendedLifetime(token) {} }
    // The control connection listens after a moment, and hints can be lost before.
    var count = 0
    while hints.withLock(\.isEmpty) {
      try await test.jobs.enqueue(PlainJob(number: 0), .queue("a"))
      count += 1
    }
    let first = hints.withLock { Set($0) }
    #expect(first == [.claimable(queue: "a")])
    let start = ContinuousClock.now
    for number in 0..<200 { try await test.jobs.enqueue(PlainJob(number: number), .queue("b")) }
    try await poll { hints.withLock { $0.contains(.claimable(queue: "b")) } }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let hintCount = hints.withLock(\.count)
    #expect(Double(hintCount) <= 10 * seconds + 3)
    await other.store.close()
    await test.store.close()
  }

  @Test("J19: a job of one process is run by the worker of another, even if the hint is lost")
  func workers() async throws {
    let test = try await TestStore()
    let other = try await test.openAgain()
    let worker = JobWorker(other.jobs, kinds: [PlainJob.self])
    worker.serve(on: OperationQueue())
    let run = Task { try await worker.run() }
    for number in 0..<20 { try await test.jobs.enqueue(PlainJob(number: number)).untilSucceeded() }
    try test.psql("SELECT enqueue('plain', convert_to('{\"number\":8}', 'UTF8'))")
    try await poll { try await test.jobs.counts()["default"]?.byState == [.succeeded: 21] }
    worker.stop()
    try await run.value
    #expect(try test.psql("SELECT count(*) FROM worker") == "0")
    await other.store.close()
    await test.store.close()
  }

  @Test("J68, J175: workers of several processes run each job once, and there is no deadlock")
  func rivals() async throws {
    let test = try await TestStore(server: PostgresServer())
    try test.psql("CREATE TABLE effect (number bigint PRIMARY KEY, count bigint NOT NULL)")
    let table = "\(test.schema).effect"
    var others: [TestStore] = []
    for _ in 0..<3 { others.append(try await test.openAgain()) }
    let runs = others.map { other in
      let worker = JobWorker(other.jobs, kinds: [CountedJob.self])
      worker.serve(on: OperationQueue(maxConcurrentOperationCount: 4))
      return (worker, Task { try await worker.run() })
    }
    var batch = JobBatch()
    for number in 0..<300 {
      let job = CountedJob(number: number, table: table)
      switch number % 4 {
      case 0: batch.add(job, .limits([.concurrency(2, key: "key \(number % 3)")]))
      case 1: batch.add(job, .limits([.serial(key: "key")]))
      case 2: batch.add(job)
      default:
        let first = batch.add(CountedJob(number: 1_000 + number, table: table))
        batch.add(job, .after(first.success))
      }
    }
    let count = batch.count
    try await test.jobs.enqueue(batch)
    try await poll { try await test.jobs.counts()["default"]?.byState == [.succeeded: count] }
    #expect(try test.psql("SELECT count(*), sum(count) FROM effect") == "\(count)|\(count)")
    for (worker, run) in runs {
      worker.stop()
      try await run.value
    }
    let defects = try await test.store.audit()
    #expect(defects == [])
    #expect(try test.psql("SELECT sum(deadlocks) FROM pg_stat_database") == "0")
    for other in others { await other.store.close() }
    await test.store.close()
  }
}

/// Counts how often each lease was reported as lost.
private final class Losses: Sendable {
  private let counts: Counts
  private let token: any AnyObject & Sendable

  private final class Counts: Sendable {
    let byWorker = Mutex<[WorkerID: Int]>([:])
  }

  init(_ store: PostgresJobStore) {
    let counts = Counts()
    self.counts = counts
    token = store.observeHints { hint in
      if case .leaseLost(let worker) = hint { counts.byWorker.withLock { $0[worker, default: 0] += 1 } }
    }
  }

  subscript(worker: WorkerID) -> Int { counts.byWorker.withLock { $0[worker] ?? 0 } }
}
#endif
