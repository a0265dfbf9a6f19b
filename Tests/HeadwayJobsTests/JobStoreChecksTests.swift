@_spi(JobStore) import HeadwayJobs
@_spi(JobStore) import HeadwayJobsTestKit
import Testing

/// The checks of stores find the faults of stores that have some.
@Suite struct JobStoreChecksTests {
  @Test("J179: a check fails for each fault of a store", arguments: FaultyJobStore.Fault.allCases)
  func checks(fault: FaultyJobStore.Fault) async throws {
    var defect: JobStoreDefect?
    for check in JobStoreConformance.checks where defect == nil && !check.title.hasPrefix("J179") {
      do { try await check.run(on: FaultyFixture(fault)) } catch let error as JobStoreDefect { defect = error }
    }
    #expect(defect != nil)
  }

  @Test("J179: the model finds each fault of a store", arguments: FaultyJobStore.Fault.allCases)
  func model(fault: FaultyJobStore.Fault) async throws {
    let model = JobStoreModel(FaultyFixture(fault))
    let defect = await #expect(throws: JobStoreDefect.self) { try await model.run(seed: 1) }
    let description = try #require(defect).description
    #expect(description.hasPrefix("seed "))
    #expect(description.contains("The last commands:"))
  }

  @Test("J179: programs with the same seed are the same")
  func seeds() async throws {
    let model = JobStoreModel(FaultyFixture(.doubleClaims))
    let again = JobStoreModel(FaultyFixture(.doubleClaims))
    let defect = await #expect(throws: JobStoreDefect.self) { try await model.run(seed: 7) }
    let defectAgain = await #expect(throws: JobStoreDefect.self) { try await again.run(seed: 7) }
    // Sets and dictionaries in the descriptions have no order.
    #expect(defect?.description.prefix(10) == defectAgain?.description.prefix(10))
  }
}
