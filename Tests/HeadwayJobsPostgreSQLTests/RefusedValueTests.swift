#if PostgreSQL
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayTestSupport
import Testing

@testable import HeadwayJobsPostgreSQL

/// Errors of the server, and whether another attempt can succeed.
@Suite(.hangLimit, .serialized) struct PostgresRefusedValueTests {
  /// Statements that make the server reject each new job with the payload of `PlainJob(number: 7)`.
  ///
  /// Functions raise the errors that can't be caused in other ways.
  private static let refusals: [(state: String, isRetryable: Bool, sql: String)] =
    [
      ("23514", false, "ALTER TABLE job ADD CHECK (payload <> '{\"number\":7}') NOT VALID"),
      ("23502", false, "ALTER TABLE job ADD more text NOT NULL DEFAULT ''; ALTER TABLE job ALTER more DROP DEFAULT"),
    ]
    + [
      ("22001", false), ("22003", false), ("22012", false), ("22P02", false), ("22P05", false), ("54000", false),
      ("54001", false), ("23502", false), ("23514", false),
      // These depend on other rows, other transactions, the server, privileges, or code.
      ("23503", true), ("23505", true), ("23P01", true), ("40001", true), ("40P01", true), ("42501", true),
      ("42P01", true), ("53200", true), ("53300", true), ("53400", true), ("55P03", true), ("57014", true),
      ("58030", true), ("P0001", true), ("XX000", true), ("25006", true), ("0A000", true),
    ].map { state, isRetryable in
      (
        state, isRetryable,
        """
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$BEGIN RAISE EXCEPTION USING ERRCODE = '\(state)', MESSAGE = 'refused'; END$$;
        CREATE TRIGGER refuse BEFORE INSERT ON job FOR EACH ROW EXECUTE FUNCTION refuse()
        """
      )
    }

  @Test("J180: the server's error decides whether a job that adds another job is retried", arguments: refusals.indices)
  func classes(index: Int) async throws {
    let (state, isRetryable, sql) = Self.refusals[index]
    let test = try await TestStore()
    let worker = try await test.store.register(
      WorkerDescription(name: "test", processIdentifier: 1, queues: ["default"], kinds: ["plain": 1]))
    try await test.jobs.enqueue(PlainJob(number: 1))
    let claim = JobClaim(queue: "default", count: 1, allowsSuspect: true, kinds: ["plain": 1])
    let job = try #require(
      try await test.store.exchange(JobExchange(worker: worker, claims: [claim])).claimed[0].first)
    let context = JobContext(job, try #require(job.fence), test.jobs)
    try test.psql(sql)
    let requests: [@Sendable () async throws -> Void] = [
      { try await test.jobs.enqueue(PlainJob(number: 7)) },
      { try await test.jobs.enqueue(PlainJob(number: 7), .unique(.unfinished("key"))) },
      { try await context.enqueue(PlainJob(number: 7)) },
    ]
    for request in requests {
      let error = await #expect(throws: JobError.self) { try await request() }
      #expect((error?.underlyingError as? PostgresError)?.sqlState == state)
      #expect(error?.isRetryable == isRetryable, "\(state)")
      #expect(error?.code == (isRetryable ? .storeFailed : .refusedValue))
    }
    #expect(try await test.jobs.counts()["default"]?[.waiting] == 0)
    await test.store.close()
  }
}
#endif
