#if PostgreSQL
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsPostgreSQL
import Testing

@testable import PostgresCrashProgram

/// Workers, and a producer that counts the jobs that it has stored.
struct FaultLoad {
  let test: TestStore
  let table: String
  var workers: [(TestStore, JobWorker, Task<Void, any Error>)] = []

  init(_ test: TestStore, workerCount: Int) async throws {
    self.test = test
    table = "\(test.schema).effect"
    try test.psql("CREATE TABLE effect (number bigint PRIMARY KEY, count bigint NOT NULL)")
    for _ in 0..<workerCount {
      let other = try await test.openAgain()
      let worker = JobWorker(other.jobs, kinds: [CountedJob.self])
      worker.serve(on: OperationQueue(maxConcurrentOperationCount: 4))
      workers.append((other, worker, Task { try await worker.run() }))
    }
  }

  /// Stores jobs one after another.
  ///
  /// Does not repeat a call whose outcome is unknown.
  func produce(_ numbers: Range<Int>) async -> (stored: [Int], unknown: [Int]) {
    var (stored, unknown) = ([Int](), [Int]())
    for number in numbers {
      while true {
        do {
          try await test.jobs.enqueue(CountedJob(number: number, table: table))
          stored.append(number)
          break
        } catch let error as JobError where error.code == .outcomeUnknown {
          unknown.append(number)
          break
        } catch {
          // Nothing was stored, so the call is repeated.
        }
      }
    }
    return (stored, unknown)
  }

  func count(_ sql: String) -> Int { (try? test.psql(sql)).flatMap { Int($0) } ?? 0 }

  /// Checks that each stored job has had its effect once, and that the store is intact.
  func audit(_ stored: [Int], _ unknown: [Int]) async throws {
    try await poll { count("SELECT count(*) FROM job") == 0 }
    let effects = try test.psql("SELECT number FROM effect").split(separator: "\n").compactMap { Int($0) }
    #expect(Set(effects).isSuperset(of: stored))
    #expect(Set(effects).isSubset(of: stored + unknown))
    #expect(try test.psql("SELECT max(count) FROM effect") == "1")
    #expect(count("SELECT count(*) FROM done") == effects.count)
    let defects = try await test.store.audit()
    #expect(defects == [])
    for (other, worker, run) in workers {
      worker.stop()
      try await run.value
      await other.store.close()
    }
  }
}
#endif
