#if SQLite
import Foundation
import GRDB
import HeadwayTestSupport
import Testing

@Suite("Errors of the tool", .hangLimit)
struct ErrorTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Runs an import that fails; expects one line on standard error that begins with `beginning`.
  private func expectFailure(
    _ arguments: String..., status: Int32, _ beginning: String, location: SourceLocation = #_sourceLocation
  ) async throws {
    let run = try await Tool.run(["import"] + arguments + ["--progress", "none"], in: folder)
    #expect(run.status == status, sourceLocation: location)
    #expect(run.errors.count == 1, "\(run.errors)", sourceLocation: location)
    #expect(
      run.errors.first?.hasPrefix("headway: \(beginning)") == true, "\(run.errors)", sourceLocation: location)
  }

  @Test("Importing a missing feed exits with 66") func noSuchFeed() async throws {
    try await expectFailure("nothing", "db", status: 66, "nothing: There is no such file or folder.")
    #expect(!folder.has("db"))
  }

  @Test("I4: importing a folder without the files that a feed must have exits with 66 and names these files")
  func noFeed() async throws {
    try folder.writeSmallFeed(to: "feed")
    try FileManager.default.removeItem(atPath: "\(folder.path)/feed/trips.txt")
    try FileManager.default.removeItem(atPath: "\(folder.path)/feed/calendar.txt")
    try await expectFailure(
      "feed", "db", status: 66,
      "feed: This is not a GTFS feed: there is no trips.txt, calendar.txt or calendar_dates.txt.")
  }

  @Test("Importing a damaged archive exits with 65 and a message") func zip() async throws {
    try folder.write("PK\u{3}\u{4}\u{14}\u{0}", to: "feed.zip")
    try await expectFailure("feed.zip", "db", status: 65, "feed.zip: The compressed file is damaged")
    #expect(!folder.has("db"))
  }

  @Test("I5: importing another file into a table without a key exits with 65 and suggests options")
  func foreignRows() async throws {
    try folder.write("a,b\n1,2\n3,4\n", to: "x.csv")
    try folder.write("a,b\n9,9\n", to: "y.csv")
    #expect(try await Tool.run("import", "x.csv", "db", "--progress", "none", in: folder).status == 0)
    try await expectFailure(
      "y.csv", "db", "--table", "x", status: 65,
      "y.csv: The table x has rows that were not imported from this file, or were changed later, and it has no key to "
        + "match them by. Use --append to add to them, --replace to put the file's rows in their place, or --key."
    )
    #expect(try folder.rowCount(of: "x", in: "db") == 2)
    for (option, count) in [("--append", 3), ("--replace", 1)] {
      let run = try await Tool.run(
        "import", "y.csv", "db", "--table", "x", option, "--progress", "none", in: folder)
      #expect(run.status == 0, "\(run.errors)")
      #expect(try folder.rowCount(of: "x", in: "db") == count)
    }
  }

  @Test("Importing a file without a usable row exits with 65, unless an option allows such a file")
  func allRejected() async throws {
    try folder.write("a,b\n1\n2\n", to: "x.csv")
    try await expectFailure(
      "x.csv", "db", status: 65,
      "x.csv: None of the 2 rows could be imported. The database is unchanged; see db.rejected-rows/x.csv.")
    let run = try await Tool.run("import", "x.csv", "db", "--allow-rejected-rows", "--progress", "none", in: folder)
    #expect(run.status == 0)
  }

  @Test("I3: importing an empty file exits with 65") func emptyFile() async throws {
    try folder.write("", to: "empty.csv")
    try await expectFailure("empty.csv", "db", status: 65, "empty.csv:1: The file has no header: it is empty.")
    try folder.write("a,b\n1,2\n", to: "x.csv")
    try await expectFailure(
      "x.csv", "db", "--skip-lines", "99", status: 65,
      "x.csv:1: The file has no header: it has at most 99 lines, and these are skipped.")
  }

  @Test("I3: an import exits with 65 if the key column occurs twice") func duplicateColumn() async throws {
    try folder.write("a,b,A\n1,2,3\n", to: "twice.csv")
    try await expectFailure(
      "twice.csv", "db", "--key", "a", status: 65, "twice.csv:1: The column A occurs twice")
  }

  @Test("An import exits with 65 if the header does not contain the key column") func noKeyColumn() async throws {
    try folder.write("a,b\n1,2\n", to: "x.csv")
    try await expectFailure(
      "x.csv", "db", "--key", "id", status: 65,
      "x.csv:1: The header has no column “id”. Its columns are a and b.")
  }

  @Test("I3: with --strict, an import exits with 65 at the first malformed row and names the file and the line")
  func strict() async throws {
    try folder.write("a,b\n1,2\n3,4\n5\n6\n", to: "x.csv")
    try await expectFailure("x.csv", "db", "--strict", status: 65, "x.csv:4: ")
    try folder.writeSmallFeed(to: "feed", stopTimes: "t1,08:00:00,08:00:00,s1,1\nt1,08:05:00,08:05:00\n")
    try await expectFailure("feed", "db2", "--strict", status: 65, "feed/stop_times.txt:3: ")
  }

  @Test("I3: with --strict, the error names the line of an unclosed quote once") func unclosedQuote() async throws {
    try folder.write("a,b\n\"x,1\n", to: "x.csv")
    try await expectFailure(
      "x.csv", "db", "--strict", status: 65,
      "x.csv:2: The row can't be imported: byte 4: a quote that is never closed.")
  }

  @Test("I3: control characters in a file name do not reach the terminal") func controlCharacters() async throws {
    try await expectFailure(
      "\u{1B}c", "db", status: 66, "\u{FFFD}c: There is no such file or folder.")
    try folder.write("a,b\n1,2\n", to: "\u{1B}[31m\u{9B}.csv")
    for style in ["plain", "json", "none"] {
      let run = try await Tool.run(
        "import", "\u{1B}[31m\u{9B}.csv", "db", "--progress", style, in: folder)
      #expect(run.status == 0)
      let scalars = (run.output + run.errors).joined().unicodeScalars
      #expect(!scalars.contains { $0.properties.generalCategory == .control && $0 != "\t" }, "\(style)")
      if style == "json" {
        #expect(
          try run.objects().last { $0["event"] as? String == "table" }?["file"] as? String == "\u{1B}[31m\u{9B}.csv")
      }
    }
  }

  @Test("An error message stays on one line even if a column name contains a line ending")
  func lineEndInName() async throws {
    try folder.write("\"a\r\nb\",c,\"a\r\nb\"\n1,2,3\n", to: "x.csv")
    try await expectFailure(
      "x.csv", "db", "--key", "a\r\nb", status: 65, "x.csv:1: The column a b occurs twice")
  }

  @Test("Importing into a database in a missing folder exits with 73") func noFolder() async throws {
    try folder.write("a,b\n1,2\n", to: "x.csv")
    try await expectFailure("x.csv", "no/db", status: 73, "no/db: The database can't be opened: there is no folder ")
  }

  @Test("An import exits with 73 if the path of the database is a folder") func databaseIsFolder() async throws {
    try folder.write("a,b\n1,2\n", to: "x/x.csv")
    try await expectFailure("x/x.csv", "x", status: 73, "x: The database can't be opened: this is a folder.")
  }

  @Test("Importing into a file that is not a database exits with 65 and leaves the file unchanged")
  func notADatabase() async throws {
    let text = "a,b\n" + String(repeating: "1,2\n", count: 100)
    try folder.write(text, to: "x.csv")
    try await expectFailure(
      "x.csv", "x.csv", status: 65, "x.csv: The database can't be opened. (file is not a database)")
    #expect(try folder.text(of: "x.csv") == text)
  }

  @Test("I3: an import exits with 73 and the system's reason if it can't write the rejected rows")
  func unwritableRejectedRows() async throws {
    try folder.write("a,b\n1,2\n3\n", to: "x.csv")
    // Permissions would not stop an administrator, but a broken link does.
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder.path)/db.rejected-rows", withDestinationPath: "\(folder.path)/no/rejected-rows")
    try await expectFailure(
      "x.csv", "db", status: 73, "db.rejected-rows/x.csv: The rejected rows can't be written. (")
  }

  @Test("I3: if the disk is full, the file of rejected rows ends with a complete row") func fullDisk() async throws {
    let bad = String(repeating: "\(String(repeating: "x", count: 995)),y,z\n", count: 1_500)
    try folder.write("id,name\n" + (1...1_000).map { "\($0),name\n" }.joined() + bad, to: "people.csv")
    // Files that the tool writes can't be larger than 1 MB.
    let run = try await Tool(
      ["import", "people.csv", "--output", "db", "--progress", "none"], in: folder,
      launcher: ["/bin/bash", "-c", "trap '' XFSZ; ulimit -f 1024; exec \"$@\"", "bash"]
    ).finish()
    #expect(run.status == 73, "\(run.errors)")
    let rows = try folder.text(of: "db.rejected-rows/people.csv").split(
      separator: "\n", omittingEmptySubsequences: false)
    #expect(rows.count > 500 && rows.last == "")
    #expect(rows.dropFirst().dropLast().allSatisfy { $0.hasPrefix("people,") && $0.hasSuffix("x,y,z\"") })
    #expect(try folder.rowCount(of: "people", in: "db") == 1_000)
  }

  @Test("I3: an import exits with 65 if a type, a key, or a table name can't be used") func unsuitable() async throws {
    try folder.write("a,b\n1,2\n", to: "x.csv")
    try await expectFailure(
      "x.csv", "db", "--column-type", "c:integer", status: 65,
      "x.csv:1: The header has no column “c”. Its columns are a and b.")
    #expect(try await Tool.run("import", "x.csv", "db", "--key", "a", "--quiet", in: folder).status == 0)
    try await expectFailure(
      "x.csv", "db", "--column-type", "a:integer", status: 65,
      "x.csv: The column a of the table x is TEXT there, which can't become integer.")
    try await expectFailure(
      "x.csv", "db", "--key", "b", status: 65, "x.csv: The key of the table x can't be b: it is a.")
    try await expectFailure(
      "x.csv", "db", "--table", "sqlite_x", status: 65, "x.csv: The table can't be called sqlite_x")
  }

  @Test("Importing a file that is not text exits with 65 and a description, and creates no database")
  func foreign() async throws {
    try folder.write("%PDF-1.7\n", to: "x.pdf")
    try await expectFailure("x.pdf", "db", status: 65, "x.pdf: This is a PDF document.")
    for (text, format) in [
      ("<!DOCTYPE html>\n<title>Not found</title>", "HTML. A server"), ("\u{FEFF}\n <HTML>", "HTML"),
      ("<?xml version='1.0'?>", "XML"), ("{\n  \"a\": 1\n}", "JSON"), ("[{\"a\": 1}]", "JSON"),
    ] {
      try folder.write(text, to: "x.csv")
      try await expectFailure("x.csv", "db", status: 65, "x.csv: This is \(format)")
    }
    let bytes = (1...20_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }
    try Data(bytes).write(to: URL(fileURLWithPath: "\(folder.path)/random.csv"))
    try await expectFailure("random.csv", "db", status: 65, "random.csv: This is not a text file.")
    #expect(!folder.has("db"))
    // Column names with the same beginning, and an encoding that declares text.
    for (arguments, text) in [([], "[a],{b}\n1,2\n"), (["--encoding", "utf-8"], "{x}\n1\n")] {
      try folder.write(text, to: "x.csv")
      #expect(try await Tool.run(["import", "x.csv", "db", "--quiet"] + arguments, in: folder).status == 0)
      try folder.remove("db")
    }
  }

  @Test("I1: an import reports that another program has locked the database, and waits")
  func locked() async throws {
    try folder.write("a,b\n1,2\n", to: "x.csv")
    try #require(await Tool.run("import", "x.csv", "db", in: folder).status == 0)
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let other = try DatabaseQueue(path: "\(folder.path)/db", configuration: configuration)
    try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
    try await expectFailure(
      "x.csv", "db", "--busy-timeout", "0", status: 75, "db: The database can't be opened. (database is locked)")
    // Longer than any pause of this process on a busy machine.
    let tool = try Tool(["import", "x.csv", "db", "--busy-timeout", "3600"], in: folder)
    #expect(await tool.errors.contains { $0.contains("db is locked by another program; waiting.") })
    try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
    #expect(await tool.finish().status == 0)
  }

  @Test("Rows that were imported before the error are reported on standard output")
  func summaryBeforeError() async throws {
    try folder.write("a,b\n1,2\n3\n", to: "x.csv")
    let run = try await Tool.run("import", "x.csv", "db", "--strict", "--progress", "none", in: folder)
    #expect(run.output.contains { $0.hasPrefix("x ") && $0.hasSuffix("(not complete)") })
  }
}
#endif
