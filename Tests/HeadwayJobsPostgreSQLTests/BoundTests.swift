#if PostgreSQL
import Headway
import HeadwayJobs
import HeadwayTestSupport
import Synchronization
import Testing

@testable import HeadwayJobsPostgreSQL

/// Transactions whose size does not depend on that of the store.
@Suite(.hangLimit, .serialized) struct PostgresBoundTests {
  private let description = WorkerDescription(
    name: "test", processIdentifier: 1, queues: ["default"], kinds: ["plain": 1])

  /// Runs a transaction on a connection of its own.
  ///
  /// - Returns: The answer, and the number of requests.
  private func count<Answer>(
    _ test: TestStore, _ body: (JobTransaction) throws -> Answer
  ) throws -> (answer: Answer, requestCount: Int) {
    let session = try PostgresSession(ConnectionSettings(test.connectionString))
    let runner = TransactionRunner(schema: try SchemaName(test.schema), clock: StoreClock(custom: nil))
    let before = session.requestCount
    let answer = try runner.run(session, hold: .alone, body).answer
    return (answer, session.requestCount - before)
  }

  /// The greatest number of rows that one transaction has written.
  private func greatestChange(of table: String, _ test: TestStore) throws -> Int {
    Int(
      try test.psql(
        "SELECT max(n) FROM (SELECT count(*) AS n FROM \(table) GROUP BY xmin::text) AS transactions")) ?? -1
  }

  @Test("J185: 2,500 due schedules are processed by transactions of at most 1,000, with few requests each")
  func schedules() async throws {
    let test = try await TestStore()
    try await test.jobs.schedule("first", .every(.seconds(3_600)), job: PlainJob(number: 1))
    try test.psql(
      """
      INSERT INTO schedule SELECT 'schedule ' || n, definition, anchor, decided, NULL, NULL, false, next
      FROM schedule, generate_series(1, 2499) n;
      UPDATE schedule SET anchor = anchor - interval '2 h', decided = decided - interval '2 h',
      next = next - interval '1 h'
      """)
    var rounds = 0
    while try await test.jobs.counts()["default"]?[.waiting] ?? 0 < 2_500 {
      let (_, requestCount) = try count(test) { try $0.advance() }
      #expect(requestCount < 20)
      rounds += 1
    }
    #expect(rounds == 3)
    #expect(try greatestChange(of: "job", test) == JobCommand.maxChangedCount)
    #expect(try test.psql("SELECT count(*) FROM schedule WHERE next > clock_timestamp() AND last_job > 0") == "2500")
    await test.store.close()
  }

  @Test("J185: the number of requests that store a graph, and end its jobs, does not grow with the jobs one by one")
  func graphs() async throws {
    let test = try await TestStore()
    func jobs(_ count: Int) -> [NewJob] {
      let leaf = NewJob(kind: "plain", payload: JobPayload(bytes: [1]), options: JobOptions())
      var jobs = Array(repeating: leaf, count: count)
      for number in 0..<count - 1 { jobs[count - 1].dependencies.append(JobDependency(.batch(number))) }
      for number in 1..<count / 2 { jobs[number].dependencies = [JobDependency(.batch(0), requiring: .success)] }
      return jobs
    }
    let (stored, requestCount) = try count(test) { try $0.enqueue(jobs(4_000)) }
    #expect(stored.count == 4_000)
    #expect(requestCount < 30)
    // The failure of the first job cancels 1,999 dependents.
    #expect(try await test.store.perform(.cancel(.id(stored[0].id))) == 1)
    let (_, cascadeCount) = try count(test) { _ = try $0.advance() }
    #expect(cascadeCount < 40)
    #expect(try await test.jobs.counts()["default"]?[.cancelled] == 2_000)
    await test.store.close()
  }

  @Test("J186: the number of requests for claims does not depend on the number of queues without jobs")
  func queues() async throws {
    let test = try await TestStore()
    let worker = try await test.store.register(description)
    try await test.jobs.enqueue(PlainJob(number: 1), queue: "queue 500")
    let claims = (0..<1_000).map {
      JobClaim(queue: "queue \($0)", count: 4, allowsSuspect: false, kinds: ["plain": 1])
    }
    let (claimed, requestCount) = try count(test) { transaction in
      let queues = try WaitingQueues(claims, transaction)
      return try claims.map { claim in
        var mark = ClaimMark()
        return try transaction.claim(claim, by: worker, in: queues, after: &mark)
      }
    }
    #expect(claimed.map(\.count) == (0..<1_000).map { $0 == 500 ? 1 : 0 })
    #expect(requestCount < 8)
    await test.store.close()
  }

  @Test("J35: leases are renewed while other requests of the store wait for locks")
  func leases() async throws {
    var limits = PostgresTimeLimits()
    limits.lock = .seconds(600)
    limits.statement = .seconds(600)
    let test = try await TestStore(leaseLength: .seconds(3), limits: limits)
    let worker = try await test.store.register(description)
    let name = try SchemaName(test.schema)
    let (isLocked, gate) = (AsyncStream.makeStream(of: Void.self), Gate())
    let blocker = Task {
      try await test.store.transaction(within: .seconds(3_600)) { transaction in
        let lock = "SELECT pg_advisory_xact_lock(\(name.lockClass), \(StoreLock.store.rawValue))"
        _ = try transaction.rows("\(lock)::text")
        isLocked.continuation.finish()
        gate.wait()
      }
    }
    for await _ in isLocked.stream {}
    // They occupy the connections for short and for long tasks.
    let waiting = [
      Task { _ = try await test.store.unregister(WorkerID(rawValue: 9_999), isRunningCode: false) },
      Task { _ = try await test.store.perform(.cancel(.all)) },
    ]
    let lease = "SELECT lease FROM worker WHERE id = \(worker.rawValue)"
    var seen: Set<String> = [try test.psql(lease)]
    try await poll {
      seen.insert(try test.psql(lease))
      return seen.count == 5
    }
    gate.open()
    try await blocker.value
    for task in waiting { try await task.value }
    #expect(try await test.store.beat(worker, running: []).isRegistered)
    await test.store.close()
  }
}
#endif
