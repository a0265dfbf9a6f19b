#if Jobs
import Foundation
import GRDB
import Headway
import HeadwayJobs
import HeadwayJobsSQLite

/// A worker that tests kill: `JobsCrashProgram STORE [ROLE]`.
///
/// The role is `old` or `new` for a release. Otherwise, it is a number of commits, and the process then kills itself.
@main struct JobsCrashProgram {
  static func main() async throws {
    let jobs = try Jobs(makeStore(CommandLine.arguments[1], commits: CommandLine.arguments.last.flatMap { Int($0) }))
    var kinds: [any Job.Type] = [CountedJob.self, EndlessJob.self, PoisonJob.self, RivalJob.self, OrderJob.self]
    kinds.append(CommandLine.arguments.last == "old" ? OldLetter.self : NewLetter.self)
    let worker = JobWorker(jobs, kinds: kinds)
    worker.serve(on: OperationQueue(maxConcurrentOperationCount: 4))
    try await worker.run()
  }

  private static func makeStore(_ path: String, commits: Int?) throws -> SQLiteJobStore {
    guard let commits else { return try SQLiteJobStore(path: path) }
    var configuration = Configuration()
    SQLiteJobStore.prepare(&configuration)
    configuration.busyMode = .timeout(60)
    let pool = try DatabasePool(path: path, configuration: configuration)
    let store = try SQLiteJobStore(pool)
    pool.add(transactionObserver: Killer(after: commits), extent: .databaseLifetime)
    return store
  }
}

/// Kills its process after a number of commits.
private final class Killer: TransactionObserver {
  private var left: Int

  init(after count: Int) { left = count }

  func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }

  func databaseDidChange(with event: DatabaseEvent) {}

  func databaseDidCommit(_ database: Database) {
    left -= 1
    if left == 0 { kill(getpid(), SIGKILL) }
  }

  func databaseDidRollback(_ database: Database) {}
}

/// Counts how often its effect has happened, in the transaction that ends it.
struct CountedJob: Job {
  static let kind: JobKind = "counted"
  /// Every crash counts one for each job that was claimed, so the default limit could be reached by chance.
  static let options: JobOptions = [.maxCrashCount(1_000_000)]
  static let table = "CREATE TABLE effect (number INTEGER PRIMARY KEY, count INTEGER NOT NULL)"
  var number: Int

  func perform(in context: JobContext) async throws {
    try await context.finish { [number] database in
      try database.execute(
        sql: "INSERT INTO effect VALUES (?, 1) ON CONFLICT (number) DO UPDATE SET count = count + 1",
        arguments: [number])
    }
  }
}

/// Runs until its process ends.
struct EndlessJob: Job {
  static let kind: JobKind = "endless"

  func perform(in context: JobContext) async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    await withTaskCancellationHandler {
      for await _ in stream {}
    } onCancel: {
      continuation.finish()
    }
  }
}
#else
/// Needs the trait Jobs.
@main struct JobsCrashProgram {
  static func main() {}
}
#endif
