#if Jobs
import GRDB
import GRDBSQLite
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestSupport
import Synchronization
import Testing

/// The cost of claims in SQLite.
@Suite(.hangLimit) struct LimitTests {
  @Test("J83: claims find jobs by indexes, and sort nothing")
  func plans() async throws {
    let app = try TransactionTests.Application()
    let statements = Mutex<Set<String>>([])
    try await app.store.enqueueMixed()
    try await app.pool.writeWithoutTransaction { database in
      database.trace { event in
        if case .statement(let statement) = event { statements.withLock { _ = $0.insert(statement.sql) } }
      }
    }
    for setting in [
      .maxRunningJobCount(100), .maxFailureCount(9), .maxPendingJobCount(100), .agingInterval(.seconds(1)),
    ] as [JobQueueChange] {
      _ = try await app.store.perform(.configure(queue: "default", setting))
    }
    let worker = try await app.store.registerNote()
    for _ in 0..<3 {
      let jobs = try await app.store.claimNotes(2, by: worker)
      let endings = try jobs.map { JobEnding(try #require($0.fence), .succeed(result: nil)) }
      _ = try await app.store.exchange(JobExchange(worker: worker, endings: endings))
    }
    _ = try await app.store.perform(.configure(queue: "default", .agingInterval(nil)))
    #expect(try await app.store.claimNotes(2, by: worker).count == 2)
    try await app.store.enqueueMixed()
    let executed = statements.withLock { $0 }
      .filter { $0.contains("headway_job") && ["SELECT", "UPDATE", "DELETE"].contains($0.prefix(6)) }
    #expect(executed.count > 8)
    try await app.pool.writeWithoutTransaction { database in
      database.trace()
      for sql in executed {
        let plan = try database.makeStatement(sql: "EXPLAIN QUERY PLAN \(sql)")
        plan.setUncheckedArguments(StatementArguments())
        for row in try Row.fetchAll(plan) {
          let step: String = row["detail"]
          #expect(!step.hasPrefix("SCAN headway_job") && !step.contains("TEMP B-TREE"), "\(step) in \(sql)")
        }
      }
    }
    await app.store.close()
  }

  @Test("J299: the turns of a queue are deleted if it has no waiting jobs with keys")
  func turns() async throws {
    let app = try TransactionTests.Application()
    let worker = try await app.store.registerNote()
    for queue in ["a", "b", "b"] {
      let options: JobOptions = [.queue(queue), .limits([.concurrency(1, key: queue)])]
      _ = try await app.store.enqueue([NewJob(kind: "note", payload: JobPayload(bytes: []), options: options)])
    }
    let claims = ["a", "b"].map { JobClaim(queue: $0, count: 2, allowsSuspect: true, kinds: ["note": 1]) }
    let claimed = try await app.store.exchange(JobExchange(worker: worker, claims: claims)).claimed
    #expect(claimed.map(\.count) == [1, 1])
    let turns = { try await app.pool.read { try String.fetchAll($0, sql: "SELECT queue FROM headway_turn") } }
    #expect(try await Set(turns()) == ["a", "b"])
    _ = try await app.store.perform(.prune)
    #expect(try await turns() == ["b"])
    await app.store.close()
  }

  @Test("J83: the cost of a claim does not depend on how many jobs of a key wait")
  func cost() async throws {
    let app = try TransactionTests.Application()
    let worker = try await app.store.registerNote()
    let counter = StepCounter()
    var steps: [Int] = []
    for size in [200, 10_000] {
      let options: JobOptions = [.limits([.concurrency(2, key: "big")])]
      _ = try await app.store.enqueue((0..<size).map { _ in app.store.note(options) })
      _ = try await app.store.enqueue(
        (0..<20).map { app.store.note([.limits([.concurrency(1, key: "small \($0)")])]) })
      let jobs = try await app.store.claimNotes(9, by: worker)
      let endings = try jobs.map { JobEnding(try #require($0.fence), .succeed(result: nil)) }
      _ = try await app.store.exchange(JobExchange(worker: worker, endings: endings))
      try await app.pool.writeWithoutTransaction { counter.start($0) }
      #expect(try await app.store.claimNotes(9, by: worker).count == 9)
      let claimed = counter.count
      try await app.pool.writeWithoutTransaction { counter.stop($0) }
      steps.append(claimed)
      for command in [.abandon(.all), .cancel(.all), .delete(.all)] as [JobCommand] {
        _ = try await app.jobs.perform(command)
      }
    }
    #expect(steps[0] > 100)
    #expect(steps[1] * 10 < steps[0] * 12, "\(steps)")
    await app.store.close()
  }

  @Test("J18: in an application's transaction, enqueueing in a full queue fails, and other changes can be committed")
  func fullQueue() async throws {
    let app = try TransactionTests.Application()
    try await app.jobs.changeQueue("default", .maxPendingJobCount(1))
    try await app.pool.write { [jobs = app.jobs] database in
      try jobs.enqueue(Note(text: "a"), in: database)
      let error = #expect(throws: JobError.self) { try jobs.enqueue(Note(text: "b"), in: database) }
      #expect(error?.code == .queueFull)
      try database.execute(sql: "INSERT INTO photo (size) VALUES (1)")
    }
    #expect(try await app.jobs.jobs().count == 1)
    #expect(try app.photoCount() == 1)
    await app.store.close()
  }

  @Test("J18: other processes receive a hint when a queue has room")
  func roomHint() async throws {
    let fixture = try SQLiteFixture()
    let other = try fixture.openOther()
    let (hints, continuation) = AsyncStream.makeStream(of: JobHint.self)
    // Before the other store sends the first hint, because it looks for new observers at most every 100 ms.
    let token = fixture.sqlite.observeHints { continuation.yield($0) }
    _ = try await other.perform(.configure(queue: "default", .maxPendingJobCount(1)))
    _ = try await other.enqueue([other.note([])])
    let worker = try await other.registerNote()
    #expect(try await other.claimNotes(1, by: worker).count == 1)
    for await hint in hints where hint == .room(queue: "default") { break }
    withExtendedLifetime(token) {}
    await fixture.close()
  }
}

extension SQLiteJobStore {
  fileprivate func note(_ options: JobOptions) -> NewJob {
    NewJob(kind: Note.kind, payload: JobPayload(bytes: []), options: options)
  }

  /// Adds jobs with each kind of limit, and without one.
  fileprivate func enqueueMixed() async throws {
    let limits: [[JobLimit]] = [
      [], [.concurrency(2, key: "a")], [.serial(key: "b")], [.rate(1, per: .seconds(1), key: "c")],
      [.concurrency(1, key: "d")], [.concurrency(9, key: "e"), .concurrency(3, key: "f", weight: 2)],
    ]
    _ = try await enqueue(limits.flatMap { [note([.limits($0)]), note([.limits($0)])] })
  }

  fileprivate func registerNote() async throws -> WorkerID {
    try await register(
      WorkerDescription(name: "test", processIdentifier: 1, queues: ["default"], kinds: [Note.kind: 1]))
  }

  fileprivate func claimNotes(_ count: Int, by worker: WorkerID) async throws -> [JobRecord] {
    let claim = JobClaim(queue: "default", count: count, allowsSuspect: true, kinds: [Note.kind: 1])
    return try await exchange(JobExchange(worker: worker, claims: [claim])).claimed[0]
  }
}

/// Counts the instructions of SQLite's virtual machine.
private final class StepCounter: Sendable {
  private let steps = Atomic(0)

  var count: Int { steps.load(ordering: .relaxed) }

  func start(_ database: Database) {
    steps.store(0, ordering: .relaxed)
    let context = Unmanaged.passUnretained(self).toOpaque()
    sqlite3_progress_handler(
      database.sqliteConnection, 1,
      { context in
        if let context {
          Unmanaged<StepCounter>.fromOpaque(context).takeUnretainedValue().steps.add(1, ordering: .relaxed)
        }
        return 0
      }, context)
  }

  func stop(_ database: Database) { sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil) }
}
#endif
