#if PostgreSQL
import Dispatch
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsPostgreSQL
import HeadwayTestSupport

/// A store in its own schema, with the server's clock.
struct TestStore: Sendable {
  let schema: String
  let connectionString: String
  let store: PostgresJobStore
  let jobs: Jobs
  /// The server, which ends when this is released.
  private let server: PostgresServer

  init(
    leaseLength: Duration = .seconds(30), limits: PostgresTimeLimits = PostgresTimeLimits(),
    server: PostgresServer? = nil
  ) async throws {
    let server = try server ?? PostgresServer.shared()
    try await self.init(
      server.connectionString, schema: PostgresFixture.newSchema(), leaseLength: leaseLength, limits: limits, server)
  }

  private init(
    _ connectionString: String, schema: String, leaseLength: Duration, limits: PostgresTimeLimits,
    _ server: PostgresServer
  ) async throws {
    self.server = server
    self.schema = schema
    self.connectionString = connectionString
    store = try await PostgresJobStore(
      connectionString, schema: schema, limits: limits, leaseLength: leaseLength, clock: nil)
    jobs = Jobs(store)
  }

  /// Opens the same tables again, as another process would.
  func openAgain(
    _ connectionString: String? = nil, leaseLength: Duration = .seconds(30),
    limits: PostgresTimeLimits = PostgresTimeLimits()
  ) async throws -> TestStore {
    try await TestStore(
      connectionString ?? self.connectionString, schema: schema, leaseLength: leaseLength, limits: limits, server)
  }

  /// Executes statements as another client.
  @discardableResult
  func psql(_ sql: String) throws -> String {
    try HeadwayJobsPostgreSQLTests.psql("SET search_path = \(schema); \(sql)", connectionString)
  }
}

/// Waits until a condition holds.
func poll(_ condition: () async throws -> Bool) async throws {
  while try await !condition() { await Task.yield() }
}

/// Blocks a thread of a store until a test opens it.
final class Gate: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func wait() { semaphore.wait() }

  func open() { semaphore.signal() }
}

/// Runs until it is cancelled for the first time in this process.
struct EndlessJob: Job {
  static let kind: JobKind = "endless"
  static let cancellation = AsyncStream.makeStream(of: Void.self)

  func perform(in context: JobContext) async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    await withTaskCancellationHandler {
      for await _ in stream {}
    } onCancel: {
      continuation.finish()
      Self.cancellation.continuation.finish()
    }
  }
}

/// A job that does nothing.
struct PlainJob: Job {
  static let kind: JobKind = "plain"
  var number: Int

  func perform(in context: JobContext) async throws {}
}
#endif
