#if PostgreSQL
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsPostgreSQL
import Testing

/// Programming errors, each in its own process.
@Suite struct PostgresMisuseTests {
  @Test("J104, J183: a time limit that is not positive stops the process, because the server treats zero as no limit")
  func timeLimits() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      var limits = PostgresTimeLimits()
      limits.lock = .zero
      _ = try await PostgresJobStore("postgres://localhost:1/none", limits: limits)
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      output.contains("Fatal error: The time limit `lock` of PostgreSQL is 0.0 seconds: use a positive"), "\(output)")
  }

  @Test("J11, J183: a statement for another store stops the process")
  func otherStore() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = try Jobs(MemoryJobStore()).enqueueStatement(PlainJob(number: 1))
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("Fatal error: The jobs are in a MemoryJobStore"), "\(output)")
  }
}
#endif
