#if Dashboard
import HeadwayJobs

extension PageRenderer {
  /// The maximum number of queues on the page.
  private static let queueLimit = 40

  func queues(_ call: Call, _ reading: StoreReading) -> Page {
    let overview = reading.overview
    let name = call.query["name"]
    let all = overview.snapshot.queues
    let found = all.filter { queue in name.map { queue.name.utf8.contains($0.utf8) } ?? true }
    let (shown, links) = Self.part(of: found, from: call.query["from"], limit: Self.queueLimit, by: \.name) { start in
      url("queues", ["name": name, "from": start])
    }
    let view: View = [
      "queues": queueRows(shown, reading), "hasQueues": !all.isEmpty,
      "isLong": all.count > Self.queueLimit || name != nil, "nameFilter": name ?? "",
      "count": Readable.count(found.count, "queue"),
    ]
    return Page(template: "queues", heading: "Queues", view: view.merging(links) { $1 })
  }

  /// Returns the queues that need attention first: without a worker, paused, or with the oldest waiting job.
  ///
  /// - Parameters:
  ///   - overview: The current state of the store.
  ///   - limit: The maximum number of queues.
  /// - Returns: The queues, ordered by name.
  static func worstQueues(_ overview: JobsOverview, limit: Int) -> [JobQueueSnapshot] {
    let coverage = WorkerCoverage(overview.snapshot.workers)
    func isStopped(_ queue: JobQueueSnapshot) -> Bool { queue.counts.isPaused || isUnserved(queue, coverage) }
    let ordered = overview.snapshot.queues.map { queue in
      (isStopped(queue) ? 0 : 1, queue.oldestWaitStartTime?.microseconds ?? .max, queue)
    }.sorted { ($0.0, $0.1, $0.2.name) < ($1.0, $1.1, $1.2.name) }
    return ordered.prefix(limit).map(\.2).sorted { $0.name < $1.name }
  }

  private static func isUnserved(_ queue: JobQueueSnapshot, _ coverage: WorkerCoverage) -> Bool {
    queue.counts[.waiting] > 0 && !coverage.serves(queue.name)
  }

  /// Returns the rows of queues.
  func queueRows(_ queues: [JobQueueSnapshot], _ reading: StoreReading) -> [View] {
    let (overview, activities) = (reading.overview, reading.statistics.byQueue)
    // The activity of some queues might be counted together.
    let unknown = activities[JobStatistics.rest] == nil ? "0" : "–"
    let coverage = WorkerCoverage(overview.snapshot.workers)
    return queues.map { queue in
      let settings = queue.counts.settings
      var view: View = [
        "name": queue.name, "anchor": Self.anchor("queue", queue.name), "url": url("jobs", ["queue": queue.name]),
        "isPaused": queue.counts.isPaused,
        "isUnserved": Self.isUnserved(queue, coverage),
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
        view[state.name] = Readable.number(overview.count(of: state, in: queue))
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
