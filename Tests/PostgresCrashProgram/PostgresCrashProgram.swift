#if PostgreSQL
import Foundation
import Headway
import HeadwayJobs
import HeadwayJobsPostgreSQL

/// A worker that tests kill.
///
/// The variables `HEADWAY_STORE`, `HEADWAY_SCHEMA` and `HEADWAY_LEASE_SECONDS` are its connection string, its schema,
/// and the length of its lease. They are not arguments, because a Swift program has no arguments if libfaketime is
/// loaded.
@main struct PostgresCrashProgram {
  static func main() async throws {
    let environment = ProcessInfo.processInfo.environment
    guard
      let connectionString = environment["HEADWAY_STORE"], let schema = environment["HEADWAY_SCHEMA"],
      let leaseSeconds = environment["HEADWAY_LEASE_SECONDS"].flatMap(Int.init)
    else { fatalError("HEADWAY_STORE, HEADWAY_SCHEMA or HEADWAY_LEASE_SECONDS is missing.") }
    let store = try await PostgresJobStore(
      connectionString, schema: schema, leaseLength: .seconds(leaseSeconds), clock: nil)
    let worker = JobWorker(Jobs(store), kinds: [CountedJob.self])
    worker.serve(on: OperationQueue(maxConcurrentOperationCount: 4))
    try await worker.run()
  }
}

/// Counts how often its effect has happened, in the transaction that ends it.
struct CountedJob: Job {
  static let kind: JobKind = "counted"
  /// Every crash counts one for each job that was claimed, so the default limit could be reached by chance.
  static let options: JobOptions = [
    .retry(.constant(maxAttemptCount: 1_000_000, delay: .zero)), .maxCrashCount(1_000_000),
  ]
  var number: Int
  var table: String

  func perform(in context: JobContext) async throws {
    try await context.finish { [number, table] transaction in
      try transaction.execute(
        """
        INSERT INTO \(table) (number, count) VALUES ($1, 1)
        ON CONFLICT (number) DO UPDATE SET count = \(table).count + 1
        """, number)
    }
  }
}
#else
/// Needs the trait PostgreSQL.
@main struct PostgresCrashProgram {
  static func main() {}
}
#endif
