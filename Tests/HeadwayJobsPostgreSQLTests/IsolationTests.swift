#if PostgreSQL
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsPostgreSQL
import HeadwayTestSupport
import Testing

/// One job, value or transaction that must not stop all workers.
@Suite(.hangLimit, .serialized) struct PostgresIsolationTests {
  private let description = WorkerDescription(
    name: "test", processIdentifier: 1, queues: ["default"], kinds: ["plain": 1])

  private func claim(_ store: PostgresJobStore, _ worker: WorkerID) async throws -> [JobRecord] {
    let claim = JobClaim(queue: "default", count: 9, allowsSuspect: true, kinds: ["plain": 1])
    return try await store.exchange(JobExchange(worker: worker, claims: [claim])).claimed[0]
  }

  /// Locks the row of a job in a transaction of the application, until the returned gate is opened.
  private func lock(_ id: JobID, _ test: TestStore) async -> (gate: Gate, transaction: Task<Void, any Error>) {
    let (gate, locked) = (Gate(), AsyncStream.makeStream(of: Void.self))
    let transaction = Task {
      try await test.store.transaction(within: .seconds(3_600)) { transaction in
        _ = try transaction.rows("SELECT id FROM \(test.schema).job WHERE id = \(id) FOR UPDATE")
        locked.continuation.finish()
        gate.wait()
      }
    }
    for await _ in locked.stream {}
    return (gate, transaction)
  }

  @Test("J121: other clients can't store names that no index can hold")
  func names() async throws {
    let test = try await TestStore()
    let key = "(SELECT string_agg(md5(n::text), '') FROM generate_series(1, 40) n)"
    for parameter in ["queue", "limit_key", "unique_key"] {
      let sql = "SELECT enqueue('plain', '', start => clock_timestamp() + interval '1 hour', \(parameter) => \(key))"
      #expect(throws: PostgresServer.Failure.self) { try test.psql(sql) }
    }
    let options: JobOptions = [.queue(String(repeating: "n", count: 513))]
    let job = NewJob(kind: "plain", payload: JobPayload(bytes: []), options: options)
    let error = await #expect(throws: JobError.self) { try await test.store.enqueue([job]) }
    #expect(error?.code == .nameTooLong)
    #expect(try await test.jobs.jobs().isEmpty)
    await test.store.close()
  }

  @Test("J120: a schedule whose jobs could not be stored is rejected")
  func schedule() async throws {
    let test = try await TestStore()
    let error = await #expect(throws: JobError.self) {
      try await test.jobs.schedule("often", .every(.seconds(1)), job: PlainJob(number: 1), .queue("a\0b"))
    }
    #expect(error?.code == .unencodablePayload)
    #expect(try await test.jobs.schedules().isEmpty)
    await test.store.close()
  }

  @Test("J40: a job whose result can't be stored fails, and the other jobs of its worker finish")
  func ending() async throws {
    let test = try await TestStore()
    try test.psql("ALTER TABLE done ADD CONSTRAINT has_no_result CHECK (result IS NULL)")
    let worker = try await test.store.register(description)
    let handles = try await test.jobs.enqueue(contentsOf: (0..<3).map(PlainJob.init))
    let fences = try await claim(test.store, worker).compactMap(\.fence)
    #expect(fences.map(\.id) == handles.map(\.id))
    let later = try await test.jobs.enqueue(PlainJob(number: 3))
    let results = [nil, JobPayload(bytes: [1]), nil]
    let endings = zip(fences, results).map { JobEnding($0, .succeed(result: $1)) }
    let claims = [JobClaim(queue: "default", count: 9, allowsSuspect: true, kinds: ["plain": 1])]
    let answer = try await test.store.exchange(JobExchange(worker: worker, endings: endings, claims: claims))
    #expect(answer.verdicts == [.recorded, .recorded, .recorded])
    #expect(answer.claimed[0].map(\.id) == [later.id])
    let stored = try await test.jobs.jobs(JobFilter(ids: handles.map(\.id)))
    #expect(stored.map(\.state) == [.succeeded, .failed, .succeeded])
    await test.store.close()
  }

  @Test("J91: a job that another client keeps for as long as possible ends")
  func retention() async throws {
    let test = try await TestStore()
    let worker = try await test.store.register(description)
    try test.psql("SELECT enqueue('plain', '', keep => 9223372036854775807)")
    let fence = try #require(try await claim(test.store, worker).first?.fence)
    let ending = JobExchange(worker: worker, endings: [JobEnding(fence, .succeed(result: nil))])
    #expect(try await test.store.exchange(ending).verdicts == [.recorded])
    #expect(try await test.jobs.job(fence.id)?.state == .succeeded)
    await test.store.close()
  }

  @Test("J68: a due job that a transaction of the application has locked does not delay others")
  func lockedDueJob() async throws {
    let test = try await TestStore()
    let handles = try await test.jobs.enqueue(contentsOf: (0..<2).map(PlainJob.init), .delay(.milliseconds(1)))
    let (gate, transaction) = await lock(handles[0].id, test)
    try await poll {
      _ = try await test.store.advance()
      return try await handles[1].job()?.state == .waiting
    }
    #expect(try await handles[0].job()?.state == .scheduled)
    // The next look is not immediate.
    let next = try #require(try await test.store.advance())
    #expect(next > test.store.now)
    gate.open()
    try await transaction.value
    try await poll {
      _ = try await test.store.advance()
      return try await handles[0].job()?.state == .waiting
    }
    await test.store.close()
  }

  @Test("J37: a running job that is locked by the application's transaction does not delay the rescue of other jobs")
  func lockedRunningJob() async throws {
    let test = try await TestStore(leaseLength: .seconds(3))
    let worker = try await test.store.register(description)
    let handles = try await test.jobs.enqueue(contentsOf: (0..<2).map(PlainJob.init))
    #expect(try await claim(test.store, worker).count == 2)
    let (gate, transaction) = await lock(handles[0].id, test)
    try test.psql("UPDATE worker SET lease = clock_timestamp()")
    #expect(try await test.store.rescue() == [handles[1].id])
    #expect(try await test.store.rescue() == [])
    gate.open()
    try await transaction.value
    #expect(try await test.store.rescue() == [handles[0].id])
    #expect(try test.psql("SELECT count(*) FROM worker") == "0")
    await test.store.close()
  }
}
#endif
