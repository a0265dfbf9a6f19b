#if Dashboard
import GRDB
import Headway
import HeadwayDashboard
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestSupport
import Testing

@testable import HeadwayDashboard

@Suite("Reading the dashboard", .hangLimit) struct ReadingTests {
  private let now = StoreTime(microseconds: 1_800_000_000_000_000)

  private func ending(
    _ secondsAgo: Double, _ state: JobState = .succeeded, wait: Double = 1, run: Double = 2
  ) -> EndedJob {
    let finished = now + .seconds(-secondsAgo)
    let claimed = finished + .seconds(-run)
    return EndedJob(
      id: JobID(rawValue: 1), kind: "a", queue: "q", state: state, ready: claimed + .seconds(-wait), claimed: claimed,
      finished: finished)
  }

  @Test("J197: pages state which failures they might not show") func partialFailures() {
    func overview(failed: Int, inLastHour: Int) -> JobsOverview {
      JobsOverview(
        countLimit: 10, snapshot: JobsSnapshot(time: now), failedCount: failed,
        endings: (0..<inLastHour).map { ending(Double($0), .failed) } + [ending(100)])
    }
    #expect(PageRenderer.partialFailures(overview(failed: 10, inLastHour: 0), count: 5) == nil)
    #expect(PageRenderer.partialFailures(overview(failed: 11, inLastHour: 5), count: 5) == nil)
    let text = PageRenderer.partialFailures(overview(failed: 11, inLastHour: 4), count: 5)
    #expect(text?.hasPrefix("More than 10 jobs have failed. ") == true)
  }

  @Test("J150: JSON is indented with its numbers as they are, and other payloads are shown too")
  func json() {
    let text = #"{"a":[1,2.50,{}],"b":{"c":null},"d":[],"Token":{"x":"}\"{"},"e":"\u003c"}"#
    let expected = """
      {
        "a": [
          1,
          2.50,
          {}
        ],
        "b": {
          "c": null
        },
        "d": [],
        "Token": •••,
        "e": "\\u003c"
      }
      """
    #expect(JSONText.text(of: Array(text.utf8), hiding: ["token"]) == expected)
    // The same key, written in another way.
    #expect(JSONText.text(of: Array(#"{"\u0074oken":1}"#.utf8), hiding: ["token"]) == "{\n  \"\\u0074oken\": •••\n}")
    #expect(JSONText.text(of: Array("not JSON".utf8), hiding: []) == "not JSON")
    #expect(JSONText.text(of: Array("[1,]".utf8), hiding: []) == "[1,]")
    #expect(JSONText.text(of: [0xFF, 0x01], hiding: []) == "2 bytes: ff 01")
    #expect(JSONText.text(of: [], hiding: []) == "")
  }

  @Test("J150: numbers, durations, and rates are readable")
  func readable() {
    #expect(Readable.number(1_234_567) == "1,234,567")
    #expect(Readable.number(10_001, countedTo: 10_000) == "10,000+")
    #expect(Readable.number(10_000, countedTo: 10_000) == "10,000")
    #expect(Readable.duration(.milliseconds(340)) == "340 ms")
    #expect(Readable.duration(.seconds(5)) == "5.0 s")
    #expect(Readable.duration(.seconds(180)) == "3 min")
    #expect(Readable.duration(.seconds(Int64.max)) == "1000000000 d")
    #expect(Readable.percent(0.004) == "< 1%")
  }

  @Test("J153: characters with a meaning in HTML are escaped even if a mark follows them")
  func escaping() {
    let text = "<a href='x'>\"\u{301}&\u{0}\u{202E}</a>"
    #expect(
      PageText().escapeText(text)
        == "&lt;a href=&#39;x&#39;&gt;&quot;\u{301}&amp;\u{FFFD}\u{FFFD}&lt;/a&gt;")
  }

  @Test("J154: a search for rare jobs among many reads a part of the jobs, and the next search continues from there")
  func search() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteJobStore(path: folder.path + "/jobs.sqlite")
    let jobs = Jobs(store)
    let scene = try await Scene(jobs)
    let rare = try await scene.enqueue(options: [.tags(["rare"])])
    try await scene.end(scene.claim(), .succeed(result: nil))
    let pool = try DatabasePool(path: folder.path + "/jobs.sqlite")
    try await pool.write { database in
      try database.execute(
        sql: """
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 45000)
          INSERT INTO headway_done (id, queue, kind, version, state, priority, position, enqueued, claimed, attempt,
            crashes, snoozes, epoch, payload, ready, finished, expires)
          SELECT id + i, queue, kind, version, state, priority, position, enqueued, claimed, attempt, crashes, snoozes,
            epoch, payload, ready, finished, expires FROM headway_done CROSS JOIN n
          """)
    }
    try await RunningDashboard.with(jobs) { dashboard in
      var (path, count, page) = ("/jobs?tag=rare", 0, "")
      repeat {
        page = try await dashboard.page(path)
        count += 1
        guard let next = page.firstMatch(of: /href="([^"]+)" rel="next">Continue the search/) else { break }
        #expect(!page.contains("<tr data-key"))
        #expect(page.contains("<span id=\"count\">some jobs</span>"))
        path = String(next.1).replacing("&amp;", with: "&")
      } while count < 9
      #expect(count == 3)
      #expect(page.contains("<a href=\"./job/\(rare)\">"))
      let list = try await dashboard.page("/jobs?state=succeeded")
      #expect(list.contains("<span id=\"count\">10,000+ jobs</span>"))
    }
    try pool.close()
    await store.close()
  }
}
#endif
