#if Dashboard
import HeadwayJobs

extension PageRenderer {
  func queues(_ call: Call) async throws -> Page {
    let overview = try await jobs.overview(countingTo: Self.countLimit)
    let rows = queueRows(overview, try await jobs.statistics(over: .hour))
    return Page(template: "queues", heading: "Queues", view: ["queues": rows, "hasQueues": !rows.isEmpty])
  }

  /// Returns the rows of the queues.
  func queueRows(_ overview: JobsOverview, _ statistics: JobStatistics) -> [View] {
    let activities = statistics.byQueue
    // The activity of some queues might be counted together.
    let unknown = activities[JobStatistics.rest] == nil ? "0" : "–"
    let workers = overview.snapshot.workers.filter(\.isWorking)
    return overview.snapshot.queues.map { queue in
      let settings = queue.counts.settings
      var view: View = [
        "name": queue.name, "anchor": Self.anchor("queue", queue.name), "url": url("jobs", ["queue": queue.name]),
        "isPaused": queue.counts.isPaused,
        "isUnserved": queue.counts[.waiting] > 0 && !workers.contains { $0.description.serves(queue.name) },
        "ended": activities[queue.name].map { Readable.number($0.ended) } ?? unknown,
        "failed": activities[queue.name].map { Readable.number($0.failed) } ?? unknown,
        "hasFailed": activities[queue.name]?.failed ?? 0 > 0, "trendsURL": url("trends", ["queue": queue.name]),
        "hasRetrying": queue.counts[.retrying] > 0,
        "oldest": queue.oldestWaitStartTime.map { Readable.duration(overview.time - $0) } ?? "–",
        "failureCount": settings.maxFailureCount == nil ? "" : "\(queue.counts.failureCount)",
        "limit": settings.maxRunningJobCount.map { "\($0)" } ?? "",
        "pendingLimit": settings.maxPendingJobCount.map { "\($0)" } ?? "",
        "failureLimit": settings.maxFailureCount.map { "\($0)" } ?? "",
        "aging": settings.agingInterval.map { "\($0.components.seconds)" } ?? "",
      ]
      for state in [JobState.waiting, .running, .retrying, .scheduled, .held] {
        view[state.name] = Readable.number(queue.counts[state], countedTo: overview.countLimit)
        view["\(state.name)URL"] = url("jobs", ["state": state.name, "queue": queue.name])
      }
      view["button"] =
        queue.counts.isPaused
        ? ChangeButton.view("Resume", "resume", ["queue": queue.name])
        : ChangeButton.view("Pause", "pause", ["queue": queue.name])
      return view
    }
  }
}
#endif
