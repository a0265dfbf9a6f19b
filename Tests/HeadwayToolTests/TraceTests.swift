#if SQLite
import Foundation
import HeadwayTestSupport
import Testing

@Suite("headway import --trace", .hangLimit)
struct TraceTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.writeSmallFeed(to: "feed")
  }

  /// The names of the slices, and the names of the threads, in a trace in Chrome's format.
  private func names(in file: String) throws -> (slices: Set<String>, threads: Set<String>) {
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(folder.bytes(of: file))) as? [String: Any])
    let events = try #require(object["traceEvents"] as? [[String: Any]])
    let slices = events.filter { $0["ph"] as? String == "X" }.compactMap { $0["name"] as? String }
    let threads = events.filter { $0["name"] as? String == "thread_name" }.compactMap {
      ($0["args"] as? [String: Any])?["name"] as? String
    }
    return (Set(slices), Set(threads))
  }

  @Test(
    "The extension of the file selects the format",
    arguments: [
      ("t.json", #"{"displayTimeUnit""#), ("t.svg", "<svg "), ("t.HTML", "<!DOCTYPE html>"), ("t.dot", "digraph trace"),
      ("t.mmd", "flowchart LR"),
    ]) func formats(file: String, beginning: String) async throws
  {
    let run = try await Tool.run("import", "feed", "db", "--trace", file, in: folder)
    #expect(run.status == 0)
    let text = try folder.text(of: file)
    #expect(text.hasPrefix(beginning))
    // Mermaid escapes the underscore.
    #expect(text.contains("import stop_times") || text.contains("import stop#95;times"))
    #expect(run.errors.contains("headway: The trace is in \(file)."))
    let path = try #require(run.errors.first { $0.hasPrefix("headway: Critical path: ") })
    #expect(path.contains("is work on the path") && path.contains("import stop_times"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".part") } == [])
  }

  @Test("The trace names the phases of each table and has one row for all writes") func phases() async throws {
    let run = try await Tool.run("import", "feed", "db", "--trace", "t.json", "--trace", "t.svg", "-q", in: folder)
    #expect(run.status == 0 && run.output.isEmpty && run.errors.isEmpty, "--quiet prints nothing.")
    #expect(folder.has("t.svg"))
    let (slices, threads) = try names(in: "t.json")
    for table in ["agency", "calendar", "routes", "stop_times", "stops", "trips"] {
      for phase in ["import", "examine", "prepare", "parse", "write", "finish"] {
        #expect(slices.contains("\(phase) \(table)"))
      }
    }
    for phase in ["look at the sources", "look at the files", "open the database", "close the database"] {
      #expect(slices.contains(phase))
    }
    #expect(!slices.contains("BlockOperation"))
    #expect(threads.isSuperset(of: ["command", "writer"]))
    #expect(threads.allSatisfy { $0 == "command" || $0 == "writer" || $0.hasPrefix("headway-") })
  }

  @Test("With --progress json, standard output contains only objects, and the trace's path is on standard error")
  func json() async throws {
    let run = try await Tool.run("import", "feed", "db", "--trace", "t.svg", "--progress", "json", in: folder)
    #expect(try run.objects().last?["event"] as? String == "finished")
    #expect(run.errors.contains { $0.hasPrefix("headway: Critical path: ") })
  }

  @Test("A file that can't be created is reported before anything is imported")
  func notCreatable() async throws {
    let run = try await Tool.run("import", "feed", "db", "--trace", "no/t.svg", in: folder)
    #expect(run.status == 73 && run.output.isEmpty)
    #expect(run.errors == ["headway: no/t.svg: The folder of the file does not exist."])
    #expect(!folder.has("db"))
    let json = try await Tool.run("import", "feed", "db", "--trace", "no/t.svg", "--progress", "json", in: folder)
    let end = try #require(try json.objects().last)
    #expect(end["event"] as? String == "error" && end["exitCode"] as? Int == 73)
  }

  #if os(Linux)
  @Test("If the trace can't be written at the end, the rows stay, and the exit code shows the error")
  func notWritable() async throws {
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder.path)/t.svg", withDestinationPath: "/dev/full")
    let run = try await Tool.run("import", "feed", "db", "--trace", "t.svg", "--progress", "json", in: folder)
    #expect(run.status == 74)
    #expect(
      run.errors == ["headway: t.svg: There is no room for the file. (No space left on device) The import is complete."]
    )
    let end = try #require(try run.objects().last)
    #expect(end["event"] as? String == "error" && end["exitCode"] as? Int == 74 && end["rowCount"] as? Int == 8)
    #expect(try folder.rowCount(of: "stop_times", in: "db") == 2)
  }
  #endif

  @Test("The trace of an import that fails is written, and shows the failure") func failure() async throws {
    try folder.write("a,b\n1,2\n3\n", to: "x.csv")
    let run = try await Tool.run("import", "x.csv", "db", "--strict", "--trace", "t.html", in: folder)
    #expect(run.status == 65)
    #expect(try folder.text(of: "t.html").contains("1 failed"))
    #expect(run.errors.contains("headway: The trace is in t.html."))
    // An error before the first operation.
    let early = try await Tool.run("import", "none.csv", "db", "--trace", "early.html", in: folder)
    #expect(early.status == 66)
    #expect(try folder.text(of: "early.html").contains("0 operations"))
  }

  @Test("The trace of an import that a signal stops is written") func signal() async throws {
    let fifo = try FIFO("\(folder.path)/x.csv")
    let tool = try Tool(["import", "x.csv", "db", "--trace", "t.json"], in: folder)
    // The tool handles signals before it opens files.
    try fifo.fill(with: "column")
    tool.send(SIGINT)
    let run = await tool.finish()
    #expect(run.status == 130)
    #expect(try names(in: "t.json").slices.contains("import x"))
    #expect(try folder.text(of: "t.json").contains(#""result":"cancelled""#))
    withExtendedLifetime(fifo) {}
  }
}
#endif
