#if PostgreSQL
import Foundation
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsPostgreSQL
import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import PostgresCrashProgram

/// Real faults: ended connections, stopped servers, killed processes, a full disk, and a pooler.
@Suite(.hangLimit, .serialized) struct PostgresFaultTests {
  @Test("J17, J171: of many jobs, none is lost, stored twice or run twice if connections are ended")
  func endedConnections() async throws {
    let server = try PostgresServer()
    let test = try await TestStore(server: server)
    let load = try await FaultLoad(test, workerCount: 2)
    let roundCount = environmentCount("HEADWAY_ENDED_CONNECTIONS", else: 20)
    let count = roundCount * 15
    let producer = Task { await load.produce(0..<count) }
    var generator = SeededGenerator(seed: 1)
    for round in 1...roundCount {
      let goal = round * 12
      try await poll { load.count("SELECT count(*) FROM effect") >= goal }
      let pids = try test.psql("SELECT pid FROM pg_stat_activity WHERE application_name = 'headway-jobs'")
        .split(separator: "\n")
      let chosen = pids.filter { _ in Bool.random(using: &generator) }.joined(separator: ",")
      try test.psql("SELECT pg_terminate_backend(pid) FROM unnest('{\(chosen)}'::int[]) AS x(pid)")
    }
    let (stored, unknown) = await producer.value
    #expect(unknown.isEmpty)
    try await load.audit(stored, unknown)
    await test.store.close()
  }

  @Test(
    "J17: if the answer to a commit is lost, the receipt shows that the jobs were stored", arguments: [false, true])
  func lostAnswer(hasKey: Bool) async throws {
    let server = try PostgresServer()
    let test = try await TestStore(server: server)
    // From now on, a commit waits for a standby that does not exist, after the transaction was committed.
    try psql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'", test.connectionString)
    try test.psql("SELECT pg_reload_conf()")
    try await poll { try test.psql("SHOW synchronous_standby_names") == "nobody" }
    let options: JobOptions = hasKey ? [.unique(.unfinished("key"))] : []
    let enqueue = Task { try await test.jobs.enqueue(PlainJob(number: 1), .options(options)) }
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    try await poll { try test.psql(end) == "1" }
    let handle = try await enqueue.value
    #expect(handle.isNew)
    let jobs = try await test.jobs.jobs()
    #expect(jobs.map(\.id) == [handle.id])
    await test.store.close()
  }

  @Test("J17: if the connection is lost before a commit, the jobs are stored once")
  func failedCommit() async throws {
    let test = try await TestStore()
    // The first transaction terminates its own process while it is being committed.
    try test.psql(
      """
      CREATE SEQUENCE loss;
      CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
        IF nextval('\(test.schema).loss') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
        RETURN NULL;
      END$$;
      CREATE CONSTRAINT TRIGGER lose AFTER INSERT ON job DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION lose()
      """)
    let handle = try await test.jobs.enqueue(PlainJob(number: 1))
    #expect(handle.isNew)
    let jobs = try await test.jobs.jobs()
    #expect(jobs.map(\.id) == [handle.id])
    await test.store.close()
  }

  @Test("J171: of many jobs, none is lost or run twice if the server is stopped and started")
  func restarts() async throws {
    let server = try PostgresServer()
    let test = try await TestStore(server: server)
    let load = try await FaultLoad(test, workerCount: 2)
    let restartCount = environmentCount("HEADWAY_SERVER_RESTARTS", else: 4)
    let count = restartCount * 35
    let producer = Task { await load.produce(0..<count) }
    for round in 1...restartCount {
      let goal = round * 20
      try await poll { load.count("SELECT count(*) FROM effect") >= goal }
      try server.stop(round % 2 == 1 ? .fast : .immediate)
      try server.start()
    }
    let (stored, unknown) = await producer.value
    try await load.audit(stored, unknown)
    await test.store.close()
  }

  /// The number of kills of a round with its own store.
  private static let roundSize = 50

  /// The variable `HEADWAY_JOB_KILLS` is the number of kills, and `HEADWAY_JOB_SEED` is the seed of the first round.
  @Test("J170: of many jobs, none is lost or ends twice, however often workers are killed")
  func killedWorkers() async throws {
    let killCount = environmentCount("HEADWAY_JOB_KILLS", else: 15)
    let firstSeed = environmentCount("HEADWAY_JOB_SEED", else: 1)
    for start in stride(from: 0, to: killCount, by: Self.roundSize) {
      let seed = firstSeed + start / Self.roundSize
      try await kill(min(Self.roundSize, killCount - start), seed: UInt64(seed))
      Watchdog.shared.note("Killed workers", "\(min(start + Self.roundSize, killCount)) of \(killCount) kills")
    }
  }

  /// Kills workers while they run jobs; audits the store after each kill.
  private func kill(_ killCount: Int, seed: UInt64) async throws {
    let test = try await TestStore()
    let load = try await FaultLoad(test, workerCount: 0)
    let jobCount = killCount * 20
    try await test.jobs.enqueue(contentsOf: (0..<jobCount).map { CountedJob(number: $0, table: load.table) })
    var generator = SeededGenerator(seed: seed)
    var workers = try (0..<3).map { _ in try WorkerProcess(test) }
    for number in 1...killCount {
      let index = Int.random(in: 0..<3, using: &generator)
      let goal = min(load.count("SELECT count(*) FROM effect") + Int.random(in: 0...20, using: &generator), jobCount)
      try await poll { load.count("SELECT count(*) FROM effect") >= goal }
      await workers[index].kill()
      #expect(try await test.store.audit() == [], "after kill \(number) with the seed \(seed)")
      workers[index] = try WorkerProcess(test)
    }
    try await load.audit(Array(0..<jobCount), [])
    for worker in workers { await worker.kill() }
    try await poll {
      _ = try await test.store.rescue()
      return load.count("SELECT count(*) FROM worker") == 0
    }
    await test.store.close()
  }

  @Test("J103: connections to a server that is now a standby are used to read, but to write, others are opened")
  func failover() async throws {
    let primary = try PostgresServer()
    let test = try await TestStore(server: primary)
    let old = try await test.jobs.enqueue(PlainJob(number: 1))
    let standby = try PostgresServer(standbyOf: primary)
    // The name of the server. At first, it leads to the previous primary server.
    let folder = try TemporaryFolder()
    let name = folder.path + "/server"
    try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: standby.folder)
    let other = try await test.openAgain(
      test.connectionString.replacingOccurrences(of: primary.folder, with: name))
    let token = other.store.observeHints { _ in }
    defer { withExtendedLifetime(token) {} }
    let connections =
      "SELECT string_agg(pid::text, ' ' ORDER BY pid) FROM pg_stat_activity WHERE application_name = 'headway-jobs'"
    var known: Set<String> = []
    for _ in 0..<5 {
      #expect(try await other.jobs.jobs().map(\.id) == [old.id])
      _ = try await other.store.advance()
      known.insert(try psql(connections, standby.connectionString))
    }
    #expect(known.count == 1)
    #expect(other.store.lacksNotifications == true)
    try FileManager.default.removeItem(atPath: name)
    try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: primary.folder)
    let new = try await other.jobs.enqueue(PlainJob(number: 2))
    #expect(try await other.jobs.cancel(old.id))
    let description = WorkerDescription(name: "test", processIdentifier: 1, queues: ["default"], kinds: ["plain": 1])
    _ = try await other.store.register(description)
    #expect(try await other.jobs.jobs().map(\.id) == [old.id, new.id])
    try await poll { other.store.lacksNotifications == false }
    await other.store.close()
    await test.store.close()
  }

  @Test("J177: workers continue while a newer release adds columns, and start with its tables")
  func newerTables() async throws {
    let test = try await TestStore()
    let load = try await FaultLoad(test, workerCount: 1)
    let count = 200
    let producer = Task { await load.produce(0..<count) }
    let old = try WorkerProcess(test)
    try await poll { load.count("SELECT count(*) FROM effect") >= count / 4 }
    try test.psql(
      """
      BEGIN;
      ALTER TABLE job ADD COLUMN later text;
      ALTER TABLE done ADD COLUMN later text;
      UPDATE meta SET value = value + 1 WHERE name = 'schema';
      COMMIT
      """)
    try await poll { load.count("SELECT count(*) FROM effect") >= count / 2 }
    await old.kill()
    let new = try WorkerProcess(test)
    let (stored, unknown) = await producer.value
    try await load.audit(stored, unknown)
    await new.kill()
    await test.store.close()
  }

  @Test("J174: if the disk is full, a request fails with storeFull, and nothing is stored")
  func diskFull() async throws {
    let test = try await TestStore()
    try test.psql(
      """
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
      $$BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END$$;
      CREATE TRIGGER fail BEFORE INSERT ON job FOR EACH STATEMENT EXECUTE FUNCTION fail()
      """)
    for options in [[], [.unique(.unfinished("key"))]] as [JobOptions] {
      let error = await #expect(throws: JobError.self) {
        try await test.jobs.enqueue(PlainJob(number: 1), .options(options))
      }
      #expect(error?.code == .storeFull)
    }
    try test.psql("DROP TRIGGER fail ON job")
    try await test.jobs.enqueue(PlainJob(number: 1))
    let jobs = try await test.jobs.jobs()
    #expect(jobs.count == 1)
    await test.store.close()
  }

  @Test("J105: behind PgBouncer in the mode transaction, everything works except hints")
  func pooler() async throws {
    let test = try await TestStore()
    let pooler = try Pooler(PostgresServer.shared())
    let pooled = try await test.openAgain(pooler.connectionString)
    try test.psql("CREATE TABLE effect (number bigint PRIMARY KEY, count bigint NOT NULL)")
    let worker = JobWorker(pooled.jobs, kinds: [CountedJob.self])
    worker.serve(on: OperationQueue(maxConcurrentOperationCount: 4))
    let run = Task { try await worker.run() }
    let handles = try await pooled.jobs.enqueue(
      contentsOf: (0..<50).map { CountedJob(number: $0, table: "\(test.schema).effect") })
    for handle in handles { try await handle.untilSucceeded() }
    let last = try await test.jobs.enqueue(CountedJob(number: 50, table: "\(test.schema).effect"))
    try await last.untilSucceeded()
    #expect(try test.psql("SELECT count(*), sum(count) FROM effect") == "51|51")
    #expect(pooled.store.lacksNotifications == true)
    worker.stop()
    try await run.value
    let defects = try await pooled.store.audit()
    #expect(defects == [])
    await pooled.store.close()
    await test.store.close()
    pooler.stop()
  }
}
#endif
