#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs
import HeadwayTestSupport
import Testing

@testable import HeadwayJobsSQLite

/// Statistics of transactions that no worker has merged.
@Suite(.hangLimit) struct SQLiteStatisticsTests {
  private let fixture: SQLiteFixture

  init() throws { fixture = try SQLiteFixture() }

  /// Inserts the activity of transactions that have added a job each.
  private func insertActivity(of count: Int, at time: StoreTime) async throws {
    _ = try await fixture.sqlite.schedules()
    try await DatabaseQueue(path: fixture.path).write { database in
      try database.execute(
        sql: """
          WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < \(count))
          INSERT INTO headway_activity
          SELECT NULL, \(time.microseconds), 'a', 'a', 1, 0, 0, 0, 0, 0, 0, NULL, NULL FROM number
          """)
    }
  }

  @Test("J322: statistics are complete if no worker has merged the numbers of many transactions")
  func unmerged() async throws {
    let count = 20_009
    try await insertActivity(of: count, at: fixture.sqlite.now)
    fixture.advanceClock(by: .seconds(60))
    for span in JobStatistics.Span.allCases {
      #expect(try await fixture.sqlite.statistics(over: span, queue: nil).total.enqueued == count)
    }
    await fixture.close()
  }

  @Test("J324: a read of statistics examines a limited number of transactions, latest first")
  func bound() async throws {
    _ = try await fixture.sqlite.schedules()
    let plan = try await DatabaseQueue(path: fixture.path).read { database in
      let plan = try database.makeStatement(sql: "EXPLAIN QUERY PLAN \(OverviewSQL.activity)")
      plan.setUncheckedArguments(StatementArguments())
      return try Row.fetchAll(plan).map { row -> String in row["detail"] }
    }
    #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
    await fixture.close()
  }
}
#endif
