#if SQLite
import Foundation
import HeadwayTestSupport
import Testing

@Suite("Signals to the tool", .hangLimit)
struct SignalTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Imports a sample feed and sends a signal during the import.
  ///
  /// The signal might arrive late if the machine is busy. If all stop times were imported before it arrived, the test
  /// runs again with twice as many stop times. `mark` waits for output that the tool prints during the import.
  private func interrupt(
    _ signal: Int32, progress: String, at mark: @Sendable (Tool) async -> Void
  ) async throws -> (run: Tool.Run, stopTimes: Int) {
    var stopTimes = 200_000
    while true {
      let sample = try await Tool.run("sample", "feed", "--stop-times", "\(stopTimes)", "--force", in: folder)
      try #require(sample.status == 0)
      let tool = try Tool(["import", "feed", "db", "--progress", progress], in: folder)
      await mark(tool)
      tool.send(signal)
      let run = await tool.finish()
      let isInTheMiddle = try folder.rowCount(of: "stop_times", in: "db") < stopTimes
      if isInTheMiddle || stopTimes > 5_000_000 { return (run, stopTimes) }
      try folder.remove("feed", "db", "db-wal", "db-shm", "db.rejected-rows")
      stopTimes *= 2
    }
  }

  @Test("I2: SIGINT exits with 130 and prints the committed rows, and the same command completes the import")
  func interrupt() async throws {
    let (run, stopTimes) = try await interrupt(SIGINT, progress: "plain") { tool in
      _ = await tool.errors.first { $0.hasPrefix("stop_times: ") }
    }
    #expect(run.status == 130)
    let line = try #require(run.output.first { $0.hasPrefix("stop_times ") })
    #expect(line.hasSuffix("(not complete)"))
    let said = line.split(separator: " ")[1].filter { $0 != "," }
    let rows = try folder.rowCount(of: "stop_times", in: "db")
    #expect(Int(said) == rows)
    #expect(rows > 0 && rows < stopTimes && rows % 250 == 0)
    #expect(run.output.last == "Cancelled: the listed rows are committed. The same command completes the import.")
    #expect(run.errors.contains("Stopping. To quit immediately, press Ctrl-C again."))

    let second = try await Tool.run("import", "feed", "db", "--progress", "plain", in: folder)
    #expect(second.status == 0)
    #expect(try folder.rowCount(of: "stop_times", in: "db") == stopTimes)
    #expect(try folder.query("PRAGMA integrity_check", in: "db") == [["ok"]])
  }

  @Test("I2: SIGHUP does not stop an import that nohup has started") func ignoredHangUp() async throws {
    #expect(try await Tool.run("sample", "feed", "--stop-times", "100000", in: folder).status == 0)
    let tool = try Tool(
      ["import", "feed", "db", "--progress", "plain"], in: folder, launcher: ["/usr/bin/env", "nohup"])
    _ = await tool.errors.first { $0.hasPrefix("stop_times: ") }
    for _ in 1...2 { tool.send(SIGHUP) }
    #expect(await tool.finish().status == 0)
    #expect(try folder.rowCount(of: "stop_times", in: "db") == 100_000)
  }

  @Test("I2: SIGHUP during an import exits with 129") func hangUp() async throws {
    // nohup might have started these tests themselves.
    signal(SIGHUP, SIG_DFL)
    let (run, _) = try await interrupt(SIGHUP, progress: "plain") { tool in
      _ = await tool.errors.first { $0.hasPrefix("stop_times: ") }
    }
    #expect(run.status == 129)
  }

  @Test("I2: SIGTERM during an import exits with 143, and the JSON output lists incomplete tables")
  func terminate() async throws {
    let (run, _) = try await interrupt(SIGTERM, progress: "json") { tool in
      _ = await tool.output.first { $0.contains("\"stop_times\"") }
    }
    #expect(run.status == 143)
    let tables = try run.objects().filter { $0["event"] as? String == "table" }
    for object in tables {
      let table = try #require(object["table"] as? String)
      let rows = try #require(object["rowCount"] as? Int)
      let isComplete = try #require(object["isComplete"] as? Bool)
      if table == "stop_times" { #expect(!isComplete) }
      if rows > 0 { #expect(try folder.rowCount(of: table, in: "db") == rows) }
      if isComplete {
        #expect(try folder.text(of: "feed/\(table).txt").split(whereSeparator: \.isNewline).count == rows + 1)
      }
    }
    #expect(tables.contains { $0["isComplete"] as? Bool == true })
    #expect(tables.count == 9)
  }

  #if os(Linux)
  @Test(
    "I2: SIGINT stops an import that waits for the writer of a FIFO, or for a silent writer", arguments: [false, true])
  func waitingForBytes(hasWriter: Bool) async throws {
    let path = "\(folder.path)/silent.csv"
    // Links are resolved in the names of open files.
    let resolved = URL(fileURLWithPath: folder.path).resolvingSymlinksInPath().path + "/silent.csv"
    let fifo = hasWriter ? try FIFO(path) : nil
    if !hasWriter { try #require(mkfifo(path, 0o600) == 0) }
    let tool = try Tool(["import", "silent.csv", "db", "--progress", "plain"], in: folder)
    // It handles signals before it opens files.
    if let fifo { try fifo.fill(with: "column") } else { await until { tool.hasOpen(resolved) } }
    tool.send(SIGINT)
    let run = await tool.finish()
    #expect(run.status == 130)
    #expect(run.output.last == "Cancelled: the listed rows are committed. The same command completes the import.")
    withExtendedLifetime(fifo) {}
  }
  #endif

  @Test("Q18: SIGQUIT prints what the operations of an import wait for, and the import continues")
  func dump() async throws {
    let fifo = try FIFO("\(folder.path)/silent.csv")
    let tool = try Tool(["import", "silent.csv", "db", "--progress", "plain"], in: folder)
    // It handles the signal before it opens files.
    try fifo.fill(with: "column")
    tool.send(SIGQUIT)
    _ = await tool.errors.first { $0.hasPrefix("queue “") && $0.hasSuffix(")") }
    _ = await tool.errors.first { $0.hasPrefix("thread headway-") }
    tool.send(SIGINT)
    #expect(await tool.finish().status == 130)
    withExtendedLifetime(fifo) {}
  }

  @Test("A second signal ends the tool immediately, even while it waits for input")
  func secondSignal() async throws {
    let fifo = try FIFO("\(folder.path)/silent.csv")
    let tool = try Tool(["import", "silent.csv", "db", "--progress", "plain"], in: folder)
    // The beginning of a gzip file with a block of 65,535 bytes that are not compressed. When the tool has read it, it
    // handles signals. It waits for the rest, forever, and such a wait does not end at the first signal.
    try fifo.append([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + [0, 0xFF, 0xFF, 0, 0] + Array("column".utf8))
    #if os(Linux)
    // Before it waits, the first signal would end it.
    let path = URL(fileURLWithPath: folder.path).resolvingSymlinksInPath().path + "/silent.csv"
    await until { fifo.isEmpty && tool.isReading(path) }
    #else
    await until { fifo.isEmpty }
    #endif
    tool.send(SIGINT)
    _ = await tool.errors.first { $0 == "Stopping. To quit immediately, press Ctrl-C again." }
    tool.send(SIGINT)
    let run = await tool.finish()
    #expect(run.status == 130)
    #expect(run.output.isEmpty)
    withExtendedLifetime(fifo) {}
  }
}
#endif
