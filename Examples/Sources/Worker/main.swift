// A worker of durable jobs, as you deploy it: Examples/Deployment has a systemd unit, a Dockerfile and a Kubernetes
// manifest for it.
//
// JOBS_STORE is the path of a file, or the URL of a PostgreSQL database. JOBS_SLOTS is the number of jobs that run at
// the same time, twice the number of processors by default.

import Foundation
import Headway
import HeadwayJobs
import HeadwayJobsPostgreSQL
import HeadwayJobsSQLite
import Logging
import ServiceLifecycle

struct Deliver: Job {
  static let kind: JobKind = "deliver"
  var address: String

  func perform(in context: JobContext) async throws {
    try await Task.sleep(for: .seconds(1))  // Represents a slow server. It can be cancelled.
  }
}

/// Exits with a message about a mistake in the environment.
func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("worker: \(message)\n".utf8))
  exit(78)  // EX_CONFIG. After this code, the systemd unit doesn't restart the worker.
}

/// Opens a store whose tables exist.
///
/// `headway jobs migrate` creates and updates the tables before a deployment.
func openStore(_ place: String) async throws -> any JobStore {
  guard place.hasPrefix("postgres://") || place.hasPrefix("postgresql://") else {
    return try SQLiteJobStore(path: place)
  }
  return try await PostgresJobStore(place, migration: .manual)
}

let environment = ProcessInfo.processInfo.environment
guard let place = environment["JOBS_STORE"], !place.isEmpty else { fail("JOBS_STORE is not set.") }
let slots = environment["JOBS_SLOTS"] ?? "\(2 * ProcessInfo.processInfo.activeProcessorCount)"
guard let slotCount = Int(slots), slotCount > 0 else { fail("JOBS_SLOTS is \(slots): use 1 or more.") }

let jobs = Jobs(try await openStore(place))
// After SIGTERM, running jobs have 25 seconds to finish, and 3 more to respond to their cancellation. The supervisor
// must wait longer before it kills the process.
let worker = JobWorker(jobs, kinds: [Deliver.self], gracePeriod: .seconds(25), cancellationPeriod: .seconds(3))
worker.serve(on: Headway.OperationQueue(name: "jobs", maxConcurrentOperationCount: slotCount))

let group = ServiceGroup(
  services: [worker], gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "worker"))
try await group.run()
