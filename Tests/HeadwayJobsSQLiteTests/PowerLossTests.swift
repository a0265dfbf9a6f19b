#if Jobs
import Foundation
import GRDB
import GRDBSQLite
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import JobsCrashProgram

/// The remains of a store after a loss of power.
@Suite(.hangLimit, .serialized) struct PowerLossTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/jobs.sqlite" }

  init() throws { folder = try TemporaryFolder() }

  @Test("J178: the recording finds a commit that does not wait for the disk", arguments: ["NORMAL", "FULL"])
  func recording(synchronous: String) throws {
    let recorder = try PowerRecorder(path)
    let queue = try DatabaseQueue(path: path)
    try queue.inDatabase { database in
      try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
      try database.execute(sql: "CREATE TABLE entry (id INTEGER PRIMARY KEY)")
      try database.execute(sql: "PRAGMA synchronous = \(synchronous)")
      try database.execute(sql: "INSERT INTO entry DEFAULT VALUES")
    }
    let copy = folder.path + "/copy.sqlite"
    try recorder.write(at: PowerRecorder.count, to: copy) { false }
    let count = try DatabaseQueue(path: copy).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM entry") }
    #expect(count == (synchronous == "FULL" ? 1 : 0))
    try queue.close()
  }

  /// The variable `HEADWAY_JOB_LOSSES` sets the number of losses, and `HEADWAY_JOB_SEED` the first seed.
  @Test("J178, J133: whenever the power is lost, everything that was acknowledged is still stored", arguments: 0..<2)
  func losses(round: UInt64) async throws {
    let environment = ProcessInfo.processInfo.environment
    let lossCount = try #require(Int(environment["HEADWAY_JOB_LOSSES"] ?? "150"))
    let seed = try #require(UInt64(environment["HEADWAY_JOB_SEED"] ?? "178")) + round
    var generator = SeededGenerator(seed: seed)
    let recorder = try PowerRecorder(path)
    // Small pages make a log of many frames cheap.
    let pool = try openPool(path) { $0.prepareDatabase { try $0.execute(sql: "PRAGMA page_size = 512") } }
    try await pool.write { try $0.execute(sql: RivalJob.table) }
    let store = try SQLiteJobStore(pool)
    let facts = try await StoreLoad(store, pool, seed: seed).run()
    let points = recorder.syncPoints()
    // Each of the enqueuing tasks waits for 80 syncs, no matter how the requests of other tasks are gathered.
    #expect(points.count >= 160)
    let others = (0..<lossCount / 3).map { _ in Int.random(in: 0...PowerRecorder.count, using: &generator) }
    let chosen = points.shuffled(using: &generator).prefix(lossCount - others.count) + others
    for (number, point) in chosen.sorted().enumerated() {
      // Every second time, some of the sectors that were not synced are on the disk.
      let keepsSome = Bool.random(using: &generator)
      let copy = "\(folder.path)/\(number).sqlite"
      try recorder.write(at: point, to: copy) { keepsSome && Bool.random(using: &generator) }
      var defects = try StoreAudit.read(facts.filter { $0.position <= point }.map(\.fact), in: copy)
      if number.isMultiple(of: 5) { defects += try await StoreAudit.continueWith(copy) }
      #expect(defects == [], "seed \(seed), after \(point) changes")
      for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy + suffix) }
      try? FileManager.default.removeItem(atPath: copy + "-headway")
    }
    await store.close()
    try pool.close()
  }
}

/// The changes that a store has acknowledged, which therefore survive a loss of power.
private enum StoreFact: Hashable, Sendable {
  case stored(JobID)
  case ended(JobID, JobState)
  /// The effect of a job's code was committed together with its end.
  case effect(JobID)
}

/// Work for a store whose answers are recorded.
private final class StoreLoad: Sendable {
  private let store: SQLiteJobStore
  private let pool: DatabasePool
  private let seed: UInt64
  private let facts = Mutex<[(fact: StoreFact, position: Int)]>([])

  init(_ store: SQLiteJobStore, _ pool: DatabasePool, seed: UInt64) {
    (self.store, self.pool, self.seed) = (store, pool, seed)
  }

  func run() async throws -> [(fact: StoreFact, position: Int)] {
    let worker = try await store.register(
      WorkerDescription(name: "test", processIdentifier: 1, queues: ["default"], kinds: ["test": 1]))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<3 { group.addTask { try await self.enqueue(80, number) } }
      group.addTask { try await self.work(worker) }
      try await group.waitForAll()
    }
    return facts.withLock { $0 }
  }

  /// Notes an answer.
  ///
  /// The promised changes have been written by now.
  private func note(_ fact: StoreFact) {
    let position = PowerRecorder.count
    facts.withLock { $0.append((fact, position)) }
  }

  private func enqueue(_ count: Int, _ number: Int) async throws {
    var generator = SeededGenerator(seed: seed &+ UInt64(number + 1) &* 1_000)
    for _ in 0..<count {
      let size = Int.random(in: 0...2_000, using: &generator)
      let payload = JobPayload(bytes: [UInt8](repeating: 1, count: size))
      let batch = (0...Int.random(in: 0...2, using: &generator)).map { _ in NewJob(kind: "test", payload: payload) }
      for enqueued in try await store.enqueue(batch) { note(.stored(enqueued.id)) }
      // The log is copied and begins again with one of the next commits.
      if Int.random(in: 0..<12, using: &generator) == 0 {
        try await pool.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
      }
    }
  }

  private func work(_ worker: WorkerID) async throws {
    var generator = SeededGenerator(seed: seed)
    let jobs = Jobs(store)
    let claim = JobClaim(queue: "default", count: 4, allowsSuspect: true, kinds: ["test": 1])
    var endings: [JobEnding] = []
    for _ in 0..<120 {
      let sent = endings
      let answer = try await store.exchange(JobExchange(worker: worker, endings: sent, claims: [claim]))
      for ending in sent {
        if case .succeed = ending.action { note(.ended(ending.fence.id, .succeeded)) }
        if case .fail = ending.action { note(.ended(ending.fence.id, .failed)) }
      }
      endings = []
      for job in answer.claimed[0] {
        guard let fence = job.fence else { continue }
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: endings.append(JobEnding(fence, .release))
        case 1: endings.append(JobEnding(fence, .retry(after: .zero, JobErrorDescription(CancellationError()))))
        case 2: endings.append(JobEnding(fence, .fail(JobEndReason(.failed), nil)))
        case 3, 4: endings.append(JobEnding(fence, .succeed(result: nil)))
        default:
          let id = fence.id.rawValue
          try await JobContext(job, fence, jobs).finish { database in
            try database.execute(sql: "INSERT INTO effect VALUES (?, 1)", arguments: [id])
          }
          note(.effect(fence.id))
        }
      }
    }
  }
}

/// The audit of a database after a loss of power.
private enum StoreAudit {
  /// The problem.
  enum Defect: Hashable {
    case missing(StoreFact)
    case malformed(String)
    /// An effect without the end of its job.
    case onlyEffect(Int64)
    case twoRows(Int64)
    case notRescued(JobID)
  }

  /// Lets a worker continue with the database.
  static func continueWith(_ path: String) async throws -> [Defect] {
    let store = try SQLiteJobStore(path: path)
    _ = try await store.rescue()
    let running = try await store.jobs(JobFilter(states: [.running]), after: nil, limit: .max)
    let worker = try await store.register(
      WorkerDescription(name: "audit", processIdentifier: 1, queues: ["default"], kinds: ["test": 1]))
    let claim = JobClaim(queue: "default", count: 1, allowsSuspect: true, kinds: ["test": 1])
    let claimed = try await store.exchange(JobExchange(worker: worker, claims: [claim])).claimed[0]
    let endings = claimed.compactMap(\.fence).map { JobEnding($0, .succeed(result: nil)) }
    _ = try await store.exchange(JobExchange(worker: worker, endings: endings))
    try await store.unregister(worker, isRunningCode: false)
    await store.close()
    return running.map { .notRescued($0.id) }
  }

  static func read(_ facts: [StoreFact], in path: String) throws -> [Defect] {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.read { database in
      let integrity = try String.fetchAll(database, sql: "PRAGMA integrity_check")
      guard integrity == ["ok"] else { return integrity.map { .malformed($0) } }
      guard try database.tableExists("headway_done") else { return facts.map { .missing($0) } }
      let unfinished = try Int64.fetchSet(database, sql: "SELECT id FROM headway_job")
      var finished: [Int64: Int] = [:]
      for row in try Row.fetchAll(database, sql: "SELECT id, state FROM headway_done") { finished[row[0]] = row[1] }
      let effects = try Int64.fetchSet(database, sql: "SELECT job FROM effect")
      var defects = facts.filter { fact in
        switch fact {
        case .stored(let id): !unfinished.contains(id.rawValue) && finished[id.rawValue] == nil
        case .ended(let id, let state): finished[id.rawValue] != state.rawValue
        case .effect(let id): !effects.contains(id.rawValue) || finished[id.rawValue] != JobState.succeeded.rawValue
        }
      }.map { Defect.missing($0) }
      defects += unfinished.filter { finished[$0] != nil }.map { .twoRows($0) }
      defects += effects.filter { finished[$0] != JobState.succeeded.rawValue }.map { .onlyEffect($0) }
      return defects
    }
  }
}
#endif
