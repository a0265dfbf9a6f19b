#if Jobs
import Foundation
import GRDB
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import JobsCrashProgram

/// Workers of several processes that fight over the same jobs.
@Suite(.hangLimit, .serialized) struct RivalTests {
  /// The variable `HEADWAY_JOB_RIVALS` sets the number of jobs.
  @Test("J175: workers that fight over a queue, its keys and dead workers run each job once at a time")
  func rivals() async throws {
    let variable = ProcessInfo.processInfo.environment["HEADWAY_JOB_RIVALS"]
    let jobCount = try #require(Int(variable ?? "600"))
    let folder = try TemporaryFolder()
    let (path, locks) = (folder.path + "/jobs.sqlite", folder.path + "/locks")
    try FileManager.default.createDirectory(atPath: locks, withIntermediateDirectories: false)
    let pool = try openPool(path)
    try await pool.write { try $0.execute(sql: RivalJob.table) }
    let (store, other) = (try SQLiteJobStore(pool), try SQLiteJobStore(path: path))
    let jobs = Jobs(store)
    var workers = [try WorkerProcess(path), try WorkerProcess(path)]
    // Two stores add a job with each key at the same time, and cancel some.
    async let ids = Self.enqueue(jobCount, locks, jobs)
    async let otherIDs = Self.enqueue(jobCount, locks, Jobs(other))
    var generator = SeededGenerator(seed: 175)
    for kill in 1...5 {
      try await poll { try await Self.effectCount(pool) >= kill * jobCount / 8 }
      let index = Int.random(in: 0..<2, using: &generator)
      await workers[index].kill()
      workers[index] = try WorkerProcess(path)
    }
    let stored = Set(try await ids + otherIDs)
    try await poll {
      let counts = try await jobs.counts()["default"] ?? JobQueueCounts()
      return counts[.succeeded] + counts[.cancelled] + counts[.failed] == stored.count
    }
    for worker in workers { await worker.kill() }
    _ = try await store.rescue()
    try await audit(pool, jobs, stored, folder: folder, locks: locks)
    await other.close()
    await store.close()
  }

  /// Adds jobs.
  ///
  /// Some of them fail at first, some have the same key as another job, and some are cancelled.
  private static func enqueue(_ count: Int, _ locks: String, _ jobs: Jobs) async throws -> [JobID] {
    var ids: [JobID] = []
    for number in 0..<count {
      let job = RivalJob(folder: locks, number: number, failureCount: number % 5 == 0 ? 2 : 0)
      ids.append(try await jobs.enqueue(job, .unique(.held("\(number)", for: .seconds(3_600)))).id)
      if number % 16 == 15 { try await jobs.cancel(ids[number - 8]) }
    }
    return ids
  }

  private static func effectCount(_ pool: DatabasePool) async throws -> Int {
    try await pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM effect") ?? 0 }
  }

  /// Each number has one job, which ran once at a time and has one end, and its effect if it has succeeded.
  private func audit(
    _ pool: DatabasePool, _ jobs: Jobs, _ stored: Set<JobID>, folder: TemporaryFolder, locks: String
  ) async throws {
    let (ended, effects, repeated, integrity) = try await pool.read { database in
      (
        try Int64.fetchSet(database, sql: "SELECT id FROM headway_done"),
        try Int64.fetchSet(database, sql: "SELECT job FROM effect"),
        try Int.fetchOne(database, sql: "SELECT count(*) FROM effect WHERE count != 1"),
        try String.fetchOne(database, sql: "PRAGMA integrity_check")
      )
    }
    #expect(ended == Set(stored.map(\.rawValue)))
    #expect(repeated == 0)
    #expect(integrity == "ok")
    var succeeded: Set<Int64> = []
    var page: [JobRecord] = []
    repeat {
      page = try await jobs.jobs(JobFilter(states: [.succeeded]), after: page.last?.id)
      for job in page { succeeded.insert(job.id.rawValue) }
    } while !page.isEmpty
    #expect(succeeded == effects)
    let twice = try FileManager.default.contentsOfDirectory(atPath: locks).filter { $0.hasSuffix(".twice") }
    #expect(twice == [])
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/jobs.sqlite-headway")
    #expect(left.filter { $0.hasSuffix(".lock") } == ["writer.lock"])
  }

  @Test("J173, J33: a worker that is stopped for a while keeps its jobs, and no second run begins")
  func stopped() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/jobs.sqlite"
    let store = try SQLiteJobStore(path: path)
    let jobs = Jobs(store)
    let handle = try await jobs.enqueue(EndlessJob())
    let first = try WorkerProcess(path)
    try await poll { try await handle.job()?.state == .running }
    let running = try #require(try await handle.job())
    first.pause(store: path)
    // Another worker looks at the store several times.
    let second = try WorkerProcess(path)
    let other = try await jobs.enqueue(EndlessJob())
    try await poll { try await other.job()?.state == .running }
    for _ in 0..<3 {
      let delayed = try await jobs.enqueue(EndlessJob(), .delay(.milliseconds(50)))
      try await poll { try await delayed.job()?.state == .running }
      try await jobs.cancel(delayed.id)
      try await poll { try await delayed.job()?.state == .cancelled }
    }
    let stopped = try await handle.job()
    #expect(stopped == running)
    first.send(SIGCONT)
    // It still runs the job: it reacts to the cancellation.
    try await handle.cancel()
    try await poll { try await handle.job()?.state == .cancelled }
    let ended = try await handle.job()
    #expect(ended?.epoch == 1)
    #expect(ended?.crashCount == 0)
    await first.kill()
    await second.kill()
    await store.close()
  }
}
#endif
