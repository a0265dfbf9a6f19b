#if PostgreSQL
import Foundation
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsPostgreSQL
import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import PostgresCrashProgram

/// Clocks that are wrong, and a worker that is suspended.
@Suite(.hangLimit, .serialized) struct PostgresClockTests {
  private let test: TestStore
  private let load: FaultLoad
  private let server: PostgresServer

  init() async throws {
    server = try PostgresServer()
    test = try await TestStore(server: server)
    load = try await FaultLoad(test, workerCount: 0)
  }

  /// The variables of a process whose wall clock is wrong, and changes with a file.
  private func fakeClock(_ file: String) throws -> [String] {
    let folders = try FileManager.default.contentsOfDirectory(atPath: "/usr/lib").map { "/usr/lib/\($0)/faketime" }
    let library = folders.map { "\($0)/libfaketimeMT.so.1" }.first { FileManager.default.fileExists(atPath: $0) }
    return [
      "LD_PRELOAD=\(try #require(library, "There is no libfaketime. Run script/setup."))",
      "FAKETIME_TIMESTAMP_FILE=\(file)", "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1",
    ]
  }

  private func setClock(_ offset: String, in file: String) throws {
    try "\(offset)\n".write(toFile: file, atomically: true, encoding: .utf8)
  }

  private func enqueue(_ numbers: Range<Int>, delay: Duration = .zero) async throws {
    try await test.jobs.enqueue(contentsOf: numbers.map { CountedJob(number: $0, table: load.table) }, .delay(delay))
  }

  @Test("J173: a worker's wall clock that is wrong and jumps has no effect") func workerClock() async throws {
    let folder = try TemporaryFolder()
    let file = folder.path + "/clock"
    try setClock("+1h", in: file)
    let delayed = try await test.jobs.enqueue(CountedJob(number: -1, table: load.table), .delay(.seconds(1_800)))
    let jobCount = 300
    try await enqueue(0..<jobCount)
    let worker = try WorkerProcess(test, launcher: fakeClock(file))
    for (round, offset) in ["-1h", "+1d", "-1d", "+1h"].enumerated() {
      try await poll { load.count("SELECT count(*) FROM effect") >= (round + 1) * jobCount / 6 }
      try setClock(offset, in: file)
    }
    try await poll { load.count("SELECT count(*) FROM effect") == jobCount }
    #expect(load.count("SELECT count(*) FROM effect WHERE number = -1") == 0)
    try await delayed.cancel()
    try await poll { load.count("SELECT count(*) FROM job") == 0 }
    #expect(try test.psql("SELECT max(crashes) FROM done") == "0")
    #expect(try test.psql("SELECT max(count) FROM effect") == "1")
    let defects = try await test.store.audit()
    #expect(defects == [])
    await worker.kill()
    await test.store.close()
  }

  @Test("J173: if the server's clock jumps forward, leases expire, and no job is lost or ends twice")
  func serverClock() async throws {
    let folder = try TemporaryFolder()
    let file = folder.path + "/clock"
    chmod(folder.path, 0o755)
    try setClock("+1h", in: file)
    let jobCount = 200
    try await enqueue(0..<jobCount)
    // Due after the jump.
    try await enqueue(jobCount..<jobCount + 10, delay: .seconds(1_800))
    let workers = try [WorkerProcess(test, leaseSeconds: 300), WorkerProcess(test, leaseSeconds: 300)]
    try await poll { load.count("SELECT count(*) FROM effect") >= jobCount / 4 }
    try server.stop(.fast)
    try server.start(environment: fakeClock(file))
    try await load.audit(Array(0..<jobCount + 10), [])
    for worker in workers { await worker.kill() }
    await test.store.close()
  }

  @Test("J173: a worker that is suspended for longer than its lease can't finish its jobs afterward")
  func suspendedWorker() async throws {
    let jobCount = 200
    try await enqueue(0..<jobCount)
    let worker = try WorkerProcess(test)
    try await poll { load.count("SELECT count(*) FROM effect") >= jobCount / 4 }
    worker.send(SIGSTOP)
    let other = try WorkerProcess(test)
    try await poll { load.count("SELECT count(*) FROM job") == 0 }
    await other.kill()
    worker.send(SIGCONT)
    try await enqueue(jobCount..<jobCount + 50)
    try await load.audit(Array(0..<jobCount + 50), [])
    await worker.kill()
    await test.store.close()
  }
}
#endif
