#if SQLite
import Foundation
import HeadwayTestSupport
import Testing

@Suite("The tool's progress", .hangLimit)
struct ProgressTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func writeSample(stopTimes: Int) async throws {
    let run = try await Tool.run("sample", "feed", "--stop-times", "\(stopTimes)", in: folder)
    try #require(run.status == 0)
  }

  @Test("I2: plain progress prints at most one line per 10% of a table, and ends at 100%")
  func plain() async throws {
    try await writeSample(stopTimes: 10_000)
    let run = try await Tool.run("import", "feed", "db", "--progress", "plain", in: folder)
    #expect(run.status == 0)
    var percents: [String: [Int]] = [:]
    for line in run.errors {
      let match = try #require(line.firstMatch(of: /^(\w+): (\d+)%, [\d,]+ rows?, [\d,]+ rows\/s/), "\(line)")
      percents[String(match.1), default: []].append(try #require(Int(match.2)))
    }
    for (table, percents) in percents {
      let steps = percents.map { $0 / 10 }
      #expect(steps == Set(steps).sorted(), "\(table): \(percents)")
      #expect(percents.last == 100, "\(table): \(percents)")
    }
    #expect(percents["stop_times"]?.count == 10)
    #expect(percents.count == run.output.count - 2, "An imported table is reported.")
  }

  @Test("Progress is plain if the output is a pipe") func pipe() async throws {
    try folder.write("a,b\n1,2\n", to: "x.csv")
    let run = try await Tool.run("import", "x.csv", "db", in: folder)
    #expect(run.errors.count == 1)
    #expect(run.errors.first?.hasPrefix("x: 100%, 1 row, ") == true)
  }

  @Test("I2: JSON progress prints one object per line, and the percentage never decreases") func json() async throws {
    try await writeSample(stopTimes: 10_000)
    let run = try await Tool.run("import", "feed", "db", "--progress", "json", in: folder)
    #expect(run.status == 0)
    #expect(run.errors.isEmpty)
    var objects = try run.objects()
    let end = objects.removeLast()
    #expect(end["event"] as? String == "finished" && end["exitCode"] as? Int == 0 && end["tables"] as? Int == 9)
    let all = objects.filter { $0["event"] as? String == "table" }.compactMap { $0["rowCount"] as? Int }
    #expect(end["rowCount"] as? Int == all.reduce(0, +))
    var last: [String: Int] = [:]
    var events: [String] = []
    for object in objects {
      let table = try #require(object["table"] as? String)
      let percent = try #require(object["percent"] as? Int)
      events.append(try #require(object["event"] as? String))
      #expect(percent >= last[table] ?? 0, "\(object)")
      last[table] = percent
      for field in [
        "rowCount", "rejectedRowCount", "flaggedRowCount", "committedByteCount", "fileSize", "seconds", "rowsPerSecond",
      ] {
        #expect(object[field] is NSNumber, "\(field) of \(object)")
      }
    }
    let tables = objects.suffix(last.count)
    #expect(events.suffix(last.count).allSatisfy { $0 == "table" })
    #expect(events.dropLast(last.count).allSatisfy { $0 == "progress" })
    #expect(tables.compactMap { $0["isComplete"] as? Bool } == Array(repeating: true, count: last.count))
    #expect(last.values.allSatisfy { $0 == 100 })
    let rows = tables.first { $0["table"] as? String == "stop_times" }?["rowCount"] as? Int
    #expect(rows == 10_000)
    // At most 100 times per table, in addition to the summary.
    #expect(events.count <= 101 * last.count)
  }

  @Test("JSON output ends with an object that describes the error, before or during the import")
  func jsonError() async throws {
    let missing = try await Tool.run("import", "none.csv", "db", "--progress", "json", in: folder)
    #expect(missing.status == 66)
    let only = try #require(try missing.objects().first)
    #expect(only["event"] as? String == "error" && only["exitCode"] as? Int == 66)
    #expect(only["message"] as? String == "none.csv: There is no such file or folder.")

    try folder.write("a,b\n1,2\n3\n", to: "x.csv")
    let strict = try await Tool.run("import", "x.csv", "db", "--strict", "--progress", "json", in: folder)
    #expect(strict.status == 65)
    let last = try #require(try strict.objects().last)
    #expect(last["event"] as? String == "error" && last["rowCount"] as? Int == 1)
    let message = last["message"] as? String
    #expect(message?.hasPrefix("x.csv:3: ") == true && strict.errors == ["headway: \(message ?? "")"])
    let table = try #require(try strict.objects().dropLast().last)
    #expect(table["rejectedRowsPath"] as? String == "db.rejected-rows/x.csv")
  }

  @Test("I22: the totals of JSON output contain ignored rows") func jsonIgnored() async throws {
    try folder.write("id\n1\n2\n", to: "x.csv")
    try folder.write("id\n2\n3\n", to: "y.csv")
    #expect(try await Tool.run("import", "x.csv", "db", "--table", "t", "--key", "id", in: folder).status == 0)
    let run = try await Tool.run("import", "y.csv", "db", "--table", "t", "--ignore", "--progress", "json", in: folder)
    let end = try #require(try run.objects().last)
    #expect(run.status == 0 && end["rowCount"] as? Int == 1 && end["ignoredRowCount"] as? Int == 1)
  }

  @Test("With --quiet, only errors are printed") func quiet() async throws {
    try folder.write("a;b\n1;2\n", to: "x.csv")
    let run = try await Tool.run("import", "x.csv", "db", "--quiet", in: folder)
    #expect(run.status == 0 && run.errors.isEmpty && run.output.isEmpty)
    try folder.write("a,b\n1\n", to: "y.csv")
    let failing = try await Tool.run("import", "y.csv", "db", "-q", in: folder)
    #expect(failing.status == 65 && failing.errors.count == 1 && failing.output.isEmpty)
  }

  @Test("With --progress none, nothing is printed to standard error") func none() async throws {
    try folder.writeSmallFeed(to: "feed")
    let run = try await Tool.run("import", "feed", "db", "--progress", "none", in: folder)
    #expect(run.status == 0)
    #expect(run.errors.isEmpty)
    #expect(!run.output.isEmpty)
  }
}
#endif
