#if SQLite
  import Foundation
  import Testing

  @Suite("Signals to the tool", .timeLimit(.minutes(5)))
  struct SignalTests {
    private static let stopTimes = 200_000
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func writeSample() async throws {
      let run = try await Tool.run("sample", "feed", "--stop-times", "\(Self.stopTimes)", in: folder)
      try #require(run.status == 0)
    }

    @Test("I2: SIGINT in the middle exits with 130, says what is imported and how to complete it, which then does")
    func interrupt() async throws {
      try await writeSample()
      let tool = try Tool(["import", "feed", "db", "--progress", "plain"], in: folder)
      _ = await tool.errors.first { $0.hasPrefix("stop_times: ") }
      tool.send(SIGINT)
      let run = await tool.finish()
      #expect(run.status == 130)
      let line = try #require(run.output.first { $0.hasPrefix("stop_times ") })
      #expect(line.hasSuffix("(not complete)"))
      let said = line.split(separator: " ")[1].filter { $0 != "," }
      let rows = try folder.rowCount(of: "stop_times", in: "db")
      #expect(Int(said) == rows)
      #expect(rows > 0 && rows < Self.stopTimes && rows % 250 == 0)
      #expect(run.output.last == "Cancelled: what is listed is committed. The same command completes it.")
      #expect(run.errors.contains("Stopping. Once more ends at once."))

      let second = try await Tool.run("import", "feed", "db", "--progress", "plain", in: folder)
      #expect(second.status == 0)
      #expect(try folder.rowCount(of: "stop_times", in: "db") == Self.stopTimes)
      #expect(try folder.query("PRAGMA integrity_check", in: "db") == [["ok"]])
    }

    @Test("I2: SIGTERM in the middle exits with 143, and json says which tables are not complete")
    func terminate() async throws {
      try await writeSample()
      let tool = try Tool(["import", "feed", "db", "--progress", "json"], in: folder)
      _ = await tool.output.first { $0.contains("\"stop_times\"") }
      tool.send(SIGTERM)
      let run = await tool.finish()
      #expect(run.status == 143)
      let tables = try run.objects().filter { $0["event"] as? String == "table" }
      for object in tables {
        let isBig = object["table"] as? String == "stop_times"
        #expect(object["isComplete"] as? Bool == !isBig)
        if isBig { #expect(try folder.rowCount(of: "stop_times", in: "db") == object["rows"] as? Int) }
      }
      #expect(tables.count == 9)
    }

    @Test("A second signal ends the tool at once, even while it waits for input that does not come")
    func secondSignal() async throws {
      let fifo = try FIFO("\(folder.path)/silent.csv")
      let tool = try Tool(["import", "silent.csv", "db", "--progress", "plain"], in: folder)
      // Once it reads, it listens to signals; and then it waits for the end of the first line, for ever.
      try fifo.fill(with: "column")
      tool.send(SIGINT)
      _ = await tool.errors.first { $0 == "Stopping. Once more ends at once." }
      tool.send(SIGINT)
      let run = await tool.finish()
      #expect(run.status == 130)
      #expect(run.output.isEmpty)
      withExtendedLifetime(fifo) {}
    }
  }
#endif
