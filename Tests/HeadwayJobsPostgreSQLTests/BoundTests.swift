#if PostgreSQL
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayTestSupport
import Synchronization
import Testing

@testable import HeadwayJobsPostgreSQL

/// Transactions whose size does not depend on the size of the store.
@Suite(.hangLimit, .serialized) struct PostgresBoundTests {
  private let description = WorkerDescription(
    name: "test", processIdentifier: 1, queues: ["default"], kinds: ["plain": 1])

  /// Runs a transaction on its own connection.
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

  /// Runs a transaction on its own connection and returns the number of statements.
  private func statementCount(_ test: TestStore, _ body: (JobTransaction) throws -> Void) throws -> Int {
    let session = try PostgresSession(ConnectionSettings(test.connectionString))
    let runner = TransactionRunner(schema: try SchemaName(test.schema), clock: StoreClock(custom: nil))
    let before = session.statementCount
    _ = try runner.run(session, hold: .alone, body)
    return session.statementCount - before
  }

  /// The maximum number of rows that one transaction has written.
  private func greatestChange(of table: String, _ test: TestStore) throws -> Int {
    Int(
      try test.psql(
        "SELECT max(n) FROM (SELECT count(*) AS n FROM \(table) GROUP BY xmin::text) AS transactions")) ?? -1
  }

  @Test("J185: 2,500 due schedules are processed in transactions of at most 1,000, with few requests each")
  func schedules() async throws {
    let test = try await TestStore()
    try await test.jobs.schedule("first", .every(.seconds(3_600)), job: PlainJob(number: 1))
    try test.psql(
      """
      INSERT INTO schedule SELECT 'schedule ' || n, definition, anchor, decided, NULL, NULL, false, next, gaps
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

  /// The numbers of statements that store, change and rescue a number of jobs.
  private func statementCounts(jobCount: Int) async throws -> [String: Int] {
    let test = try await TestStore()
    var counts: [String: Int] = [:]
    func enqueue(_ name: String, _ options: (Int) -> JobOptions) throws {
      let jobs = (0..<jobCount).map { NewJob(kind: "plain", payload: JobPayload(bytes: [1]), options: options($0)) }
      counts[name] = try statementCount(test) { _ = try $0.enqueue(jobs) }
    }
    let first = try await test.jobs.enqueue(PlainJob(number: 0))
    try enqueue("batch") { _ in [] }
    try enqueue("keys") { [.unique(.unfinished("\($0)"))] }
    try enqueue("kept") { [.unique(.unfinished("\($0)"))] }
    try enqueue("replaced") { [.unique(.unfinished("\($0)", onConflict: .replace))] }
    try enqueue("timed keys") { [.unique(.held("\($0)", for: .seconds(60)))] }
    try enqueue("graph") { _ in [.queue("graph"), .after(first.success)] }
    try enqueue("later") { _ in [.queue("later"), .delay(.seconds(3_600))] }

    counts["cascade"] = try statementCount(test) { _ = try $0.perform(.cancel(.id(first.id))) }
    #expect(try await test.jobs.counts()["graph"]?[.cancelled] == jobCount)
    counts["retry"] = try statementCount(test) { _ = try $0.perform(.retry(JobFilter(states: [.cancelled]))) }
    #expect(try await test.jobs.counts()["graph"]?[.held] == jobCount)
    try test.psql("UPDATE job SET due = now() - interval '1 h' WHERE \(JobState.scheduled.condition)")
    counts["due"] = try statementCount(test) { _ = try $0.advance() }

    let worker = try await test.store.register(description)
    let claim = JobClaim(queue: "later", count: jobCount, allowsSuspect: false, kinds: ["plain": 1])
    let claimed = try await test.store.exchange(JobExchange(worker: worker, claims: [claim])).claimed[0]
    #expect(claimed.count == jobCount)
    try await test.store.kill(worker)
    var rescued: [JobID] = []
    counts["rescue"] = try statementCount(test) { rescued = try $0.rescue(limit: 1_000) }
    #expect(rescued == claimed.map(\.id).sorted())
    #expect(try await test.store.audit() == [])
    await test.store.close()
    return counts
  }

  @Test("J285: the number of statements does not grow with the number of jobs")
  func statements() async throws {
    let (few, many) = (try await statementCounts(jobCount: 10), try await statementCounts(jobCount: 900))
    #expect(few == many)
    #expect(many.values.allSatisfy { $0 < 40 }, "\(many)")
  }

  @Test("J185: the number of requests that store a graph and finish its jobs does not grow with each job")
  func graphs() async throws {
    let test = try await TestStore()
    func jobs(_ count: Int) -> [NewJob] {
      let leaf = NewJob(kind: "plain", payload: JobPayload(bytes: [1]))
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

  @Test("J185: jobs with keys, and jobs that run again, are not sent one by one")
  func keysAndRetries() async throws {
    let test = try await TestStore()
    func jobs(_ key: (Int) -> UniqueKey, after: [any JobReference] = []) -> [NewJob] {
      (0..<1_000).map { number in
        let options: JobOptions = [.unique(key(number)), .after(after)]
        return NewJob(kind: "plain", payload: JobPayload(bytes: [1]), options: options)
      }
    }
    let first = try await test.jobs.enqueue(PlainJob(number: 1))
    let (timed, timedCount) = try count(test) { try $0.enqueue(jobs { .held("\($0)", for: .seconds(60)) }) }
    #expect(timed.map(\.isNew) == Array(repeating: true, count: 1_000))
    #expect(timedCount < 20)
    let dependents = jobs({ .unfinished("\($0)") }, after: [first.success])
    let (_, heldCount) = try count(test) { try $0.enqueue(dependents) }
    #expect(heldCount < 20)
    _ = try await test.store.perform(.cancel(.id(first.id)))
    while try await test.jobs.counts()["default"]?[.held] ?? 0 > 0 { _ = try await test.store.advance() }
    _ = try await test.store.perform(.retry(.id(first.id)))
    let (changed, retryCount) = try count(test) { try $0.perform(.retry(JobFilter(states: [.cancelled]))) }
    #expect(changed == 1_000)
    #expect(retryCount < 40)
    #expect(try await test.jobs.counts()["default"]?[.held] == 1_000)
    await test.store.close()
  }

  @Test("J185, J13: a batch of the application does not fail if another transaction takes a key at the same moment")
  func conflictInTransaction() async throws {
    let test = try await TestStore()
    let other = try await test.openAgain()
    let (process, gate) = (AsyncStream.makeStream(of: String.self), Gate())
    let taking = Task {
      try await other.store.transaction(within: .seconds(3_600)) { transaction in
        let handle = try other.jobs.enqueue(PlainJob(number: 1), .unique(.unfinished("b")), in: transaction)
        let rows = try transaction.rows("SELECT pg_backend_pid()::text AS process")
        process.continuation.yield((rows[0]["process"] ?? nil) ?? "")
        gate.wait()
        return handle.id
      }
    }
    var processes = process.stream.makeAsyncIterator()
    let blocker = try #require(await processes.next())
    let adding = Task {
      try await test.store.transaction(within: .seconds(3_600)) { transaction in
        var batch = JobBatch()
        for key in ["a", "b", "c"] { batch.add(PlainJob(number: 2), .unique(.unfinished(key))) }
        _ = try test.jobs.enqueue(batch, in: transaction)
        try transaction.execute("SELECT 1")
      }
    }
    try await poll {
      try test.psql("SELECT count(*) FROM pg_stat_activity WHERE \(blocker) = ANY(pg_blocking_pids(pid))") != "0"
    }
    gate.open()
    let holder = try await taking.value
    try await adding.value
    let stored = try await test.jobs.jobs()
    #expect(stored.count == 3)
    #expect(stored.map(\.id).contains(holder))
    await other.store.close()
    await test.store.close()
  }

  @Test("J186: the number of requests for claims does not depend on the number of queues without jobs")
  func queues() async throws {
    let test = try await TestStore()
    let worker = try await test.store.register(description)
    try await test.jobs.enqueue(PlainJob(number: 1), .queue("queue 500"))
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
    // These tasks occupy the connections for short and for a long time tasks.
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
