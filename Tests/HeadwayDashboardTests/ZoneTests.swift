#if Dashboard
import Headway
@_spi(JobStore) import HeadwayJobs
import NIOHTTP1
import Testing

@testable import HeadwayDashboard

@Suite("The time zone of the pages", .hangLimit) struct ZoneTests {
  /// 2026-07-01 12:30:15 in UTC.
  private let summer = StoreTime(microseconds: 1_782_909_015_250_000)

  @Test("J365: times are in UTC or in the time zone that a person has chosen")
  func texts() throws {
    let berlin = try #require(PageZone(named: "Europe/Berlin"))
    #expect(PageZone.utc.text(summer) == "2026-07-01 12:30:15")
    #expect(berlin.text(summer) == "2026-07-01 14:30:15")
    #expect(berlin.field(summer) == "2026-07-01T14:30:15")
    let second = StoreTime(microseconds: 1_782_909_015_000_000)
    #expect(berlin.time("2026-07-01T14:30:15") == second)
    #expect(berlin.time("2026-07-01T12:30:15Z") == second)
    // The clock shows this time twice.
    #expect(berlin.time("2026-10-25T02:30").map(berlin.field) == "2026-10-25T02:30:00")
    for text in ["", "2026-02-30T00:00", "2026-07-01", "26-07-01T00:00", "2026-07-01T00:00+02"] {
      #expect(berlin.time(text) == nil)
    }
    #expect(berlin.localized("due at 2026-07-01T12:30:15.250Z.") == "due at 2026-07-01 14:30:15 (Europe/Berlin).")
    for name in ["", "../etc/passwd", "Nowhere/Land", "a b", String(repeating: "a", count: 100)] {
      #expect(PageZone(named: name) == nil, "\(name)")
    }
  }

  @Test("J365: a cookie selects the time zone of all pages and forms")
  func pages() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      let id = try await scene.enqueue(options: [.startDate(StoreTime(microseconds: 7_258_163_415_000_000).date)])
      expect(try await dashboard.page("/job/\(id)").contains("start, in UTC"), is: true)
      dashboard.cookies["jobs-time-zone"] = "Asia%2FTokyo"
      let page = try await dashboard.page("/job/\(id)")
      #expect(page.contains("data-zone=\"Asia/Tokyo\""))
      #expect(page.contains("start, in Asia/Tokyo"))
      #expect(page.contains("value=\"2200-01-01T21:30:15\""))
      let version = String(try #require(page.firstMatch(of: /name="shown" value="([^"]+)"/)).1)
      let changed = try await dashboard.change([
        "action": "change", "id": "\(id)", "shown": version, "zone": "Asia/Tokyo", "priority": "normal",
        "queue": "default", "start": "2200-01-01T22:30:15", "payload": "{}",
      ])
      #expect(changed.contains("The job is changed."))
      expect(
        try await dashboard.jobs.job(id)?.dueTime, is: StoreTime(microseconds: 7_258_163_415_000_000) + .seconds(3_600))
      dashboard.cookies["jobs-time-zone"] = "no-zone"
      expect(try await dashboard.page("/").contains("data-zone=\"UTC\""), is: true)
    }
  }
}
#endif
