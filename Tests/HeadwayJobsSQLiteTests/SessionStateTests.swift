#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestSupport
import Testing

/// State that application code leaves behind on the connection of a store.
@Suite(.hangLimit) struct SessionStateTests {
  private typealias Application = TransactionTests.Application

  private struct Refusal: Error {}

  /// How the code of a job ends.
  enum Ending: CaseIterable, Sendable { case returns, fails, endsTransaction }

  /// Statements that change a connection, and a query for the state that must not be different afterward.
  private static let changes: [(change: String, query: String)] =
    [
      "analysis_limit = 7", "automatic_index = 0", "busy_timeout = 7", "cache_size = 77", "cache_spill = 0",
      "cell_size_check = 1", "checkpoint_fullfsync = 1", "count_changes = 1", "defer_foreign_keys = 1",
      "empty_result_callbacks = 1", "foreign_keys = 0", "full_column_names = 1", "fullfsync = 1",
      "ignore_check_constraints = 1", "journal_size_limit = 7", "legacy_alter_table = 1", "max_page_count = 7777",
      "mmap_size = 65536", "query_only = 1", "read_uncommitted = 1", "recursive_triggers = 1",
      "reverse_unordered_selects = 1", "secure_delete = 1", "short_column_names = 0", "synchronous = 0",
      "trusted_schema = 0", "writable_schema = 1",
    ].map { ("PRAGMA \($0)", "PRAGMA \($0.prefix { $0 != " " })") } + [
      ("PRAGMA case_sensitive_like = 1", "SELECT 'a' LIKE 'A'"),
      ("CREATE TEMP TABLE leftover (number)", "SELECT group_concat(name) FROM temp.sqlite_master"),
      (
        "CREATE TEMP TABLE first (id INTEGER PRIMARY KEY); INSERT INTO first VALUES (1);"
          + "CREATE TEMP TABLE second (id REFERENCES first); INSERT INTO second VALUES (1);"
          + "CREATE INDEX i ON second (id)",
        "SELECT group_concat(name) FROM temp.sqlite_master"
      ),
      (
        "CREATE TEMP TABLE child (id REFERENCES parent); CREATE TEMP TABLE parent (id INTEGER PRIMARY KEY);"
          + "INSERT INTO parent VALUES (1); INSERT INTO child VALUES (1)",
        "SELECT group_concat(name) FROM temp.sqlite_master"
      ),
      (
        "CREATE TEMP TABLE a (id INTEGER PRIMARY KEY, b REFERENCES b);"
          + "CREATE TEMP TABLE b (id INTEGER PRIMARY KEY, a REFERENCES a);"
          + "INSERT INTO a VALUES (1, NULL); INSERT INTO b VALUES (1, 1); UPDATE a SET b = 1",
        "SELECT group_concat(name) FROM temp.sqlite_master"
      ),
      ("CREATE TEMP TABLE \"a\"\"b\" (number)", "SELECT group_concat(name) FROM temp.sqlite_master"),
      ("CREATE VIRTUAL TABLE temp.words USING fts5(word)", "SELECT group_concat(name) FROM temp.sqlite_master"),
      ("CREATE TEMP VIEW photo AS SELECT 1", "SELECT group_concat(name) FROM temp.sqlite_master"),
      (
        "CREATE TEMP TRIGGER leftover BEFORE DELETE ON main.photo BEGIN SELECT raise(ABORT, 'kept'); END",
        "SELECT group_concat(name) FROM temp.sqlite_master"
      ),
      ("ATTACH DATABASE ':memory:' AS leftover", "SELECT group_concat(name) FROM pragma_database_list"),
      (
        "ATTACH DATABASE ':memory:' AS leftover; CREATE TABLE leftover.used (number)",
        "SELECT group_concat(name) FROM pragma_database_list"
      ),
    ]

  @Test(
    "J187: state that code leaves on an SQLite connection does not affect other code, in its transaction or later",
    arguments: Ending.allCases)
  func leftovers(ending: Ending) async throws {
    let app = try Application()
    for (change, query) in Self.changes {
      // SQLite can't change this setting in a transaction.
      if change.contains("synchronous"), ending != .endsTransaction { continue }
      let before = try await app.state(query)
      _ = try await app.jobs.enqueue(Note(text: "first"))
      let first = try await app.claim()
      _ = try await app.jobs.enqueue(Note(text: "second"))
      let second = try await app.claim()
      // Both end in one transaction, if that is possible.
      let (writing, gate) = await app.holdWriter()
      let changing = Task {
        try await first.finish { database in
          if ending == .endsTransaction { try? database.execute(sql: "ROLLBACK") }
          try database.execute(sql: change)
          if ending == .fails { throw Refusal() }
        }
      }
      let reading = Task {
        try await second.finish { database in try String.fetchOne(database, sql: query) ?? "" }
      }
      gate.open()
      try await writing.value
      let changed = await changing.result
      switch ending {
      case .returns: #expect(throws: Never.self, "\(change)") { try changed.get() }
      case .fails: #expect(throws: Refusal.self, "\(change)") { try changed.get() }
      case .endsTransaction: #expect(throws: JobError.self, "\(change)") { try changed.get() }
      }
      // The store's own transactions have another value of this setting.
      let during = try await reading.value
      #expect(query.contains("synchronous") ? during == "2" : during == before, "\(change), same transaction")
      #expect(try await app.state(query) == before, "\(change), next transaction")
      #expect(try await app.jobs.job(second.id)?.state == .succeeded)
    }
    await app.store.close()
  }

  @Test(
    "J187: a setting of the application has the value that it had before", arguments: ["secure_delete", "cache_spill"])
  func settingOfApplication(name: String) async throws {
    let app = try Application()
    let value = name == "secure_delete" ? "FAST" : "50"
    try await app.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA \(name) = \(value)") }
    let before = try await app.state("PRAGMA \(name)")
    _ = try await app.jobs.enqueue(Note(text: "a"))
    try await app.claim().finish { try $0.execute(sql: "PRAGMA \(name) = 0") }
    #expect(try await app.state("PRAGMA \(name)") == before)
    await app.store.close()
  }

  @Test("J187: temporary tables and attached databases of the application remain")
  func kept() async throws {
    let app = try Application()
    try await app.pool.writeWithoutTransaction { database in
      try database.execute(sql: "CREATE TEMP TABLE own (number); INSERT INTO own VALUES (7)")
      try database.execute(sql: "ATTACH DATABASE ':memory:' AS own; CREATE TABLE own.numbers (number)")
    }
    _ = try await app.jobs.enqueue(Note(text: "a"))
    try await app.claim().finish { database in
      try database.execute(sql: "INSERT INTO own VALUES (8); INSERT INTO own.numbers VALUES (9)")
    }
    let sum = try await app.pool.write {
      try Int.fetchOne($0, sql: "SELECT sum(number) FROM (SELECT * FROM temp.own UNION ALL SELECT * FROM own.numbers)")
    }
    #expect(sum == 24)
    await app.store.close()
  }

  @Test("J187: code that sets wal_autocheckpoint does not make SQLite run its own checkpoints")
  func checkpointHook() async throws {
    let app = try Application()
    _ = try await app.jobs.enqueue(Note(text: "a"))
    try await app.claim().finish { database in
      try database.execute(sql: "PRAGMA wal_autocheckpoint = 1; INSERT INTO photo VALUES (1, 1)")
    }
    let log = try await app.pool.writeWithoutTransaction {
      try Int.fetchOne($0, sql: "PRAGMA wal_autocheckpoint") ?? -1
    }
    #expect(log == 0)
    await app.store.close()
  }

  @Test(
    "J135, J187: a violation of a deferred foreign key fails only its own request",
    arguments: ["table", "setting"])
  func deferredForeignKeys(by deferring: String) async throws {
    let app = try Application()
    let isDeferred = deferring == "table"
    try await app.pool.write {
      try $0.execute(
        sql: "CREATE TABLE tag (photo REFERENCES photo (id) \(isDeferred ? "DEFERRABLE INITIALLY DEFERRED" : ""))")
    }
    _ = try await app.jobs.enqueue(Note(text: "first"))
    let first = try await app.claim()
    _ = try await app.jobs.enqueue(Note(text: "second"))
    let second = try await app.claim()
    let (writing, gate) = await app.holdWriter()
    let violating = Task {
      try await first.finish { database in
        if !isDeferred { try database.execute(sql: "PRAGMA defer_foreign_keys = 1") }
        try database.execute(sql: "INSERT INTO tag VALUES (7)")
      }
    }
    let other = Task { try await second.finish { try $0.execute(sql: "INSERT INTO photo VALUES (8, 8)") } }
    gate.open()
    try await writing.value
    let error = await #expect(throws: DatabaseError.self) { try await violating.value }
    #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
    try await other.value
    #expect(try await app.jobs.job(first.id)?.state == .running)
    #expect(try await app.jobs.job(second.id)?.state == .succeeded)
    #expect(try app.photoCount() == 1)
    await app.store.close()
  }
}

extension TransactionTests.Application {
  /// The state of the connection that writes.
  fileprivate func state(_ query: String) async throws -> String {
    try await pool.writeWithoutTransaction { try String.fetchOne($0, sql: query) ?? "" }
  }
}
#endif
