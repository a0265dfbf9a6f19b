#if Jobs
import Foundation
import GRDB
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import JobsCrashProgram

/// Workers in other processes, which are killed.
@Suite(.hangLimit, .serialized) struct CrashTests {
  @Test("J33: a killed process's job goes back, but a stopped process's job does not")
  func killed() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/jobs.sqlite"
    let store = try SQLiteJobStore(path: path)
    let jobs = Jobs(store)
    let handle = try await jobs.enqueue(EndlessJob())
    let process = try WorkerProcess(path)
    try await poll { try await handle.job()?.state == .running }
    process.send(SIGSTOP)
    let rescuedWhileStopped = try await store.rescue()
    #expect(rescuedWhileStopped.isEmpty)
    process.send(SIGKILL)
    await process.end()
    let rescued = try await store.rescue()
    #expect(rescued == [handle.id])
    let job = try #require(try await handle.job())
    #expect(job.state == .waiting)
    #expect(job.crashCount == 1)
    #expect(job.attempt == 0)
    await store.close()
  }

  /// The number of kills of a round with its own store.
  private static let roundSize = 50

  /// The variable `HEADWAY_JOB_KILLS` is the number of kills, and `HEADWAY_JOB_SEED` is the seed of the first round.
  @Test("J170: of many jobs, none is lost or ends twice, however often workers are killed", arguments: [1, 3])
  func manyKills(workerCount: Int) async throws {
    let killCount = environmentCount("HEADWAY_JOB_KILLS", else: 50)
    let firstSeed = environmentCount("HEADWAY_JOB_SEED", else: 1)
    for start in stride(from: 0, to: killCount, by: Self.roundSize) {
      let seed = firstSeed + start / Self.roundSize
      try await kill(min(Self.roundSize, killCount - start), of: workerCount, seed: UInt64(seed))
      Watchdog.shared.note("Killed workers", "\(min(start + Self.roundSize, killCount)) of \(killCount) kills")
    }
  }

  /// Kills workers while they run jobs; audits the store after each kill.
  private func kill(_ killCount: Int, of workerCount: Int, seed: UInt64) async throws {
    let jobCount = killCount * 100
    let folder = try TemporaryFolder()
    let path = folder.path + "/jobs.sqlite"
    let pool = try openPool(path)
    try await pool.write { try $0.execute(sql: CountedJob.table) }
    let store = try SQLiteJobStore(pool)
    let jobs = Jobs(store)
    for start in stride(from: 0, to: jobCount, by: 1_000) {
      let batch = (start..<min(start + 1_000, jobCount)).map { CountedJob(number: $0) }
      try await jobs.enqueue(contentsOf: batch)
    }
    var generator = SeededGenerator(seed: seed)
    var workers = try (0..<workerCount).map { _ in try WorkerProcess(path) }
    for number in 1...killCount {
      let index = Int.random(in: 0..<workerCount, using: &generator)
      let goal = min(try await effects(pool) + Int.random(in: 0...100, using: &generator), jobCount)
      try await poll { try await effects(pool) >= goal }
      await workers[index].kill()
      #expect(try await store.audit() == [], "after kill \(number) with the seed \(seed)")
      workers[index] = try WorkerProcess(path)
    }
    try await poll { try await jobs.counts()["default"]?[.succeeded] == jobCount }
    for worker in workers { await worker.kill() }
    _ = try await store.rescue()
    try await audit(pool, jobs, jobCount, folder: path + "-headway")
    #expect(try await store.audit() == [], "after the round with the seed \(seed)")
    await store.close()
    try pool.close()
  }

  @Test(
    "J229, J220: whenever the process of an order is killed, each step takes effect once", arguments: [false, true])
  func orders(isRefused: Bool) async throws {
    var (number, isKilled) = (0, true)
    // The first process of each order makes one commit more than the first process of the previous order, and then
    // kills itself.
    while isKilled {
      number += 1
      isKilled = false
      let folder = try TemporaryFolder()
      let path = folder.path + "/jobs.sqlite"
      let pool = try openPool(path)
      try await pool.write { try $0.execute(sql: OrderJob.table) }
      let store = try SQLiteJobStore(pool)
      let jobs = Jobs(store)
      let handle = try await jobs.enqueue(OrderJob(isRefused: isRefused))
      // The signal arrives before the job begins, or when it waits.
      var isSent = number.isMultiple(of: 2)
      if isSent { try await jobs.signal(handle.id, "packed") }
      var worker = try WorkerProcess(path, role: "\(number)")
      try await poll {
        if !worker.isRunning {
          isKilled = true
          await worker.end()
          worker = try WorkerProcess(path)
        }
        guard let job = try await handle.job() else { return false }
        if !isSent, job.wait == .signal("packed") {
          isSent = true
          try await jobs.signal(handle.id, "packed")
        }
        return job.state.isFinished
      }
      await worker.kill()
      #expect(try await handle.job()?.state == .succeeded)
      let steps = try await pool.read { try String.fetchAll($0, sql: "SELECT name FROM step ORDER BY rowid") }
      #expect(steps == (isRefused ? ["charge", "refund"] : ["charge", "ship", "review"]), "killed after \(number)")
      _ = try await store.rescue()
      #expect(try await store.audit() == [])
      await store.close()
      try pool.close()
    }
    #expect(number > 6)
  }

  /// Every job has succeeded, its effect has happened once, the database is intact, and no worker has left a file.
  private func audit(_ pool: DatabasePool, _ jobs: Jobs, _ jobCount: Int, folder: String) async throws {
    let counts = try await jobs.counts()
    #expect(counts["default"]?.byState == [.succeeded: jobCount])
    let (numbers, sum, integrity) = try await pool.read { database in
      (
        try Int.fetchOne(database, sql: "SELECT count(*) FROM effect"),
        try Int.fetchOne(database, sql: "SELECT sum(count) FROM effect"),
        try String.fetchOne(database, sql: "PRAGMA integrity_check")
      )
    }
    #expect(numbers == jobCount)
    #expect(sum == jobCount)
    #expect(integrity == "ok")
    let locks = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".lock") }
    #expect(locks == ["writer.lock"])
  }

  private func effects(_ pool: DatabasePool) async throws -> Int {
    try await pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM effect") ?? 0 }
  }
}
#endif
