#if Jobs
@_spi(JobStore) import HeadwayJobsTestKit
import HeadwayTestSupport
import Testing

/// Runs random programs on the SQLite store.
///
/// The variables `HEADWAY_JOB_PROGRAMS`, `HEADWAY_JOB_COMMANDS` and `HEADWAY_JOB_SEED` are the number of programs, the
/// number of commands of each, and the seed of the first program.
@Suite(.hangLimit) struct RandomProgramTests {
  @Test("J179: random programs have the same results on the store and on the model") func programs() async throws {
    let fixture = try SQLiteFixture()
    try await JobStoreModel(fixture).run(
      programs: environmentCount("HEADWAY_JOB_PROGRAMS", else: 20),
      commands: environmentCount("HEADWAY_JOB_COMMANDS", else: 20),
      seed: UInt64(environmentCount("HEADWAY_JOB_SEED", else: 1_000)))
    await fixture.close()
  }
}
#endif
