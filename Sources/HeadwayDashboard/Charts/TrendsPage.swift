#if Dashboard
import HTTPTypes
import HeadwayJobs

extension PageRenderer {
  /// The maximum number of queues with their own chart, and in the table.
  private static let (maxChartCount, maxRowCount) = (8, 100)

  /// Shows what has happened in the last hour or day, from the statistics of the store.
  func trends(_ call: Call) async throws -> Page {
    let span = try Self.span(call.query["over"])
    let queue = call.query["queue"]
    let statistics = try await jobs.statistics(over: span, queue: queue)
    let activities = statistics.byQueue.sorted { ($1.value.runs.count, $0.key) < ($0.value.runs.count, $1.key) }
    var view: View = [
      "spans": JobStatistics.Span.allCases.map { choice -> View in
        [
          "name": "last \(choice.rawValue)", "isCurrent": choice == span,
          "url": url("trends", ["over": choice.rawValue, "queue": queue]),
        ]
      },
      "endings": ThroughputChart.endings(statistics).view(), "failures": ThroughputChart.failures(statistics).view(),
      "waits": activities.filter { !$0.value.waits.isEmpty }.prefix(Self.maxChartCount).map { name, _ -> View in
        [
          "key": name, "name": Self.queueName(name), "url": trendsURL(name, span),
          "chart": WaitChart(statistics, of: name).view(),
        ]
      },
      "queues": activities.prefix(Self.maxRowCount).map { row($0.key, $0.value, span) },
      "hasQueues": !activities.isEmpty,
      "periodName": statistics.periodName,
    ]
    view["queue"] = queue
    view["allURL"] = url("trends", ["over": span.rawValue])
    view["jobsURL"] = queue.map { url("jobs", ["queue": $0]) }
    view["allQueues"] = activities.count > Self.maxChartCount ? Readable.count(activities.count, "queue") : nil
    return Page(template: "trends", heading: "Trends", view: view)
  }

  private static func span(_ name: String?) throws -> JobStatistics.Span {
    guard let name else { return .hour }
    guard let span = JobStatistics.Span(rawValue: name) else {
      throw Refusal(.badRequest, "There are no statistics over ‘\(name)’.")
    }
    return span
  }

  private static func queueName(_ name: String) -> String { name == JobStatistics.rest ? "other queues" : name }

  private func trendsURL(_ queue: String, _ span: JobStatistics.Span) -> String {
    url("trends", ["over": span.rawValue, "queue": queue])
  }

  private func row(_ name: String, _ activity: JobActivity, _ span: JobStatistics.Span) -> View {
    func times(_ durations: JobDurations) -> [View] {
      [50, 95, 99].map { ["value": durations.percentile($0).map(Readable.duration) ?? "–"] }
    }
    return [
      "key": name, "name": Self.queueName(name), "url": trendsURL(name, span),
      "succeeded": Readable.number(activity.succeeded), "failed": Readable.number(activity.failed),
      "retried": Readable.number(max(0, activity.failedAttempts - activity.failed)),
      "hasFailed": activity.failedAttempts > 0, "times": times(activity.waits) + times(activity.runs),
    ]
  }
}
#endif
