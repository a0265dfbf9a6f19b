#if PostgreSQL
import Foundation
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsPostgreSQL
import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import PostgresCrashProgram

/// A worker behind a network that loses packets.
@Suite(.hangLimit, .serialized, .enabled(if: FaultNetwork.isPossible, "A network namespace requires root."))
struct PostgresNetworkTests {
  private let network: FaultNetwork
  private let test: TestStore
  private let load: FaultLoad

  init() async throws {
    network = try FaultNetwork()
    test = try await TestStore(server: PostgresServer(address: network.serverAddress))
    load = try await FaultLoad(test, workerCount: 0)
  }

  private func remoteWorker(leaseSeconds: Int) throws -> WorkerProcess {
    let connectionString = "host=\(network.serverAddress) user=postgres dbname=postgres"
    return try WorkerProcess(
      test, connectionString: connectionString, leaseSeconds: leaseSeconds, launcher: network.launcher)
  }

  private func enqueue(_ numbers: Range<Int>) async throws {
    try await test.jobs.enqueue(contentsOf: numbers.map { CountedJob(number: $0, table: load.table) })
  }

  @Test("J172: while the network is cut for less than a lease, a worker keeps its jobs, and then ends them")
  func shortCut() async throws {
    let jobCount = 300
    try await enqueue(0..<jobCount)
    let worker = try remoteWorker(leaseSeconds: 300)
    try await poll { load.count("SELECT count(*) FROM effect") >= 50 }
    try network.begin(.all)
    // The length of the cut itself, which no other event can end.
    try test.psql("SELECT pg_sleep(5)")
    try network.end(.all)
    try await load.audit(Array(0..<jobCount), [])
    #expect(try test.psql("SELECT max(crashes) FROM done") == "0")
    await worker.kill()
    await test.store.close()
  }

  @Test(
    "J172: if the network loses packets for longer than a lease, another worker finishes the jobs, each once",
    arguments: FaultNetwork.Fault.allCases)
  func longCut(fault: FaultNetwork.Fault) async throws {
    let jobCount = 200
    try await enqueue(0..<jobCount)
    let remote = try remoteWorker(leaseSeconds: 3)
    try await poll { load.count("SELECT count(*) FROM effect") >= 50 }
    try network.begin(fault)
    let other = try WorkerProcess(test)
    try await poll { load.count("SELECT count(*) FROM job") == 0 }
    await other.kill()
    // The remote worker returns to a store that no longer knows it.
    try network.end(fault)
    try await enqueue(jobCount..<jobCount + 50)
    try await load.audit(Array(0..<jobCount + 50), [])
    await remote.kill()
    await test.store.close()
  }
}
#endif
