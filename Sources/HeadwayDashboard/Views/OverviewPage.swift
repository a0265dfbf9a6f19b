#if Dashboard
import HeadwayJobs

extension PageRenderer {
  /// The maximum number of running jobs on the page.
  private static let rowLimit = 10
  /// The maximum number of queues on the page.
  private static let queueLimit = 30
  /// The maximum number of failures on the page.
  private static let failureLimit = 5

  func overview(_ reading: StoreReading) async throws -> Page {
    let (overview, statistics) = (reading.overview, reading.statistics)
    var view: View = [
      "tiles": tiles(overview, statistics), "chart": ThroughputChart.endings(statistics).view(),
      "trendsURL": url("trends"), "hasQueues": !overview.snapshot.queues.isEmpty,
      "queues": queueRows(Self.worstQueues(overview, limit: Self.queueLimit), reading),
    ]
    let queueCount = overview.snapshot.queues.count
    view["allQueues"] = queueCount > Self.queueLimit ? "All \(Readable.count(queueCount, "queue"))" : nil
    view["queuesURL"] = url("queues")
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
    let limit = min(overview.countLimit, JobsOverview.maxEndingCount)
    // The list of jobs that ended in the last hour is complete from the latest one backward.
    guard overview.failedCount > limit, overview.endings.count(where: { $0.state == .failed }) < count
    else { return nil }
    let number = Readable.number(limit)
    return
      "More than \(number) jobs have failed. A job is missing here if it is neither among the \(number) jobs that "
      + "ended last in the last hour, nor among the \(number) failed jobs with the highest job numbers."
  }

  /// Returns jobs in the order of a list of numbers, except deleted jobs.
  func records(_ ids: [JobID]) async throws -> [JobRecord] {
    guard !ids.isEmpty else { return [] }
    let found = try await jobs.jobs(JobFilter(ids: ids), limit: ids.count)
    let byNumber = Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0) })
    return ids.compactMap { byNumber[$0] }
  }

  private func tiles(_ overview: JobsOverview, _ statistics: JobStatistics) -> [View] {
    func tile(_ name: String, _ value: String, _ path: String? = nil, note: String? = nil, style: String = "") -> View {
      var view: View = ["name": name, "value": value, "style": style]
      view["url"] = path
      view["note"] = note
      return view
    }
    func counted(_ state: JobState, _ count: JobCount? = nil, style: String = "") -> View {
      let count = count ?? overview.count(of: state)
      return tile(
        state.name, Readable.number(count), url("jobs", ["state": state.name]), style: count.count > 0 ? style : "")
    }
    let limit = overview.countLimit
    let failed = JobCount(min(overview.failedCount, limit), isExact: overview.failedCount <= limit)
    let oldest = overview.snapshot.queues.compactMap(\.oldestWaitStartTime).min()
    let total = statistics.total
    func times(_ name: String, _ durations: JobDurations) -> View {
      func text(_ percent: Double) -> String? { durations.percentile(percent).map(Readable.duration) }
      return tile(name, text(50) ?? "–", url("trends"), note: text(95).map { "p95 \($0)" })
    }
    return [
      counted(.waiting), counted(.running), counted(.retrying, style: "warn"), counted(.scheduled), counted(.held),
      counted(.failed, failed, style: "bad"),
      tile("oldest waiting", oldest.map { Readable.duration(overview.time - $0) } ?? "–"),
      tile(
        "ended in 1 h", Readable.number(total.ended), url("trends"),
        note: total.ended == 0 ? nil : "\(Readable.percent(Double(total.failed) / Double(total.ended))) failed"),
      times("wait in 1 h", total.waits), times("run in 1 h", total.runs),
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
