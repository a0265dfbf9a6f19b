#if Jobs
import GRDB
import Headway
import HeadwayJobs
import HeadwayJobsSQLite

/// A worker that tests kill: `JobsCrashProgram STORE [RELEASE]`, where the release is `old` or `new`.
@main struct JobsCrashProgram {
  static func main() async throws {
    let jobs = try Jobs(SQLiteJobStore(path: CommandLine.arguments[1]))
    var kinds: [any Job.Type] = [CountedJob.self, EndlessJob.self, PoisonJob.self, RivalJob.self]
    kinds.append(CommandLine.arguments.last == "old" ? OldLetter.self : NewLetter.self)
    let worker = JobWorker(jobs, kinds: kinds)
    worker.serve(on: OperationQueue(maxConcurrentOperationCount: 4))
    try await worker.run()
  }
}

/// Counts how often its effect has happened, in the transaction that ends it.
struct CountedJob: Job {
  static let kind: JobKind = "counted"
  /// Every crash counts one for each job that was claimed, so the default limit could be reached by chance.
  static let defaults = JobOptions(maxCrashCount: 1_000_000)
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
