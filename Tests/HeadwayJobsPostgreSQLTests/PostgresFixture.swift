#if PostgreSQL
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsPostgreSQL
@_spi(JobStore) import HeadwayJobsTestKit
import HeadwayTestSupport
import Synchronization
import Testing

/// The PostgreSQL store follows the rules of all stores.
@Suite(.hangLimit, .serialized) struct PostgresConformanceTests {
  @Test(arguments: JobStoreConformance.checks)
  func conforms(check: JobStoreCheck) async throws {
    let fixture = try await PostgresFixture()
    try await check.run(on: fixture)
    await fixture.close()
  }
}

/// A store in its own schema, with a clock that does not advance.
struct PostgresFixture: JobStoreFixture {
  private final class Shared: Sendable {
    let now = Mutex(StoreTime(microseconds: 1_800_000_000_000_000))
    let others = Mutex<[PostgresJobStore]>([])
  }

  private static let lastNumber = Atomic(0)

  private let shared = Shared()
  let server: PostgresServer
  let schema: String
  let postgres: PostgresJobStore

  var store: any JobStoreBackend { postgres }

  init() async throws {
    server = try PostgresServer.shared()
    schema = Self.newSchema()
    postgres = try await Self.open(server, schema, shared)
  }

  /// Returns a name that no other test uses.
  static func newSchema() -> String { "test_\(lastNumber.add(1, ordering: .relaxed).newValue)" }

  private static func open(
    _ server: PostgresServer, _ schema: String, _ shared: Shared
  ) async throws -> PostgresJobStore {
    try await PostgresJobStore(server.connectionString, schema: schema, leaseLength: .seconds(30)) {
      shared.now.withLock { $0 }
    }
  }

  func openAgain() async throws -> any JobStoreBackend {
    let other = try await Self.open(server, schema, shared)
    shared.others.withLock { $0.append(other) }
    return other
  }

  func advanceClock(by duration: Duration) { shared.now.withLock { $0 = $0 + duration } }

  func kill(_ worker: WorkerID) async throws { try await postgres.kill(worker) }

  func close() async {
    for other in shared.others.withLock({ $0 }) { await other.close() }
    await postgres.close()
  }
}
#endif
