#if Jobs
import Foundation
import GRDB
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestSupport
import Synchronization
import Testing

@testable import JobsCrashProgram

/// A store without room.
@Suite(.hangLimit, .serialized) struct DiskFullTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("J174, J43: in a full database, enqueueing fails, claims pause, and endings are kept until there is room")
  func fullDatabase() async throws {
    let pool = try openPool(folder.path + "/jobs.sqlite")
    let store = CountingStore(try SQLiteJobStore(pool))
    let jobs = Jobs(store)
    let (opening, gate) = AsyncStream.makeStream(of: Void.self)
    let large = [UInt8](repeating: 7, count: 60_000)
    let started = try await jobs.enqueue(contentsOf: (0..<4).map { _ in Large() })
    let worker = JobWorker(jobs, kinds: [Large.self])
    worker.serve(on: OperationQueue(maxConcurrentOperationCount: 4))
    let running = Task { try await Large.$opening.withValue(Opening(stream: opening)) { try await worker.run() } }
    try await poll { try await jobs.counts()["default"]?[.running] == started.count }
    // Each result and each payload needs pages that the database no longer gets.
    try await setRoom(0, pool)
    for _ in 0..<3 {
      let error = await #expect(throws: JobError.self) {
        try await store.enqueue([NewJob(kind: Large.kind, payload: JobPayload(bytes: large))])
      }
      #expect(error?.code == .storeFull)
    }
    gate.finish()
    try await poll { store.fullCount >= 3 }
    let counts = try await jobs.counts()["default"]?.byState
    #expect(counts == [.running: started.count])
    try await setRoom(1_000_000, pool)
    let more = try await jobs.enqueue(contentsOf: (0..<20).map { _ in Large() })
    for handle in started + more {
      let value = try await handle.value
      #expect(value.count == Large.size)
      // The results were kept, so no attempt was repeated.
      let job = try await handle.job()
      #expect(job?.epoch == 1)
    }
    worker.stop()
    try await running.value
    let integrity = try await pool.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
    #expect(integrity == "ok")
    await store.close()
  }

  /// Sets how many pages the database can grow.
  private func setRoom(_ pages: Int, _ pool: DatabasePool) async throws {
    try await pool.writeWithoutTransaction { database in
      let count = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
      try database.execute(sql: "PRAGMA max_page_count = \(count + pages)")
    }
  }

  @Test(
    "J174, J170: when a disk is full, nothing is lost, and with room again all jobs succeed once",
    .enabled(if: SmallDisk.canMount, "Mounting a small file system needs rights that this process does not have."))
  func fullDisk() async throws {
    let disk = try SmallDisk(at: folder.path, megabytes: 64)
    defer { disk.unmount() }
    let path = folder.path + "/jobs.sqlite"
    let pool = try openPool(path)
    try await pool.write { try $0.execute(sql: CountedJob.table) }
    let store = try SQLiteJobStore(pool)
    let jobs = Jobs(store)
    func succeeded() async throws -> Int { try await jobs.counts()["default"]?[.succeeded] ?? 0 }
    let worker = try WorkerProcess(path)
    var stored: [JobID] = []
    for round in 1...2 {
      let goal = try await succeeded() + 100
      try await poll {
        let batch = (0..<10).map { CountedJob(number: stored.count + $0) }
        stored += try await jobs.enqueue(contentsOf: batch).map(\.id)
        return try await succeeded() >= goal
      }
      try disk.fill()
      // All acknowledged changes are stored, and no other changes.
      var error: JobError?
      while error == nil {
        do {
          let batch = (0..<100).map { CountedJob(number: stored.count + $0) }
          stored += try await jobs.enqueue(contentsOf: batch).map(\.id)
        } catch let failure as JobError {
          error = failure
        }
      }
      #expect(error?.code == .storeFull, "round \(round): \(error?.context ?? "")")
      try disk.empty()
      let goalWithRoom = stored.count
      try await poll { try await succeeded() == goalWithRoom }
      #expect(worker.isRunning)
    }
    let (effects, integrity) = try await pool.read { database in
      (
        try Int.fetchAll(database, sql: "SELECT count(*) FROM effect UNION ALL SELECT max(count) FROM effect"),
        try String.fetchOne(database, sql: "PRAGMA integrity_check")
      )
    }
    #expect(effects == [stored.count, 1])
    #expect(integrity == "ok")
    await worker.kill()
    await store.close()
    try pool.close()
  }
}

/// A file system of its own, which is small.
private final class SmallDisk: Sendable {
  private let folder: String
  private var filler: String { folder + "/filler" }

  static let canMount: Bool = {
    guard let folder = try? TemporaryFolder(), let disk = try? SmallDisk(at: folder.path, megabytes: 1) else {
      return false
    }
    disk.unmount()
    return true
  }()

  struct Refused: Error {}

  init(at folder: String, megabytes: Int) throws {
    self.folder = folder
    guard try Self.run("mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "headway", folder) == 0 else {
      throw Refused()
    }
  }

  /// Fills the disk and leaves less than a page.
  func fill() throws {
    let descriptor = open(filler, O_WRONLY | O_CREAT | O_APPEND, 0o666)
    defer { close(descriptor) }
    let bytes = [UInt8](repeating: 1, count: 4_096)
    while write(descriptor, bytes, bytes.count) == bytes.count {}
  }

  func empty() throws { try FileManager.default.removeItem(atPath: filler) }

  func unmount() { _ = try? Self.run("umount", "-l", folder) }

  private static func run(_ arguments: String...) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }
}

/// Waits until its test lets it continue, then returns a result that needs many pages.
private struct Large: Job {
  static let kind: JobKind = "large"
  static let size = 40_000
  @TaskLocal static var opening: Opening?

  func perform(in context: JobContext) async throws -> String {
    await Self.opening?.wait()
    return String(repeating: "x", count: Self.size)
  }
}

/// Opens when the stream ends.
private final class Opening: Sendable {
  private let task: Task<Void, Never>

  init(stream: AsyncStream<Void>) { task = Task { for await _ in stream {} } }

  func wait() async { await task.value }
}

/// A store that counts its exchanges that fail because there is no room.
private final class CountingStore: JobStoreBackend {
  private let store: SQLiteJobStore
  private let count = Atomic(0)

  init(_ store: SQLiteJobStore) { self.store = store }

  var fullCount: Int { count.load(ordering: .relaxed) }

  func exchange(_ exchange: JobExchange) async throws -> JobExchangeAnswer {
    do {
      return try await store.exchange(exchange)
    } catch let error as JobError where error.code == .storeFull {
      count.add(1, ordering: .relaxed)
      throw error
    }
  }

  var maxPayloadSize: Int { store.maxPayloadSize }
  var now: StoreTime { store.now }
  func close() async { await store.close() }
  func enqueue(_ jobs: [NewJob]) async throws -> [Enqueued] { try await store.enqueue(jobs) }
  func write(_ writes: [FencedWrite]) async throws -> [FencedAnswer] { try await store.write(writes) }
  func checkpoint(_ name: String, of id: JobID) async throws -> JobPayload? {
    try await store.checkpoint(name, of: id)
  }
  func register(_ description: WorkerDescription) async throws -> WorkerID { try await store.register(description) }
  func beat(_ worker: WorkerID, running attempts: [JobFence]) async throws -> WorkerBeat {
    try await store.beat(worker, running: attempts)
  }
  func unregister(_ worker: WorkerID, isRunningCode: Bool) async throws {
    try await store.unregister(worker, isRunningCode: isRunningCode)
  }
  func rescue() async throws -> [JobID] { try await store.rescue() }
  func advance() async throws -> StoreTime? { try await store.advance() }
  func perform(_ command: JobCommand) async throws -> Int { try await store.perform(command) }
  func jobs(_ filter: JobFilter, after id: JobID?, limit: Int) async throws -> [JobRecord] {
    try await store.jobs(filter, after: id, limit: limit)
  }
  func edges(of ids: [JobID]) async throws -> [JobEdge] { try await store.edges(of: ids) }
  func counts() async throws -> [String: JobQueueCounts] { try await store.counts() }
  func snapshot(_ parts: JobsSnapshot.Parts) async throws -> JobsSnapshot { try await store.snapshot(parts) }
  func perform(_ command: ScheduleCommand, on name: String) async throws -> ScheduleAnswer {
    try await store.perform(command, on: name)
  }
  func schedules() async throws -> [ScheduleRecord] { try await store.schedules() }
  func observeHints(_ handler: @escaping @Sendable (JobHint) -> Void) -> any AnyObject & Sendable {
    store.observeHints(handler)
  }
}
#endif
