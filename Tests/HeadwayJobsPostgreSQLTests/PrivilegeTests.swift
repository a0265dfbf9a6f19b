#if PostgreSQL
import Foundation
import Headway
import HeadwayJobs
import HeadwayJobsPostgreSQL
import HeadwayTestSupport
import Testing

/// Roles of the server that may do only a part of what a store does.
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
    #expect((error?.underlying as? PostgresError)?.sqlState == "42501", "\(String(describing: error))")
  }

  @Test("J123: a role that may only enqueue adds jobs, and neither reads nor changes others")
  func enqueueing() async throws {
    let test = try await TestStore()
    let (store, connectionString) = try await open(test, .enqueue)
    let jobs = Jobs(store)
    let first = try await jobs.enqueue(PlainJob(number: 1))
    try await jobs.enqueue(PlainJob(number: 2), delay: .seconds(60))
    for isNew in [true, false] {
      #expect(try await jobs.enqueue(PlainJob(number: 3), unique: .unfinished("key")).isNew == isNew)
      #expect(try await jobs.enqueue(PlainJob(number: 4), unique: .for(.seconds(60), "key")).isNew == isNew)
    }
    try await jobs.enqueue(PlainJob(number: 5), options: JobOptions(limit: .serial("key")))
    try await test.jobs.setPendingLimit(1, ofQueue: "small")
    try await jobs.enqueue(PlainJob(number: 6), queue: "small")
    let error = await #expect(throws: JobError.self) {
      try await jobs.enqueue(PlainJob(number: 7), queue: "small", options: JobOptions(fullQueuePolicy: .fail))
    }
    #expect(error?.code == .queueFull)
    let sql = "SET search_path = \(test.schema); SELECT enqueue('plain', convert_to('{\"number\":8}', 'UTF8'))"
    try psql(sql, connectionString)
    #expect(try test.psql("SELECT count(*) FROM job") == "7")

    await expectDenied { try await jobs.jobs() }
    await expectDenied { try await jobs.cancel(JobFilter()) }
    var batch = JobBatch()
    batch.add(PlainJob(number: 9), after: [first])
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
    worker.run(on: OperationQueue())
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

  @Test("J123: granting without the right to do so is an error", arguments: PostgresJobStore.Privilege.allCases)
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

  @Test("J123: roles can call the functions if the server grants that to no role by default", arguments: [true, false])
  func functions(isWorker: Bool) async throws {
    let server = try PostgresServer()
    try psql("ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC", server.connectionString)
    let test = try await TestStore(server: server)
    let (store, connectionString) = try await open(test, isWorker ? .work : .enqueue, server)
    try await test.jobs.setPendingLimit(9, ofQueue: "default")
    try await Jobs(store).enqueue(PlainJob(number: 1), unique: .unfinished("key"))
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

  @Test("J109: a role that may only read sees the number of connections, and which check is not possible")
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
    #expect(text("Transactions", all) == "No transaction has been open for long.")
    #expect(text("Transactions", visible)?.contains("pg_read_all_stats") == true)
    try test.psql("GRANT pg_read_all_stats TO \"\(test.schema) read\"")
    let granted = try await store.findings(measuringCommit: false)
    #expect(text("Transactions", granted) == text("Transactions", all))
    await store.close()
    await test.store.close()
  }

  @Test("J123: names of roles are quoted, and a name that the server would cut is refused")
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
