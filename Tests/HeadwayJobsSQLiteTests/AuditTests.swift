#if Jobs
import Foundation
import GRDB
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestSupport
import Testing

/// Whether a store finds its own defects.
@Suite(.hangLimit) struct AuditTests {
  private let fixture: SQLiteFixture
  private var store: SQLiteJobStore { fixture.sqlite }

  init() throws { fixture = try SQLiteFixture() }

  private func enqueue(_ options: JobOptions = []) async throws -> JobID {
    try await store.enqueue([NewJob(kind: "test", payload: JobPayload(bytes: [1]), options: options)])[0].id
  }

  private func claim(by worker: WorkerID) async throws -> JobFence {
    let claim = JobClaim(queue: "default", count: 1, allowsSuspect: true, kinds: ["test": 1])
    let claimed = try await store.exchange(JobExchange(worker: worker, claims: [claim])).claimed[0]
    return try #require(claimed.first?.fence)
  }

  private func end(_ fence: JobFence, _ action: JobEnding.Action) async throws {
    _ = try await store.exchange(JobExchange(worker: fence.owner, endings: [JobEnding(fence, action)]))
  }

  @Test("J149: jobs that end, are deleted, or were never stored leave no defect")
  func sound() async throws {
    let description = WorkerDescription(name: "test", processIdentifier: 1, queues: ["default"], kinds: ["test": 1])
    let worker = try await store.register(description)
    for options in [[], [.retention(.none)], [.retention(.none)]] as [JobOptions] {
      _ = try await enqueue(options)
    }
    try await end(claim(by: worker), .succeed(result: nil))
    try await end(claim(by: worker), .succeed(result: nil))
    try await end(claim(by: worker), .fail(JobEndReason(.failed), nil))
    let cancelled = try await enqueue([.unique(.unfinished("k"))])
    _ = try await store.perform(.cancel(.id(cancelled)))
    _ = try await enqueue([.unique(.unfinished("k"))])
    _ = try await claim(by: worker)
    await #expect(throws: JobError.self) { try await store.perform(.retry(.id(cancelled))) }
    let refused = JobPayload(bytes: Array(repeating: 0, count: 10))
    _ = try await store.enqueue([NewJob(kind: "test", payload: refused)])
    _ = try await store.perform(.delete(.id(cancelled)))
    fixture.advanceClock(by: .seconds(90_000))
    _ = try await store.perform(.prune)
    #expect(try await store.audit() == [])
    await fixture.close()
  }

  @Test(
    "J149: the audit finds rows that do not agree",
    arguments: [
      ("DELETE FROM headway_job", "1 jobs were stored, but 0 are accounted for"),
      (
        "UPDATE headway_job SET \(JobState.running.condition), owner = 9",
        "1 jobs are running although their worker is not registered: 1"
      ),
      (
        "UPDATE headway_job SET \(JobState.running.condition)",
        "1 jobs are running although they were never claimed: 1"
      ),
      ("UPDATE headway_job SET \(JobState.scheduled.condition)", "1 scheduled jobs have no time: 1"),
      (
        "UPDATE headway_job SET \(JobState.retrying.condition), due = 1",
        "1 retrying jobs have no time, or no attempt that has failed: 1"
      ),
      ("UPDATE headway_job SET position = 9", "1 jobs have a position that was not assigned: 1"),
      ("UPDATE headway_job SET flags = 1", "1 jobs that are not running have a request to cancel them: 1"),
      ("UPDATE headway_job SET unique_key = 'x'", "job 1 holds a key that is not its own: x"),
      ("UPDATE headway_job SET settings = x'00'", "job 1 can't be read"),
      ("INSERT INTO headway_checkpoint VALUES (7, 'a', x'00')", "1 checkpoints belong to jobs that do not exist"),
      (
        "INSERT INTO headway_edge VALUES (9, 1, 0, 0); UPDATE headway_job SET \(JobState.held.condition), unmet = 1",
        "1 held jobs wait for a job that has ended or was deleted"
      ),
      ("INSERT INTO headway_key VALUES ('x', 7, 0)", "1 keys that are held for a time belong to jobs"),
      (
        "UPDATE headway_activity SET enqueued = 2",
        "1 jobs are unfinished, but the statistics contain 2 new jobs, 0 jobs that were run again, and 0 jobs"
      ),
    ])
  func faults(fault: String, defect: String) async throws {
    _ = try await enqueue()
    try await DatabaseQueue(path: fixture.path).write { try $0.execute(sql: fault) }
    let defects = try await store.audit()
    #expect(defects.contains { $0.hasPrefix(defect) }, "\(defects)")
    await fixture.close()
  }

  @Test("J326: the audit finds hours that do not contain the activity of their minutes, and a lost transaction")
  func statistics() async throws {
    for _ in 0..<2 {
      _ = try await enqueue()
      fixture.advanceClock(by: .seconds(60))
      try await store.mergeStatistics()
    }
    #expect(try await store.audit() == [])
    // The same changes in all levels, as if a transaction had lost part of its activity.
    let faults = [
      (
        "level = 0 AND start > (SELECT min(start) FROM headway_statistic WHERE level = 0)", "the statistics of the hour"
      ),
      ("level = 2", "2 jobs are unfinished, but the statistics contain 4 new jobs"),
    ]
    for (rows, defect) in faults {
      let change = "UPDATE headway_statistic SET enqueued = enqueued"
      try await DatabaseQueue(path: fixture.path).write { try $0.execute(sql: "\(change) * 2 WHERE \(rows)") }
      #expect(try await store.audit().contains { $0.hasPrefix(defect) }, "\(rows)")
      try await DatabaseQueue(path: fixture.path).write { try $0.execute(sql: "\(change) / 2 WHERE \(rows)") }
    }
    #expect(try await store.audit() == [])
    await fixture.close()
  }

  @Test("J326: after the clock was set back, hours whose minutes are partly deleted are no defect")
  func clock() async throws {
    for _ in 0..<36 {
      _ = try await enqueue()
      fixture.advanceClock(by: .seconds(600))
      try await store.mergeStatistics()
    }
    #expect(try await store.audit() == [])
    fixture.advanceClock(by: .seconds(-3 * 3_600))
    for _ in 0..<12 {
      _ = try await enqueue()
      fixture.advanceClock(by: .seconds(600))
      try await store.mergeStatistics()
      #expect(try await store.audit() == [])
    }
    await fixture.close()
  }

  @Test("J149: whether a file has a store is found without creating one")
  func hasStore() async throws {
    let folder = fixture.folder.path
    #expect(try SQLiteJobStore.hasStore(at: fixture.path))
    try await DatabaseQueue(path: "\(folder)/other.sqlite").write { try $0.execute(sql: "CREATE TABLE t (a)") }
    #expect(try !SQLiteJobStore.hasStore(at: "\(folder)/other.sqlite"))
    #expect(throws: JobError.self) { try SQLiteJobStore.hasStore(at: "\(folder)/missing.sqlite") }
    #expect(!FileManager.default.fileExists(atPath: "\(folder)/missing.sqlite"))
    await fixture.close()
  }
}
#endif
