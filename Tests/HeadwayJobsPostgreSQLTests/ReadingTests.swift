#if PostgreSQL
import Headway
import HeadwayJobsPostgreSQL
import HeadwayTestSupport
import Testing

@_spi(JobStore) @testable import HeadwayJobs

/// Overviews and searches of a store with many jobs.
@Suite(.hangLimit, .serialized) struct PostgresReadingTests {
  @Test("J154: an overview counts by index, and reads about as many waiting jobs as its limit in total, not per queue")
  func waitingJobs() async throws {
    let test = try await TestStore()
    for (queue, priority) in [("a", Operation.QueuePriority.low), ("a", .normal), ("a", .high), ("b", .normal)] {
      try await test.jobs.enqueue(contentsOf: (0..<5).map { PlainJob(number: $0) }, .queue(queue), .priority(priority))
    }
    func overview(_ limit: Int) async throws -> (counts: [Int], kinds: [Int], first: [JobID]) {
      let queues = try await test.jobs.overview(countingTo: limit).snapshot.queues
      return (
        queues.map(\.counts[.waiting]), queues.map { $0.waiting.reduce(0) { $0 + $1.count } },
        queues.compactMap(\.waiting.first?.first)
      )
    }
    let all = try await overview(20)
    #expect(all.counts == [15, 5])
    #expect(all.kinds == [15, 5])
    let few = try await overview(10)
    #expect(few.counts == [11, 5])
    #expect(few.kinds == [6, 2])
    #expect(few.first == all.first)
    await test.store.close()
  }

  @Test("J312: indexes find and count the retrying jobs among many others")
  func retryingJobs() async throws {
    let test = try await TestStore()
    try await test.jobs.enqueue(contentsOf: (0..<2_000).map { PlainJob(number: $0) })
    try test.psql(
      """
      UPDATE job SET \(JobState.retrying.condition), attempt = 1, due = now() + id * 7919 % 3600 * interval '1 s'
      WHERE id % 20 = 7;
      ANALYZE job
      """)
    let page = SearchSQL.page(
      "id", .retrying, where: "\(SearchSQL.Table.retrying.part) AND id > $1", limit: "$2", lock: "")
    for (sql, values) in [
      (SearchSQL.windowBefore(.retrying), [100_000, 1_000]), (SearchSQL.window(.retrying), [1, 1_000]),
      (page, [1, 1_000]),
      (SearchSQL.newest("id", .retrying, where: "true"), [100_000, 1, 1_000]),
    ] {
      let plan = try Self.plan(of: sql, values, test)
      #expect(plan.contains("job_retrying") && !plan.contains("Sort"), "\(plan)")
    }
    let plan = try Self.plan(of: OverviewSQL.counts(of: .retrying), [1_000], test)
    #expect(plan.contains("job_unready") && !plan.contains("Seq Scan"), "\(plan)")
    #expect(try await test.jobs.count(JobFilter(states: [.retrying])) == JobCount(100, isExact: true))
    #expect(try await test.jobs.overview().snapshot.queues.map(\.counts[.retrying]) == [100])
    #expect(try await test.store.audit() == [])
    await test.store.close()
  }

  @Test("J372: indexes find and count the unfinished jobs of each queue among many")
  func unfinishedJobs() async throws {
    let test = try await TestStore()
    try await test.jobs.enqueue(contentsOf: (0..<4_000).map { PlainJob(number: $0) })
    try test.psql(
      """
      UPDATE job SET queue = 'queue-' || (id % 40);
      UPDATE job SET \(JobState.scheduled.condition), due = now() + interval '1 h' WHERE id % 4 = 1;
      ANALYZE job
      """)
    for (part, index) in [(JobPart.plain, "job_waiting"), (.scheduled, "job_unready")] {
      let plan = try Self.plan(of: OverviewSQL.counts(of: part), [101], test)
      #expect(plan.contains(index) && !plan.contains("Seq Scan") && !plan.contains("Sort"), "\(plan)")
    }
    let overview = try await test.jobs.overview()
    #expect(overview.count(of: .waiting) == JobCount(3_000, isExact: true))
    #expect(overview.count(of: .scheduled) == JobCount(1_000, isExact: true))
    #expect(overview.snapshot.queues.allSatisfy { $0.oldestWaitStartTime != nil || $0.counts[.waiting] == 0 })
    await test.store.close()
  }

  @Test("J332: indexes find and count the jobs of an error group among many others")
  func jobsOfError() async throws {
    let test = try await TestStore()
    try await test.jobs.enqueue(contentsOf: (0..<2_000).map { PlainJob(number: $0) })
    try test.psql(
      """
      UPDATE job SET \(JobState.retrying.condition), attempt = 1, due = now() + interval '1 h', error = id % 50 - 25;
      INSERT INTO error SELECT g - 25, 'plain', 'Test', 'text', now() FROM generate_series(0, 49) g;
      ANALYZE job
      """)
    let group = JobErrorGroup.ID(rawValue: -7)
    let table = SearchSQL.Table.errors(group, .retrying)
    for (sql, values) in [
      (SearchSQL.windowBefore(table), [100_000, 1_000]), (SearchSQL.window(table), [1, 1_000]),
      (SearchSQL.page("id", table, where: "error = -7 AND id > $1", limit: "$2", lock: ""), [1, 1_000]),
      (SearchSQL.newest("id", table, where: "error = -7"), [100_000, 1, 1_000]),
    ] {
      let plan = try Self.plan(of: sql, values, test)
      #expect(plan.contains("job_error") && !plan.contains("Sort"), "\(plan)")
    }
    let plan = try Self.plan(of: ErrorSQL.jobCounts(where: "e.id = $1"), [-7, 1_001], test)
    #expect(plan.contains("job_error") && plan.contains("done_error"), "\(plan)")
    #expect(try await test.jobs.count(JobFilter(errorGroup: group)) == JobCount(40, isExact: true))
    #expect(try await test.jobs.errorGroup(group)?.retryingCount == 40)
    await test.store.close()
  }

  /// Returns how the server executes a statement of a reader.
  private static func plan(of sql: String, _ values: [Int], _ test: TestStore) throws -> String {
    var text = sql.replacing("headway.", with: "")
    for (index, value) in values.enumerated() { text = text.replacing("$\(index + 1)", with: "\(value)") }
    return try test.psql("SET enable_seqscan = off; SET enable_bitmapscan = off; EXPLAIN \(text)")
  }

  @Test("J316: comments on the columns list the numbers of the states")
  func comments() async throws {
    let test = try await TestStore()
    for (table, states) in [
      ("job", "0 held, 1 scheduled, 2 retrying, 3 waiting, 4 running"), ("done", "5 succeeded, 6 failed, 7 cancelled"),
    ] {
      let comment = try test.psql(
        """
        SELECT col_description(attrelid, attnum) FROM pg_attribute
        WHERE attrelid = '\(table)'::regclass AND attname = 'state'
        """)
      #expect(comment == states)
    }
    await test.store.close()
  }

  @Test("J154: a search finds tags and labels that another client has stored, with or without escaped characters")
  func escapedTexts() async throws {
    let test = try await TestStore()
    for settings in [
      #"{"label":"Ä/b","tags":["x/y","z"]}"#, #"{"label":"\u00c4\/b","tags":["x\/y","\u007a"]}"#,
      #"{"label":"other","tags":["\\"]}"#,
    ] {
      try test.psql("SELECT enqueue('plain', '', settings => convert_to($$\(settings)$$, 'UTF8'))")
    }
    let ids = try await test.jobs.jobs().map(\.id)
    for (filter, indexes) in [
      (JobFilter(label: "Ä/"), [1, 0]), (JobFilter(tag: "x/y"), [1, 0]), (JobFilter(tag: "z"), [1, 0]),
      (JobFilter(tag: "z", label: "Ä"), [1, 0]), (JobFilter(tag: "x"), []), (JobFilter(tag: "\\"), [2]),
      (JobFilter(label: "label"), []), (JobFilter(label: ""), [2, 1, 0]),
    ] {
      #expect(try await test.jobs.ids(filter).ids == indexes.map { ids[$0] }, "\(filter)")
    }
    await test.store.close()
  }
}
#endif
