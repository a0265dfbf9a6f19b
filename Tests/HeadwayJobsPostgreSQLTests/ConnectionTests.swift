#if PostgreSQL
import Foundation
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsPostgreSQL
import HeadwayTestSupport
import Synchronization
import Testing

/// Connections: opening, time limits, losses and errors.
@Suite(.hangLimit, .serialized) struct PostgresConnectionTests {
  @Test(
    "J122: errors don't contain the password",
    arguments: [
      "postgres://user:s3cret@nowhere.invalid/app", "postgres://user:s3cret@127.0.0.1:1/app",
      "postgres://user:s3c%ret@host/app", "host=127.0.0.1 port=1 password=s3cret dbname=app", "password=s3cret =",
      "host=/nowhere password=s3cret user=nobody", "postgres://app:pa@s3cret@localhost:1/shop",
      "postgres://app:s3cret/x@localhost/shop", "postgres://app:1/s3cret@localhost/shop",
      "postgres://app:s3cret?x@localhost/shop", "postgres://app:1?user=s3cret@localhost/shop",
      "postgres://app:s3cret:1/shop", "postgres://localhost:s3cret/shop", "POSTGRES://app:s3cret@127.0.0.1:1/shop",
      " postgres://app:s3cret@127.0.0.1:1/shop", "postgres:/app:s3cret@localhost/shop", "app:s3cret@localhost/shop",
      "host=127.0.0.1 port=1 password=my s3cret", "host=127.0.0.1 port=1 password=\"my host=s3cret\"",
      "host=127.0.0.1 port=s3cret", "hostaddr=s3cret@127.0.0.1", "mysql://app:s3cret@localhost/shop",
    ])
  func passwords(connectionString: String) async throws {
    var limits = PostgresTimeLimits()
    limits.request = .milliseconds(1)
    let error = await #expect(throws: JobError.self) {
      _ = try await PostgresJobStore(connectionString, limits: limits)
    }
    let text = try #require(error).description + " \(error?.underlyingError.map { "\($0)" } ?? "")"
    #expect(!text.contains("s3c"))
    #expect([.unusableStore, .storeFailed].contains(error?.code))
  }

  @Test("J122: errors, and the history of a job, contain no values of statements")
  func values() async throws {
    let test = try await TestStore()
    let secret = "ada@example.com"
    let (mail, person) = ("\(test.schema).mail", "\(test.schema).person")
    try await test.store.transaction { transaction in
      try transaction.execute("CREATE TABLE \(person) (address text PRIMARY KEY)")
      try transaction.execute(
        """
        CREATE TABLE \(mail) (address text PRIMARY KEY REFERENCES \(person), number integer CHECK (number > 0),
        day date, short varchar(3), span int4range, EXCLUDE USING gist (span WITH &&))
        """)
      try transaction.execute("INSERT INTO \(person) VALUES ($1)", secret)
      try transaction.execute("INSERT INTO \(mail) VALUES ($1, 1, NULL, NULL, '[1,3]')", secret)
      try transaction.execute(
        """
        CREATE FUNCTION \(test.schema).refuse(text) RETURNS void LANGUAGE plpgsql
        AS 'BEGIN RAISE EXCEPTION ''% is refused'', $1 USING DETAIL = $1; END'
        """)
    }
    let bodies: [@Sendable (PostgresTransaction) throws -> Int] = [
      { try $0.execute("INSERT INTO \(mail) VALUES ($1, 1)", secret) },
      { try $0.execute("INSERT INTO \(mail) VALUES ($1, -1)", secret) },
      { try $0.execute("INSERT INTO \(mail) VALUES ($1, 1)", "other " + secret) },
      { try $0.execute("INSERT INTO \(mail) VALUES ('b', $1)", secret) },
      { try $0.execute("INSERT INTO \(mail) (day) VALUES ($1)", secret) },
      { try $0.execute("INSERT INTO \(mail) (short, number) VALUES ($1, 1)", secret) },
      { try $0.execute("INSERT INTO \(mail) (number) VALUES ($1)", "99999999999") },
      { try $0.execute("INSERT INTO \(mail) VALUES (NULL, 1, NULL, left($1, 3))", secret) },
      { try $0.execute("UPDATE \(mail) SET span = '[2,2]', address = $1 || span::text", secret) },
      { try $0.execute("DELETE FROM \(person) WHERE address = $1", secret) },
      { try $0.execute("SELECT $1::json", secret) },
      { try $0.execute("SELECT \(test.schema).refuse($1)", secret) },
      { try $0.execute("SELECT 'a' ~ ($1 || '(')", secret) },
    ]
    for (index, body) in bodies.enumerated() {
      let error = await #expect(throws: JobError.self) { _ = try await test.store.transaction { try body($0) } }
      let text = try "\(#require(error)) \(#require(error?.underlyingError as? PostgresError))"
      #expect(!text.contains("ada") && !text.contains("99999"), "\(index): \(text)")
      #expect(text.contains("SQLSTATE"), "\(index): \(text)")
    }
    let failure = await #expect(throws: JobError.self) {
      _ = try await test.store.transaction { try bodies[0]($0) }
    }
    let error = failure?.underlyingError as? PostgresError
    #expect(error?.description == "a key is not unique (the constraint mail_pkey of the table mail) (SQLSTATE 23505)")
    #expect(error?.detail?.contains(secret) == true)
    #expect(error?.constraint == "mail_pkey")
    await test.store.close()
  }

  @Test(
    "J120: the name of a schema can't contain statements",
    arguments: ["", "1a", "A", "a b", "a;b", "a\"b", "a.b", "ä", "pg_jobs", String(repeating: "a", count: 32)])
  func schemas(name: String) async throws {
    let server = try PostgresServer.shared()
    let error = await #expect(throws: JobError.self) {
      _ = try await PostgresJobStore(server.connectionString, schema: name)
    }
    #expect(error?.code == .unusableStore)
  }

  @Test("J120: strings are stored unchanged, but null characters are rejected")
  func texts() async throws {
    let test = try await TestStore()
    for text in ["'; DROP TABLE job; --", "$1", "\\", "\u{1F600}\n\t\"", "%s", "headway.job"] {
      let options: JobOptions = [.queue(text), .unique(.unfinished(text))]
      let handle = try await test.jobs.enqueue(PlainJob(number: 1), .options(options))
      let job = try #require(try await handle.job())
      #expect(job.queue == text)
      #expect(job.settings.unique?.key == text)
    }
    for option in [.queue("a\0b"), .unique(.unfinished("a\0b"))] as [JobOption] {
      let error = await #expect(throws: JobError.self) {
        try await test.jobs.enqueue(PlainJob(number: 1), option)
      }
      #expect(error?.code == .unencodablePayload)
    }
    let found = try await test.jobs.jobs(JobFilter(queues: ["a\0b"]))
    #expect(found.isEmpty)
    try await test.jobs.enqueue(PlainJob(number: 1))
    await test.store.close()
  }

  @Test("J104: a request that waits too long for a lock fails with an error, and the store continues")
  func locks() async throws {
    var limits = PostgresTimeLimits()
    limits.lock = .milliseconds(50)
    let test = try await TestStore(limits: limits)
    let handle = try await test.jobs.enqueue(PlainJob(number: 1))
    let (table, isLocked) = ("\(test.schema).job", AsyncStream.makeStream(of: Void.self))
    let mayEnd = DispatchSemaphore(value: 0)
    let blocker = Task {
      try await test.store.transaction(within: .seconds(60)) { transaction in
        try transaction.execute("SELECT 1 FROM \(table) FOR UPDATE")
        isLocked.continuation.finish()
        mayEnd.wait()
      }
    }
    for await _ in isLocked.stream {}
    let error = await #expect(throws: JobError.self) { try await test.jobs.cancel(handle.id) }
    #expect((error?.underlyingError as? PostgresError)?.sqlState == "55P03")
    mayEnd.signal()
    try await blocker.value
    #expect(try await test.jobs.cancel(handle.id))
    await test.store.close()
  }

  @Test("J104: after code has ignored a silent server, the connection is not used again", arguments: [false, true])
  func silence(throwsError: Bool) async throws {
    struct Failure: Error {}
    var limits = PostgresTimeLimits()
    limits.statement = .seconds(1)
    let test = try await TestStore(limits: limits)
    let error = await #expect(throws: (any Error).self) {
      try await test.store.transaction(within: .seconds(60)) { transaction in
        let process = try transaction.rows("SELECT pg_backend_pid() AS id")[0].int("id").map(pid_t.init) ?? 0
        kill(process, SIGSTOP)
        _ = try? transaction.rows("SELECT 1 AS number")
        kill(process, SIGCONT)
        #expect(throws: PostgresError.self) { try transaction.rows("SELECT 2 AS number") }
        if throwsError { throw Failure() }
      }
    }
    #expect(throwsError ? error is Failure : (error as? JobError)?.code == .storeFailed)
    let rows = try await test.store.transaction { try $0.rows("SELECT 3 AS number") }
    #expect(rows.map { $0.int("number") } == [3])
    await test.store.close()
  }

  @Test("J104: while the server is unavailable, callers that began to wait together fail together")
  func unavailable() async throws {
    var limits = PostgresTimeLimits()
    limits.request = .seconds(3)
    let server = try PostgresServer()
    let test = try await TestStore(limits: limits, server: server)
    try server.stop(.immediate)
    // Each caller has as many jobs as one transaction.
    let jobs = (0..<1_000).map { PlainJob(number: $0) }
    let failures = Failures()
    let callers = (0..<5).map { _ in
      Task {
        await #expect(throws: JobError.self) { try await test.jobs.enqueue(contentsOf: jobs) }
        failures.count.add(1, ordering: .sequentiallyConsistent)
      }
    }
    try await poll { failures.count.load(ordering: .sequentiallyConsistent) > 0 }
    // This request fails after the limit, too, and it was added after one of the callers failed.
    await #expect(throws: JobError.self) { try await test.jobs.jobs() }
    #expect(failures.count.load(ordering: .sequentiallyConsistent) == 5)
    for caller in callers { await caller.value }
    await test.store.close()
  }

  @Test("J120: a database that can't store every string is rejected")
  func encoding() async throws {
    let test = try await TestStore()
    let database = "latin_\(test.schema)"
    try psql("CREATE DATABASE \(database) ENCODING LATIN1 LOCALE 'C' TEMPLATE template0", test.connectionString)
    let connectionString = test.connectionString.replacingOccurrences(of: "dbname=postgres", with: "dbname=\(database)")
    let error = await #expect(throws: JobError.self) { try await PostgresJobStore(connectionString) }
    #expect(error?.code == .unusableStore)
    await test.store.close()
  }

  @Test("the store does not use plans for a different number of jobs")
  func plans() async throws {
    let test = try await TestStore()
    let mode = try await test.store.transaction { try $0.rows("SHOW plan_cache_mode")[0]["plan_cache_mode"] }
    #expect(mode == "force_custom_plan")
    await test.store.close()
  }

  @Test(
    "J133: a server that commits asynchronously by default syncs the commits of the store",
    arguments: ["off", "local", "remote_write"])
  func durability(default value: String) async throws {
    let test = try await TestStore()
    let database = "async_\(test.schema)"
    try psql("CREATE DATABASE \(database)", test.connectionString)
    try psql("ALTER DATABASE \(database) SET synchronous_commit = \(value)", test.connectionString)
    let connectionString = test.connectionString.replacingOccurrences(of: "dbname=postgres", with: "dbname=\(database)")
    let store = try await PostgresJobStore(connectionString)
    let setting = try await store.transaction { try $0.rows("SHOW synchronous_commit")[0]["synchronous_commit"] }
    #expect(setting == "on")
    await store.close()
    await test.store.close()
  }

  private func makeDatabase(_ settings: String...) throws -> String {
    let connectionString = try PostgresServer.shared().connectionString
    let database = PostgresFixture.newSchema()
    try psql("CREATE DATABASE \(database)", connectionString)
    for setting in settings { try psql("ALTER DATABASE \(database) SET \(setting)", connectionString) }
    return database
  }

  @Test(
    "J105: defaults of a role for transactions have no effect", arguments: ["serializable", "repeatable read"],
    [false, true])
  func transactionDefaults(isolation: String, isPooled: Bool) async throws {
    let server = try PostgresServer.shared()
    let database = try makeDatabase(
      "default_transaction_read_only = on", "default_transaction_isolation = '\(isolation)'")
    let pooler = isPooled ? try Pooler(server) : nil
    let connectionString = (pooler?.connectionString ?? server.connectionString)
      .replacingOccurrences(of: "dbname=postgres", with: "dbname=\(database)")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask {
          let store = try await PostgresJobStore(
            connectionString, schema: "headway", leaseLength: .seconds(6), clock: nil)
          let jobs = Jobs(store)
          let handle = try await jobs.enqueue(PlainJob(number: number))
          let description = WorkerDescription(
            name: "test", processIdentifier: 1, queues: ["default"], kinds: ["plain": 1])
          let worker = try await store.register(description)
          let lease = "SELECT lease - started > interval '6.5 s' FROM headway.worker WHERE id = \(worker.rawValue)"
          try await poll { try psql(lease, connectionString) == "t" }
          let isolation = try await store.transaction { transaction in
            try transaction.rows("SHOW transaction_isolation")[0]["transaction_isolation"]
          }
          #expect(isolation == "read committed")
          #expect(try await jobs.cancel(handle.id))
          await store.close()
        }
      }
      try await group.waitForAll()
    }
    pooler?.stop()
  }

  @Test("J103: if the first of several servers is silent, the next attempt begins at the second one")
  func silentServer() async throws {
    let server = try PostgresServer.shared()
    // It accepts connections, because the kernel does, and never answers.
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout.size(ofValue: address))
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && listen(listener, 16) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    try #require(isListening)
    let port = UInt16(bigEndian: address.sin_port)
    var limits = PostgresTimeLimits()
    limits.connection = .seconds(1)
    limits.request = .seconds(60)
    let store = try await PostgresJobStore(
      "host=127.0.0.1,\(server.folder) port=\(port),5432 user=postgres dbname=postgres",
      schema: PostgresFixture.newSchema(), limits: limits)
    try await Jobs(store).enqueue(PlainJob(number: 1))
    await store.close()
  }

  @Test("J106: processes that open a new store together create one schema; with manual migration, opening fails")
  func migration() async throws {
    let server = try PostgresServer.shared()
    let schema = PostgresFixture.newSchema()
    let error = await #expect(throws: JobError.self) {
      _ = try await PostgresJobStore(server.connectionString, schema: schema, migration: .manual)
    }
    #expect(error?.code == .unusableStore)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask {
          let store = try await PostgresJobStore(server.connectionString, schema: schema)
          try await Jobs(store).enqueue(PlainJob(number: number))
          await store.close()
        }
      }
      try await group.waitForAll()
    }
    let store = try await PostgresJobStore(server.connectionString, schema: schema, migration: .manual)
    #expect(try await Jobs(store).jobs().count == 4)
    await store.close()
    for (version, isUsable) in [(2, true), (3, false)] {
      try psql("UPDATE \(schema).meta SET value = \(version) WHERE name = 'schema'", server.connectionString)
      do {
        try await PostgresJobStore(server.connectionString, schema: schema).close()
        #expect(isUsable)
      } catch let error as JobError {
        #expect(!isUsable)
        #expect(error.code == .newerSchema)
      }
    }
  }

  @Test("J106: a role that may not create schemas creates the tables in a schema that exists")
  func existingSchema() async throws {
    let server = try PostgresServer.shared()
    let schema = PostgresFixture.newSchema()
    let sql = "CREATE ROLE \(schema) LOGIN; CREATE SCHEMA \(schema) AUTHORIZATION \(schema)"
    try psql(sql, server.connectionString)
    let connectionString = "host=\(server.folder) user=\(schema) dbname=postgres"
    let store = try await PostgresJobStore(connectionString, schema: schema)
    try await Jobs(store).enqueue(PlainJob(number: 1))
    await store.close()
    let error = await #expect(throws: JobError.self) {
      _ = try await PostgresJobStore(connectionString, schema: PostgresFixture.newSchema())
    }
    #expect((error?.underlyingError as? PostgresError)?.sqlState == "42501")
  }

  @Test("J103: after connections were ended, requests continue on new ones", arguments: [1, 2, 3])
  func endedConnections(seed: UInt64) async throws {
    let test = try await TestStore()
    let end = """
      SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'headway-jobs'
      AND pid IN (SELECT pid FROM pg_stat_activity WHERE query LIKE '%\(test.schema).%')
      """
    for number in 0..<20 {
      try await test.jobs.enqueue(PlainJob(number: number))
      #expect(try await test.jobs.jobs().count == number + 1)
      if number % 5 == 4 { try test.psql(end) }
    }
    await test.store.close()
  }
}

private final class Failures: Sendable {
  let count = Atomic(0)
}
#endif
