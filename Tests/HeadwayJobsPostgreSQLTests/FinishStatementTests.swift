#if PostgreSQL
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsPostgreSQL
import HeadwayTestSupport
import Testing

/// Jobs whose success another client of the database records, in its own transaction.
@Suite(.hangLimit, .serialized) struct FinishStatementTests {
  private func makeStore() async throws -> TestStore {
    let test = try await TestStore()
    try test.psql("CREATE TABLE effect (number bigint)")
    return test
  }

  private func register(_ test: TestStore) async throws -> WorkerID {
    try await test.store.register(
      WorkerDescription(name: "test", processIdentifier: 1, queues: ["default"], kinds: ["plain": 1]))
  }

  /// Claims the next job and returns the context of the attempt.
  private func claim(_ test: TestStore, by worker: WorkerID) async throws -> JobContext {
    let claim = JobClaim(queue: "default", count: 1, allowsSuspect: true, kinds: ["plain": 1])
    let claimed = try await test.store.exchange(JobExchange(worker: worker, claims: [claim])).claimed[0]
    let job = try #require(claimed.first)
    return JobContext(job, try #require(job.fence), test.jobs)
  }

  @Test("J135: another client commits its writes together with the success of the job, and only once")
  func commit() async throws {
    let test = try await makeStore()
    let options: JobOptions = [.unique(.unfinished("key")), .retention(JobRetention(succeeded: .seconds(3_600)))]
    let handle = try await test.jobs.enqueue(PlainJob(number: 1), .options(options))
    let worker = try await register(test)
    let context = try await claim(test, by: worker)
    _ = try await context.checkpoint("step") { 1 }
    let sql = try context.finishStatement(7).withLiterals
    try test.psql("BEGIN; INSERT INTO effect VALUES (1); \(sql); ROLLBACK")
    #expect(try await handle.job()?.state == .running)
    #expect(try test.psql("SELECT count(*) FROM effect") == "0")

    #expect(try test.psql("BEGIN; INSERT INTO effect VALUES (1); \(sql); COMMIT") == "\(handle.id)")
    let job = try #require(try await handle.job())
    #expect(job.state == .succeeded)
    #expect(try job.result?.decode(Int.self) == 7)
    let (finished, expires) = (try #require(job.finishedTime), try #require(job.expirationTime))
    #expect(expires - finished == .seconds(3_600))
    #expect(try await test.store.checkpoint("step", of: handle.id) == nil)
    #expect(try await test.jobs.enqueue(PlainJob(number: 2), .options(options)).isNew)

    // The attempt has finished the job and can't finish it again.
    #expect(try test.psql(sql) == "")
    let table = "\(test.schema).effect"
    let error = await #expect(throws: JobError.self) {
      try await context.finish { try $0.execute("INSERT INTO \(table) VALUES (2)") }
    }
    #expect(error?.code == .leaseLost)
    #expect(try test.psql("SELECT number FROM effect") == "1")
    // The worker dies before it receives the result of the statement.
    try await test.store.kill(worker)
    #expect(try await test.store.rescue() == [])
    #expect(try await handle.job() == job)
    #expect(try await test.store.audit() == [])
    await test.store.close()
  }

  @Test("J135: the statement has no row if the attempt no longer runs the job")
  func lost() async throws {
    let test = try await makeStore()
    let handle = try await test.jobs.enqueue(PlainJob(number: 1))
    let first = try await claim(test, by: register(test))
    try await test.store.kill(first.fence.owner)
    #expect(try await test.store.rescue() == [handle.id])
    let second = try await claim(test, by: register(test))
    let statement = try first.finishStatement()
    #expect(try test.psql(statement.withLiterals) == "")
    #expect(try await handle.job()?.state == .running)
    try await test.jobs.abandon(handle.id)
    #expect(try test.psql(try second.finishStatement().withLiterals) == "")
    #expect(try await handle.job()?.state == .cancelled)
    await test.store.close()
  }

  @Test("J135, J61: the statement releases dependents, finishes a job with a limit, and resets its queue's failures")
  func consequences() async throws {
    let test = try await makeStore()
    try await test.jobs.changeQueue("default", .maxFailureCount(3))
    try test.psql("UPDATE queue SET failures = 2")
    var batch = JobBatch()
    let first = batch.add(PlainJob(number: 1), .retention(.none), .limits([.serial(key: "key")]))
    let second = batch.add(PlainJob(number: 2), .queue("other"))
    let third = batch.add(PlainJob(number: 3), .after(first), .queue("mail"))
    let fourth = batch.add(PlainJob(number: 4), .after(first, second), .queue("mail"))
    let next = batch.add(PlainJob(number: 5), .limits([.serial(key: "key")]))
    let handles = try await test.jobs.enqueue(batch)
    let worker = try await register(test)
    let context = try await claim(test, by: worker)
    #expect(context.id == handles[first].id)
    #expect(try test.psql(try context.finishStatement().withLiterals) == "\(context.id)")
    #expect(try await handles[third].job()?.state == .waiting)
    let held = try #require(try await handles[fourth].job())
    #expect(held.state == .held)
    #expect(held.unmetCount == 1)
    #expect(try test.psql("SELECT failures FROM queue") == "0")
    #expect(try await claim(test, by: worker).id == handles[next].id)
    // The job has no retention, but its worker must still find it.
    #expect(try await handles[first].job()?.state == .succeeded)
    #expect(try await test.store.audit() == [])
    await test.store.close()
  }

  @Test("J135: a worker does not finish a job again after the statement, even if the job's code then fails")
  func worker() async throws {
    let test = try await makeStore()
    let jobs = test.jobs
    let worker = JobWorker(jobs, kinds: [EffectJob.self, PlainJob.self])
    worker.serve(on: OperationQueue(maxConcurrentOperationCount: 4))
    var events = jobs.events.makeAsyncIterator()
    let run = Task { try await worker.run() }
    var handles: [JobHandle<Int>] = []
    for afterward in EffectJob.Afterward.allCases {
      let job = EffectJob(
        number: handles.count, schema: test.schema, connectionString: test.connectionString, afterward: afterward)
      handles.append(try await jobs.enqueue(job))
    }
    for handle in handles { #expect(try await handle.value == 7) }
    var ends: [JobID: [JobEnding.Action]] = [:]
    // The job whose transaction was rolled back has run twice.
    while ends.values.reduce(0, { $0 + $1.count }) <= handles.count, let event = await events.next() {
      switch event {
      case .ended(let attempt, let action) where attempt.kind == EffectJob.kind:
        ends[attempt.id, default: []].append(action)
      case .leaseLost(let attempt): Issue.record("\(attempt) has lost its job")
      default: break
      }
    }
    for (handle, afterward) in zip(handles, EffectJob.Afterward.allCases) {
      let actions = try #require(ends[handle.id])
      #expect(actions.last?.isSuccess == true, "\(afterward)")
      #expect(actions.count == (afterward == .rollBackOnce ? 2 : 1), "\(afterward)")
      #expect(try await handle.job()?.attempt == actions.count)
    }
    #expect(try test.psql("SELECT string_agg(number::text, ' ' ORDER BY number) FROM effect") == "0 1 2 3")
    worker.stop()
    try await run.value
    #expect(try await test.store.audit() == [])
    await test.store.close()
  }
}

extension JobEnding.Action {
  fileprivate var isSuccess: Bool {
    if case .succeed = self { return true }
    return false
  }
}

/// Writes with `psql`, which also finishes the job.
private struct EffectJob: Job {
  enum Afterward: String, CaseIterable, Codable {
    case succeed, fail
    /// Runs until the worker has asked the store for the attempts that it has lost.
    case linger
    /// Rolls back in the first attempt.
    case rollBackOnce
  }

  struct Failure: Error {}

  static let kind: JobKind = "effect"
  static let options: JobOptions = [.retry(.constant(maxAttemptCount: 2, delay: .zero))]

  var number: Int
  var schema: String
  var connectionString: String
  var afterward: Afterward

  func perform(in context: JobContext) async throws -> Int {
    let isRolledBack = afterward == .rollBackOnce && context.attempt == 1
    let sql = try context.finishStatement(7).withLiterals
    let end = isRolledBack ? "ROLLBACK" : "COMMIT"
    let rows = try psql("BEGIN; INSERT INTO \(schema).effect VALUES (\(number)); \(sql); \(end)", connectionString)
    guard rows == "\(context.id)", !isRolledBack, afterward != .fail else { throw Failure() }
    if afterward == .linger {
      // A beat makes a scheduled job wait, so the second one has begun after the commit.
      for number in 0..<2 {
        try await context.jobs.enqueue(PlainJob(number: number), .delay(.milliseconds(1))).untilSucceeded()
      }
      try Task.checkCancellation()
    }
    return 0
  }
}
#endif
