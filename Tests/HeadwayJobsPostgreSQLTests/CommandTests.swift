#if PostgreSQL
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsPostgreSQL
import HeadwayTestSupport
import Testing

/// Commands that change or delete many rows.
@Suite(.hangLimit, .serialized) struct PostgresCommandTests {
  @Test("J93: one request to prune deletes a limited number of expired keys and full buckets")
  func pruning() async throws {
    let test = try await TestStore()
    try test.psql(
      """
      INSERT INTO key SELECT 'held', 0, 'infinity';
      INSERT INTO key SELECT number::text, number, '-infinity' FROM generate_series(1, 10001) number;
      INSERT INTO bucket SELECT number::text, '-infinity' FROM generate_series(1, 10001) number
      """)
    for left in [1, 0, 0] {
      #expect(try await test.store.perform(.prune) == 0)
      #expect(try test.psql("SELECT count(*) FROM key") == "\(left + 1)")
      #expect(try test.psql("SELECT count(*) FROM bucket") == "\(left)")
    }
    let plan = try test.psql(
      "SET enable_seqscan = off; EXPLAIN SELECT key FROM key WHERE until <= now() ORDER BY until")
    #expect(plan.contains("key_until"))
    await test.store.close()
  }

  @Test("J299: the turns of a queue are deleted if it has no waiting jobs with keys")
  func turns() async throws {
    let test = try await TestStore()
    try await test.jobs.enqueue(
      PlainJob(number: 1), .queue("kept"), .limits([.concurrency(1, key: "key")]))
    try await test.jobs.enqueue(PlainJob(number: 2), .queue("plain"))
    try test.psql(
      "INSERT INTO turn (queue, priority, plain_next) SELECT unnest('{gone,kept,plain}'::text[]), 0, false")
    _ = try await test.store.perform(.prune)
    #expect(try test.psql("SELECT queue FROM turn") == "kept")
    await test.store.close()
  }

  @Test("J93: commands don't lock jobs that they can't change")
  func locks() async throws {
    var limits = PostgresTimeLimits()
    limits.lock = .milliseconds(50)
    let test = try await TestStore(limits: limits)
    func enqueue(
      _ queue: String, _ priority: Operation.QueuePriority = .normal, tags: [String] = []
    ) async throws -> JobID {
      try await test.jobs.enqueue(PlainJob(number: 1), .queue(queue), .priority(priority), .tags(tags)).id
    }
    let (high, low) = (try await enqueue("a", .high), try await enqueue("a"))
    let tagged = try await enqueue("b", tags: ["tag"])
    let (succeeded, failed) = (try await enqueue("mail"), try await enqueue("mail"))
    var batch = JobBatch()
    let first = batch.add(PlainJob(number: 1), .queue("graph"))
    batch.add(PlainJob(number: 2), .after(first), .queue("other"))
    let needed = try await test.jobs.enqueue(batch)[first].id
    let worker = try await test.store.register(
      WorkerDescription(name: "test", processIdentifier: 1, queues: ["mail"], kinds: ["plain": 1]))
    for queue in ["mail", "graph", "running"] {
      if queue == "running" { _ = try await enqueue(queue) }
      let claim = JobClaim(queue: queue, count: 1, allowsSuspect: true, kinds: ["plain": 1])
      let claimed = try await test.store.exchange(JobExchange(worker: worker, claims: [claim])).claimed[0]
      guard queue != "running", let fence = try #require(claimed.first).fence else { continue }
      _ = try await test.store.exchange(JobExchange(worker: worker, endings: [JobEnding(fence, .succeed(result: nil))]))
    }
    let running = try #require(try await test.jobs.jobs(JobFilter(queues: ["running"])).first?.id)
    _ = try await test.store.perform(.cancel(.id(running)))
    _ = try await test.store.perform(.cancel(.id(failed)))

    let (schema, isLocked, mayEnd) = (test.schema, AsyncStream.makeStream(of: Void.self), Gate())
    let locked = [high, running, succeeded, needed].map(\.description).joined(separator: ",")
    let blocker = Task {
      try await test.store.transaction(within: .seconds(3_600)) { transaction in
        for table in ["job", "done"] {
          try transaction.execute("SELECT id FROM \(schema).\(table) WHERE id IN (\(locked)) FOR UPDATE")
        }
        isLocked.continuation.finish()
        mayEnd.wait()
      }
    }
    for await _ in isLocked.stream {}
    let stored = try #require(try await test.jobs.jobs(JobFilter(ids: [high])).first?.priority)
    let priority = try #require(Operation.QueuePriority(rawValue: stored))
    let commands: [(JobCommand, Int)] = [
      (.change(JobFilter(queues: ["a"]), .priority(priority)), 1),
      (.change(JobFilter(ids: [high, low, tagged]), .queue("a")), 1),
      (.abandon(JobFilter(queues: ["a"])), 0), (.cancel(JobFilter(queues: ["running"])), 0),
      (.cancel(JobFilter(queues: ["a"], tag: "tag")), 1), (.delete(JobFilter(queues: ["graph"])), 0),
      (.retry(JobFilter(queues: ["mail"])), 1),
    ]
    for (command, count) in commands {
      let changed = try await test.store.perform(command)
      #expect(changed == count, "\(command)")
    }
    mayEnd.open()
    try await blocker.value
    let defects = try await test.store.audit()
    #expect(defects == [])
    await test.store.close()
  }

  @Test("J92: pruning deletes only checkpoints that earlier versions have left behind")
  func leftCheckpoints() async throws {
    let test = try await TestStore()
    let ids = try await test.jobs.enqueue(contentsOf: (0..<3).map { PlainJob(number: $0) }).map(\.id)
    let worker = try await test.store.register(
      WorkerDescription(name: "test", processIdentifier: 1, queues: ["default"], kinds: [PlainJob.kind: 1]))
    let claim = JobClaim(queue: "default", count: 3, allowsSuspect: false, kinds: [PlainJob.kind: 1])
    let claimed = try await test.store.exchange(JobExchange(worker: worker, claims: [claim])).claimed[0]
    let actions: [JobEnding.Action] = [.succeed(result: nil), .fail(JobEndReason(.failed), nil)]
    let endings = zip(claimed, actions).compactMap { job, action in job.fence.map { JobEnding($0, action) } }
    _ = try await test.store.exchange(JobExchange(worker: worker, endings: endings))
    // Checkpoints of a job that has succeeded, of a failed job, of a running job, and of jobs that do not exist.
    try test.psql("INSERT INTO checkpoint SELECT id, 'step', '' FROM unnest(ARRAY[\(list(ids))]) AS x(id)")
    try test.psql("INSERT INTO checkpoint SELECT id, 'step', '' FROM generate_series(1001, 3500) AS x(id)")
    #expect(try await test.store.audit().count == 1)
    for _ in 0..<3 { _ = try await test.store.perform(.prune) }
    #expect(try await test.store.audit() == [])
    #expect(try test.psql("SELECT job FROM checkpoint ORDER BY job") == "\(ids[1])\n\(ids[2])")
    // Pruning continues at the beginning of the table.
    try test.psql("INSERT INTO checkpoint VALUES (900, 'step', '')")
    for _ in 0..<2 { _ = try await test.store.perform(.prune) }
    #expect(try await test.store.audit() == [])
    await test.store.close()
  }

  private func list(_ ids: [JobID]) -> String { ids.map(\.description).joined(separator: ",") }
}
#endif
