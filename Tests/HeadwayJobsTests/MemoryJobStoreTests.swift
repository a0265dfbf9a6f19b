@_spi(JobStore) import HeadwayJobs
@_spi(JobStore) import HeadwayJobsTestKit
import Synchronization
import Testing

/// The store in memory keeps the rules of all stores.
@Suite struct MemoryJobStoreTests {
  @Test(arguments: JobStoreConformance.checks)
  func conforms(check: JobStoreCheck) async throws { try await check.run(on: MemoryFixture()) }
}

/// A store in memory with a clock that stands still.
struct MemoryFixture: JobStoreFixture {
  private final class Time: Sendable {
    let now = Mutex(StoreTime(microseconds: 1_800_000_000_000_000))
  }

  private let time = Time()
  let memory: MemoryJobStore

  init() { memory = MemoryJobStore { [time] in time.now.withLock { $0 } } }

  var store: any JobStoreBackend { memory }

  func openAgain() -> any JobStoreBackend { memory }

  func advanceClock(by duration: Duration) { time.now.withLock { $0 = $0 + duration } }

  func kill(_ worker: WorkerID) { memory.kill(worker) }
}
