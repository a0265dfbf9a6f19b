#if SQLite
import Foundation
import HeadwayTestSupport
import Testing

@Suite("Sources of an import", .hangLimit)
struct SourcesTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func people(_ rows: ClosedRange<Int>, _ name: String, header: String = "id,name") throws {
    try folder.write("\(header)\n" + rows.map { "\($0),name \($0)\n" }.joined(), to: name)
  }

  private func expect(_ status: Int32, _ arguments: String..., location: SourceLocation = #_sourceLocation)
    async throws -> Tool.Run
  {
    let run = try await Tool.run(["import"] + arguments + ["--progress", "none"], in: folder)
    #expect(run.status == status, "\(run.errors)", sourceLocation: location)
    return run
  }

  @Test("I1: each of several files becomes a table") func severalFiles() async throws {
    try people(1...3, "a.csv")
    try people(1...4, "data/b.csv")
    let run = try await expect(0, "a.csv", "data/b.csv", "--output", "db")
    #expect(try folder.rowCount(of: "a", in: "db") == 3 && folder.rowCount(of: "b", in: "db") == 4)
    #expect(run.output.last?.hasPrefix("all ") == true)
  }

  @Test("I1: each CSV file that is in a folder or matches a pattern becomes a table")
  func folderAndPattern() async throws {
    try people(1...3, "data/a.csv")
    try people(1...4, "data/b.TSV")
    try folder.write("Read me, please.\nOr not.\n", to: "data/README.txt")
    _ = try await expect(0, "data", "db")
    #expect(try folder.query("SELECT count(*) FROM sqlite_master WHERE name IN ('a', 'b')", in: "db") == [["2"]])
    _ = try await expect(0, "data/[ab].*", "db2")
    #expect(try folder.rowCount(of: "a", in: "db2") == 3 && folder.rowCount(of: "b", in: "db2") == 4)
    let none = try await expect(66, "data/c*.csv", "db3")
    #expect(none.errors == ["headway: data/c*.csv: No file matches this pattern."])
    try people(1...2, "[x].csv")
    _ = try await expect(0, "[x].csv", "db3")
    #expect(try folder.rowCount(of: "[x]", in: "db3") == 2, "A name that is there is no pattern.")
  }

  @Test("I9: files in subfolders of a folder or an archive are not imported, and a message names them")
  func filesInside() async throws {
    for name in ["a.csv", "data/b.csv", "data/more/c.csv", "data/more/d.jsonl", "data/more/notes.md", "data/x.txt"] {
      try people(1...3, name)
    }
    let ofFolder = try await Tool.run("import", "data", "db", "--progress", "plain", in: folder)
    let advice = "To import the files in a subfolder, specify the subfolder."
    #expect(ofFolder.errors.first == "headway: data/more/c.csv and one more file are not imported. \(advice)")
    #expect(try folder.query("SELECT count(*) FROM sqlite_master WHERE name = 'c'", in: "db") == [["0"]])
    try zip([("b.CSV", "id\n1\n"), ("more/c.csv", "id\n1\n"), ("more/notes.md", "No table.\n")], to: "all.zip")
    let ofArchive = try await Tool.run("import", "all.zip", "db2", "--progress", "plain", in: folder)
    #expect(ofArchive.errors.first == "headway: all.zip/more/c.csv is not imported. \(advice)")
    try folder.writeSmallFeed(to: "feed")
    try people(1...3, "feed/fares/f.txt")
    try people(1...3, "feed/Stops.TXT")
    let ofFeed = try await Tool.run("import", "feed", "db3", "--progress", "plain", in: folder)
    #expect(
      Array(ofFeed.errors.prefix(2)) == [
        "headway: feed/fares/f.txt is not imported. \(advice)",
        "headway: feed/Stops.TXT does not look like a table, so it is skipped.",
      ])
    #expect([ofFolder.status, ofArchive.status, ofFeed.status] == [0, 0, 0])
  }

  @Test("I5: files without a header replace their own rows if they are imported again")
  func withoutHeader() async throws {
    try folder.write("1,2.5,x\n2,3.5,y\n3,4.5,x\n", to: "1.csv")
    try folder.write("4,2.5,x\n5,3.5,y\n6,4.5,x\n", to: "2.csv")
    for _ in 1...2 {
      _ = try await expect(0, "1.csv", "2.csv", "--output", "db", "--table", "t")
      #expect(try folder.query("SELECT group_concat(column_1) FROM t", in: "db") == [["1,2,3,4,5,6"]])
    }
  }

  @Test("I4: individually listed files of a feed are imported in reference order", arguments: ["1", "8"])
  func filesOfFeed(concurrency: String) async throws {
    try folder.writeSmallFeed(to: "feed")
    let files = ["stop_times", "trips", "calendar", "stops", "routes", "agency"].map { "feed/\($0).txt" }
    let run = try await Tool.run(
      ["import"] + files + ["--output", "db", "--progress", "none", "--jobs", concurrency], in: folder)
    #expect(run.status == 0 && !folder.has("db.rejected-rows"))
    #expect(!(run.output + run.errors).contains { $0.contains("not checked") })
  }

  @Test("I3: a file of a folder that can't be opened causes an error")
  func missingInFolder() async throws {
    try people(1...3, "data/a.csv")
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder.path)/data/b.csv", withDestinationPath: "\(folder.path)/nothing.csv")
    let run = try await expect(66, "data", "db")
    #expect(run.errors.contains { $0.contains("data/b.csv") })
    #expect(try folder.rowCount(of: "a", in: "db") == 3)
  }

  @Test("I5: importing several files into one table again gives the same table")
  func oneTable() async throws {
    try people(1...3, "1.csv")
    try folder.write("name,id\nname 4,4\n", to: "2.csv")
    for _ in 1...2 {
      _ = try await expect(0, "1.csv", "2.csv", "--output", "db", "--table", "t")
      #expect(
        try folder.query("SELECT id, name FROM t ORDER BY rowid", in: "db").compactMap { $0[0] } == [
          "1", "2", "3", "4",
        ])
      #expect(try folder.query("SELECT name FROM t WHERE id = 4", in: "db") == [["name 4"]])
    }
    try people(1...5, "1.csv")
    _ = try await expect(0, "?.csv", "db", "--table", "t")
    #expect(try folder.rowCount(of: "t", in: "db") == 6)
    _ = try await expect(0, "?.csv", "db", "--table", "t", "--replace")
    #expect(try folder.rowCount(of: "t", in: "db") == 6)
    _ = try await expect(0, "?.csv", "db", "--table", "t", "--append")
    #expect(try folder.rowCount(of: "t", in: "db") == 12)
    // With a key, each file updates the existing rows, and keys of earlier files are rejected.
    for options in [[], ["--replace"], ["--append"]] {
      let run = try await Tool.run(
        ["import", "1.csv", "2.csv", "1.csv", "--output", "db", "--table", "k", "--key", "id", "-q"] + options,
        in: folder)
      #expect(run.status == 3, "\(run.errors)")
      #expect(try folder.rowCount(of: "k", in: "db") == 5)
    }
  }

  @Test("I3: if several files are imported into one table, each rejected row names its file")
  func rejectedRowsOfOneTable() async throws {
    for name in ["1.csv", "2.csv"] { try folder.write("id,name\n1,one\n2\n", to: name) }
    let run = try await expect(3, "1.csv", "2.csv", "--output", "db", "--table", "t")
    #expect(
      try folder.text(of: "db.rejected-rows/t.csv") == """
        table,line,status,reason,record
        t,3,rejected,"1.csv: expected 2 fields, found 1","2"
        t,3,rejected,"2.csv: expected 2 fields, found 1","2"

        """)
    #expect(run.output.filter { $0.contains("db.rejected-rows/t.csv") }.count == 1)
    let json = try await Tool.run(
      "import", "1.csv", "2.csv", "--output", "db", "--table", "t", "--progress", "json", in: folder)
    let tables = try json.objects().filter { $0["event"] as? String == "table" }
    #expect(tables.map { $0["file"] as? String } == ["1.csv", "2.csv"])
  }

  @Test("I5: repeating an interrupted append completes it, and repeating a complete append adds the rows again")
  func interruptedAppend() async throws {
    try people(1...3, "data/a.csv")
    try people(1...3, "data/b.csv")
    _ = try await expect(0, "data", "db")
    // One file can't be imported for now.
    try folder.write("", to: "data/b.csv")
    _ = try await expect(65, "data", "db", "--append")
    #expect(try folder.rowCount(of: "a", in: "db") == 6 && folder.rowCount(of: "b", in: "db") == 3)
    try people(1...3, "data/b.csv")
    let completing = try await Tool.run("import", "data", "db", "--append", in: folder)
    #expect(completing.errors.contains { $0.contains("ended early") && $0.contains("data/a.csv") })
    #expect(try folder.rowCount(of: "a", in: "db") == 6 && folder.rowCount(of: "b", in: "db") == 6)
    _ = try await expect(0, "data", "db", "--append")
    #expect(try folder.rowCount(of: "a", in: "db") == 9 && folder.rowCount(of: "b", in: "db") == 9)
  }

  @Test(
    "I10: an interrupted append of several files is not completed if one of the added files has changed",
    arguments: [["--table", "t"], ["--table", "t", "--key", "id"], []])
  func changedAppend(options: [String]) async throws {
    func append(_ status: Int32) async throws -> Tool.Run {
      let command = ["import", "a.csv", "b.csv", "-o", "db", "--append", "-q", "--strict"]
      let run = try await Tool.run(command + options, in: folder)
      #expect(run.status == status, "\(run.errors)")
      return run
    }
    func ids() throws -> [String] {
      let tables = options.isEmpty ? ["a", "b"] : ["t"]
      return try tables.flatMap { table in
        guard try folder.query("SELECT 1 FROM sqlite_master WHERE name = '\(table)'", in: "db") == [["1"]] else {
          return [String]()
        }
        return try folder.query("SELECT id FROM \(table) ORDER BY id", in: "db").compactMap { $0[0] }
      }
    }
    try people(1...2, "a.csv")
    try folder.write("id,name\n1\n", to: "b.csv")
    _ = try await append(65)
    #expect(try ids() == ["1", "2"])
    // In each run, files that were already added are not added again.
    for _ in 1...2 {
      try people(5...6, "a.csv")
      try people(8...9, "b.csv")
      let run = try await append(65)
      #expect(run.errors.contains { $0.contains("a.csv") && $0.contains("have changed") }, "\(run.errors)")
      #expect(try ids() == ["1", "2"] + (options.isEmpty ? ["8", "9"] : []))
    }
    // With new rows at its end, it is also completed.
    try people(1...3, "a.csv")
    _ = try await append(0)
    #expect(try ids() == ["1", "2", "3", "8", "9"])
  }

  @Test("I5: files do not replace rows that none of them has written") func otherRows() async throws {
    try people(1...3, "1.csv")
    try people(1...3, "2.csv")
    try people(1...3, "3.csv")
    _ = try await expect(0, "1.csv", "2.csv", "--output", "db", "--table", "t")
    let run = try await expect(65, "2.csv", "3.csv", "--output", "db", "--table", "t")
    #expect(run.errors.last?.contains("Use --append") == true)
    #expect(try folder.rowCount(of: "t", in: "db") == 6)
  }

  @Test("I3: files for one table must have the same columns, or no table is created")
  func otherColumns() async throws {
    try people(1...3, "1.csv")
    try people(1...3, "2.csv", header: "id,nick")
    let run = try await expect(65, "1.csv", "2.csv", "--output", "db", "--table", "t")
    #expect(
      run.errors == [
        "headway: 2.csv:1: The columns differ from 1.csv, which is for the same table "
          + "(missing: name; additional: nick)."
      ])
    #expect(try folder.query("SELECT count(*) FROM sqlite_master WHERE name = 't'", in: "db") == [["0"]])
  }

  @Test("I1: if some of several files fail, the other files are imported, and each failure is reported")
  func someFail() async throws {
    try people(1...3, "a.csv")
    try folder.write("%PDF-1.7\n", to: "b.csv")
    try folder.write("", to: "c.csv")
    try people(1...4, "d.csv")
    let run = try await expect(65, "a.csv", "b.csv", "c.csv", "d.csv", "--output", "db")
    #expect(run.errors.map { String($0.prefix(14)) } == ["headway: b.csv", "headway: c.csv"])
    #expect(try folder.rowCount(of: "a", in: "db") == 3 && folder.rowCount(of: "d", in: "db") == 4)
    #expect(run.output.count { $0.hasSuffix("(not complete)") } == 2)
    let missing = try await expect(66, "a.csv", "nothing.csv", "--output", "db2")
    #expect(missing.errors == ["headway: nothing.csv: There is no such file or folder."])
    #expect(!folder.has("db2"))
  }

  @Test("I4, I5: --table-prefix separates two feeds and their releases") func prefix() async throws {
    for release in ["spring", "summer"] {
      try folder.writeSmallFeed(to: release)
      try folder.write(
        "feed_publisher_name,feed_publisher_url,feed_lang,feed_version\nX,http://x,de,\(release)\n",
        to: "\(release)/feed_info.txt")
      let run = try await Tool.run("import", release, "db", "--table-prefix", "\(release)_", in: folder)
      #expect(run.status == 0 && run.errors.allSatisfy { !$0.contains("release") }, "\(run.errors)")
      #expect(run.output.contains { $0.hasPrefix("\(release)_stop_times ") })
    }
    #expect(try folder.rowCount(of: "summer_stop_times", in: "db") == 2)
    try people(1...2, "a.csv")
    _ = try await expect(0, "a.csv", "db", "--table-prefix", "x_")
    #expect(try folder.rowCount(of: "x_a", in: "db") == 2)
  }

  @Test("I4: more imports than threads finish, although they all wait for the writing connection")
  func moreThanThreads() async throws {
    for number in 0..<600 { try people(1...100, "t\(number).csv") }
    _ = try await expect(0, "t*.csv", "db", "--batch-size", "5", "--jobs", "100")
    #expect(try folder.rowCount(of: "t599", in: "db") == 100)
  }

  #if Compression
  private func zip(_ files: [(name: String, text: String)], to name: String) throws {
    try Data(zipped(files)).write(to: URL(fileURLWithPath: "\(folder.path)/\(name)"))
  }

  @Test("I4: a feed in an archive is imported, and its progress ends at 100%") func archivedFeed() async throws {
    try folder.writeSmallFeed(to: "feed")
    let names = ["agency", "stops", "routes", "trips", "stop_times", "calendar"].map { "\($0).txt" }
    try zip(names.map { ("vbb/\($0)", try folder.text(of: "feed/\($0)")) }, to: "vbb.zip")
    let run = try await Tool.run("import", "vbb.zip", "db", "--progress", "json", in: folder)
    #expect(run.status == 0, "\(run.errors)")
    #expect(try run.objects().count { $0["event"] as? String == "table" && $0["percent"] as? Int == 100 } == 6)
    #expect(try folder.rowCount(of: "stop_times", in: "db") == 2)
    _ = try await expect(0, "vbb.zip/vbb/stops.txt", "db2")
    #expect(try folder.rowCount(of: "stops", in: "db2") == 2)
  }

  @Test("I1: each CSV file in an archive becomes a table, and an archive without any causes an error")
  func archivedFiles() async throws {
    try zip([("a.csv", "x,y\n1,2\n"), ("b.csv", "x,y\n1,2\n3,4\n"), ("notes.pdf", "x")], to: "x.zip")
    _ = try await expect(0, "x.zip", "db")
    #expect(try folder.rowCount(of: "a", in: "db") == 1 && folder.rowCount(of: "b", in: "db") == 2)
    _ = try await expect(0, "x.zip", "db", "--table", "both")
    #expect(try folder.rowCount(of: "both", in: "db") == 3)
    try zip([("[Content_Types].xml", "<x/>"), ("xl/workbook.xml", "<x/>")], to: "x.xlsx")
    let run = try await expect(65, "x.xlsx", "db2")
    #expect(run.errors.last?.contains("no CSV file and no feed") == true)
    #expect(!folder.has("db2"))
  }
  #endif

  @Test("I1: file, folder, and database names that are not valid UTF-8 are kept")
  func foreignNames() async throws {
    let script = """
      cd "$0"; e=$(printf '\\351'); mkdir "d$e"
      printf 'a,b\n1,2\n3\n' > "d$e/caf$e.csv"; printf 'x\n1\n' > "d$e/b.csv"
      "$1" import "d$e" -o "db$e" --progress json; test $? = 3 || exit 1
      "$1" import "d$e/caf$e.csv" "db$e" --quiet; test $? = 3 || exit 2
      "$1" import "d$e"/caf*.csv "db2$e" --table t --progress none; "$1" import "none$e.csv" db; echo $?
      test -s "db$e" && test -s "db$e.rejected-rows/caf_.csv" && test -s "db$e.rejected-rows/caf_-2.csv" && echo all
      "$1" export "db$e" b || exit 3
      "$1" import "d$e/b.csv" "db$e" --dry-run | grep -q 'has this table' || exit 4
      echo end; cp "db$e" copy
      """
    let run = try await Tool([], in: folder, launcher: ["/bin/sh", "-c", script, folder.path]).finish()
    #expect(run.status == 0)
    #expect(run.output.suffix(4) == ["all", "x", "1", "end"], "\(run.output) \(run.errors)")
    #expect(run.errors.contains("headway: none\\xE9.csv: There is no such file or folder."), "\(run.errors)")
    #expect(try folder.query("SELECT * FROM caf_", in: "copy") == [["1", "2"]])
    #expect(try folder.rowCount(of: "b", in: "copy") == 1)
  }
}
#endif
