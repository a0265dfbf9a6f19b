#if Jobs
import Foundation
import GRDB
import GRDBSQLite
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestSupport
import Testing
@testable import JobsCrashProgram

/// Databases that can and that can't be opened.
@Suite(.hangLimit) struct OpeningTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/jobs.sqlite" }

  init() throws { folder = try TemporaryFolder() }

  /// The code of the error of opening a path.
  private func code(_ path: String) -> JobError.Code? {
    let error = #expect(throws: JobError.self) { _ = try SQLiteJobStore(path: path) }
    #expect(error?.context.isEmpty == false)
    return error?.code
  }

  @Test("J106: a store that was closed still contains its jobs when it is opened again")
  func opensAgain() async throws {
    let store = try SQLiteJobStore(path: path)
    let handle = try await Jobs(store).enqueue(Note(text: "a"))
    await store.close()
    #expect(!folder.has("jobs.sqlite-wal"))
    let again = try SQLiteJobStore(path: path)
    let job = try await Jobs(again).job(handle.id)
    #expect(job?.kind == Note.kind)
    await again.close()
    await #expect(throws: JobError.self) { try await Jobs(again).enqueue(Note(text: "b")) }
    await #expect(throws: JobError.self) { try await Jobs(again).counts() }
  }

  @Test("J190: using a store whose file was deleted, moved, or replaced throws an error", arguments: 0..<3)
  func movedFile(change: Int) async throws {
    let store = try SQLiteJobStore(path: path)
    _ = try await Jobs(store).enqueue(Note(text: "a"))
    #expect(try await Jobs(store).jobs().count == 1)
    let files = FileManager.default
    if change == 0 { try files.removeItem(atPath: path) } else { try files.moveItem(atPath: path, toPath: path + "2") }
    if change == 2 { try files.copyItem(atPath: path + "2", toPath: path) }
    let reading = await #expect(throws: JobError.self) { try await Jobs(store).jobs() }
    let writing = await #expect(throws: JobError.self) { try await Jobs(store).enqueue(Note(text: "b")) }
    for error in [reading, writing] {
      #expect(error?.code == .unusableStore)
      #expect(error?.context.contains("was deleted, moved, or replaced") == true)
    }
    await store.close()
  }

  @Test(
    "J190: a worker stops if the file of its store is deleted, whether the worker is idle or runs a job",
    arguments: [false, true])
  func workerOfDeletedFile(isRunningJob: Bool) async throws {
    let store = try SQLiteJobStore(path: path)
    let jobs = Jobs(store)
    let worker = JobWorker(jobs, kinds: [EndlessJob.self])
    worker.serve(on: Headway.OperationQueue())
    let events = jobs.events
    let running = Task { try await worker.run() }
    if isRunningJob { try await jobs.enqueue(EndlessJob()) }
    for await event in events {
      if case .workerStarted = event, !isRunningJob { break }
      if case .started = event { break }
    }
    try FileManager.default.removeItem(atPath: path)
    let error = await #expect(throws: JobError.self) { try await running.value }
    #expect(error?.code == .unusableStore)
    await store.close()
  }

  @Test("J180: a job is not retried if SQLite rejects its value")
  func refusedValue() async throws {
    var configuration = Configuration()
    SQLiteJobStore.prepare(&configuration)
    configuration.prepareDatabase { sqlite3_limit($0.sqliteConnection, SQLITE_LIMIT_LENGTH, 20_000) }
    let pool = try DatabasePool(path: path, configuration: configuration)
    let store = try SQLiteJobStore(pool)
    let jobs = Jobs(store)
    try await jobs.enqueue(Note(text: String(repeating: "x", count: 10_000)))
    let error = await #expect(throws: JobError.self) {
      try await jobs.enqueue(Note(text: String(repeating: "x", count: 30_000)))
    }
    #expect(error?.code == .refusedValue)
    #expect(error?.isRetryable == false)
    #expect(try await jobs.jobs().count == 1)
    await store.close()
  }

  @Test("J190: an application can't add jobs in a transaction of a deleted file")
  func transactionOfDeletedFile() async throws {
    let pool = try DatabasePool(path: path)
    let store = try SQLiteJobStore(pool)
    let jobs = Jobs(store)
    try FileManager.default.removeItem(atPath: path)
    let error = await #expect(throws: JobError.self) {
      try await pool.write { try jobs.enqueue(Note(text: "a"), in: $0) }
    }
    #expect(error?.code == .unusableStore)
    await store.close()
  }

  @Test("J106: the next version of the schema is accepted, and later versions are rejected", arguments: [2, 3])
  func newerSchema(version: Int) async throws {
    let store = try SQLiteJobStore(path: path)
    await store.close()
    let queue = try DatabaseQueue(path: path)
    try await queue.write { database in
      try database.execute(sql: "UPDATE headway_meta SET value = ? WHERE name = 'schema'", arguments: [version])
    }
    try queue.close()
    if version == 2 {
      await (try SQLiteJobStore(path: path)).close()
    } else {
      #expect(code(path) == .newerSchema)
    }
  }

  @Test("J106: stores that migrate at the same time create one schema")
  func concurrentMigrations() async throws {
    try await withThrowingTaskGroup(of: SQLiteJobStore.self) { [path] group in
      for _ in 0..<4 { group.addTask { try SQLiteJobStore(path: path) } }
      for try await store in group {
        try await Jobs(store).enqueue(Note(text: "a"))
        await store.close()
      }
    }
    let store = try SQLiteJobStore(path: path)
    let count = try await Jobs(store).counts()["default"]?[.waiting]
    #expect(count == 4)
    await store.close()
  }

  @Test("opening a folder, a missing folder, or a file that isn't a database fails")
  func badPaths() throws {
    #expect(code(try folder.write("This is not a database, but a text.", to: "text")) == .unusableStore)
    #expect(code(folder.path) == .unusableStore)
    #expect(code(folder.path + "/missing/jobs.sqlite") == .unusableStore)
    #expect(code(":memory:") == .unusableStore)
    #expect(code("") == .unusableStore)
  }

  @Test("a folder for locks that can't be created is rejected")
  func lockFolder() throws {
    try folder.write("A file is in the way.", to: "jobs.sqlite-headway")
    #expect(code(path) == .unusableStore)
  }

  @Test("a read-only pool is rejected")
  func readOnlyPool() async throws {
    await (try SQLiteJobStore(path: path)).close()
    var configuration = Configuration()
    configuration.readonly = true
    let pool = try DatabasePool(path: path, configuration: configuration)
    let error = #expect(throws: JobError.self) { _ = try SQLiteJobStore(pool) }
    #expect(error?.code == .unusableStore)
  }

  @Test("a pool that the application has closed makes requests fail")
  func closedPool() async throws {
    let pool = try DatabasePool(path: path)
    let store = try SQLiteJobStore(pool)
    try pool.close()
    await #expect(throws: JobError.self) { try await Jobs(store).enqueue(Note(text: "a")) }
    await #expect(throws: JobError.self) { try await Jobs(store).counts() }
    await store.close()
  }
}
#endif
