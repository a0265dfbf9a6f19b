#if Dashboard
import Headway
@_spi(JobStore) import HeadwayJobs
import NIOHTTP1
import Testing

@testable import HeadwayDashboard

@Suite("Trends", .hangLimit) struct TrendsTests {
  private static let now = StoreTime(microseconds: 1_800_000_000_000_000)

  /// Statistics with activity in the last period.
  private static func statistics(_ activities: [String: JobActivity]) -> JobStatistics {
    var statistics = JobStatistics(span: .hour, endingAt: now)
    statistics.periods[59].groups = activities.sorted { $0.key < $1.key }.map {
      JobStatistics.Group(queue: $0.key, kind: "k", activity: $0.value)
    }
    return statistics
  }

  @Test("J366: bars show succeeded, retried, failed and cancelled jobs, each with a label")
  func throughput() throws {
    var activity = JobActivity()
    (activity.succeeded, activity.failed, activity.cancelled, activity.failedAttempts) = (30, 1, 2, 8)
    let chart = ThroughputChart.endings(Self.statistics(["a": activity]))
    #expect(chart.bands.map(\.name) == ["succeeded", "retried", "failed", "cancelled"])
    #expect(chart.bands.map { $0.counts[59] } == [30, 7, 1, 2])
    let view = chart.view()
    #expect(view["labels"] as? [String] == ["40", "20", "0"])
    #expect(view["summary"] as? String == "30 succeeded, 7 retried, 1 failed, 2 cancelled, at most 40 per minute")
    let bars = try #require(view["bars"] as? [View])
    #expect(bars.map { $0["y"] as? Int } == [30, 9, 6, 0])
    #expect(bars.map { $0["barHeight"] as? Int } == [90, 21, 3, 6])
    let ends = try #require(view["ends"] as? [View])
    #expect(ends.map { $0["text"] as? String } == ["cancelled 2", "failed 1", "retried 7", "succeeded 30"])
    let none = ThroughputChart.failures(Self.statistics([:])).view()
    #expect(none["hasData"] as? Bool == false)
  }

  @Test("J366: lines show percentiles of waits on an axis of powers of ten")
  func waits() throws {
    var activity = JobActivity()
    for milliseconds in [10, 10, 10, 1_000] { activity.waits.add(.milliseconds(milliseconds)) }
    let view = WaitChart(Self.statistics(["a": activity, "b": JobActivity()]), of: "a").view()
    let labels = try #require(view["labels"] as? [String])
    #expect(labels.last == "1 ms" || labels.last == "10 ms")
    #expect(labels.contains("1 s"))
    let ends = try #require(view["ends"] as? [View])
    #expect(ends.map { ($0["text"] as? String ?? "").prefix(3) } == ["p95", "p99", "p50"])
    let places = ends.compactMap { $0["y"] as? Int }
    #expect(places == places.sorted() && places[1] - places[0] >= 15)
    let lines = try #require(view["lines"] as? [View])
    #expect(lines.allSatisfy { ($0["path"] as? String)?.hasPrefix("M590 ") == true })
    #expect(WaitChart(Self.statistics(["a": activity]), of: "b").view()["hasData"] as? Bool == false)
  }

  @Test("J366: labels at the ends of lines stay in the drawing and do not overlap")
  func labels() {
    let ends = ChartEnds.views([
      (y: 119, text: "a", style: ""), (y: 120, text: "b", style: ""), (y: 0, text: "c", style: ""),
    ])
    #expect(ends.map { $0["y"] as? Int } == [15, 103, 118])
    #expect(ChartScale(numbersUpTo: 0).labels == ["2", "1", "0"])
    #expect(ChartScale(numbersUpTo: 61).labels == ["80", "40", "0"])
    #expect(ChartScale(numbersUpTo: 1_001).labels == ["2,000", "1,000", "0"])
  }

  @Test("J366: the page shows the statistics of the store by queue, over an hour or a day")
  func page() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      try await scene.enqueue("resize")
      try await scene.end(scene.claim(), .succeed(result: nil))
      try await scene.fail()
      for path in ["/trends", "/trends?over=day", "/trends?queue=default"] {
        let page = try await dashboard.page(path)
        #expect(page.contains(">succeeded 1</text>"))
        #expect(page.contains(">failed 1</text>"))
        #expect(page.contains("aria-label=\"1 succeeded, 1 failed, at most "))
        #expect(page.contains("<th class=\"number\">succeeded</th>"))
        #expect(page.contains(">p99 "))
      }
      let other = try await dashboard.page("/trends?queue=other")
      #expect(other.contains("No job has ended."))
      #expect(other.contains("Trends of other"))
      expect(try await dashboard.get("/trends?over=year").status, is: .badRequest)
    }
  }

  @Test("J367: each page has a shortcut in the list of shortcuts, and no two pages have the same shortcut")
  func shortcuts() async throws {
    try await RunningDashboard.with { dashboard in
      let page = try await dashboard.page("/")
      let keys = page.matches(of: /<kbd class="go">(.)<\/kbd><\/dt><dd>([^<]+)<\/dd>/)
      #expect(keys.count == PageTests.paths.count)
      #expect(Set(keys.map(\.1)).count == keys.count)
      #expect(keys.allSatisfy { $0.2.lowercased().hasPrefix($0.1) })
      for script in ["/keys.js", "/lists.js", "/zone.js"] {
        let answer = try await dashboard.get(script)
        #expect(answer.headers.first(name: "Content-Type")?.hasPrefix("text/javascript") == true)
      }
    }
  }
}
#endif
