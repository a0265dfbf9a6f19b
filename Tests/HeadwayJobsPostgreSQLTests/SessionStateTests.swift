#if PostgreSQL
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsPostgreSQL
import HeadwayTestSupport
import Testing

/// State that application code leaves behind on a connection that other code uses next.
@Suite(.hangLimit, .serialized) struct PostgresSessionStateTests {
  /// Statements that change a session, and a query for the state that must not be different afterward.
  private static let changes = [
    ("SET ROLE pg_monitor", "SELECT current_user::text"),
    ("SET SESSION AUTHORIZATION pg_monitor", "SELECT session_user::text"),
    ("SET search_path = pg_temp", "SHOW search_path"),
    ("SET idle_session_timeout = '7 s'", "SHOW idle_session_timeout"),
    ("SET lock_timeout = '7 s'", "SHOW lock_timeout"),
    ("SET TimeZone = 'Asia/Tokyo'", "SHOW TimeZone"),
    (
      "SELECT set_config('application.tenant', '7', false)",
      "SELECT coalesce(current_setting('application.tenant', true), '')"
    ),
    ("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "SHOW default_transaction_read_only"),
    ("SET plan_cache_mode = force_generic_plan", "SHOW plan_cache_mode"),
    ("SET synchronous_commit = off", "SHOW synchronous_commit"),
    (
      "SELECT pg_advisory_lock(7)::text",
      "SELECT count(*)::text FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
    ),
    (
      "CREATE TEMPORARY TABLE leftover (number bigint)",
      "SELECT count(*)::text FROM pg_class WHERE relnamespace = pg_my_temp_schema()"
    ),
    ("LISTEN leftover", "SELECT count(*)::text FROM pg_listening_channels()"),
    ("PREPARE leftover AS SELECT 1", "SELECT count(*)::text FROM pg_prepared_statements WHERE from_sql"),
    ("DECLARE leftover CURSOR WITH HOLD FOR SELECT 1", "SELECT count(*)::text FROM pg_cursors WHERE is_holdable"),
    ("DO $$BEGIN PERFORM set_config('search_path', 'pg_temp', false); END$$", "SHOW search_path"),
    ("DEALLOCATE ALL", "SELECT 1::text"),
  ]

  private struct Refusal: Error {}

  @Test(
    "J187: session state does not affect the next transaction on the connection, even behind a pooler",
    arguments: [false, true])
  func leftovers(isPooled: Bool) async throws {
    let server = try PostgresServer()
    let pooler = isPooled ? try Pooler(server) : nil
    let store = try await PostgresJobStore(pooler?.connectionString ?? server.connectionString)
    let jobs = Jobs(store)
    @Sendable func state(_ sql: String, _ transaction: PostgresTransaction) throws -> [PostgresRow] {
      try transaction.rows(sql)
    }
    for (change, query) in Self.changes {
      for fails in [false, true] {
        let before = try await store.transaction { try state(query, $0) }
        let result = await Task {
          try await store.transaction { transaction in
            // The store has its own statements on the connection.
            try jobs.enqueue(PlainJob(number: 1), in: transaction)
            _ = try transaction.rows(change)
            if fails { throw Refusal() }
          }
        }.result
        if fails { #expect(throws: Refusal.self) { try result.get() } } else { try result.get() }
        let after = try await store.transaction { transaction in
          try jobs.enqueue(PlainJob(number: 2), in: transaction)
          return try state(query, transaction)
        }
        #expect(before == after, "\(change), \(fails ? "undone" : "committed")")
      }
    }
    #expect(try await jobs.counts()["default"]?[.waiting] == Self.changes.count * 3)
    await store.close()
    pooler?.stop()
  }

  @Test("J187: a transaction keeps its own session state until it ends, and the connection and its statements remain")
  func during() async throws {
    let test = try await TestStore()
    func process() async throws -> [PostgresRow] {
      try await test.store.transaction { try $0.rows("SELECT pg_backend_pid() AS process") }
    }
    let before = try await process()
    try await test.store.transaction { transaction in
      try transaction.execute("SET search_path = \(test.schema)")
      _ = try transaction.rows("SELECT name FROM meta")
      try test.jobs.enqueue(PlainJob(number: 1), in: transaction)
      _ = try transaction.rows("SELECT name FROM meta")
      let count = try transaction.rows("SELECT count(*) AS n FROM pg_prepared_statements WHERE name LIKE 'headway%'")
      #expect(count[0]["n"] != "0")
    }
    let after = try await test.store.transaction { transaction in
      let count = try transaction.rows("SELECT count(*) AS n FROM pg_prepared_statements WHERE name LIKE 'headway%'")
      #expect(count[0]["n"] != "0")
      return try transaction.rows("SELECT pg_backend_pid() AS process")
    }
    #expect(before == after)
    await test.store.close()
  }
}
#endif
