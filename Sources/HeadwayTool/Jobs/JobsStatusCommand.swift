#if Jobs
import ArgumentParser
import HeadwayJobs

struct JobsStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show current problems, the queues with their jobs, the workers, and the failures by kind.",
    discussion: """
      Begins with the problems that the health checks have found, worst first. Exits with 0 even if there are \
      problems; for an exit code, use 'headway jobs doctor'.
      """)

  @OptionGroup var options: JobStoreOptions

  func run() async throws {
    try await options.withStore { _, jobs in
      let (snapshot, health) = (try await jobs.snapshot(), try await jobs.health())
      let text = HealthText(health: health, location: options.location)
      options.show(JobsJSON.Status(snapshot, text), text.problems + [""] + Self.lines(snapshot))
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
      lines.append("\(count) of the kind \(failed.kind) failed; the last is job \(failed.last), at \(failed.time).")
    }
    return lines
  }
}
#endif
