#if PostgreSQL
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayTestSupport
import Testing

@testable import HeadwayJobsPostgreSQL

/// Statistics that several clients of a database count.
@Suite(.hangLimit, .serialized) struct PostgresStatisticsTests {
  private func total(_ test: TestStore) async throws -> JobActivity {
    try await test.jobs.statistics(over: .day).total
  }

  private func session(_ test: TestStore) throws -> PostgresSession {
    try PostgresSession(ConnectionSettings(test.connectionString))
  }

  /// Runs a transaction on its own connection and returns the number of statements.
  @discardableResult
  private func statementCount<Answer>(_ test: TestStore, _ body: (JobTransaction) throws -> Answer) throws -> Int {
    let session = try session(test)
    let before = session.statementCount
    let runner = TransactionRunner(schema: try SchemaName(test.schema), clock: StoreClock(custom: nil))
    _ = try runner.run(session, body)
    return session.statementCount - before
  }

  private func claim(_ test: TestStore) async throws -> JobFence {
    let worker = try await test.store.register(
      WorkerDescription(name: "test", processIdentifier: 1, queues: ["default"], kinds: ["plain": 1]))
    let claim = JobClaim(queue: "default", count: 1, allowsSuspect: true, kinds: ["plain": 1])
    let claimed = try await test.store.exchange(JobExchange(worker: worker, claims: [claim])).claimed[0]
    return try #require(claimed.first?.fence)
  }

  @Test("J327: jobs that SQL clients add and finish are counted, with their runs")
  func clients() async throws {
    let test = try await TestStore()
    for _ in 0..<2 {
      try test.psql("SELECT enqueue('plain', '{\"number\":1}', unique_key => 'key')")
    }
    try await test.jobs.enqueue(contentsOf: (0..<3).map { PlainJob(number: $0) }, .queue("other"))
    let fence = try await claim(test)
    try test.psql("UPDATE job SET claimed = claimed - interval '100 s' WHERE state = \(JobState.running.rawValue)")
    let finish = "finish(\(fence.id), \(fence.attempt), \(fence.epoch), \(fence.owner.rawValue))"
    #expect(try test.psql("SELECT id FROM \(finish)") == "\(fence.id)")
    #expect(try test.psql("SELECT id FROM \(finish)") == "")
    let total = try await total(test)
    #expect([total.enqueued, total.succeeded, total.waits.count, total.runs.count] == [4, 1, 1, 1])
    let run = try #require(total.runs.percentile(50))
    #expect(run > .seconds(93) && run < .seconds(107))
    #expect(try await test.store.audit() == [])
    await test.store.close()
  }

  @Test(
    "J325: SQL and Swift compute the same distribution for a single duration",
    arguments: [0, 1, 7, 8, 15, 16, 17, 127, 128, 1_000_000, 123_456_789_012, 1 << 44, 1 << 46] as [Int64])
  func durations(microseconds: Int64) async throws {
    let test = try await TestStore()
    var durations = JobDurations()
    durations.add(.microseconds(microseconds))
    let stored = durations.stored?.map { byte in byte < 16 ? "0\(String(byte, radix: 16))" : String(byte, radix: 16) }
    let sql = "SELECT encode(stored_duration(\(microseconds) * interval '1 microsecond'), 'hex')"
    #expect(try test.psql(sql) == stored?.joined())
    await test.store.close()
  }

  @Test("J328: transactions that count jobs of the same queue and kind wait neither for each other nor for merging")
  func concurrency() async throws {
    let test = try await TestStore()
    let open = try session(test)
    _ = try open.run([
      Statement("BEGIN"), Statement("SELECT id FROM \(test.schema).enqueue('plain', '{\"number\":1}')"),
    ])
    try await test.jobs.enqueue(PlainJob(number: 2))
    let fence = try await claim(test)
    let exchange = JobExchange(worker: fence.owner, endings: [JobEnding(fence, .succeed(result: nil))])
    #expect(try await test.store.exchange(exchange).verdicts == [.recorded])
    try statementCount(test) { try $0.mergeActivity() }
    let before = try await total(test)
    #expect([before.enqueued, before.succeeded] == [1, 1])
    _ = try open.run([Statement("COMMIT")])
    #expect(try await total(test).enqueued == 2)
    try statementCount(test) { try $0.mergeActivity() }
    #expect(try test.psql("SELECT count(*) FROM activity") == "0")
    #expect(try await total(test).enqueued == 2)
    #expect(try await test.store.audit() == [])
    await test.store.close()
  }

  @Test("J329: a transaction stores its statistics with one statement, no matter how many jobs, queues, and kinds")
  func statements() async throws {
    let test = try await TestStore()
    let counts = try [1, 500].map { count in
      let jobs = (0..<count).map { number in
        NewJob(
          kind: JobKind(rawValue: "kind \(number)"), payload: JobPayload(bytes: []),
          options: [.queue("queue \(number % 7)")])
      }
      return try statementCount(test) { try $0.enqueue(jobs) }
    }
    #expect(counts[0] == counts[1])
    #expect(try await total(test).enqueued == 501)
    await test.store.close()
  }
}
#endif
