#if SQLite && Jobs
import Foundation
import HeadwayTestKit
import HeadwayTestSupport
import Testing

/// `headway import --durable`.
@Suite(.hangLimit) struct DurableImportTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The content of all tables, without the history of imports.
  private func content(of database: String) throws -> [String: [[String?]]] {
    let tables = try folder.query(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'grdb_%' ORDER BY name", in: database)
    var content: [String: [[String?]]] = [:]
    for case let name? in tables.map({ $0[0] }) {
      content[name] = try folder.query("SELECT * FROM \"\(name)\" ORDER BY 1, 2, 3", in: database)
    }
    return content
  }

  private func leftovers() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.contains("import-jobs") }
  }

  @Test("I14: a durable import that is killed at any moment continues with the files that are not in the database")
  func killed() async throws {
    #expect(try await Tool.run("sample", "feed", "--stop-times", "4000", "--seed", "15", in: folder).status == 0)
    #expect(try await Tool.run("import", "feed", "plain", "-q", in: folder).status == 0)
    var generator = SeededGenerator(seed: 15)
    var finished: Set<Substring> = []
    var killCount = 0
    while killCount < 8 {
      let tool = try Tool(["import", "feed", "db", "--durable", "--progress", "json"], in: folder)
      // The outcome is the same, no matter when the tool is killed.
      let lineCount = Int.random(in: 1...80, using: &generator)
      var count = 0
      for await _ in tool.output {
        count += 1
        if count >= lineCount { break }
      }
      tool.send(SIGKILL)
      let run = await tool.finish()
      finished.formUnion(try already(run.errors, including: finished))
      if run.status == 0 { break }
      killCount += 1
    }
    let last = try await Tool.run("import", "feed", "db", "--durable", in: folder)
    #expect(last.status == 0, "\(last.errors)")
    _ = try already(last.errors, including: finished)
    #expect(try content(of: "db") == content(of: "plain"))
    #expect(try leftovers().isEmpty)
  }

  /// The files that an import has found in the database, including files of earlier imports.
  private func already(_ errors: [String], including earlier: Set<Substring>) throws -> Set<Substring> {
    guard let line = errors.first(where: { $0.contains("In the database already: ") }) else { return [] }
    let list = try #require(line.split(separator: "already: ").last).dropLast()
    let files = Set(list.split(separator: ", "))
    #expect(files.isSuperset(of: earlier))
    return files
  }

  @Test("I14: after a failure, the same command imports the remaining files, and the failed file again")
  func failure() async throws {
    try folder.writeSmallFeed(to: "feed", stopTimes: "t1,08:00:00,08:00:00,s1,1\nt1,08:05:00,08:05:00\n")
    let arguments = ["import", "feed", "db", "--durable", "--strict"]
    let failed = try await Tool.run(arguments, in: folder)
    #expect(failed.status == 65, "\(failed.errors)")
    #expect(failed.errors.contains { $0.contains("To continue the import, run the same command again.") })
    let again = try await Tool.run(arguments, in: folder)
    #expect(again.status == 65)
    #expect(again.errors.contains { $0.contains("The import continues. In the database already: feed/agency.txt") })
    // The file has changed, so the jobs belong to another import.
    try folder.writeSmallFeed(to: "feed")
    let last = try await Tool.run(arguments, in: folder)
    #expect(last.status == 0, "\(last.errors)")
    #expect(!last.errors.contains { $0.contains("already") })
    #expect(try folder.rowCount(of: "stop_times", in: "db") == 2)
    #expect(try leftovers().isEmpty)
  }

  @Test("I14: if the database was replaced, all files are imported again")
  func replacedDatabase() async throws {
    try folder.writeSmallFeed(to: "feed", stopTimes: "t1,08:00:00,08:00:00,s1,1\nt1,08:05:00,08:05:00\n")
    let arguments = ["import", "feed", "db", "--durable", "--strict"]
    #expect(try await Tool.run(arguments, in: folder).status == 65)
    for suffix in ["", "-wal", "-shm"] where folder.has("db\(suffix)") { try folder.remove("db\(suffix)") }
    let again = try await Tool.run(arguments, in: folder)
    #expect(again.status == 65)
    #expect(!again.errors.contains { $0.contains("already") })
    #expect(try folder.rowCount(of: "stops", in: "db") == 2)
  }

  @Test("I19: while another process imports into the database, a durable import fails and changes nothing")
  func locked() async throws {
    try folder.write("id\n1\n", to: "a.csv")
    let lock = open("\(folder.path)/db.import-lock", O_RDWR | O_CREAT, 0o600)
    defer { close(lock) }
    try #require(flock(lock, LOCK_EX | LOCK_NB) == 0)
    let run = try await Tool.run("import", "a.csv", "db", "--durable", in: folder)
    #expect(run.status == 75 && run.errors.last?.contains("Another process is running a durable import") == true)
    #expect(try folder.query("SELECT name FROM sqlite_master WHERE name = 'a'", in: "db").isEmpty)
    flock(lock, LOCK_UN)
    let again = try await Tool.run("import", "a.csv", "db", "--durable", in: folder)
    #expect(again.status == 0, "\(again.errors)")
    #expect(try folder.rowCount(of: "a", in: "db") == 1)
    #expect(!folder.has("db.import-lock"))
  }

  @Test("I19: if durable imports begin at the same time, each successful one has imported all files")
  func together() async throws {
    let names = ["a", "b", "c"]
    let rows = (0..<2_000).map { "\($0),text \($0)\n" }.joined()
    for name in names { try folder.write("id,v\n" + rows, to: "\(name).csv") }
    for round in 0..<3 {
      let arguments = ["import", "a.csv", "b.csv", "c.csv", "--output", "db\(round)", "--durable", "-q"]
      let tools = try (0..<3).map { _ in try Tool(arguments, in: folder) }
      var statuses: [Int32] = []
      for tool in tools { statuses.append(await tool.finish().status) }
      #expect(statuses.contains(0) && Set(statuses).isSubset(of: [0, 75]), "\(statuses)")
      for name in names { #expect(try folder.rowCount(of: name, in: "db\(round)") == 2_000) }
    }
  }

  @Test("I14: a durable import rejects input that can't be read again, and files that share a table")
  func wrongUse() async throws {
    try folder.write("a\n1\n", to: "x.csv")
    try folder.write("a\n2\n", to: "y.csv")
    for (arguments, text) in [
      (["x.csv", "db", "--append"], "--durable and --append: use one of them."),
      (["x.csv", "db", "--dry-run"], "use it without --durable"),
      (["-", "db", "--table", "t"], "--durable: /dev/stdin can't be read again"),
      (["x.csv", "y.csv", "--output", "db", "--table", "t"], "--durable: x.csv and y.csv belong to one table"),
    ] {
      let run = try await Tool.run(["import", "--durable"] + arguments, in: folder)
      #expect(run.status == 64, "\(run.errors)")
      #expect(run.errors.contains { $0.contains(text) }, "\(run.errors)")
    }
    #expect(!folder.has("db"))
  }
}
#endif
