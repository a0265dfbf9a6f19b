#if SQLite
import Foundation
import GRDB
import HeadwayTestSupport
import Testing

/// The information that the tool provides to a script, and the data that remains if it is killed.
@Suite("The tool's outcomes", .hangLimit)
struct OutcomeTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("I15: lines that might be rows, but are part of the header or precede it, are reported even with --quiet")
  func headerLines() async throws {
    try folder.write("name,length,weight\ntext,km,kg\na,1,2\nb,3,4\nc,5,6\n", to: "units.csv")
    try folder.write("Sales,,\nname,length,weight\na,1,2\nb,3,4\nc,5,6\n", to: "title.csv")
    try folder.write("# made by us, 2020\nname,length\na,1\nb,3\nc,5\n", to: "comment.csv")
    for (file, text) in [
      ("units", "the first 2 lines of the table"), ("title", "line 1 is not imported"), ("comment", nil),
    ] {
      let run = try await Tool.run("import", "\(file).csv", "db", "-q", in: folder)
      #expect(run.status == 0 && run.errors.count == (text == nil ? 0 : 1), "\(run.errors)")
      if let text { #expect(run.errors.first?.contains(text) == true, "\(run.errors)") }
    }
  }

  private func execute(_ sql: String) throws {
    let connection = try DatabaseQueue(path: "\(folder.path)/db")
    try connection.write { try $0.execute(sql: sql) }
    try connection.close()
  }

  @Test("I13: rejected rows are reported in one line with exit code 3, even with --quiet")
  func rejectedRows() async throws {
    try folder.write("a,b\n1,2\n3\n4,5\n6\n", to: "x.csv")
    let line = "headway: x.csv: 2 of 4 rows were rejected; see db.rejected-rows/x.csv."
    let run = try await Tool.run("import", "x.csv", "db", "-q", in: folder)
    #expect(run.status == 3 && run.output.isEmpty && run.errors == [line])
    try folder.remove("db", "db.rejected-rows")
    let allowed = try await Tool.run("import", "x.csv", "db", "-q", "--allow-rejected-rows", in: folder)
    #expect(allowed.status == 0 && allowed.errors == [line])
    try folder.remove("db", "db.rejected-rows")
    let json = try await Tool.run("import", "x.csv", "db", "--progress", "json", in: folder)
    let end = try #require(try json.objects().last)
    #expect(json.status == 3 && end["event"] as? String == "finished" && end["exitCode"] as? Int == 3)
    #expect(end["message"] as? String == "x.csv: 2 of 4 rows were rejected; see db.rejected-rows/x.csv.")
    try folder.write("a,b\n1,2\n3,4\n", to: "y.csv")
    let clean = try await Tool.run("import", "y.csv", "db", "-q", in: folder)
    #expect(clean.status == 0 && clean.errors.isEmpty)
  }

  @Test("I13: rejected rows of several files are counted, even if another file causes an error")
  func severalFiles() async throws {
    try folder.write("a,b\n1,2\n3\n", to: "x.csv")
    try folder.write("a,b\n1,2\n3\n", to: "y.csv")
    let two = try await Tool.run("import", "x.csv", "y.csv", "-o", "db", "-q", in: folder)
    #expect(two.status == 3)
    #expect(two.errors == ["headway: 2 files: 2 of 4 rows were rejected; see db.rejected-rows."])
    try folder.remove("db", "db.rejected-rows")
    try folder.write("", to: "y.csv")
    let one = try await Tool.run("import", "x.csv", "y.csv", "-o", "db", "-q", in: folder)
    #expect(one.status == 65 && one.errors.count == 2 && one.errors[0].contains("y.csv"))
    #expect(one.errors.last == "headway: x.csv: 1 of 2 rows was rejected; see db.rejected-rows/x.csv.")
  }

  @Test("I12, I13: removed rows and added columns are reported, even with --quiet") func changes() async throws {
    try folder.write("day,v\nmon,1\nmon,2\nmon,3\n", to: "x.csv")
    _ = try await Tool.run("import", "x.csv", "db", "-q", in: folder)
    try folder.write("day,v\ntue,9\n", to: "x.csv")
    let removing = try await Tool.run("import", "x.csv", "db", "-q", in: folder)
    #expect(removing.status == 0 && removing.errors == ["headway: x: 1 row replaced, 2 removed."])
    let same = try await Tool.run("import", "x.csv", "db", "-q", in: folder)
    #expect(same.status == 0 && same.errors.isEmpty)
    try folder.write("day,v,w\ntue,9,1\n", to: "x.csv")
    let wider = try await Tool.run("import", "x.csv", "db", "-q", in: folder)
    #expect(wider.status == 0 && wider.errors == ["headway: x: added the column w."])
    // A replacement should remove rows, but rarely all of them.
    try folder.write("day,v,w\n", to: "x.csv")
    let empty = try await Tool.run("import", "x.csv", "db", "-q", "--replace", in: folder)
    #expect(empty.status == 0 && empty.errors == ["headway: x: 0 rows replaced, 1 removed."])
    try folder.write("day,v,w\ntue,9,1\n", to: "x.csv")
    try execute("CREATE TABLE mine (day, value)")
    let unknown = try await Tool.run("import", "x.csv", "db", "-q", "--table", "mine", in: folder)
    #expect(unknown.status == 65)
    #expect(
      unknown.errors == [
        "headway: x.csv:1: The table mine has no column v (the nearest is value), and no column "
          + "w (the nearest is value). Correct the file, or use --add-columns."
      ])
    let added = try await Tool.run("import", "x.csv", "db", "-q", "--table", "mine", "--add-columns", in: folder)
    #expect(added.status == 0 && added.errors == ["headway: mine: added the columns v, w."])
  }

  @Test("I13: the tool's help lists the exit codes") func help() async throws {
    #expect(try await Tool.run("--help", in: folder).output.contains("EXIT CODES:"))
  }

  @Test(
    "I10: repeating --append after it was killed at any time adds each row once",
    arguments: [1, 2, 3] as [UInt64])
  func killedAppend(seed: UInt64) async throws {
    var state = seed
    func random(_ bound: UInt64) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % bound)
    }
    let rows = 8_000
    try folder.write("id,name\n" + (1...rows).map { "\($0),name \($0)\n" }.joined(), to: "w.csv")
    try execute("CREATE TABLE w (id INTEGER, name TEXT); INSERT INTO w VALUES (-1, 'mine')")
    let arguments = ["import", "w.csv", "db", "--append", "--table", "w"]
    var foreign = 1
    for _ in 1...3 {
      // The outcome is the same, no matter when the tool is killed.
      let lines = 1 + random(60)
      let tool = try Tool(arguments + ["--progress", "json"], in: folder)
      var count = 0
      for await _ in tool.output {
        count += 1
        if count >= lines { break }
      }
      tool.send(SIGKILL)
      let run = await tool.finish()
      // It might have finished earlier.
      if run.status == 0 {
        #expect(try folder.rowCount(of: "w", in: "db") == rows + foreign)
        return
      }
      #expect(try folder.query("PRAGMA integrity_check", in: "db") == [["ok"]])
      if random(2) == 0 {
        try execute("INSERT INTO w VALUES (-1, 'mine')")
        foreign += 1
      }
      // It was killed after it had finished all work.
      if try folder.rowCount(of: "w", in: "db") == rows + foreign { return }
    }
    let last = try await Tool.run(arguments + ["-q"], in: folder)
    #expect(last.status == 0, "\(last.errors)")
    #expect(try folder.rowCount(of: "w", in: "db") == rows + foreign)
    #expect(try folder.query("SELECT count(DISTINCT id) FROM w WHERE id > 0", in: "db") == [["\(rows)"]])
  }

  @Test("I12: a full disk or SIGKILL during --replace leaves the existing rows and no helper tables")
  func unfinishedReplacement() async throws {
    try folder.write("id,name\n1,old\n", to: "p.csv")
    #expect(try await Tool.run("import", "p.csv", "db", "-q", in: folder).status == 0)
    let schema = try folder.query("SELECT name FROM sqlite_master ORDER BY name", in: "db")
    try folder.write(
      "id,name\n" + (1...30_000).map { "\($0),\(String(repeating: "x", count: 100))\n" }.joined(), to: "p.csv")
    // Files that the tool writes can't be larger than 1 MB.
    let full = try await Tool(
      ["import", "p.csv", "db", "--replace", "-q"], in: folder,
      launcher: ["/bin/bash", "-c", "trap '' XFSZ; ulimit -f 1024; exec \"$@\"", "bash"]
    ).finish()
    #expect(full.status == 74 && full.errors.count == 1, "\(full.errors)")
    #expect(try folder.query("SELECT * FROM p", in: "db") == [["1", "old"]])
    #expect(try folder.query("SELECT name FROM sqlite_master ORDER BY name", in: "db") == schema)

    let tool = try Tool(["import", "p.csv", "db", "--replace", "--progress", "json"], in: folder)
    _ = await tool.output.first { $0.contains("\"progress\"") }
    tool.send(SIGKILL)
    let run = await tool.finish()
    #expect(try folder.query("SELECT name FROM sqlite_master ORDER BY name", in: "db") == schema)
    if run.status == -SIGKILL, try folder.rowCount(of: "p", in: "db") != 30_000 {
      #expect(try folder.query("SELECT * FROM p", in: "db") == [["1", "old"]])
    }
    #expect(try await Tool.run("import", "p.csv", "db", "--replace", "-q", in: folder).status == 0)
    #expect(try folder.rowCount(of: "p", in: "db") == 30_000)
  }

  @Test("I10: repeating an append completes it after a full disk has ended it") func fullDisk() async throws {
    try execute("CREATE TABLE w (id INTEGER, name TEXT); INSERT INTO w VALUES (-1, 'mine')")
    try folder.write(
      "id,name\n" + (1...30_000).map { "\($0),\(String(repeating: "x", count: 100))\n" }.joined(), to: "w.csv")
    let arguments = ["import", "w.csv", "db", "--append", "-q"]
    let full = try await Tool(
      arguments, in: folder, launcher: ["/bin/bash", "-c", "trap '' XFSZ; ulimit -f 1024; exec \"$@\"", "bash"]
    ).finish()
    #expect(full.status == 74 && full.errors.count == 1, "\(full.errors)")
    #expect(try await Tool.run(arguments, in: folder).status == 0)
    #expect(try folder.rowCount(of: "w", in: "db") == 30_001)
    #expect(try folder.query("SELECT count(DISTINCT id) FROM w WHERE id > 0", in: "db") == [["30000"]])
  }
}
#endif
