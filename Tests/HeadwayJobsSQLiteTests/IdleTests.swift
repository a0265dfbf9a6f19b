#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestSupport
import Synchronization
import Testing

/// A store whose worker has nothing to do.
@Suite(.hangLimit) struct IdleTests {
  private let folder: TemporaryFolder
  private let statements = Recorded()

  private final class Recorded: Sendable {
    private let texts = Mutex<[String]>([])

    func add(_ text: String) { texts.withLock { $0.append(text) } }

    /// Returns the statements since the last call.
    func take() -> Set<String> {
      texts.withLock { texts in
        defer { texts = [] }
        return Set(texts)
      }
    }
  }

  init() throws { folder = try TemporaryFolder() }

  private func openStore() throws -> SQLiteJobStore {
    var configuration = Configuration()
    configuration.prepareDatabase { [statements] database in
      database.trace { statements.add("\($0)") }
    }
    SQLiteJobStore.prepare(&configuration)
    return try SQLiteJobStore(try DatabasePool(path: folder.path + "/jobs.sqlite", configuration: configuration))
  }

  private let description = WorkerDescription(
    name: "idle", processIdentifier: 1, queues: ["default"], kinds: ["test": 1])
  private let claim = JobClaim(queue: "default", count: 4, allowsSuspect: true, kinds: ["test": 1])

  /// Makes all requests that a worker makes once per second.
  private func makeRequests(_ store: SQLiteJobStore, _ worker: WorkerID) async throws -> [JobRecord] {
    let beat = try await store.beat(worker, running: [])
    #expect(beat.isRegistered)
    let answer = try await store.exchange(JobExchange(worker: worker, claims: [claim]))
    let next = try await store.advance()
    #expect(next == nil)
    let rescued = try await store.rescue()
    #expect(rescued.isEmpty)
    return answer.claimed[0]
  }

  @Test("J169: as long as a database does not change, a worker with nothing to do reads only its version")
  func unchanged() async throws {
    let store = try openStore()
    let worker = try await store.register(description)
    // The first answers are read.
    for _ in 0..<2 { #expect(try await makeRequests(store, worker).isEmpty) }
    _ = statements.take()
    for _ in 0..<3 { #expect(try await makeRequests(store, worker).isEmpty) }
    #expect(statements.take() == ["PRAGMA data_version"])
    await store.close()
  }

  @Test("J169: a worker that has kept the answers sees each change of another connection") func changed() async throws {
    let (store, other) = (try openStore(), try openStore())
    let worker = try await store.register(description)
    for number in 1...50 {
      #expect(try await makeRequests(store, worker).isEmpty)
      let new = NewJob(kind: "test", payload: JobPayload(bytes: []))
      let id = try await other.enqueue([new])[0].id
      let claimed = try await makeRequests(store, worker)
      #expect(claimed.map(\.id) == [id], "\(number)")
      for job in claimed {
        let fence = try #require(job.fence)
        let exchange = JobExchange(worker: worker, endings: [JobEnding(fence, .succeed(result: nil))])
        _ = try await store.exchange(exchange)
      }
    }
    try await other.unregister(worker, isRunningCode: false)
    let beat = try await store.beat(worker, running: [])
    #expect(!beat.isRegistered)
    await store.close()
    await other.close()
  }
}
#endif
