#if Dashboard
import Foundation
import Headway
import HeadwayDashboard
import HeadwayJobs
import HeadwayJobsPostgreSQL
import HeadwayJobsSQLite

/// Serves a dashboard, for `script/check-dashboard` and for measurements.
///
/// Call it as `DashboardProgram STORE [--scene] [--read-only] [--users FILE]`. The store is a file, or the URL of a
/// database. With `--scene`, it adds jobs in all states, and a worker that runs some of them. With `--users`, the
/// people in a file can log in.
@main struct DashboardProgram {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count > 1 else { fatalError("usage: DashboardProgram STORE [--scene] [--read-only]") }
    let jobs = Jobs(try await openStore(arguments[1]))
    var options = JobsDashboard.Options()
    (options.title, options.isReadOnly) = ("Photo service", arguments.contains("--read-only"))
    var address = JobsDashboardServer.Options()
    address.port = 0
    if let index = arguments.firstIndex(of: "--users") {
      address.users = try JobsDashboardServer.User.users(
        in: String(contentsOfFile: arguments[index + 1], encoding: .utf8))
    }
    let server = try JobsDashboardServer(JobsDashboard(jobs, options: options), options: address)
    try await withThrowingTaskGroup { group in
      if arguments.contains("--scene") {
        let worker = SceneJobs.worker(for: jobs)
        group.addTask {
          // If the script moves the file of the store, the worker stops, and the dashboard must continue.
          do { try await worker.run() } catch let error as JobError where error.code == .unusableStore {}
        }
        try await SceneJobs.enqueue(in: jobs)
      }
      group.addTask { try await server.run { FileHandle.standardOutput.write(Data("\($0)\n".utf8)) } }
      try await group.waitForAll()
    }
  }
}

private func openStore(_ place: String) async throws -> any JobStore {
  #if PostgreSQL
  if place.hasPrefix("postgresql://") { return try await PostgresJobStore(place) }
  #endif
  return try SQLiteJobStore(path: place)
}
#else
@main struct DashboardProgram {
  static func main() { fatalError("Build this program with the trait Dashboard.") }
}
#endif
