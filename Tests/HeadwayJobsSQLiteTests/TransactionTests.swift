#if Jobs
import Foundation
import GRDB
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestSupport
import Synchronization
import Testing

/// A job that is only stored.
struct Note: Job {
  static let kind: JobKind = "note"
  var text: String

  func perform(in context: JobContext) async throws {}
}

/// Jobs in the transactions of an application.
@Suite(.hangLimit) struct TransactionTests {
  /// A database of an application, with the application's table and a store of jobs.
  struct Application {
    let folder: TemporaryFolder
    let pool: DatabasePool
    let store: SQLiteJobStore
    let jobs: Jobs

    init() throws {
      folder = try TemporaryFolder()
      var configuration = Configuration()
      SQLiteJobStore.prepare(&configuration)
      pool = try DatabasePool(path: folder.path + "/app.sqlite", configuration: configuration)
      try pool.write { database in
        try database.execute(sql: "CREATE TABLE photo (id INTEGER PRIMARY KEY, size INTEGER); PRAGMA user_version = 7")
      }
      store = try SQLiteJobStore(pool)
      jobs = Jobs(store)
    }

    func photoCount() throws -> Int? {
      try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM photo") }
    }

    /// Writes until the gate is opened, so that the requests of the store gather for one transaction.
    func holdWriter() async -> (writing: Task<Void, any Error>, gate: WriterGate) {
      let (begun, gate) = (AsyncStream.makeStream(of: Void.self), WriterGate())
      let writing = Task {
        try await pool.write { _ in
          begun.continuation.finish()
          gate.wait()
        }
      }
      for await _ in begun.stream {}
      return (writing, gate)
    }

    /// Claims the only job.
    func claim() async throws -> JobContext {
      let worker = try await store.register(
        WorkerDescription(name: "test", processIdentifier: 1, queues: ["default"], kinds: [Note.kind: 1]))
      let claim = JobClaim(queue: "default", count: 1, allowsSuspect: true, kinds: [Note.kind: 1])
      let answer = try await store.exchange(JobExchange(worker: worker, claims: [claim]))
      let job = try #require(answer.claimed[0].first)
      return JobContext(job, try #require(job.fence), jobs)
    }
  }

  struct Refusal: Error {}

  @Test("J179: filters find queues and kinds with null characters")
  func nullCharacters() async throws {
    let app = try Application()
    let kind = JobKind(rawValue: "a\0b")
    let new = NewJob(kind: kind, payload: JobPayload(bytes: []), options: [.queue("a\0b")])
    let other = NewJob(kind: "a", payload: JobPayload(bytes: []), options: [.queue("a")])
    let ids = try await app.store.enqueue([new, other]).map(\.id)
    let ofQueue = try await app.jobs.jobs(JobFilter(queues: ["a\0b"])).map(\.id)
    #expect(ofQueue == [ids[0]])
    let ofKind = try await app.jobs.jobs(JobFilter(queues: ["a\0b", "a"], kinds: [kind])).map(\.id)
    #expect(ofKind == [ids[0]])
    #expect(try await app.jobs.cancel(JobFilter(kinds: [kind])) == 1)
    await app.store.close()
  }

  @Test("J55, J82: jobs with keys and the highest number of a priority are claimed")
  func highestPriority() async throws {
    let app = try Application()
    for priority in [Int.max, Int.min] {
      let handle = try await app.jobs.enqueue(Note(text: "a"), .limits([.serial(key: "key")]))
      try await app.pool.write { database in
        try database.execute(
          sql: "UPDATE headway_job SET priority = ? WHERE id = ?", arguments: [priority, handle.id.rawValue])
      }
      let context = try await app.claim()
      #expect(context.id == handle.id)
      try await context.finish { _ in }
    }
    await app.store.close()
  }

  @Test("J10, J130: a batch that fails after a part was written affects no request of the same transaction")
  func failedBatch() async throws {
    let app = try Application()
    let (writing, gate) = await app.holdWriter()
    let jobs = app.jobs
    let added = try await withThrowingTaskGroup(of: JobID?.self) { group in
      for number in 0..<20 {
        group.addTask { try await jobs.enqueue(Note(text: "\(number)")).id }
        guard number % 5 == 0 else { continue }
        group.addTask {
          var batch = JobBatch()
          batch.add(Note(text: "first"))
          batch.add(Note(text: "second"), .after(JobID(rawValue: 1_000)))
          let batchWithUnknownJob = batch
          let error = await #expect(throws: JobError.self) { try await jobs.enqueue(batchWithUnknownJob) }
          #expect(error?.code == .unknownJob)
          return nil
        }
      }
      gate.open()
      return try await group.compactMap(\.self).reduce(into: []) { $0.append($1) }.sorted()
    }
    try await writing.value
    let stored = try await app.jobs.jobs()
    #expect(stored.map(\.id) == added)
    #expect(Set(added.map(\.rawValue)) == Set(1...20))
    let defects = try await app.store.audit()
    #expect(defects.isEmpty)
    await app.store.close()
  }

  @Test("J11: a job in a transaction exists if it is committed")
  func commit() async throws {
    let app = try Application()
    let hints = Mutex<[JobHint]>([])
    let token = app.store.observeHints { hint in hints.withLock { $0.append(hint) } }
    let handle = try await app.pool.write { [jobs = app.jobs] database in
      try database.execute(sql: "INSERT INTO photo (size) VALUES (1)")
      let handle = try jobs.enqueue(Note(text: "a"), .queue("mail"), in: database)
      #expect(hints.withLock { $0.isEmpty })
      return handle
    }
    let job = try await app.jobs.job(handle.id)
    #expect(job?.queue == "mail")
    #expect(try app.photoCount() == 1)
    #expect(hints.withLock { $0 } == [.claimable(queue: "mail")])
    withExtendedLifetime(token) {}
    await app.store.close()
  }

  @Test("J11, J250, J293: a job in a transaction can have options, for example a start date")
  func startTime() async throws {
    let app = try Application()
    let date = app.store.now.date.addingTimeInterval(60)
    let handle = try await app.pool.write { [jobs = app.jobs] database in
      try jobs.enqueue(Note(text: "a"), .startDate(date), in: database)
    }
    let job = try await app.jobs.job(handle.id)
    #expect(job?.state == .scheduled)
    #expect(job?.dueTime == StoreTime(date))
    await app.store.close()
  }

  @Test("J232: a signal is sent if its transaction is committed")
  func signal() async throws {
    let app = try Application()
    let handle = try await app.jobs.enqueue(Note(text: "a"))
    let context = try await app.claim()
    let suspension = await #expect(throws: JobSuspension.self) {
      _ = try await context.waitForSignal("size", as: Int.self, timeLimit: .seconds(60))
    }
    let until = try #require(suspension?.endTime)
    let ending = JobEnding(context.fence, .wait(.signal("size"), until: until))
    _ = try await app.store.exchange(JobExchange(worker: context.fence.owner, endings: [ending]))
    struct Failure: Error {}
    await #expect(throws: Failure.self) {
      try await app.pool.write { [jobs = app.jobs] database in
        try jobs.signal(handle.id, "size", 1, in: database)
        throw Failure()
      }
    }
    #expect(try await handle.job()?.state == .scheduled)
    let hints = Mutex<[JobHint]>([])
    let token = app.store.observeHints { hint in hints.withLock { $0.append(hint) } }
    let isSent = try await app.pool.write { [jobs = app.jobs] database in
      try database.execute(sql: "INSERT INTO photo (size) VALUES (2)")
      return try jobs.signal(handle.id, "size", 2, in: database)
    }
    #expect(isSent)
    #expect(hints.withLock { $0 } == [.claimable(queue: "default")])
    withExtendedLifetime(token) {}
    #expect(try await handle.job()?.state == .waiting)
    let again = try await app.claim()
    let size = try await again.waitForSignal("size", as: Int.self, timeLimit: .seconds(60))
    #expect(size == 2)
    #expect(try await app.store.audit() == [])
    await app.store.close()
  }

  @Test("J340: a signal in a transaction of the application is recorded if it has an author and is committed")
  func recordedSignal() async throws {
    let app = try Application()
    let handle = try await app.jobs.enqueue(Note(text: "a"))
    let anna = app.jobs.changing(as: "anna")
    struct Failure: Error {}
    await #expect(throws: Failure.self) {
      try await app.pool.write { database in
        try anna.signal(handle.id, "size", 1, in: database)
        throw Failure()
      }
    }
    #expect(try await anna.changes() == [])
    _ = try await app.pool.write { try anna.signal(handle.id, "size", 2, in: $0) }
    let change = try #require(try await anna.changes().first)
    #expect(change.action == .signal && change.author == "anna" && change.ids == [handle.id])
    await app.store.close()
  }

  @Test("J229: either both the writes of a step and its value are committed, or neither")
  func step() async throws {
    let app = try Application()
    let handle = try await app.jobs.enqueue(Note(text: "a"))
    let claimed = try await app.claim()
    // An attempt can use each name only once, so this test creates the context again.
    func context() -> JobContext { JobContext(claimed.job, claimed.fence, app.jobs) }
    struct Failure: Error {}
    await #expect(throws: Failure.self) {
      try await context().checkpoint("step") { database -> Int in
        try database.execute(sql: "INSERT INTO photo (size) VALUES (1)")
        throw Failure()
      }
    }
    for size in [2, 3] {
      let value = try await context().checkpoint("step") { database in
        try database.execute(sql: "INSERT INTO photo (size) VALUES (?)", arguments: [size])
        return size
      }
      #expect(value == 2)
    }
    #expect(try app.photoCount() == 1)
    for _ in 0..<2 {
      try await context().checkpoint("step without a value") { database in
        try database.execute(sql: "UPDATE photo SET size = size + 1")
      }
    }
    #expect(try await app.pool.read { try Int.fetchAll($0, sql: "SELECT size FROM photo") } == [3])
    let ended = await #expect(throws: JobError.self) {
      try await context().checkpoint("end") { database in
        try database.execute(sql: "DELETE FROM photo; COMMIT")
        return 0
      }
    }
    #expect(ended?.code == .transactionEnded)
    try await app.jobs.abandon(handle.id)
    let lost = await #expect(throws: JobError.self) {
      try await context().checkpoint("other") { database in
        try database.execute(sql: "DELETE FROM photo")
        return 0
      }
    }
    #expect(lost?.code == .leaseLost)
    #expect(try app.photoCount() == 1)
    await app.store.close()
  }

  @Test("J11, J60: jobs in a transaction wait for others, and a cycle is rejected")
  func graph() async throws {
    let app = try Application()
    let first = try await app.jobs.enqueue(Note(text: "first"))
    let (handles, last) = try await app.pool.write { [jobs = app.jobs] database in
      var batch = JobBatch()
      let second = batch.add(Note(text: "second"), .after(first.success))
      let third = batch.add(Note(text: "third"), .after(second))
      let handles = try jobs.enqueue(batch, in: database)
      let last = try jobs.enqueue(Note(text: "last"), .after(handles[third]), in: database)
      batch.addDependency(third, to: second)
      let circle = batch
      let error = #expect(throws: JobError.self) { try jobs.enqueue(circle, in: database) }
      #expect(error?.code == .dependencyCycle)
      return (handles, last)
    }
    let counts = try await app.jobs.counts()["default"]
    #expect(counts?.byState == [.waiting: 1, .held: 3])
    try await app.claim().finish { _ in }
    let states = try await app.jobs.jobs(JobFilter(ids: handles.ids + [last.id])).map(\.state)
    #expect(states == [.waiting, .held, .held])
    await app.store.close()
  }

  @Test("J11: a job in a transaction does not exist if it is rolled back")
  func rollback() async throws {
    let app = try Application()
    let hints = Mutex<[JobHint]>([])
    let token = app.store.observeHints { hint in hints.withLock { $0.append(hint) } }
    await #expect(throws: Refusal.self) {
      try await app.pool.write { [jobs = app.jobs] database in
        try jobs.enqueue(Note(text: "a"), in: database)
        throw Refusal()
      }
    }
    let stored = try await app.jobs.jobs()
    #expect(stored.isEmpty)
    #expect(hints.withLock { $0.isEmpty })
    withExtendedLifetime(token) {}
    await app.store.close()
  }

  @Test("J11: outside of a transaction, the job gets its own transaction, and a held key is reported")
  func withoutTransaction() async throws {
    let app = try Application()
    let (first, second) = try await app.pool.writeWithoutTransaction { [jobs = app.jobs] database in
      (
        try jobs.enqueue(Note(text: "a"), .unique(.unfinished("key")), in: database),
        try jobs.enqueue(Note(text: "b"), .unique(.unfinished("key")), in: database)
      )
    }
    #expect(first.isNew)
    #expect(!second.isNew)
    #expect(second.id == first.id)
    await app.store.close()
  }

  @Test("J11: the application's own connection to the same file can add jobs, too")
  func otherConnection() async throws {
    let app = try Application()
    let store = try SQLiteJobStore(path: app.folder.path + "/app.sqlite")
    let jobs = Jobs(store)
    let handle = try await app.pool.write { try jobs.enqueue(Note(text: "a"), in: $0) }
    let other = try await app.jobs.enqueue(Note(text: "b"))
    #expect(other.id > handle.id)
    await store.close()
    await app.store.close()
  }

  @Test("J135: writes and the success of the job are committed together")
  func finish() async throws {
    let app = try Application()
    let handle = try await app.jobs.enqueue(Note(text: "a"))
    let context = try await app.claim()
    let other = try await context.finish { [jobs = app.jobs] database in
      try database.execute(sql: "INSERT INTO photo (size) VALUES (1)")
      return try jobs.enqueue(Note(text: "b"), in: database).id.rawValue
    }
    let ended = try await app.jobs.job(handle.id)
    #expect(ended?.state == .succeeded)
    #expect(try ended?.result?.decode(Int64.self) == other)
    #expect(try app.photoCount() == 1)
    // The attempt has ended, so nothing more is written.
    let again = JobContext(context.job, context.fence, app.jobs)
    for (context, code) in [(context, JobError.Code.alreadyFinished), (again, .leaseLost)] {
      let error = await #expect(throws: JobError.self) {
        try await context.finish { try $0.execute(sql: "INSERT INTO photo (size) VALUES (2)") }
      }
      #expect(error?.code == code)
    }
    #expect(try app.photoCount() == 1)
    let next = try await app.jobs.enqueue(Note(text: "c"))
    #expect(next.id.rawValue == other + 1)
    await app.store.close()
  }

  @Test("J135: an error undoes the writes, and the job does not end")
  func failedFinish() async throws {
    let app = try Application()
    let handle = try await app.jobs.enqueue(Note(text: "a"))
    let context = try await app.claim()
    await #expect(throws: Refusal.self) {
      try await context.finish { database in
        try database.execute(sql: "INSERT INTO photo (size) VALUES (1)")
        throw Refusal()
      }
    }
    let job = try await app.jobs.job(handle.id)
    #expect(job?.state == .running)
    #expect(try app.photoCount() == 0)
    await app.store.close()
  }

  @Test("J135, J130: after an error in the code, no job number is used again")
  func numbersAfterError() async throws {
    let fixture = try SQLiteFixture()
    let jobs = Jobs(fixture.sqlite)
    let worker = try await fixture.sqlite.register(
      WorkerDescription(name: "test", processIdentifier: 1, queues: ["default"], kinds: ["test": 1]))
    let new = NewJob(kind: "test", payload: JobPayload(bytes: []))
    _ = try await fixture.sqlite.enqueue([new])
    let claim = JobClaim(queue: "default", count: 1, allowsSuspect: true, kinds: ["test": 1])
    let job = try await fixture.sqlite.exchange(JobExchange(worker: worker, claims: [claim])).claimed[0][0]
    let context = JobContext(job, try #require(job.fence), jobs)
    // Concurrent requests are in one transaction.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        group.addTask { _ = try await fixture.sqlite.enqueue([new]) }
        group.addTask { try? await context.finish { _ in throw CancellationError() } }
      }
      try await group.waitForAll()
    }
    _ = try await fixture.sqlite.enqueue([new])
    let ids = try await jobs.jobs().map(\.id.rawValue)
    #expect(ids == Array(1...22))
    await fixture.close()
  }

  @Test("J135: code that ends the transaction fails, and other requests work afterwards")
  func endedTransaction() async throws {
    let app = try Application()
    let handle = try await app.jobs.enqueue(Note(text: "a"))
    let context = try await app.claim()
    await #expect(throws: JobError.self) { try await context.finish { try $0.execute(sql: "ROLLBACK") } }
    let job = try await app.jobs.job(handle.id)
    #expect(job?.state == .running)
    try await app.jobs.enqueue(Note(text: "b"))
    await app.store.close()
  }

  @Test("J133: transactions of the store wait for the disk, and the application's setting remains")
  func durability() async throws {
    let app = try Application()
    try await app.jobs.enqueue(Note(text: "a"))
    let context = try await app.claim()
    let during = try await context.finish { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
    #expect(during == 2)
    let after = try await app.pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
    #expect(after == 1)
    await app.store.close()
  }

  @Test("J106: the application's tables and version are not changed")
  func versionOfApplication() async throws {
    let app = try Application()
    let version = try await app.pool.read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
    #expect(version == 7)
    await app.store.close()
  }
}

/// Blocks a thread of GRDB until it is opened.
final class WriterGate: Sendable {
  private let isOpen = Atomic(false)

  func open() { isOpen.store(true, ordering: .releasing) }

  func wait() { while !isOpen.load(ordering: .acquiring) { sched_yield() } }
}
#endif
