#if Jobs
import GRDB
import HeadwayJobsSQLite
import HeadwayTestSupport
import Testing

@_spi(JobStore) @testable import HeadwayJobs

/// How much of the database one read examines.
@Suite(.hangLimit) struct SQLiteReadingTests {
  @Test("J280: a read compares a limited number of payloads, and the next read continues")
  func parts() async throws {
    let fixture = try SQLiteFixture()
    let new = NewJob(kind: "test", payload: JobPayload(bytes: [1]), options: [])
    let ids = try await fixture.sqlite.enqueue(Array(repeating: new, count: 2_100)).map(\.id)
    let other = NewJob(kind: "test", payload: JobPayload(bytes: Array("found".utf8)), options: [])
    let last = try await fixture.sqlite.enqueue([other])[0].id
    let filter = JobFilter(payload: "found")
    let first = try await fixture.sqlite.readState { try $0.jobs(filter, after: nil, limit: 10) }
    #expect(first.jobs.isEmpty && first.next == ids[1_999], "\(String(describing: first.next))")
    let second = try await fixture.sqlite.readState { try $0.jobs(filter, after: first.next, limit: 10) }
    #expect(second.jobs.map(\.id) == [last] && second.next == nil)
    #expect(try await fixture.sqlite.jobs(filter, after: nil, limit: 10).map(\.id) == [last])
    // A search for numbers also ends, so the jobs are not all counted.
    #expect(try await Jobs(fixture.sqlite).count(filter) == JobCount(1, isExact: false))
    let early = JobFilter(payload: "\u{1}", until: fixture.sqlite.now)
    #expect(try await Jobs(fixture.sqlite).count(early, upTo: 5) == JobCount(5, isExact: false))
    await fixture.close()
  }

  @Test("J312: indexes find and count the retrying jobs")
  func retryingJobs() async throws {
    let fixture = try SQLiteFixture()
    _ = try await fixture.sqlite.schedules()
    let page = SearchSQL.page(
      "id", .retrying, where: "\(SearchSQL.Table.retrying.part) AND id > $1", limit: "$2", lock: "")
    let statements = [
      (SearchSQL.windowBefore(.retrying), "headway_job_retrying"), (page, "headway_job_retrying"),
      (SearchSQL.window(.retrying), "headway_job_retrying"),
      (SearchSQL.newest("id, settings", .retrying, where: "kind = 'a'"), "headway_job_retrying"),
      (OverviewSQL.counts(of: .retrying), "headway_job_unready"),
    ]
    try await expectIndexes(statements, fixture)
    await fixture.close()
  }

  @Test("J332: indexes find and count the jobs of an error group")
  func jobsOfError() async throws {
    let fixture = try SQLiteFixture()
    _ = try await fixture.sqlite.schedules()
    for (state, index) in [(JobState.retrying, "headway_job_error"), (.failed, "headway_done_error")] {
      let table = SearchSQL.Table.errors(JobErrorGroup.ID(rawValue: -7), state)
      try await expectIndexes(
        [
          (SearchSQL.windowBefore(table), index), (SearchSQL.window(table), index),
          (SearchSQL.page("id", table, where: "error = -7 AND id > $1", limit: "$2", lock: ""), index),
          (SearchSQL.newest("id, settings", table, where: "error = -7 AND kind = 'a'"), index),
        ], fixture)
    }
    await fixture.close()
  }

  @Test("J372: indexes find and count the unfinished jobs of each queue")
  func unfinishedJobs() async throws {
    let fixture = try SQLiteFixture()
    _ = try await fixture.sqlite.schedules()
    let indexes: [(JobPart, String)] = [
      (.plain, "headway_job_waiting"), (.keyed, "headway_job_keyed"), (.suspect, "headway_job_suspect"),
      (.scheduled, "headway_job_unready"), (.held, "headway_job_unready"),
    ]
    // The first queue is that of the first entry of the index.
    try await expectIndexes(indexes.map { (OverviewSQL.counts(of: $0), "INDEX \($1)") }, fixture, allowsScans: true)
    await fixture.close()
  }

  @Test("J372: an overview skips kinds of queues with very many kinds, but finds their oldest jobs")
  func manyKinds() async throws {
    let fixture = try SQLiteFixture()
    let queues = (10..<25).map { "queue-\($0)" }
    func job(_ queue: String, _ kind: Int) -> NewJob {
      NewJob(kind: JobKind(rawValue: "kind-\(kind)"), payload: JobPayload(bytes: [1]), options: [.queue(queue)])
    }
    // The oldest job of each queue has the last kind.
    let oldest = try await fixture.sqlite.enqueue(queues.map { job($0, 999) }).map(\.id)
    for queue in queues { _ = try await fixture.sqlite.enqueue((100..<410).map { job(queue, $0) }) }
    let snapshot = try await fixture.sqlite.overview(countingTo: 10_000).snapshot
    #expect(snapshot.queues.map(\.name) == queues)
    // 300 kinds of each queue are read by the index, and the others only if they are among the oldest jobs.
    #expect(snapshot.queues.map(\.counts[.waiting]) == queues.map { _ in 311 })
    #expect(snapshot.queues.allSatisfy { $0.waiting.count >= 300 && $0.waiting.count <= 311 })
    #expect(snapshot.queues.compactMap { $0.waiting.last?.first } == oldest)
    #expect(snapshot.queues.last?.waiting.count == 301)
    await fixture.close()
  }

  /// Expects that statements read only by an index, in its order.
  private func expectIndexes(
    _ statements: [(sql: String, index: String)], _ fixture: SQLiteFixture, allowsScans: Bool = false
  ) async throws {
    try await DatabaseQueue(path: fixture.path).read { database in
      for (sql, index) in statements {
        let text = sql.replacing("headway.", with: "headway_").replacing("$", with: "?")
        let plan = try database.makeStatement(sql: "EXPLAIN QUERY PLAN \(text)")
        plan.setUncheckedArguments(StatementArguments())
        let steps = try Row.fetchAll(plan).map { row -> String in row["detail"] }
        let reads = steps.filter { $0.contains(" USING ") }
        #expect(!reads.isEmpty && reads.allSatisfy { $0.contains(index) }, "\(steps) in \(text)")
        let scans = steps.filter { $0.hasPrefix("SCAN headway") && !(allowsScans && $0.contains(" USING ")) }
        #expect(scans.isEmpty && !steps.contains { $0.contains("TEMP B-TREE") }, "\(steps) in \(text)")
      }
    }
  }
}
#endif
