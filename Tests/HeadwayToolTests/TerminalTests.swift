#if SQLite && os(Linux)
import HeadwayTestSupport
import Testing

@Suite("The tool on a terminal", .hangLimit)
struct TerminalTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Runs the tool with standard error on a terminal and returns its output there.
  private func run(
    _ arguments: [String], columns: Int = 100, rows: Int = 40, locale: String = "C.UTF-8", kind: String = "xterm",
    status: Int32 = 0
  ) async throws -> String {
    let terminal = try Terminal(columns: columns, rows: rows)
    let tool = try Tool(
      arguments, in: folder, environment: ["LC_ALL": locale, "TERM": kind], standardError: terminal.toolEnd)
    async let text = terminal.readToEnd()
    #expect(await tool.finish().status == status)
    return await text
  }

  @Test("Bars show one line per table and a total, with rows per second and the time left")
  func bars() async throws {
    // Bars are drawn ten times per second. If the import ended earlier, the test runs again with more rows.
    let bars = [/stop_times +█*░+ +\d+%.*left/, /all +█*░+ +\d+%.*left/]
    var (stopTimes, text) = (100_000, "")
    while stopTimes < 5_000_000, !bars.allSatisfy({ text.contains($0) }) {
      try folder.remove("feed", "db", "db-wal", "db-shm", "db.rejected-rows")
      _ = try await Tool.run("sample", "feed", "--stop-times", "\(stopTimes)", in: folder)
      text = try await run(["import", "feed", "db"])
      stopTimes *= 2
    }
    let screen = try #require(Terminal.screen(after: text))
    for table in ["agency", "calendar", "routes", "shapes", "stops", "trips", "stop_times", "all"] {
      let lines = screen.filter { $0.hasPrefix("\(table) ") }
      #expect(lines.count == 1, "\(table): drawn over, not again")
      #expect(lines.first?.contains(String(repeating: "█", count: 24) + " 100%") == true)
      #expect(lines.first?.contains(/[\d,]+ rows, [\d,]+ rows\/s/) == true)
    }
    #expect(bars.allSatisfy { text.contains($0) })
    #expect(!screen.contains { $0.contains("left") })
  }

  @Test("I6: --watch shows the table's last rows and the row count") func watch() async throws {
    try folder.writeSmallFeed(to: "feed")
    let screen = try #require(Terminal.screen(after: try await run(["import", "feed", "db", "--watch", "stops"])))
    let title = try #require(screen.firstIndex { $0.hasPrefix("── stops: 2 rows") })
    #expect(screen[title + 1].hasPrefix("stop_id  stop_name "))
    #expect(screen[title + 2].hasPrefix("s2       Ostkreuz, S"))
    #expect(screen[title + 3].hasPrefix("s1       Nöldnerplatz"))
  }

  @Test("Line endings and escapes in watched rows do not reach the terminal") func controls() async throws {
    try folder.write("id,name\n1,\"a\nb\u{1B}[2Jc\r\nd\"\n", to: "x.csv")
    let screen = try #require(Terminal.screen(after: try await run(["import", "x.csv", "db", "--watch", "x"])))
    #expect(screen.contains { $0.hasPrefix("1   a b [2Jc  d") })
  }

  @Test("The output fits the width and the height of the terminal") func smallTerminal() async throws {
    try folder.writeSmallFeed(to: "feed")
    let text = try await run(["import", "feed", "db"], columns: 50, rows: 4)
    let screen = try #require(Terminal.screen(after: text))
    #expect(screen.allSatisfy { $0.count <= 50 })
    #expect(screen.filter { !$0.isEmpty }.count == 3)
  }

  @Test("Bars fit 40 columns, show rejected rows, and are ASCII in a locale without UTF-8")
  func widths() async throws {
    let lines = (1...12_345).map { "\($0),x\n" }.joined()
    try folder.write("id,name\n\(lines)1\n", to: "a_long_name_of_a_table.csv")
    for (columns, locale) in [(40, "C.UTF-8"), (40, "C"), (80, "C.UTF-8"), (80, "C"), (200, "C")] {
      let text = try await run(
        ["import", "a_long_name_of_a_table.csv", "db", "--replace"], columns: columns, locale: locale, status: 3)
      let screen = try #require(Terminal.screen(after: text))
      #expect(screen.allSatisfy { $0.count <= columns || $0.hasPrefix("headway: a_long_name_of_a_table.csv: 1 of") })
      #expect(screen.contains { $0.hasPrefix("a_long_nam") && $0.contains("100%") && $0.contains("1 rejected") })
      #expect(screen.contains { $0.contains("12,345 rows") } == (columns >= 80))
      #expect(text.contains("█") == (locale != "C") && text.contains("#") == (locale == "C"))
    }
  }

  @Test("A terminal that can't redraw gets plain lines") func dumb() async throws {
    try folder.write("a,b\n1,2\n", to: "x.csv")
    let text = try await run(["import", "x.csv", "db", "--watch", "x"], kind: "dumb")
    #expect(text.contains("x: 100%") && !text.contains("\u{1B}") && text.contains("--watch is ignored"))
  }

  @Test("--progress plain is plain even on a terminal") func plain() async throws {
    try folder.write("a,b\n1,2\n", to: "x.csv")
    let text = try await run(["import", "x.csv", "db", "--progress", "plain"])
    #expect(text.hasPrefix("x: 100%"))
    #expect(!text.contains("\u{1B}"))
  }
}
#endif
