#if SQLite
import Foundation
import HeadwayTestSupport
import Testing

@Suite("headway check", .hangLimit)
struct CheckTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.writeSmallFeed(to: "feed")
  }

  @Test("I4: checking a feed with only warnings exits with 0 and creates no file") func warnings() async throws {
    let run = try await Tool.run("check", "feed", "--progress", "none", in: folder)
    #expect(run.status == 0, "\(run.errors)")
    #expect(
      run.output == [
        "warning: feed_info.txt: the recommended file is missing [missing_recommended_file]",
        "feed: 0 errors, 1 warning.",
      ])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["feed"])
  }

  @Test("I4: checking a feed with errors exits with 65 and lists each error, unless --quiet is used")
  func errors() async throws {
    try folder.writeSmallFeed(
      to: "feed", stopTimes: "t1,08:00:00,08:00:00,s1,1\nt1,07:05:00,07:05:00,s2,2\nt1,09:00:00,09:00:00,s9,3\n")
    let run = try await Tool.run("check", "feed", "--progress", "none", in: folder)
    #expect(run.status == 65)
    #expect(
      run.output.prefix(2) == [
        "error: stop_times.txt: stop_id is not in stops.stop_id: 1 row (record 4: trip_id t1, stop_sequence 3, "
          + "stop_id s9) [foreign_key_violation]",
        "error: stop_times.txt: arrival_time is before the departure_time of the stop before: 1 row (record 3: "
          + "trip_id t1, stop_sequence 2) [stop_time_with_arrival_before_previous_departure_time]",
      ])
    #expect(run.output.last == "feed: 2 errors, 1 warning.")
    let quiet = try await Tool.run("check", "feed", "--quiet", in: folder)
    #expect(quiet.status == 65 && quiet.output.isEmpty && quiet.errors.isEmpty)
  }

  @Test("I4: --progress json prints an object per issue, and a last object with the counts") func json() async throws {
    try folder.writeSmallFeed(to: "feed", stopTimes: "t1,08:00:00,08:00:00,s1,1\nt1,09:00:00,09:00:00,s9,3\n")
    let run = try await Tool.run("check", "feed", "--progress", "json", in: folder)
    let objects = try run.objects()
    let issues = objects.filter { $0["event"] as? String == "issue" }
    #expect(issues.first?["code"] as? String == "foreign_key_violation")
    #expect(issues.first?["count"] as? Int == 1 && issues.first?["file"] as? String == "stop_times.txt")
    let end = try #require(objects.last)
    let tables = objects.filter { $0["event"] as? String == "table" }
    #expect(Set(tables.compactMap { $0["table"] as? String }).count == 6 && tables.count == 6)
    #expect(tables.allSatisfy { $0["isComplete"] as? Bool == true && $0["percent"] as? Int == 100 })
    #expect(end["event"] as? String == "finished" && end["errors"] as? Int == 1 && end["exitCode"] as? Int == 65)
  }

  @Test("I4: checking a folder that is not a feed exits with 66, and passing an additional database exits with 64")
  func noFeed() async throws {
    try folder.write("a,b\n1,2\n", to: "data/x.csv")
    #expect(try await Tool.run("check", "data", in: folder).status == 66)
    #expect(try await Tool.run("check", "nothing", in: folder).status == 66)
    #expect(try await Tool.run("check", "feed", "db", in: folder).status == 64)
    let file = try await Tool.run("check", "data/x.csv", in: folder)
    #expect(file.status == 66)
    #expect(file.errors == ["headway: data/x.csv: This file isn't a feed: a feed is a folder or a zip archive."])
    for name in ["nothing.zip", "-"] {
      let missing = try await Tool.run("check", name, in: folder)
      #expect(missing.status == 66 && missing.errors == ["headway: \(name): There is no such file or folder."])
    }
    #if Compression
    try folder.write("hi\n", to: "bad.zip")
    let bad = try await Tool.run("check", "bad.zip", in: folder)
    #expect(bad.errors == ["headway: bad.zip: This file isn't a zip archive, although its name ends like one."])
    #endif
  }
}
#endif
