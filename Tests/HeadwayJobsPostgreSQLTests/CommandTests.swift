#if PostgreSQL
import HeadwayJobs
import HeadwayJobsPostgreSQL
import HeadwayTestSupport
import Testing

/// Commands that change or delete many rows.
@Suite(.hangLimit, .serialized) struct PostgresCommandTests {
  @Test("J93: one request to prune deletes a limited number of expired keys and full buckets")
  func pruning() async throws {
    let test = try await TestStore()
    try test.psql(
      """
      INSERT INTO key SELECT 'held', 0, 'infinity';
      INSERT INTO key SELECT number::text, number, '-infinity' FROM generate_series(1, 10001) number;
      INSERT INTO bucket SELECT number::text, '-infinity' FROM generate_series(1, 10001) number
      """)
    for left in [1, 0, 0] {
      #expect(try await test.store.perform(.prune) == 0)
      #expect(try test.psql("SELECT count(*) FROM key") == "\(left + 1)")
      #expect(try test.psql("SELECT count(*) FROM bucket") == "\(left)")
    }
    let plan = try test.psql(
      "SET enable_seqscan = off; EXPLAIN SELECT key FROM key WHERE until <= now() ORDER BY until")
    #expect(plan.contains("key_until"))
    await test.store.close()
  }
}
#endif
