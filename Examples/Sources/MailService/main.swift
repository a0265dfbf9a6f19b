// A service that is stopped by a deployment in the middle of its work. After SIGTERM, running jobs can finish. All
// other jobs stay in the store, and the next process continues with them. Each email is delivered once.

import Foundation
import GRDB
import Headway
import HeadwayJobs
import HeadwayJobsSQLite
import Logging
import ServiceLifecycle

struct Deliver: Job {
  static let kind: JobKind = "deliver"
  var mail: Int

  func perform(in context: JobContext) async throws {
    // At this point, a deployment stops the service.
    if mail == 3, context.attempt == 1 { kill(getpid(), SIGTERM) }
    // The row and the end of the job are stored together.
    try await context.finish { [mail] database in
      try database.execute(sql: "INSERT INTO delivery (mail) VALUES (?)", arguments: [mail])
    }
  }
}

/// Creates a worker, and a service group that stops it on SIGTERM.
func makeService(_ jobs: Jobs) -> (worker: JobWorker, group: ServiceGroup) {
  let worker = JobWorker(jobs, kinds: [Deliver.self], gracePeriod: .seconds(20))
  worker.serve(on: Headway.OperationQueue(maxConcurrentOperationCount: 2))
  let service = ServiceGroupConfiguration.ServiceConfiguration(
    service: worker, successTerminationBehavior: .gracefullyShutdownGroup)
  let configuration = ServiceGroupConfiguration(
    services: [service], gracefulShutdownSignals: [.sigterm],
    logger: Logger(label: "mail", factory: { _ in SwiftLogNoOpLogHandler() }))
  return (worker, ServiceGroup(configuration: configuration))
}

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("headway-example-\(getpid())").path
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(atPath: folder) }
var configuration = Configuration()
SQLiteJobStore.prepare(&configuration)
let pool = try DatabasePool(path: "\(folder)/mail.sqlite", configuration: configuration)
try pool.write { try $0.execute(sql: "CREATE TABLE delivery (mail INTEGER)") }
let store = try SQLiteJobStore(pool)
let jobs = Jobs(store)
let handles = try await jobs.enqueue(contentsOf: (1...500).map { Deliver(mail: $0) })

try await makeService(jobs).group.run()
let delivered = try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM delivery") ?? 0 }
let counts = try await jobs.counts()["default"]
print("running: \(counts?[.running] ?? 0), delivered and waiting: \(delivered + (counts?[.waiting] ?? 0))")

// A real service runs until it is stopped. This one ends when all emails are delivered.
let next = makeService(jobs)
let watching = Task {
  for handle in handles { try await handle.value }
  next.worker.stop()
}
try await next.group.run()
try await watching.value
let deliveries = try pool.read { database in
  try Row.fetchOne(database, sql: "SELECT count(*) AS total, count(DISTINCT mail) AS mails FROM delivery")
}
print("deliveries: \(deliveries?["total"] ?? 0), of \(deliveries?["mails"] ?? 0) mails")
await store.close()
