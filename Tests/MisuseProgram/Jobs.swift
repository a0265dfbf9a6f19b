#if Jobs
import GRDB
import Headway
import HeadwayJobs
import HeadwayJobsSQLite

private struct Letter: Job {
  static let kind: JobKind = "letter"
  func perform(in context: JobContext) async throws {}
}

private struct OtherLetter: Job {
  static let kind: JobKind = "letter"
  func perform(in context: JobContext) async throws {}
}

private let jobs = Jobs(MemoryJobStore())

let misusesOfJobs = [
  Misuse("jobs: two types of one kind", "letter") {
    _ = JobWorker(jobs, kinds: [Letter.self, OtherLetter.self])
  },
  Misuse("jobs: a worker without queues", "serve(_:on:)") { try await JobWorker(jobs, kinds: [Letter.self]).run() },
  Misuse("jobs: a worker that runs twice", "worker") {
    let worker = JobWorker(jobs, kinds: [Letter.self])
    worker.serve(on: OperationQueue())
    worker.stop()
    try await worker.run()
    try await worker.run()
  },
  Misuse("jobs: limit", "0") {
    try await jobs.enqueue(Letter(), .limits([.concurrency(0, key: "a")]))
  },
  Misuse("jobs: interval of a schedule", "0.0 seconds") {
    try await jobs.schedule("daily", .every(.zero), job: Letter())
  },
  Misuse("jobs: limit of a queue", "-1", "default") { try await jobs.changeQueue("default", .maxRunningJobCount(-1)) },
  Misuse("jobs: a transaction without a store of SQLite", "SQLite") {
    try await DatabaseQueue().write { database in _ = try jobs.enqueue(Letter(), in: database) }
  },
]
#else
let misusesOfJobs: [Misuse] = []
#endif
