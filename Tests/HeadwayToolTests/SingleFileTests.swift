#if SQLite
import Foundation
import HeadwayTestSupport
import Testing

@Suite("One file and its options", .hangLimit)
struct SingleFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Imports a file with this text; expects success.
  private func expectImport(
    _ text: String, _ options: String..., status: Int32 = 0, location: SourceLocation = #_sourceLocation
  ) async throws {
    try folder.write(text, to: "people.csv")
    let run = try await Tool.run(["import", "people.csv", "db", "--progress", "none"] + options, in: folder)
    #expect(run.status == status, "\(run.errors)", sourceLocation: location)
  }

  private func columns(of table: String) throws -> [[String?]] {
    try folder.query("SELECT name, type, pk FROM pragma_table_info('\(table)')", in: "db")
  }

  @Test("Without options, the table is named after the file, and types are inferred") func plain() async throws {
    try await expectImport("id,name\n1,Anna\n")
    #expect(try columns(of: "people") == [["id", "INTEGER", "0"], ["name", "TEXT", "0"]])
  }

  @Test("--table names the table") func table() async throws {
    try await expectImport("id,name\n1,Anna\n", "--table", "staff of 2026")
    #expect(try folder.query("SELECT name FROM \"staff of 2026\"", in: "db") == [["Anna"]])
    #expect(try columns(of: "people").isEmpty)
  }

  @Test("I3: --decimal, --thousands, --null-text, and --columns specify how to read a file") func reading() async throws
  {
    try await expectImport(
      "id;price;note\n1;1.234,50;-\n2;7,25;\"n.d.\"\n", "--decimal", ",", "--thousands", ".", "--null-text", "-",
      "--null-text",
      "n.d.", "--null-text-in-quotes")
    #expect(try folder.query("SELECT price, note FROM people", in: "db") == [["1234.5", nil], ["7.25", nil]])
    try await expectImport("id,name,note\n1,Anna,x\n", "--columns", "name,id", "--replace")
    #expect(try folder.query("SELECT id, name FROM people", in: "db") == [["1", "Anna"]])
    for arguments in [["--decimal", "ab"], ["--decimal", ",", "--thousands", ","], ["--thousands", "1"]] {
      #expect(try await Tool.run(["import", "people.csv", "db"] + arguments, in: folder).status == 64)
    }
  }

  @Test("I3: --dry-run prints the statements that create the table, and imports nothing") func dryRun() async throws {
    try folder.write("id;name\n1;Anna\n", to: "people.csv")
    let create = "CREATE TABLE IF NOT EXISTS \"people\" (\"id\" INTEGER, \"name\" TEXT);"
    for arguments in [["people.csv"], ["people.csv", "none"], ["people.csv", "-o", "none"]] {
      let run = try await Tool.run(["import", "--dry-run"] + arguments, in: folder)
      #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
      #expect(run.output == ["-- people.csv: delimiter ';'", create])
    }
    #expect(!folder.has("none"))
    #expect(try await Tool.run("import", "people.csv", "db", "-q", in: folder).status == 0)
    let run = try await Tool.run("import", "people.csv", "db", "--dry-run", in: folder)
    #expect(run.output.contains("-- The database has this table:") && run.status == 0)
    #expect(try await Tool.run("import", "people.csv", "db", "--dry-run", "--watch", "people", in: folder).status == 64)
  }

  @Test("I3: --dry-run reads several files without a database, and rejects an invalid database")
  func dryRunOfSeveral() async throws {
    for name in ["a", "b"] { try folder.write("id,name\n1,Anna\n", to: "\(name).csv") }
    for arguments in [["a.csv", "b.csv"], ["*.csv"], ["a.csv", "b.csv", "--output", "none"]] {
      let run = try await Tool.run(["import", "--dry-run"] + arguments, in: folder)
      #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
      #expect(run.output.filter { $0.hasPrefix("--") } == ["-- a.csv", "-- b.csv"])
    }
    #expect(!folder.has("none"))
    let run = try await Tool.run("import", "--dry-run", "a.csv", "--output", "b.csv", in: folder)
    #expect(run.status == 65 && run.output.isEmpty)
    #expect(run.errors == ["headway: b.csv: The database can't be opened. (file is not a database)"])
  }

  @Test("I5: giving --key twice creates a key of two columns in that order") func keyOfTwo() async throws {
    try await expectImport("a,b,c\n1,1,x\n1,2,y\n2,1,z\n1,1,again\n", "--key", "b", "--key", "a", status: 3)
    #expect(try columns(of: "people") == [["a", "TEXT", "2"], ["b", "TEXT", "1"], ["c", "TEXT", "0"]])
    #expect(try folder.rowCount(of: "people", in: "db") == 3)
    #expect(try folder.text(of: "db.rejected-rows/people.csv").contains("people,5,rejected,"))
  }

  @Test("--column-type determines the types of columns and of their values") func types() async throws {
    try await expectImport(
      "id,height,name\n1,1.75,7\n2,,x\n", "--column-type", "id:integer", "--column-type", "height:real",
      "--column-type", "name:text", "--key", "id")
    #expect(try columns(of: "people") == [["id", "INTEGER", "1"], ["height", "REAL", "0"], ["name", "TEXT", "0"]])
    let stored = "SELECT typeof(id), typeof(height), typeof(name) FROM people ORDER BY id"
    #expect(try folder.query(stored, in: "db") == [["integer", "real", "text"], ["integer", "null", "text"]])
  }

  @Test("--column-type accepts a name that contains a colon") func colon() async throws {
    try await expectImport("dc:id,name\n1,Anna\n", "--column-type", "dc:id:integer")
    #expect(try columns(of: "people").first == ["dc:id", "INTEGER", "0"])
  }

  @Test(
    "I3: --delimiter separates fields, regardless of other characters in the header",
    arguments: [(";", ";"), ("tab", "\t"), ("|", "|"), ("\t", "\t")])
  func delimiter(option: String, delimiter: String) async throws {
    // Without the option, the comma would be detected.
    try await expectImport("a,b,c,d\(delimiter)e\n1,2\(delimiter)3\n", "--delimiter", option)
    #expect(try columns(of: "people").map { $0[0] } == ["a,b,c,d", "e"])
    #expect(try folder.query("SELECT * FROM people", in: "db") == [["1,2", "3"]])
  }

  @Test("I3: the delimiter is detected from the file", arguments: [";", "\t", "|"]) func detected(delimiter: String)
    async throws
  {
    try await expectImport("a\(delimiter)b\n1\(delimiter)2\n")
    #expect(try folder.query("SELECT a, b FROM people", in: "db") == [["1", "2"]])
  }

  @Test("I3: unusual properties that are detected in a file are reported in one line") func findings() async throws {
    try folder.write("a;b\n1;2\n", to: "x.csv")
    let run = try await Tool.run("import", "x.csv", "db", in: folder)
    #expect(run.errors.first == "headway: x.csv: found delimiter ';'.")
    let given = try await Tool.run("import", "x.csv", "db", "--delimiter", ";", in: folder)
    #expect(given.errors.allSatisfy { !$0.contains("found") })
    let latin = [UInt8]("name\tb\r".utf8) + [0xFC] + [UInt8]("\t1\rB\t2\r".utf8)
    try Data(latin).write(to: URL(fileURLWithPath: "\(folder.path)/y.csv"))
    let found = try await Tool.run("import", "y.csv", "db", "--encoding", "latin-1", in: folder)
    #expect(found.errors.first == "headway: y.csv: found delimiter tab, lines that end with CR.")
    #expect(try folder.query("SELECT name FROM y", in: "db") == [["ü"], ["B"]])
  }

  @Test("I3: - reads standard input") func standardInput() async throws {
    let run = try await Tool.run("import", "-", "db", "--table", "x", in: folder)
    #expect(run.status == 65 && run.errors.last?.contains("it is empty") == true)
  }

  #if Compression
  @Test(
    "L6: a compressed file is imported, and its table's name has neither file extension",
    arguments: [[], ["--key", "id"]])
  func compressedFile(options: [String]) async throws {
    let bytes = compressed(Array("id,name\n1,Anna\n".utf8), by: "gzip")
    try Data(bytes).write(to: URL(fileURLWithPath: "\(folder.path)/people.csv.gz"))
    let run = try await Tool.run(["import", "people.csv.gz", "db"] + options, in: folder)
    #expect(run.status == 0, "\(run.errors)")
    #expect(try folder.query("SELECT name FROM people", in: "db") == [["Anna"]])
  }
  #endif

  @Test("I3: --no-header imports the first line as a row") func noHeader() async throws {
    try await expectImport(
      "1,Anna\n2,Björn\n", "--no-header", "--key", "column_1", "--column-type", "column_1:integer")
    #expect(try columns(of: "people") == [["column_1", "INTEGER", "1"], ["column_2", "TEXT", "0"]])
    #expect(try folder.query("SELECT * FROM people", in: "db") == [["1", "Anna"], ["2", "Björn"]])
  }

  @Test("I4: a single file of a feed gets the types and the key of the reference") func feedFile() async throws {
    try folder.writeSmallFeed(to: "feed")
    let run = try await Tool.run("import", "feed/stops.txt", "db", in: folder)
    #expect(run.status == 0)
    #expect(
      try columns(of: "stops").prefix(3) == [
        ["stop_id", "TEXT", "1"], ["stop_name", "TEXT", "0"], ["stop_lat", "REAL", "0"],
      ])
  }
}
#endif
