#if Jobs
import Foundation
import GRDB
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestSupport
import Testing

@testable import JobsCrashProgram

/// Processes of an old and of a new release with one store.
@Suite(.hangLimit, .serialized) struct ReleaseTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/jobs.sqlite" }

  init() throws { folder = try TemporaryFolder() }

  @Test("J177, J106: processes that open a new store at the same time create one schema", arguments: 0..<8)
  func migrations(round: Int) async throws {
    let processes = try (0..<6).map { _ in try WorkerProcess(path) }
    let store = try SQLiteJobStore(path: path)
    let jobs = Jobs(store)
    let handles = try await jobs.enqueue(contentsOf: (0..<20).map { Note(text: "\($0)") })
    let pool = try openPool(path)
    try await poll {
      let count = try await pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM headway_worker") }
      return count == processes.count || processes.contains { !$0.isRunning }
    }
    #expect(processes.allSatisfy { $0.isRunning })
    let tables = try await pool.read { database in
      try String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE name GLOB 'headway_*' ORDER BY name")
    }
    #expect(Set(tables).count == tables.count)
    for process in processes { await process.kill() }
    _ = try await store.rescue()
    let stored = try await jobs.jobs()
    #expect(stored.map(\.id) == handles.map(\.id))
    await store.close()
  }

  @Test("J177, J3: a worker of an old release leaves new jobs to the new worker, which also runs old jobs")
  func releases() async throws {
    let pool = try openPool(path)
    try await pool.write { try $0.execute(sql: OldLetter.table) }
    let store = try SQLiteJobStore(pool)
    let jobs = Jobs(store)
    let count = 100
    func enqueue(old: Int, new: Int) async throws {
      for number in 0..<max(old, new) {
        if number < old { try await jobs.enqueue(OldLetter(text: "old")) }
        if number < new { try await jobs.enqueue(NewLetter(text: "new", copies: 3)) }
      }
    }
    func counts() async throws -> JobQueueCounts { try await jobs.counts()["default"] ?? JobQueueCounts() }
    // The old worker alone leaves the new jobs.
    let old = try WorkerProcess(path, role: "old")
    try await enqueue(old: count, new: count)
    try await poll { try await counts()[.succeeded] == count }
    let left = try await jobs.jobs(JobFilter(states: [.waiting]))
    #expect(left.map(\.version) == [Int](repeating: 2, count: count))
    #expect(left.allSatisfy { $0.epoch == 0 })
    // Both work while a newer release migrates the tables.
    let new = try WorkerProcess(path, role: "new")
    async let more: Void = enqueue(old: count, new: count)
    try await poll { try await counts()[.succeeded] > 2 * count }
    try await pool.write { database in
      try database.execute(
        sql: """
          ALTER TABLE headway_job ADD COLUMN later TEXT;
          ALTER TABLE headway_done ADD COLUMN later TEXT;
          UPDATE headway_meta SET value = value + 1 WHERE name = 'schema'
          """)
    }
    try await more
    try await poll { try await counts()[.succeeded] == 4 * count }
    // The new worker alone runs old jobs, even in a process that starts with the newer schema.
    await old.kill()
    await new.kill()
    let last = try WorkerProcess(path, role: "new")
    try await enqueue(old: count, new: 0)
    try await poll { try await counts()[.succeeded] == 5 * count }
    await last.kill()
    try await audit(pool, jobs, 5 * count)
    await store.close()
  }

  /// Each letter was sent once, by a release that supports it.
  private func audit(_ pool: DatabasePool, _ jobs: Jobs, _ count: Int) async throws {
    let all = try await jobs.counts()
    #expect(all["default"]?.byState == [.succeeded: count])
    let (letters, wrong, copies) = try await pool.read { database in
      (
        try Int.fetchOne(database, sql: "SELECT count(DISTINCT job) FROM letter"),
        try Int.fetchOne(database, sql: "SELECT count(*) FROM letter WHERE version > release"),
        try Int.fetchOne(database, sql: "SELECT count(*) FROM letter WHERE copies != iif(version = 1, 1, 3)")
      )
    }
    #expect(letters == count)
    #expect(wrong == 0)
    #expect(copies == 0)
  }
}
#endif
