#if Jobs
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
@_spi(JobStore) import HeadwayJobsTestKit
import HeadwayTestSupport
import Synchronization
import Testing

/// The SQLite store follows the rules of all stores.
@Suite(.hangLimit) struct SQLiteConformanceTests {
  @Test(arguments: JobStoreConformance.checks)
  func conforms(check: JobStoreCheck) async throws {
    let fixture = try SQLiteFixture()
    try await check.run(on: fixture)
    await fixture.close()
  }
}

/// A store in a temporary folder, with a clock that stands still.
struct SQLiteFixture: JobStoreFixture {
  private final class Shared: Sendable {
    let now = Mutex(StoreTime(microseconds: 1_800_000_000_000_000))
    let others = Mutex<[SQLiteJobStore]>([])
  }

  private let shared = Shared()
  let folder: TemporaryFolder
  let sqlite: SQLiteJobStore

  var store: any JobStoreBackend { sqlite }
  var path: String { folder.path + "/jobs.sqlite" }

  init() throws {
    folder = try TemporaryFolder()
    sqlite = try SQLiteJobStore(path: folder.path + "/jobs.sqlite") { [shared] in shared.now.withLock { $0 } }
  }

  func openAgain() throws -> any JobStoreBackend { try openOther() }

  /// Opens the database once more.
  func openOther() throws -> SQLiteJobStore {
    let other = try SQLiteJobStore(path: path) { [shared] in shared.now.withLock { $0 } }
    shared.others.withLock { $0.append(other) }
    return other
  }

  func advanceClock(by duration: Duration) { shared.now.withLock { $0 = $0 + duration } }

  func kill(_ worker: WorkerID) { sqlite.kill(worker) }

  func close() async {
    for other in shared.others.withLock({ $0 }) { await other.close() }
    await sqlite.close()
  }
}
#endif
