#if PostgreSQL
import Foundation
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsPostgreSQL
import HeadwayTestSupport
import Synchronization
import Testing

@testable import PostgresCrashProgram

/// Jobs in transactions of the application, and of other clients.
@Suite(.hangLimit, .serialized) struct PostgresTransactionTests {
  private struct Failure: Error {}

  private func makeStore() async throws -> TestStore {
    let test = try await TestStore()
    try test.psql("CREATE TABLE photo (path text PRIMARY KEY, size bigint)")
    return test
  }

  @Test("J11: a job that is added in a transaction exists if the transaction is committed")
  func commit() async throws {
    let test = try await makeStore()
    let (jobs, table) = (test.jobs, "\(test.schema).photo")
    let handle = try await test.store.transaction { transaction in
      try transaction.execute("INSERT INTO \(table) (path, size) VALUES ($1, $2)", "a.jpg", nil)
      let rows = try transaction.rows("SELECT path, size FROM \(table)")
      #expect(rows.map { $0["path"] } == ["a.jpg"])
      #expect(rows.map { $0.int("size") } == [nil])
      return try jobs.enqueue(PlainJob(number: 1), in: transaction)
    }
    #expect(handle.isNew)
    #expect(try await handle.job()?.state == .waiting)
    await #expect(throws: Failure.self) {
      try await test.store.transaction { transaction in
        try transaction.execute("DELETE FROM \(table)")
        try jobs.enqueue(PlainJob(number: 2), in: transaction)
        throw Failure()
      }
    }
    #expect(try await jobs.jobs().count == 1)
    #expect(try test.psql("SELECT count(*) FROM photo") == "1")
    await test.store.close()
  }

  @Test("J11: workers are notified after the transaction, and not before")
  func hints() async throws {
    let test = try await makeStore()
    let jobs = test.jobs
    let hints = Mutex<[JobHint]>([])
    let token = test.store.observeHints { hint in hints.withLock { $0.append(hint) } }
    defer { withExtendedLifetime(token) {} }
    try await test.store.transaction { transaction in
      try jobs.enqueue(PlainJob(number: 1), .queue("mail"), in: transaction)
      let early = hints.withLock { $0 }
      #expect(early.isEmpty)
    }
    let sent = hints.withLock { $0 }
    #expect(sent == [.claimable(queue: "mail")])
    await test.store.close()
  }

  @Test("J13: a key that another transaction has not committed yet is waited for", arguments: [true, false])
  func keys(isCommitted: Bool) async throws {
    let test = try await makeStore()
    let (jobs, isAdded, mayEnd) = (test.jobs, DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let first = Task {
      try await test.store.transaction { transaction in
        let handle = try jobs.enqueue(PlainJob(number: 1), .unique(.unfinished("key")), in: transaction)
        isAdded.signal()
        mayEnd.wait()
        if !isCommitted { throw Failure() }
        return handle.id
      }
    }
    await Task.detached { wait(isAdded) }.value
    let second = Task { try await jobs.enqueue(PlainJob(number: 2), .unique(.unfinished("key"))) }
    let waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'"
    try await poll { try test.psql(waits) != "0" }
    mayEnd.signal()
    let other = try? await first.value
    let handle = try await second.value
    #expect(handle.isNew == !isCommitted)
    #expect(other == (isCommitted ? handle.id : nil))
    #expect(try await jobs.jobs().count == 1)
    await test.store.close()
  }

  @Test("J11, J293: another client adds a job with the statement and its parameters, and without them")
  func statements() async throws {
    let test = try await makeStore()
    let options: JobOptions = [
      .queue("mail"), .priority(.high), .delay(.seconds(60)), .tags(["x"]), .unique(.waiting("it's")),
    ]
    let statement = try test.jobs.enqueueStatement(PlainJob(number: 7), .options(options))
    let sql = statement.withLiterals
    try test.psql("BEGIN; \(sql); ROLLBACK")
    let rolledBack = try await test.jobs.jobs()
    #expect(rolledBack.isEmpty)
    let answer = try test.psql(sql)
    #expect(answer.hasSuffix("|t"))
    #expect(try test.psql(sql) == answer.dropLast() + "f")
    let job = try #require(try await test.jobs.jobs().first)
    #expect(job.id.description == answer.dropLast(2))
    #expect(job.state == .scheduled)
    #expect(job.queue == "mail")
    #expect(job.priority == 4)
    #expect(job.settings.tags == ["x"])
    #expect(job.holdsKey)
    #expect(try job.payload.decode(PlainJob.self).number == 7)
    let due = try #require(job.dueTime)
    #expect(due - job.enqueuedTime == .seconds(60))
    let plain = "SELECT is_new FROM enqueue('plain', convert_to('{\"number\":8}', 'UTF8'), unique_key => 'k')"
    #expect(try test.psql(plain) == "t")
    #expect(try test.psql(plain) == "f")
    let worker = JobWorker(test.jobs, kinds: [PlainJob.self])
    worker.serve(on: OperationQueue())
    let run = Task { try await worker.run() }
    let last = try #require(try await test.jobs.jobs().last)
    try await test.jobs.handle(id: last.id, of: PlainJob.self).untilSucceeded()
    worker.stop()
    try await run.value
    #expect(try test.psql(plain) == "t")
    await test.store.close()
  }

  @Test(
    "J11: times at the ends of PostgreSQL's range, and infinite times, are read as the first or the last time",
    arguments: ["294276-12-31 23:59:59.999999+00", "infinity", "4714-11-24 00:00:00+00 BC", "-infinity"])
  func extremeTimes(time: String) async throws {
    let test = try await makeStore()
    let isEarly = time.hasSuffix("BC") || time.hasPrefix("-")
    try test.psql(
      "SELECT enqueue('plain', convert_to('{\"number\":1}', 'UTF8'), start => '\(time)', deadline => '\(time)')")
    let job = try #require(try await test.jobs.jobs().first)
    #expect(job.dueTime == (isEarly ? nil : StoreTime(microseconds: .max)))
    let deadline = try #require(job.deadline)
    #expect((deadline.microseconds < 0) == isEarly)
    #expect(!deadline.description.isEmpty)
    _ = try await test.jobs.snapshot()
    _ = try await test.store.advance()
    #expect(try await test.jobs.jobs().first?.state == (isEarly ? .cancelled : .scheduled))
    // The job is written again.
    #expect(try await test.jobs.cancel(job.id) != isEarly)
    #expect(try await test.jobs.jobs().first?.deadline == job.deadline)
    await test.store.close()
  }

  @Test("J11: a program in Python adds jobs in its own transactions, and notifies the workers")
  func python() async throws {
    let test = try await makeStore()
    let hints = Mutex<Set<JobHint>>([])
    let token = test.store.observeHints { hint in hints.withLock { _ = $0.insert(hint) } }
    defer { withExtendedLifetime(token) {} }
    // The control connection listens after a moment, and hints can be lost before.
    try await poll {
      try test.psql("SELECT notify('other')")
      return hints.withLock { !$0.isEmpty }
    }
    // The Python of the system, which has the client.
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    let program = """
      import json, psycopg2, sys
      connection = psycopg2.connect(sys.argv[1])
      schema = sys.argv[2]
      def add(path):
          with connection, connection.cursor() as cursor:
              cursor.execute(f"INSERT INTO {schema}.photo (path) VALUES (%s)", [path])
              cursor.execute(
                  f"SELECT id, is_new FROM {schema}.enqueue('plain', convert_to(%s, 'UTF8'), unique_key => %s)",
                  [json.dumps({"number": 7}), path])
              assert cursor.fetchone()[1]
              if path == "lost": raise KeyError(path)
      try: add("lost")
      except KeyError: pass
      add("kept")
      with connection, connection.cursor() as cursor:
          cursor.execute(f"SELECT {schema}.notify('default')")
      """
    process.arguments = ["-c", program, test.connectionString, test.schema]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(try test.psql("SELECT path FROM photo") == "kept")
    try await poll { hints.withLock { $0.contains(.claimable(queue: "default")) } }
    let jobs = try await test.jobs.jobs()
    #expect(try jobs.map { try $0.payload.decode(PlainJob.self).number } == [7])
    await test.store.close()
  }

  @Test("J340: a signal in a transaction of the application is recorded if it has an author and is committed")
  func recordedSignal() async throws {
    let test = try await makeStore()
    let handle = try await test.jobs.enqueue(PlainJob(number: 1))
    let anna = test.jobs.changing(as: "anna")
    await #expect(throws: Failure.self) {
      try await test.store.transaction { transaction in
        try anna.signal(handle.id, "size", 1, in: transaction)
        throw Failure()
      }
    }
    #expect(try await anna.changes() == [])
    _ = try await test.store.transaction { try anna.signal(handle.id, "size", 2, in: $0) }
    let change = try #require(try await anna.changes().first)
    #expect(change.action == .signal && change.author == "anna" && change.ids == [handle.id])
    await test.store.close()
  }

  @Test("J232: a signal is sent if its transaction is committed, even by another client", arguments: [true, false])
  func signal(isOtherClient: Bool) async throws {
    let test = try await makeStore()
    let (handle, record) = try await claimNewJob(of: test)
    let context = JobContext(record, try #require(record.fence), test.jobs)
    let suspension = await #expect(throws: JobSuspension.self) {
      _ = try await context.waitForSignal("size", as: Int.self, timeLimit: .seconds(60))
    }
    let until = try #require(suspension?.endTime)
    let ending = JobEnding(context.fence, .wait(.signal("size"), until: until))
    _ = try await test.store.exchange(JobExchange(worker: context.fence.owner, endings: [ending]))
    let (jobs, call) = (test.jobs, "SELECT signal(\(handle.id), 'size', convert_to('7', 'UTF8'))")
    if isOtherClient {
      try test.psql("BEGIN; \(call); ROLLBACK")
    } else {
      await #expect(throws: Failure.self) {
        try await test.store.transaction { transaction in
          try jobs.signal(handle.id, "size", 7, in: transaction)
          throw Failure()
        }
      }
    }
    #expect(try await handle.job()?.wait == .signal("size"))
    if isOtherClient {
      #expect(try test.psql(call) == "t")
      #expect(try test.psql("SELECT signal(1000000, 'size')") == "f")
    } else {
      let isSent = try await test.store.transaction { try jobs.signal(handle.id, "size", 7, in: $0) }
      #expect(isSent)
    }
    let ready = try #require(try await handle.job())
    #expect(ready.state == .waiting)
    #expect(ready.wait == nil && ready.dueTime == nil)
    #expect(try await test.store.audit() == [])
    // Both ways count the signals together.
    for _ in 0..<JobSignal.maxPendingCount / 2 - 1 { try await jobs.signal(handle.id, "other") }
    let rest = JobSignal.maxPendingCount / 2
    try test.psql("SELECT signal(\(handle.id), 'size') FROM generate_series(1, \(rest))")
    #expect(throws: PostgresServer.Failure.self) { try test.psql(call) }
    let refusal = await #expect(throws: JobError.self) { try await jobs.signal(handle.id, "other") }
    #expect(refusal?.code == .tooManySignals)
    let claim = JobClaim(queue: "default", count: 1, allowsSuspect: true, kinds: [PlainJob.kind: 1])
    let exchange = JobExchange(worker: context.fence.owner, claims: [claim])
    let job = try #require(try await test.store.exchange(exchange).claimed[0].first)
    let again = JobContext(job, try #require(job.fence), jobs)
    #expect(try await again.waitForSignal("size", as: Int.self, timeLimit: .seconds(60)) == 7)
    #expect(try await again.waitForSignal("size", timeLimit: .seconds(60)))
    await test.store.close()
  }

  @Test("J225: a signal that is committed while the ending of its job waits for it leaves no rows")
  func signalDuringEnding() async throws {
    let test = try await makeStore()
    let (handle, record) = try await claimNewJob(of: test)
    let fence = try #require(record.fence)
    let (jobs, isSent, mayEnd) = (test.jobs, DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let signal = Task {
      try await test.store.transaction { transaction in
        try jobs.signal(handle.id, "size", 7, in: transaction)
        isSent.signal()
        mayEnd.wait()
      }
    }
    await Task.detached { wait(isSent) }.value
    let exchange = JobExchange(worker: fence.owner, endings: [JobEnding(fence, .succeed(result: nil))])
    let ending = Task { try await test.store.exchange(exchange) }
    let waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'"
    try await poll { try test.psql(waits) != "0" }
    mayEnd.signal()
    try await signal.value
    #expect(try await ending.value.verdicts == [.recorded])
    #expect(try await test.store.audit() == [])
    await test.store.close()
  }

  @Test("J234: another client can't send a signal with a name that is too long")
  func longSignal() async throws {
    let test = try await makeStore()
    let handle = try await test.jobs.enqueue(PlainJob(number: 1))
    #expect(throws: PostgresServer.Failure.self) { try test.psql("SELECT signal(\(handle.id), repeat('n', 513))") }
    #expect(try test.psql("SELECT signal(\(handle.id), repeat('n', 512))") == "t")
    await test.store.close()
  }

  @Test("J229: either both the writes of a step and its value are committed, or neither")
  func step() async throws {
    let test = try await makeStore()
    let table = "\(test.schema).photo"
    let (handle, record) = try await claimNewJob(of: test)
    let fence = try #require(record.fence)
    await #expect(throws: Failure.self) {
      try await JobContext(record, fence, test.jobs).checkpoint("step") { transaction -> Int in
        try transaction.execute("INSERT INTO \(table) (path, size) VALUES ($1, $2)", "a.jpg", 1)
        throw Failure()
      }
    }
    for size in [2, 3] {
      let value = try await JobContext(record, fence, test.jobs).checkpoint("step") { transaction in
        try transaction.execute("INSERT INTO \(table) (path, size) VALUES ($1, $2)", "a.jpg", size)
        return size
      }
      #expect(value == 2)
    }
    #expect(try test.psql("SELECT size FROM photo") == "2")
    try await test.jobs.abandon(handle.id)
    let error = await #expect(throws: JobError.self) {
      try await JobContext(record, fence, test.jobs).checkpoint("other") { transaction in
        try transaction.execute("DELETE FROM \(table)")
      }
    }
    #expect(error?.code == .leaseLost)
    #expect(try test.psql("SELECT size FROM photo") == "2")
    await test.store.close()
  }

  @Test("J18: another client can't add a job to a full queue")
  func fullQueue() async throws {
    let test = try await makeStore()
    try await test.jobs.changeQueue("default", .maxPendingJobCount(1))
    let sql = "SELECT enqueue('plain', '')"
    try test.psql(sql)
    #expect(throws: PostgresServer.Failure.self) { try test.psql(sql) }
    await #expect(throws: JobError.self) {
      try await test.jobs.enqueue(PlainJob(number: 1), .fullQueuePolicy(.fail))
    }
    #expect(try await test.jobs.jobs().count == 1)
    await test.store.close()
  }

  @Test("J135: the writes of a job and its success are committed together, or neither")
  func finish() async throws {
    let test = try await makeStore()
    try test.psql("CREATE TABLE effect (number bigint PRIMARY KEY, count bigint NOT NULL)")
    let worker = JobWorker(test.jobs, kinds: [CountedJob.self])
    worker.serve(on: OperationQueue())
    let run = Task { try await worker.run() }
    let handles = try await test.jobs.enqueue(
      contentsOf: (0..<20).map { CountedJob(number: $0, table: "\(test.schema).effect") })
    for handle in handles { try await handle.untilSucceeded() }
    #expect(try test.psql("SELECT count(*), sum(count) FROM effect") == "20|20")
    worker.stop()
    try await run.value
    await test.store.close()
  }

  /// Adds a job, and claims it for a new worker.
  private func claimNewJob(of test: TestStore) async throws -> (JobHandle<Void>, JobRecord) {
    let worker = try await test.store.register(
      WorkerDescription(name: "test", processIdentifier: 1, queues: ["default"], kinds: ["plain": 1]))
    let handle = try await test.jobs.enqueue(PlainJob(number: 1))
    let claim = JobClaim(queue: "default", count: 1, allowsSuspect: true, kinds: ["plain": 1])
    let claimed = try await test.store.exchange(JobExchange(worker: worker, claims: [claim])).claimed[0]
    let job = try #require(claimed.first)
    return (handle, job)
  }

  @Test("J31, J135: a job that was abandoned in the meantime can't commit its writes")
  func abandoned() async throws {
    let test = try await makeStore()
    let (handle, job) = try await claimNewJob(of: test)
    let context = JobContext(job, try #require(job.fence), test.jobs)
    try await test.jobs.abandon(handle.id)
    let table = "\(test.schema).photo"
    let error = await #expect(throws: JobError.self) {
      try await context.finish { try $0.execute("INSERT INTO \(table) (path) VALUES ('a')") }
    }
    #expect(error?.code == .leaseLost)
    #expect(try test.psql("SELECT count(*) FROM photo") == "0")
    await test.store.close()
  }

  @Test("J135: an attempt that has finished its job without receiving the result can't commit its writes twice")
  func twice() async throws {
    let test = try await makeStore()
    let (handle, job) = try await claimNewJob(of: test)
    let (fence, table) = (try #require(job.fence), "\(test.schema).photo")
    // A call whose connection is lost during the commit does not know that the job has ended.
    func finish(_ path: String) async throws {
      try await JobContext(job, fence, test.jobs).finish { transaction in
        _ = try transaction.execute("INSERT INTO \(table) (path) VALUES ($1)", path)
      }
    }
    try await finish("a")
    let error = await #expect(throws: JobError.self) { try await finish("b") }
    #expect(error?.code == .leaseLost)
    #expect(try test.psql("SELECT path FROM photo") == "a")
    #expect(try await handle.job()?.state == .succeeded)
    await test.store.close()
  }

  @Test(
    "J135: code can't end the transaction",
    arguments: ["COMMIT", "ROLLBACK", " -- text\n/* /* */ */ commit", "END", "BEGIN", "PREPARE TRANSACTION 'a'"])
  func endings(sql: String) async throws {
    let test = try await makeStore()
    let table = "\(test.schema).photo"
    let error = await #expect(throws: JobError.self) {
      try await test.store.transaction { transaction in
        try transaction.execute("INSERT INTO \(table) (path) VALUES ('a')")
        try transaction.execute(sql)
      }
    }
    #expect(error?.code == .transactionEnded)
    #expect(try test.psql("SELECT count(*) FROM photo") == "0")
    await test.store.close()
  }

  @Test("J135: code that ignores the error of a statement can't commit, and savepoints are possible")
  func ignoredErrors() async throws {
    let test = try await makeStore()
    let table = "\(test.schema).photo"
    let error = await #expect(throws: JobError.self) {
      try await test.store.transaction { transaction in
        try transaction.execute("INSERT INTO \(table) (path) VALUES ('a')")
        _ = try? transaction.execute("SELECT 1 / 0")
      }
    }
    #expect(error?.code == .transactionEnded)
    try await test.store.transaction { transaction in
      try transaction.execute("INSERT INTO \(table) (path) VALUES ('b')")
      try transaction.execute("SAVEPOINT a")
      let error = #expect(throws: PostgresError.self) {
        try transaction.execute("INSERT INTO \(table) (path) VALUES ('b')")
      }
      #expect(error?.sqlState == "23505")
      try transaction.execute("ROLLBACK TO a")
    }
    #expect(try test.psql("SELECT path FROM photo") == "b")
    await test.store.close()
  }

  @Test("J120: a statement for another client can't have null characters, and the function enqueue rejects empty kinds")
  func unusableNames() async throws {
    let test = try await makeStore()
    for option in [
      .queue("a\0b"), .unique(.unfinished("a\0b")), .limits([.serial(key: "a\0b")]),
    ] as [JobOption] {
      let error = #expect(throws: JobError.self) {
        try test.jobs.enqueueStatement(PlainJob(number: 1), option)
      }
      #expect(error?.code == .unencodablePayload)
    }
    let failure = #expect(throws: PostgresServer.Failure.self) { try test.psql("SELECT enqueue('', '{}')") }
    #expect(failure?.description.contains("The kind of a job is empty.") == true)
    #expect(try await test.jobs.jobs().isEmpty)
    await test.store.close()
  }

  @Test("J120: statements and values with null characters are rejected, and the transaction can continue")
  func nullCharacters() async throws {
    let test = try await makeStore()
    let table = "\(test.schema).photo"
    try await test.store.transaction { transaction in
      for (sql, path) in [("VALUES ($1)", "a\0b"), ("VALUES ($1)\0, ('c')", "a")] {
        let error = #expect(throws: JobError.self) {
          try transaction.execute("INSERT INTO \(table) (path) \(sql)", path)
        }
        #expect(error?.code == .unencodablePayload)
      }
      try transaction.execute("INSERT INTO \(table) (path) VALUES ($1)", "d")
    }
    #expect(try test.psql("SELECT path FROM photo") == "d")
    await test.store.close()
  }

  @Test("J135: code that takes too long is interrupted")
  func timeLimit() async throws {
    let test = try await makeStore()
    let error = await #expect(throws: JobError.self) {
      try await test.store.transaction(within: .milliseconds(50)) { try $0.execute("SELECT pg_sleep(3600)") }
    }
    #expect(error?.code == .timeLimitExceeded)
    await test.store.close()
  }

  @Test("J104: the server undoes a transaction that waits too long for its process")
  func idleTransaction() async throws {
    let test = try await makeStore()
    let error = await #expect(throws: JobError.self) {
      try await test.store.transaction(within: .milliseconds(200)) { transaction in
        try transaction.execute("INSERT INTO \(test.schema).photo (path) VALUES ('a')")
        // Code that takes forever, or a suspended process.
        let idle = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND query LIKE '%photo%'"
        while try test.psql(idle) != "0" {}
      }
    }
    #expect(error?.code == .timeLimitExceeded, "\(String(describing: error))")
    #expect(try test.psql("SELECT count(*) FROM photo") == "0")
    await test.store.close()
  }
}

private func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }
#endif
