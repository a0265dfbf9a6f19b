#if Jobs
import Foundation
import GRDB
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestKit
import HeadwayTestSupport
import Testing

/// Rows that can't be read, among others that can.
@Suite(.hangLimit) struct DamageTests {
  /// Assignments that damage a row, each with an excerpt of the description for people.
  static let damages = [
    ("settings = x'00ff'", "options"), ("settings = CAST('{\"timeout\":true}' AS BLOB)", "options"),
    ("history = CAST('[' AS BLOB)", "history"), ("attempt = -1", "attempt"), ("epoch = 9223372036854775807", "claims"),
    ("attempt = 9223372036854775807", "attempt"), ("crashes = 99999999999", "crashes"),
    ("snoozes = 99999999999", "snoozes"),
  ]

  private static func damage(_ id: JobID, _ assignment: String, _ table: String, _ pool: DatabasePool) async throws {
    try await pool.write { database in
      try database.execute(sql: "UPDATE \(table) SET \(assignment) WHERE id = ?", arguments: [id.rawValue])
      #expect(database.changesCount == 1)
    }
  }

  @Test("J4: a waiting job that can't be read fails as damaged, and the other jobs run", arguments: damages)
  func waiting(assignment: String, text: String) async throws {
    let app = try TransactionTests.Application()
    let handles = try await app.jobs.enqueue(contentsOf: (0..<5).map { Note(text: "\($0)") })
    let damaged = handles[1].id
    try await Self.damage(damaged, assignment, "headway_job", app.pool)
    let listed = try await app.jobs.jobs()
    #expect(listed.map(\.damage).map { $0?.contains(text) ?? false } == [false, true, false, false, false])
    try await run(app, until: handles[4].id)
    for handle in handles {
      let job = try #require(try await handle.job())
      #expect(job.state == (handle.id == damaged ? .failed : .succeeded))
      #expect(job.attempt == (handle.id == damaged ? job.attempt : 1))
    }
    let failed = try #require(try await app.jobs.job(damaged))
    #expect(failed.reason?.code == .damaged)
    #expect(failed.reason?.text.contains(text) == true)
    // Its end can be waited for.
    await #expect(throws: JobFailure.self) { try await handles[1].value }
    await app.store.close()
  }

  @Test("J4, J84: a job whose rate can't be read fails as damaged, and the other jobs run")
  func rate() async throws {
    let app = try TransactionTests.Application()
    let limit = JobLimit.rate(10, per: .seconds(1), key: "key")
    let damaged = try await app.jobs.enqueue(Note(text: "a"), .limits([limit]))
    let others = [
      try await app.jobs.enqueue(Note(text: "b")),
      try await app.jobs.enqueue(Note(text: "c"), .limits([limit])),
    ]
    try await Self.damage(damaged.id, "settings = x'00ff'", "headway_job", app.pool)
    for other in others { try await run(app, until: other.id) }
    let states = try await app.jobs.jobs().map(\.state)
    #expect(states == [.failed, .succeeded, .succeeded])
    #expect(try await damaged.job()?.reason?.code == .damaged)
    await app.store.close()
  }

  @Test("J4: unreadable parts of a failed job are kept as stored, and the job can't be run again")
  func keepsParts() async throws {
    let app = try TransactionTests.Application()
    let handle = try await app.jobs.enqueue(Note(text: "a"))
    try await Self.damage(handle.id, "settings = x'00ff'", "headway_job", app.pool)
    let worker = try await app.store.register(
      WorkerDescription(name: "test", processIdentifier: 1, queues: ["default"], kinds: [Note.kind: 1]))
    let claim = JobClaim(queue: "default", count: 1, allowsSuspect: true, kinds: [Note.kind: 1])
    let claimed = try await app.store.exchange(JobExchange(worker: worker, claims: [claim])).claimed
    #expect(claimed == [[]])
    let stored = try await app.pool.read { try Data.fetchOne($0, sql: "SELECT settings FROM headway_done") }
    #expect(stored == Data([0, 255]))
    let error = await #expect(throws: JobError.self) { try await app.jobs.retry(handle.id) }
    #expect(error?.code == .damagedJob)
    // A newer release can read it.
    try await Self.damage(handle.id, "settings = NULL", "headway_done", app.pool)
    try await app.jobs.retry(handle.id)
    let again = try await app.claim()
    #expect(again.id == handle.id)
    await app.store.close()
  }

  @Test("J4: a damaged job that is rescued, due, moved, or cancelled ends, and does not block other jobs")
  func otherStates() async throws {
    let fixture = try SQLiteFixture()
    let pool = try openPool(fixture.path)
    let (store, jobs) = (fixture.sqlite, Jobs(fixture.store))
    func add(_ delay: Duration = .zero) async throws -> [JobID] {
      let new = NewJob(kind: "test", payload: JobPayload(bytes: []), options: [.delay(delay)])
      return try await store.enqueue([new, new]).map(\.id)
    }
    func worker() async throws -> WorkerID {
      try await store.register(
        WorkerDescription(name: "test", processIdentifier: 1, queues: ["default"], kinds: ["test": 1]))
    }
    let claim = JobClaim(queue: "default", count: 2, allowsSuspect: true, kinds: ["test": 1])
    let dying = try await worker()
    let rescued = try await add()
    _ = try await store.exchange(JobExchange(worker: dying, claims: [claim]))
    let (due, moved, cancelled) = (try await add(.seconds(5)), try await add(), try await add())
    for ids in [rescued, due, moved, cancelled] {
      try await Self.damage(ids[0], "history = x'00'", "headway_job", pool)
    }
    fixture.kill(dying)
    let back = try await store.rescue()
    #expect(back == rescued)
    fixture.advanceClock(by: .seconds(5))
    _ = try await store.advance()
    let movedCount = try await store.perform(.change(JobFilter(ids: moved), .queue("other")))
    #expect(movedCount == 2)
    let cancelledCount = try await store.perform(.cancel(JobFilter(ids: cancelled)))
    #expect(cancelledCount == 2)
    for (ids, state) in [(rescued, JobState.failed), (due, .failed), (moved, .failed), (cancelled, .cancelled)] {
      let job = try await jobs.job(ids[0])
      #expect(job?.state == state)
    }
    let others = try await jobs.jobs(JobFilter(ids: [rescued[1], due[1], moved[1]]))
    #expect(others.map(\.state) == [.waiting, .waiting, .waiting])
    #expect(others.map(\.damage) == [nil, nil, nil])
    try pool.close()
    await fixture.close()
  }

  @Test("J4: an attempt that runs while its row is damaged continues, and its end is recorded")
  func running() async throws {
    let app = try TransactionTests.Application()
    let handle = try await app.jobs.enqueue(Note(text: "a"))
    let context = try await app.claim()
    try await Self.damage(handle.id, "history = x'00'", "headway_job", app.pool)
    try await context.log("still here")
    let running = try await handle.job()
    #expect(running?.state == .running)
    #expect(running?.damage != nil)
    try await context.finish { try $0.execute(sql: "INSERT INTO photo (size) VALUES (1)") }
    let ended = try await handle.job()
    #expect(ended?.state == .succeeded)
    await app.store.close()
  }

  @Test("J4: jobs can be listed even if a newer release has stored unknown states and reasons")
  func newerValues() async throws {
    let app = try TransactionTests.Application()
    let handles = try await app.jobs.enqueue(contentsOf: (0..<3).map { Note(text: "\($0)") })
    try await app.jobs.cancel(handles[0].id)
    try await Self.damage(handles[0].id, "reason = 'eclipsed', reason_text = 'by the moon'", "headway_done", app.pool)
    try await Self.damage(handles[1].id, "state = 77", "headway_job", app.pool)
    let all = try await app.jobs.jobs()
    #expect(all.map(\.id) == handles.map(\.id))
    #expect(all[0].reason == JobEndReason(.cancelled, "eclipsed: by the moon"))
    #expect(all[0].damage == nil)
    #expect(all[1].damage == "its state is 77")
    let waiting = try await app.jobs.counts()["default"]?[.waiting]
    #expect(waiting == 1)
    // A person can end it.
    try await app.jobs.cancel(handles[1].id)
    let cancelled = try await handles[1].job()
    #expect(cancelled?.state == .cancelled)
    await app.store.close()
  }

  /// The variable `HEADWAY_JOB_DAMAGES` sets the number of rounds, and `HEADWAY_JOB_SEED` the seed.
  @Test("J176, J4: randomly damaged rows stop neither workers nor lists")
  func random() async throws {
    let environment = ProcessInfo.processInfo.environment
    let count = try #require(Int(environment["HEADWAY_JOB_DAMAGES"] ?? "120"))
    let seed = try #require(UInt64(environment["HEADWAY_JOB_SEED"] ?? "4"))
    var generator = SeededGenerator(seed: seed)
    let app = try TransactionTests.Application()
    let options: JobOptions = [
      .label("label"), .tags(["a", "b"]), .timeout(.seconds(60)), .retry(.constant(maxAttemptCount: 2, delay: .zero)),
    ]
    let handles = try await app.jobs.enqueue(contentsOf: (0..<count).map { Note(text: "\($0)") }, .options(options))
    for handle in handles where Bool.random(using: &generator) {
      let column = try #require(
        ["settings", "history", "payload", "attempt", "epoch", "snoozes", "deadline"].randomElement(using: &generator))
      let number = Int64.random(in: .min ... .max, using: &generator)
      let length = Int.random(in: 0...40, using: &generator)
      let bytes = Data((0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) })
      let isNumber = ["attempt", "epoch", "snoozes", "deadline"].contains(column)
      try await app.pool.write { database in
        try database.execute(
          sql: "UPDATE headway_job SET \(column) = ? WHERE id = ?",
          arguments: [isNumber ? number.databaseValue : bytes.databaseValue, handle.id.rawValue])
      }
    }
    let last = try await app.jobs.enqueue(Note(text: "last"))
    try await run(app, until: last.id)
    try await run(app) { counts in JobState.unfinished.allSatisfy { counts[$0] == 0 } }
    let listed = try await app.jobs.jobs()
    #expect(listed.count == count + 1, "seed \(seed)")
    #expect(listed.allSatisfy { $0.state.isFinished }, "seed \(seed)")
    await app.store.close()
  }

  /// Runs a worker until a job has ended.
  private func run(_ app: TransactionTests.Application, until id: JobID) async throws {
    try await run(app) { _ in try await app.jobs.job(id)?.state.isFinished == true }
  }

  private func run(
    _ app: TransactionTests.Application, until isDone: (JobQueueCounts) async throws -> Bool
  ) async throws {
    let worker = JobWorker(app.jobs, kinds: [Note.self])
    worker.serve(on: OperationQueue(maxConcurrentOperationCount: 2))
    let running = Task { try await worker.run() }
    try await poll { try await isDone(try await app.jobs.counts()["default"] ?? JobQueueCounts()) }
    worker.stop()
    try await running.value
  }
}
#endif
