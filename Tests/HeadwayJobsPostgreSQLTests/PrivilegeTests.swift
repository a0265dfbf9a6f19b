#if PostgreSQL
import Foundation
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsPostgreSQL
import HeadwayTestSupport
import Testing

/// Server roles with only part of the privileges that a store uses.
@Suite(.hangLimit, .serialized) struct PostgresPrivilegeTests {
  /// Opens a store as a new role with a privilege.
  private func open(
    _ test: TestStore, _ privilege: PostgresJobStore.Privilege, _ server: PostgresServer? = nil
  ) async throws -> (store: PostgresJobStore, connectionString: String) {
    // Roles belong to the server, which several tests share.
    let role = "\(test.schema) \(privilege)"
    try await test.store.grant(privilege, to: role)
    try test.psql("ALTER ROLE \"\(role)\" LOGIN")
    let server = try server ?? PostgresServer.shared()
    let connectionString = "host=\(server.folder) user='\(role)' dbname=postgres"
    return (
      try await PostgresJobStore(connectionString, schema: test.schema, migration: .manual), connectionString
    )
  }

  private func expectDenied(_ body: () async throws -> some Any) async {
    let error = await #expect(throws: JobError.self) { _ = try await body() }
    #expect((error?.underlyingError as? PostgresError)?.sqlState == "42501", "\(String(describing: error))")
  }

  @Test("J123: a role that may only enqueue can add jobs, but neither read nor change other jobs")
  func enqueueing() async throws {
    let test = try await TestStore()
    let (store, connectionString) = try await open(test, .enqueue)
    let jobs = Jobs(store)
    let first = try await jobs.enqueue(PlainJob(number: 1))
    try await jobs.enqueue(PlainJob(number: 2), .delay(.seconds(60)))
    for isNew in [true, false] {
      #expect(try await jobs.enqueue(PlainJob(number: 3), .unique(.unfinished("key"))).isNew == isNew)
      #expect(try await jobs.enqueue(PlainJob(number: 4), .unique(.held("key", for: .seconds(60)))).isNew == isNew)
    }
    try await jobs.enqueue(PlainJob(number: 5), .limits([.serial(key: "key")]))
    try await test.jobs.changeQueue("small", .maxPendingJobCount(1))
    try await jobs.enqueue(PlainJob(number: 6), .queue("small"))
    let error = await #expect(throws: JobError.self) {
      try await jobs.enqueue(PlainJob(number: 7), .queue("small"), .fullQueuePolicy(.fail))
    }
    #expect(error?.code == .queueFull)
    let sql = "SET search_path = \(test.schema); SELECT enqueue('plain', convert_to('{\"number\":8}', 'UTF8'))"
    try psql(sql, connectionString)
    #expect(try test.psql("SELECT count(*) FROM job") == "7")

    await expectDenied { try await jobs.jobs() }
    await expectDenied { try await jobs.cancel(JobFilter()) }
    var batch = JobBatch()
    batch.add(PlainJob(number: 9), .after(first))
    await expectDenied { [batch] in try await jobs.enqueue(batch) }
    for statement in ["SELECT payload FROM job", "DELETE FROM job", "DROP TABLE job", "CREATE TABLE x ()"] {
      #expect(throws: PostgresServer.Failure.self) {
        try psql("SET search_path = \(test.schema); \(statement)", connectionString)
      }
    }
    #expect(try await test.store.audit() == [])
    await store.close()
    await test.store.close()
  }

  /// Statements on every table, sequence and function of a store.
  private static func statements(_ test: TestStore) throws -> [String] {
    func names(_ sql: String) throws -> [String] { try test.psql(sql).split(separator: "\n").map(String.init) }
    func relations(_ kind: String) throws -> [String] {
      try names(
        "SELECT relname FROM pg_class WHERE relnamespace = '\(test.schema)'::regnamespace AND relkind = '\(kind)'")
    }
    let tables = try relations("r").flatMap { table in
      let column = try test.psql(
        "SELECT attname FROM pg_attribute WHERE attrelid = '\(table)'::regclass AND attnum = 2")
      return [
        "SELECT \(column) FROM \(table)", "INSERT INTO \(table) DEFAULT VALUES",
        "UPDATE \(table) SET \(column) = \(column)", "DELETE FROM \(table)", "TRUNCATE \(table)",
        "LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE", "ALTER TABLE \(table) ADD COLUMN x int", "DROP TABLE \(table)",
      ]
    }
    let sequences = try relations("S").flatMap { ["SELECT nextval('\($0)')", "SELECT setval('\($0)', 1)"] }
    let functions = try names("SELECT proname FROM pg_proc WHERE pronamespace = '\(test.schema)'::regnamespace")
    return tables + sequences + ["CREATE TABLE x ()"]
      + functions.flatMap { name in
        let arguments =
          switch name {
          case "enqueue": "'plain', '{}'"
          case "finish": "1, 1, 1, 1"
          case "meet": "'{1}', '{true}', 1, now()"
          case "pending_count": "'default', 1"
          case "read_receipt": "1, 1"
          case "signal": "1, 'go'"
          case "stored_duration": "'1 s'"
          case "write_receipt": "1, 1, '{1}', '{}'"
          default: ""
          }
        return ["SELECT * FROM \(name)(\(arguments))", "DROP FUNCTION \(name)"]
      }
  }

  /// Executes and undoes each statement and returns the statements that were not denied.
  private func permitted(_ statements: [String], _ test: TestStore, _ connectionString: String) throws -> Set<String> {
    let texts = statements.map { "$$\($0)$$" }.joined(separator: ", ")
    let output = try psql(
      """
      SET search_path = \(test.schema);
      CREATE FUNCTION pg_temp.is_permitted(sql text) RETURNS boolean LANGUAGE plpgsql AS $body$
      BEGIN
        EXECUTE sql;
        RAISE EXCEPTION 'undo' USING ERRCODE = 'HW000';
      EXCEPTION
        WHEN insufficient_privilege THEN RETURN false;
        WHEN others THEN RETURN true;
      END $body$;
      SELECT s FROM unnest(ARRAY[\(texts)]) s WHERE pg_temp.is_permitted(s)
      """, connectionString)
    return Set(output.split(separator: "\n").map(String.init)).intersection(statements)
  }

  @Test("J123: each privilege permits exactly the statements that the guide's table lists")
  func matrix() async throws {
    let test = try await TestStore()
    let statements = try Self.statements(test)
    func verbs(_ verbs: String...) -> Set<String> {
      Set(
        statements.filter { statement in
          verbs.contains { statement.hasPrefix("\($0) ") && (statement.contains(" FROM ") || $0 != "SELECT") }
            && !statement.contains("(")
        })
    }
    func calls(_ names: String...) -> Set<String> {
      Set(statements.filter { statement in names.contains { statement.contains("FROM \($0)(") } })
    }
    let expected: [PostgresJobStore.Privilege: Set<String>] = [
      .enqueue: calls("enqueue", "notify", "pending_count", "read_receipt", "write_receipt")
        .union(verbs("SELECT").filter { $0.hasSuffix(" meta") || $0.hasSuffix(" queue") }),
      .read: verbs("SELECT"),
      .work: calls(
        "enqueue", "notify", "pending_count", "read_receipt", "write_receipt", "meet", "stored_duration", "finish",
        "signal"
      ).union(verbs("SELECT")).union(verbs("INSERT", "UPDATE", "DELETE", "LOCK"))
        .union(statements.filter { $0.contains("nextval") }),
    ]
    for privilege in PostgresJobStore.Privilege.allCases {
      let (store, connectionString) = try await open(test, privilege)
      await store.close()
      let permitted = try permitted(statements, test, connectionString)
      #expect(permitted.subtracting(expected[privilege]!) == [], "\(privilege) permits too much")
      #expect(expected[privilege]!.subtracting(permitted) == [], "\(privilege) permits too little")
    }
    // A role that can only see the schema, such as a role whose grants were revoked.
    let role = "\(test.schema) nobody"
    try test.psql("CREATE ROLE \"\(role)\" LOGIN; GRANT USAGE ON SCHEMA \(test.schema) TO \"\(role)\"")
    let connectionString = "host=\(try PostgresServer.shared().folder) user='\(role)' dbname=postgres"
    #expect(try permitted(statements, test, connectionString) == [])
    await test.store.close()
  }

  @Test("J123: a role that may only enqueue can't free the key of another job, or take its number")
  func keysOfOthers() async throws {
    let test = try await TestStore()
    let (store, connectionString) = try await open(test, .enqueue)
    let held = try await test.jobs.enqueue(PlainJob(number: 1), .unique(.held("key", for: .seconds(3_600))))
    let again = try await Jobs(store).enqueue(PlainJob(number: 2), .unique(.held("key", for: .seconds(3_600))))
    #expect(again.id == held.id && !again.isNew)
    for statement in ["UPDATE key SET until = '-infinity'", "DELETE FROM key", "SELECT key FROM key"] {
      #expect(throws: PostgresServer.Failure.self) {
        try psql("SET search_path = \(test.schema); \(statement)", connectionString)
      }
    }
    // The caller's objects do not replace the objects that the function uses.
    try psql(
      """
      CREATE FUNCTION pg_temp.clock_timestamp() RETURNS timestamptz LANGUAGE sql
      AS $$ SELECT 'infinity'::timestamptz $$;
      CREATE TEMPORARY TABLE key (key text, job bigint, until timestamptz);
      SET search_path = pg_temp, pg_catalog;
      SELECT is_new FROM \(test.schema).enqueue('plain', '{}', unique_key => 'key', unique_for => '1 hour')
      """, connectionString)
    #expect(try test.psql("SELECT count(*) FROM job") == "1")
    #expect(try test.psql("SELECT until < 'infinity' FROM key") == "t")
    #expect(try await test.store.audit() == [])
    await store.close()
    await test.store.close()
  }

  @Test("J123, J18: a role that may only enqueue stores batches in job order, and waits for room")
  func batchesAndRoom() async throws {
    let test = try await TestStore()
    let (store, _) = try await open(test, .enqueue)
    let jobs = Jobs(store)
    let handles = try await jobs.enqueue(contentsOf: (0..<100).map { PlainJob(number: $0) })
    #expect(handles.map(\.id) == handles.map(\.id).sorted())
    #expect(try await test.jobs.jobs(JobFilter(), limit: 200).count == 100)
    try await test.jobs.changeQueue("small", .maxPendingJobCount(1))
    let first = try await jobs.enqueue(PlainJob(number: 1), .queue("small"), .unique(.unfinished("a")))
    // A job whose key is held does not count toward the limit.
    let same = try await jobs.enqueue(
      PlainJob(number: 2), .queue("small"), .unique(.unfinished("a")), .fullQueuePolicy(.fail))
    #expect(same.id == first.id)
    for options in [[], [.unique(.unfinished("b"))]] as [JobOptions] {
      let error = await #expect(throws: JobError.self) {
        try await jobs.enqueue(PlainJob(number: 3), .options(options), .queue("small"), .fullQueuePolicy(.fail))
      }
      #expect(error?.code == .queueFull)
    }
    // The limit applies before a batch, not within it.
    try await test.jobs.changeQueue("small", .maxPendingJobCount(2))
    try await jobs.enqueue(contentsOf: (0..<5).map { PlainJob(number: $0) }, .queue("small"))
    #expect(try test.psql("SELECT count(*) FROM job WHERE queue = 'small'") == "6")
    let scheduled = try await store.transaction { transaction in
      try jobs.enqueue(PlainJob(number: 9), .delay(.seconds(60)), in: transaction)
    }
    #expect(scheduled.isNew)
    #expect(try test.psql("SELECT count(*) FROM job WHERE \(JobState.scheduled.condition)") == "1")
    await store.close()
    await test.store.close()
  }

  @Test("J123: a role that may only read sees everything, and changes nothing")
  func reading() async throws {
    let test = try await TestStore()
    let (store, _) = try await open(test, .read)
    let jobs = Jobs(store)
    try await test.jobs.enqueue(PlainJob(number: 1))
    #expect(try await jobs.jobs().count == 1)
    #expect(try await jobs.overview().snapshot.queues.map(\.name) == ["default"])
    #expect(try await store.audit() == [])
    await expectDenied { try await jobs.enqueue(PlainJob(number: 2)) }
    await expectDenied { try await jobs.cancel(JobFilter()) }
    await store.close()
    await test.store.close()
  }

  @Test("J123: a role for workers runs jobs, and can't change the tables")
  func working() async throws {
    let test = try await TestStore()
    let (store, connectionString) = try await open(test, .work)
    let jobs = Jobs(store)
    let worker = JobWorker(jobs, kinds: [PlainJob.self])
    worker.serve(on: OperationQueue())
    let run = Task { try await worker.run() }
    try await jobs.enqueue(PlainJob(number: 1)).untilSucceeded()
    worker.stop()
    try await run.value
    #expect(try await jobs.perform(.prune) == 0)
    #expect(throws: PostgresServer.Failure.self) {
      try psql("SET search_path = \(test.schema); DROP TABLE job", connectionString)
    }
    await store.close()
    await test.store.close()
  }

  @Test("J123: granting without the right to grant fails", arguments: PostgresJobStore.Privilege.allCases)
  func granting(privilege: PostgresJobStore.Privilege) async throws {
    let test = try await TestStore()
    let (store, _) = try await open(test, .work)
    let role = "\(test.schema) other"
    try test.psql("CREATE ROLE \"\(role)\"")
    await expectDenied { try await store.grant(privilege, to: role) }
    let granted = """
      SELECT count(*) FROM pg_class WHERE relnamespace = '\(test.schema)'::regnamespace AND relkind = 'r'
      AND has_any_column_privilege('\(role)', oid, 'SELECT')
      """
    #expect(try test.psql(granted) == "0")
    // Nothing is missing after the owner has granted it.
    try await test.store.grant(privilege, to: role)
    try await store.grant(privilege, to: role)
    await store.close()
    await test.store.close()
  }

  @Test(
    "J123: roles can call the functions even if the server does not grant this privilege by default",
    arguments: [true, false])
  func functions(isWorker: Bool) async throws {
    let server = try PostgresServer()
    try psql("ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC", server.connectionString)
    let test = try await TestStore(server: server)
    let (store, connectionString) = try await open(test, isWorker ? .work : .enqueue, server)
    try await test.jobs.changeQueue("default", .maxPendingJobCount(9))
    try await Jobs(store).enqueue(PlainJob(number: 1), .unique(.unfinished("key")))
    let sql = "SET search_path = \(test.schema); SELECT enqueue('plain', '{}'); SELECT notify(); SELECT pending_count"
    try psql(sql + "('default', 9)", connectionString)
    #expect(try test.psql("SELECT count(*) FROM job") == "2")
    await store.close()
    let (reader, reading) = try await open(test, .read, server)
    #expect(throws: PostgresServer.Failure.self) {
      try psql("SET search_path = \(test.schema); SELECT notify()", reading)
    }
    await reader.close()
    await test.store.close()
  }

  @Test("J109: a role that may only read sees the number of connections, and which check it can't perform")
  func findings() async throws {
    let server = try PostgresServer()
    let test = try await TestStore(server: server)
    try await test.jobs.enqueue(PlainJob(number: 1))
    let (store, _) = try await open(test, .read, server)
    let all = try await test.store.findings(measuringCommit: false)
    let visible = try await store.findings(measuringCommit: false)
    #expect(visible.map(\.name) == all.map(\.name))
    func text(_ name: String, _ findings: [JobsHealth.Finding]) -> String? { findings.first { $0.name == name }?.text }
    // Processes of the server begin and end.
    try await poll {
      let count = try test.psql("SELECT sum(numbackends) - 1 FROM pg_stat_database")
      let visible = try await store.findings(measuringCommit: false)
      return text("Connections", visible) == "\(count) of 300 connections are in use."
    }
    #expect(text("Transactions", all) == "No transaction has been open for a long time.")
    #expect(text("Transactions", visible)?.contains("pg_read_all_stats") == true)
    try test.psql("GRANT pg_read_all_stats TO \"\(test.schema) read\"")
    let granted = try await store.findings(measuringCommit: false)
    #expect(text("Transactions", granted) == text("Transactions", all))
    await store.close()
    await test.store.close()
  }

  @Test("J123: role names are quoted, and a name that the server would truncate is rejected")
  func names() async throws {
    let test = try await TestStore()
    let role = "\(test.schema) \"; DROP TABLE job; --"
    try await test.store.grant(.read, to: role)
    try await test.store.grant(.work, to: role)
    let quoted = role.replacingOccurrences(of: "'", with: "''")
    #expect(try test.psql("SELECT has_table_privilege('\(quoted)', 'job', 'DELETE')") == "t")
    for name in ["", String(repeating: "x", count: 64), "a\0b"] {
      await #expect(throws: JobError.self) { try await test.store.grant(.read, to: name) }
    }
    await test.store.close()
  }
}
#endif
