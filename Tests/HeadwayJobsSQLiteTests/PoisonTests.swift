#if Jobs
import Foundation
import GRDB
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import JobsCrashProgram

/// Jobs that do harm.
@Suite(.hangLimit, .serialized) struct PoisonTests {
  @Test("J176: a job that kills its workers fails, and 999 other jobs succeed")
  func poison() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/jobs.sqlite"
    let pool = try openPool(path)
    try await pool.write { try $0.execute(sql: CountedJob.table) }
    let store = try SQLiteJobStore(pool)
    let jobs = Jobs(store)
    let limit: JobOptions = [.maxCrashCount(JobTransitions.defaultMaxCrashCount)]
    try await jobs.enqueue(contentsOf: (0..<500).map { CountedJob(number: $0) }, .options(limit))
    let poison = try await jobs.enqueue(PoisonJob())
    try await jobs.enqueue(contentsOf: (500..<999).map { CountedJob(number: $0) }, .options(limit))
    var deaths = 0
    var worker = try WorkerProcess(path)
    try await poll {
      if !worker.isRunning {
        await worker.end()
        deaths += 1
        worker = try WorkerProcess(path)
      }
      let counts = try await jobs.counts()["default"] ?? JobQueueCounts()
      return counts[.succeeded] + counts[.failed] == 1_000
    }
    await worker.kill()
    _ = try await store.rescue()
    #expect(deaths == JobTransitions.defaultMaxCrashCount)
    let counts = try await jobs.counts()
    #expect(counts["default"]?.byState == [.succeeded: 999, .failed: 1])
    let failed = try #require(try await poison.job())
    #expect(failed.state == .failed)
    #expect(failed.reason?.code == .crashed)
    let others = try await jobs.jobs(JobFilter(kinds: [CountedJob.kind]))
    #expect(others.allSatisfy { $0.crashCount <= 1 })
    await store.close()
  }

  /// The variable `HEADWAY_JOB_PAYLOADS` sets the number of broken payloads, and `HEADWAY_JOB_SEED` the seed.
  @Test("J176, J4: broken payloads fail their jobs, and all others succeed")
  func brokenPayloads() async throws {
    let environment = ProcessInfo.processInfo.environment
    // A multiple of 10.
    let count = try #require(Int(environment["HEADWAY_JOB_PAYLOADS"] ?? "300"))
    let seed = try #require(UInt64(environment["HEADWAY_JOB_SEED"] ?? "5"))
    var generator = SeededGenerator(seed: seed)
    let folder = try TemporaryFolder()
    let store = try SQLiteJobStore(path: folder.path + "/jobs.sqlite")
    let jobs = Jobs(store)
    let options: JobOptions = [.retry(.constant(maxAttemptCount: 2, delay: .zero))]
    var sound: [JobID] = []
    for _ in 0..<count / 10 {
      var batch: [NewJob] = []
      for _ in 0..<10 {
        let payload = try JobPayload(encoding: Parcel.random(using: &generator)).bytes
        let broken = Self.broken(payload, using: &generator)
        batch += [payload, broken].map { NewJob(kind: Parcel.kind, payload: JobPayload(bytes: $0), options: options) }
      }
      let stored = try await store.enqueue(batch)
      sound += stride(from: 0, to: stored.count, by: 2).map { stored[$0].id }
    }
    let worker = JobWorker(jobs, kinds: [Parcel.self])
    worker.serve(on: OperationQueue(maxConcurrentOperationCount: 4))
    let running = Task { try await worker.run() }
    try await poll {
      let counts = try await jobs.counts()["default"] ?? JobQueueCounts()
      return counts[.succeeded] + counts[.failed] == 2 * count
    }
    worker.stop()
    try await running.value
    var all: [JobRecord] = []
    while case let page = try await jobs.jobs(after: all.last?.id), !page.isEmpty { all += page }
    #expect(all.count == 2 * count)
    for job in all {
      if job.state == .failed {
        #expect(!sound.contains(job.id), "seed \(seed)")
        #expect(job.attempt == 2, "seed \(seed)")
        #expect(job.history.errors.last?.type == String(reflecting: JobError.self), "seed \(seed)")
      } else {
        // A payload that differs from the encoded one can still be valid, but an invalid one must not succeed.
        let parcel = try? job.payload.decode(Parcel.self)
        #expect(parcel != nil, "seed \(seed)")
      }
    }
    #expect(all.contains { $0.state == .failed })
    await store.close()
  }

  /// Changes the bytes of a payload in one of several ways.
  private static func broken(_ payload: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
    var bytes = payload
    func index(in bytes: [UInt8], _ generator: inout SeededGenerator) -> Int {
      Int.random(in: 0..<bytes.count, using: &generator)
    }
    switch Int.random(in: 0..<7, using: &generator) {
    case 0: bytes.removeLast(Int.random(in: 1...bytes.count, using: &generator))
    case 1: bytes[index(in: bytes, &generator)] = UInt8.random(in: 0...255, using: &generator)
    case 2: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: index(in: bytes, &generator))
    case 3: bytes.remove(at: index(in: bytes, &generator))
    case 4: bytes = (0..<bytes.count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    case 5:
      // Very deep, or a very long number.
      let byte: UInt8 = Bool.random(using: &generator) ? UInt8(ascii: "[") : UInt8(ascii: "9")
      bytes = [UInt8](repeating: byte, count: Int.random(in: 1...20_000, using: &generator))
    default:
      for _ in 0..<8 { bytes.swapAt(index(in: bytes, &generator), index(in: bytes, &generator)) }
    }
    return bytes
  }
}

/// A job with values of several types.
private struct Parcel: Job, Equatable {
  static let kind: JobKind = "parcel"
  var name: String
  var weights: [Double]
  var count: Int8
  var sent: Date?
  var parts: [String: Bool]

  static func random(using generator: inout SeededGenerator) -> Parcel {
    Parcel(
      name: String((0..<8).map { _ in "aä€\"\\".randomElement(using: &generator) ?? "a" }),
      weights: (0..<3).map { _ in Double.random(in: -1e300...1e300, using: &generator) },
      count: Int8.random(in: .min ... .max, using: &generator),
      sent: Bool.random(using: &generator) ? Date(timeIntervalSince1970: 1_800_000_000) : nil,
      parts: ["a": Bool.random(using: &generator)])
  }

  func perform(in context: JobContext) async throws {}
}
#endif
