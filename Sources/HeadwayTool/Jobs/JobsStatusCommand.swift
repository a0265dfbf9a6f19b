#if Jobs
import ArgumentParser
import HeadwayJobs

struct JobsStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the queues with their jobs, the workers, and the failures by kind.")

  @OptionGroup var options: JobStoreOptions

  func run() async throws {
    try await options.withStore { _, jobs in
      let snapshot = try await jobs.snapshot()
      options.show(JobsJSON.Status(snapshot), Self.lines(snapshot))
    }
  }

  private static func lines(_ snapshot: JobsSnapshot) -> [String] {
    let titles = ["queue"] + JobState.allCases.map(\.name) + ["oldest", ""]
    let rows = snapshot.queues.map { queue in
      let oldest = queue.oldestWaitStartTime.map { JobText.duration(snapshot.time - $0) } ?? "-"
      return [queue.name] + JobState.allCases.map { "\(queue.counts[$0])" }
        + [oldest, queue.counts.isPaused ? "paused" : ""]
    }
    var lines = rows.isEmpty ? ["No jobs."] : JobText.table(titles, rows)
    for worker in snapshot.workers { lines.append(JobText.line(worker, at: snapshot.time)) }
    if snapshot.workers.isEmpty { lines.append("No workers.") }
    for failed in snapshot.failures {
      let count = JobText.count(failed.count, "job")
      lines.append("\(count) of the kind \(failed.kind) failed; the last one is job \(failed.last), at \(failed.time).")
    }
    return lines
  }
}
#endif
