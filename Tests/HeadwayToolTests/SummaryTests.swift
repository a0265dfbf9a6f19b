#if SQLite
import GRDB
import HeadwayTestSupport
import Testing

@Suite("The tool's summary and rejected rows", .hangLimit)
struct SummaryTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("I4: the summary has one line per table and a total, with rows, rejected rows and speed")
  func summary() async throws {
    // One row is too short, and one refers to a missing stop.
    try folder.writeSmallFeed(
      to: "feed", stopTimes: "t1,08:00:00,08:00:00,s1,1\nt1,08:05:00\nt1,08:09:00,08:09:00,s9,3\n")
    let run = try await Tool.run("import", "feed", "db", "--progress", "none", in: folder)
    #expect(run.status == 3)
    #expect(
      run.errors == ["headway: feed/stop_times.txt: 1 of 3 rows was rejected; see db.rejected-rows/stop_times.csv."])
    let cells = run.output.map { $0.split(separator: " ").map(String.init) }
    #expect(cells.first == ["table", "rows", "rejected", "flagged", "seconds", "rows/s"])
    var counts: [String: [String]] = [:]
    for line in cells.dropFirst().prefix(7) {
      try #require(line.count == 6)
      counts[line[0]] = Array(line[1...3])
      #expect(Double(line[4]) != nil)
      #expect(line[5] == "-" || Int(line[5].filter { $0 != "," }) != nil)
    }
    #expect(
      counts == [
        "agency": ["1", "0", "0"], "stops": ["2", "0", "0"], "routes": ["1", "0", "0"],
        "calendar": ["1", "0", "0"], "trips": ["1", "0", "0"], "stop_times": ["2", "1", "1"], "all": ["8", "1", "1"],
      ])
    #expect(run.output.last?.contains("db.rejected-rows/stop_times.csv") == true)
    #expect(Set(run.output.prefix(8).map(\.count)).count == 1, "The columns stand below each other.")
  }

  @Test("I11: a column that converts text to numbers is reported in text and in JSON")
  func convertedColumns() async throws {
    try folder.write("code,name\n007,a\n8,b\n1e3,c\n", to: "t.csv")
    for style in ["quiet", "none", "json"] {
      let path = "\(folder.path)/\(style)"
      try await DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE t (code STRING, name TEXT)") }
      let options = style == "quiet" ? ["--quiet"] : ["--progress", style]
      let run = try await Tool.run(["import", "t.csv", style] + options, in: folder)
      #expect(run.status == 0)
      let sentence =
        "t: 2 values of the column code (STRING) became numbers with a different spelling, the first “007” in line "
        + "2. To keep the text, declare the column as TEXT."
      switch style {
      case "quiet": #expect(run.output.isEmpty && run.errors == ["headway: \(sentence)"])
      case "none": #expect(run.output.contains(sentence))
      default:
        let object =
          #""convertedColumns":[{"column":"code","count":2,"declaredType":"STRING","firstLineNumber":2,"#
          + #""firstValue":"007"}]"#
        #expect(run.output.contains { $0.contains(object) })
      }
    }
  }

  @Test(
    "I4: the summary fits the terminal: the last columns are omitted, and long names are shortened",
    arguments: [(80, "seconds"), (60, "flagged"), (40, "rows"), (24, "rows")])
  func width(columns: Int, last: String) async throws {
    try folder.writeSmallFeed(to: "feed")
    let tool = try Tool(
      ["import", "feed", "db", "--table-prefix", "a_feed_with_a_long_name_", "--progress", "none"], in: folder,
      environment: ["COLUMNS": "\(columns)"])
    let run = await tool.finish()
    #expect(run.status == 0)
    #expect(run.output.count == 8 && run.output.allSatisfy { $0.count <= columns }, "\(run.output)")
    let titles = try #require(run.output.first).split(separator: " ").map(String.init)
    #expect(titles.first == "table" && titles.contains("rows") && titles.contains(last), "\(titles)")
    #expect(try #require(run.output.last).hasPrefix("all "))
  }

  @Test("I4: incomplete tables are listed below the summary if the lines have no room for a mark")
  func incomplete() async throws {
    try folder.write("a,b\n1,2\n3\n", to: "x.csv")
    for (columns, text) in [("80", "  (not complete)"), ("40", "Not complete: x.")] {
      let tool = try Tool(
        ["import", "x.csv", "db\(columns)", "--strict", "--progress", "none"], in: folder,
        environment: ["COLUMNS": columns])
      let run = await tool.finish()
      #expect(run.status == 65 && run.output.contains { $0.hasSuffix(text) }, "\(run.output)")
    }
  }

  @Test("I3: rejected and flagged rows are written to the file of their table in line order")
  func rejectedRows() async throws {
    try folder.writeSmallFeed(
      to: "feed", stopTimes: "t1,08:00:00,08:00:00,s1,1\nt1,\"08:05\"\nt1,08:09:00,08:09:00,s9,3\n")
    _ = try await Tool.run("import", "feed", "db", in: folder)
    let lines = try folder.text(of: "db.rejected-rows/stop_times.csv").split(separator: "\n").map(String.init)
    #expect(lines.count == 3)
    #expect(lines.first == "table,line,status,reason,record")
    #expect(lines[1].hasPrefix("stop_times,3,rejected,\"expected 5 fields, found 2\",\"t1,\"\"08:05\"\"\""))
    #expect(lines[2].hasPrefix("stop_times,4,importedWithIssue,"))
    #expect(lines[2].hasSuffix("\"t1,08:09:00,08:09:00,s9,3\""))
  }

  @Test("I3, I5: an import keeps the rejected rows of earlier imports, and updates rows in place")
  func cleanSecondImport() async throws {
    try folder.write("id,name\n1,Anna\n2\n", to: "people.csv")
    let first = try await Tool.run("import", "people.csv", "db", "--key", "id", in: folder)
    #expect(first.status == 3)
    let rejectedRows = try folder.text(of: "db.rejected-rows/people.csv")
    try folder.write("id,name\n1,Änne\n2,Björn\n", to: "people.csv")
    let second = try await Tool.run("import", "people.csv", "db", "--key", "id", in: folder)
    #expect(second.status == 0)
    #expect(!second.output.contains { $0.contains("db.rejected-rows") })
    try folder.write("id,name\n3\n4,Carl\n", to: "people.csv")
    let third = try await Tool.run("import", "people.csv", "db", "--key", "id", in: folder)
    #expect(third.output.last?.contains("db.rejected-rows/people-2.csv") == true)
    #expect(try folder.text(of: "db.rejected-rows/people.csv") == rejectedRows)
    let rows = try folder.query("SELECT name FROM people ORDER BY id", in: "db")
    #expect(rows == [["Änne"], ["Björn"], ["Carl"]])
  }
}
#endif
