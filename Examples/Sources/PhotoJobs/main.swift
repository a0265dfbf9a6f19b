// An app with its own database: a photo and the job that measures it are stored together, or neither is.

import Foundation
import GRDB
import Headway
import HeadwayJobs
import HeadwayJobsSQLite

struct Measure: Job {
  static let kind: JobKind = "measure"
  var path: String

  /// The size and the end of the job are also stored together, so each photo is measured once.
  func perform(in context: JobContext) async throws -> Int {
    let size = path.utf8.count * 1_000
    return try await context.finish { [path] database in
      try database.execute(sql: "UPDATE photo SET size = ? WHERE path = ?", arguments: [size, path])
      return size
    }
  }
}

struct Publish: Job {
  static let kind: JobKind = "publish"
  static let options: JobOptions = [.retry(.constant(maxAttemptCount: 3, delay: .milliseconds(1)))]
  var path: String

  func perform(in context: JobContext) async throws -> String {
    // This step runs only once, even though the first attempt fails after it.
    let address = try await context.checkpoint("upload") { "https://example.org/\(path)" }
    if context.attempt == 1 { throw URLError(.timedOut) }
    return address
  }
}

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("headway-example-\(getpid())").path
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(atPath: folder) }

var configuration = Configuration()
SQLiteJobStore.prepare(&configuration)
let pool = try DatabasePool(path: "\(folder)/app.sqlite", configuration: configuration)
try pool.write { try $0.execute(sql: "CREATE TABLE photo (path TEXT PRIMARY KEY, size INTEGER)") }
let store = try SQLiteJobStore(pool)
let jobs = Jobs(store)

let measuring = try pool.write { database in
  try database.execute(sql: "INSERT INTO photo (path) VALUES ('lake.jpg')")
  return try jobs.enqueue(Measure(path: "lake.jpg"), in: database)
}
// This transaction is rolled back, so there is neither a photo nor a job.
try? pool.write { database in
  try database.execute(sql: "INSERT INTO photo (path) VALUES ('hill.jpg')")
  try jobs.enqueue(Measure(path: "hill.jpg"), in: database)
  throw CancellationError()
}
let publishing = try await jobs.enqueue(Publish(path: "lake.jpg"), .unique(.unfinished("publish:lake.jpg")))
let again = try await jobs.enqueue(Publish(path: "lake.jpg"), .unique(.unfinished("publish:lake.jpg")))
print("jobs:", try await jobs.jobs().map { "\($0.id) \($0.kind)" }, "- the second one is new:", again.isNew)

let worker = JobWorker(jobs, kinds: [Measure.self, Publish.self])
worker.serve(on: Headway.OperationQueue(maxConcurrentOperationCount: 2))
let running = Task { try await worker.run() }
print("measured:", try await measuring.value)
print("published:", try await publishing.value)
worker.stop()
try await running.value

let published = try await publishing.job()
print("attempts:", published?.attempt ?? 0, "- errors:", published?.history.errors.count ?? 0)
let photos = try pool.read { try Row.fetchAll($0, sql: "SELECT * FROM photo") }
print("photos:", photos.map { row -> String in "\(row["path"] as String) \(row["size"] as Int)" })
await store.close()
