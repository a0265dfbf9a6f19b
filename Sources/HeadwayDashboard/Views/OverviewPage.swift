#if Dashboard
import HeadwayJobs

extension PageRenderer {
  /// The maximum number of running jobs on the page.
  private static let rowLimit = 10
  /// The maximum number of failures on the page.
  private static let failureLimit = 5

  func overview(_ call: Call) async throws -> Page {
    let overview = try await jobs.overview(countingTo: Self.countLimit)
    let statistics = EndingStatistics(overview.endings, limit: Self.countLimit, at: overview.time)
    var view: View = [
      "tiles": tiles(overview, statistics), "chart": RateChart.view(statistics),
      "queues": queueRows(overview), "hasQueues": !overview.snapshot.queues.isEmpty,
    ]
    let running = overview.snapshot.workers.flatMap(\.running).sorted {
      ($0.claimedTime, $0.id) < ($1.claimedTime, $1.id)
    }
    view["running"] = running.prefix(Self.rowLimit).map { row($0, at: overview.time) }
    view["hasRunning"] = !running.isEmpty
    view["moreRunning"] =
      running.count > Self.rowLimit ? Readable.count(running.count - Self.rowLimit, "more job") : nil
    view["runningURL"] = url("jobs", ["state": "running"])
    let failures = try await records(Array(overview.latestFailures.prefix(Self.failureLimit)))
    view["failures"] = failures.map { row($0, at: overview.time) }
    view["hasFailures"] = !failures.isEmpty
    view["partial"] = Self.partialFailures(overview, count: Self.failureLimit)
    return Page(template: "overview", heading: "Overview", view: view)
  }

  /// Returns a sentence about failures that a page might not show, because too many jobs have failed.
  ///
  /// - Parameters:
  ///   - overview: The current state of the store.
  ///   - count: The number of latest failures on the page.
  /// - Returns: The sentence; nil if no failure is missing.
  static func partialFailures(_ overview: JobsOverview, count: Int) -> String? {
    // The list of jobs that ended in the last hour is complete from the latest one backward.
    guard overview.failedCount > overview.countLimit, overview.endings.count(where: { $0.state == .failed }) < count
    else { return nil }
    let limit = Readable.number(overview.countLimit)
    return
      "More than \(limit) jobs have failed. Jobs that failed more than an hour ago are missing here, unless they "
      + "are among the \(limit) with the highest job numbers."
  }

  /// Returns jobs in the order of a list of numbers, except deleted jobs.
  func records(_ ids: [JobID]) async throws -> [JobRecord] {
    guard !ids.isEmpty else { return [] }
    let found = try await jobs.jobs(JobFilter(ids: ids), limit: ids.count)
    let byNumber = Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0) })
    return ids.compactMap { byNumber[$0] }
  }

  private func tiles(_ overview: JobsOverview, _ statistics: EndingStatistics) -> [View] {
    func count(_ state: JobState) -> Int {
      overview.snapshot.queues.reduce(0) { min($0 + $1.counts[state], overview.countLimit + 1) }
    }
    func tile(_ name: String, _ value: String, _ path: String? = nil, note: String? = nil, style: String = "") -> View {
      var view: View = ["name": name, "value": value, "style": style]
      view["url"] = path
      view["note"] = note
      return view
    }
    func counted(_ state: JobState, _ number: Int, style: String = "") -> View {
      let text = Readable.number(number, countedTo: overview.countLimit)
      return tile(state.name, text, url("jobs", ["state": state.name]), style: number > 0 ? style : "")
    }
    let oldest = overview.snapshot.queues.compactMap(\.oldestWaitStartTime).min()
    let waits = statistics.waits.map { "p95 \(Readable.duration($0.slow))" }
    let runs = statistics.runs.map { "p95 \(Readable.duration($0.slow))" }
    return [
      counted(.waiting, count(.waiting)), counted(.running, count(.running)),
      counted(.retrying, count(.retrying), style: "warn"), counted(.scheduled, count(.scheduled)),
      counted(.held, count(.held)), counted(.failed, overview.failedCount, style: "bad"),
      tile("oldest waiting", oldest.map { Readable.duration(overview.time - $0) } ?? "–"),
      tile(
        "ended", Readable.rate(statistics.perMinute),
        note: statistics.failedPart.map { "\(Readable.percent($0)) failed" }),
      tile("wait", statistics.waits.map { Readable.duration($0.median) } ?? "–", note: waits),
      tile("run", statistics.runs.map { Readable.duration($0.median) } ?? "–", note: runs),
    ]
  }

  private func row(_ job: RunningJob, at now: StoreTime) -> View {
    var view: View = [
      "id": "\(job.id)", "url": url("job/\(job.id)"), "kind": job.kind.rawValue, "queue": job.queue,
      "attempt": job.attempt, "for": Readable.duration(now - job.claimedTime),
    ]
    view["progress"] = job.progress.map(Readable.progress)
    view["fraction"] = job.progress.map { "\(Int($0.fraction * 100))" }
    return view
  }
}
#endif
