#if SQLite
import HeadwayTestSupport
import Testing

@Suite("A feed and its options", .hangLimit)
struct FeedTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(
    "I4: a feed is imported completely with every option that does not select content",
    arguments: [
      [], ["--durability", "full"], ["--durability", "normal"], ["--jobs", "1"],
      ["-j", "100"], ["--batch-size", "1"], ["--batch-size", "1000000"], ["--strict"],
      ["--delimiter", ","], ["--watch", "stops"],
    ]) func options(options: [String]) async throws
  {
    try folder.writeSmallFeed(to: "feed")
    let run = try await Tool.run(["import", "feed", "db"] + options, in: folder)
    #expect(run.status == 0, "\(run.errors)")
    let counts = ["agency": 1, "stops": 2, "routes": 1, "calendar": 1, "trips": 1, "stop_times": 2]
    for (table, count) in counts { #expect(try folder.rowCount(of: table, in: "db") == count, "\(table)") }
    #expect(!folder.has("db-wal"), "The write-ahead log is in the database when the tool has ended.")
  }

  @Test("File and folder names can contain spaces and umlauts") func names() async throws {
    try folder.writeSmallFeed(to: "Größe & Übersicht/VBB März")
    let database = "Größe & Übersicht/Fahrplan für alle.sqlite"
    let feed = try await Tool.run("import", "Größe & Übersicht/VBB März", database, in: folder)
    #expect(feed.status == 0, "\(feed.errors)")
    #expect(try folder.query("SELECT stop_name FROM stops WHERE stop_id = 's1'", in: database) == [["Nöldnerplatz"]])

    try folder.write("id,Straße\n1,Öjendorfer Weg\n2\n", to: "Größe & Übersicht/Straßen neu.csv")
    let file = try await Tool.run("import", "Größe & Übersicht/Straßen neu.csv", database, "--key", "id", in: folder)
    #expect(file.status == 3, "\(file.errors)")
    #expect(try folder.query("SELECT \"Straße\" FROM \"Straßen neu\"", in: database) == [["Öjendorfer Weg"]])
    #expect(folder.has("\(database).rejected-rows/Straßen neu.csv"))
  }

  @Test("I4: a file of a feed that is not a table is skipped and reported") func readMe() async throws {
    try folder.writeSmallFeed(to: "feed")
    try folder.write("Read me, please.\nOr not.\n", to: "feed/README.txt")
    let run = try await Tool.run("import", "feed", "db", in: folder)
    #expect(run.status == 0)
    #expect(run.errors.first == "headway: feed/README.txt does not look like a table, so it is skipped.")
  }

  @Test("I9: files next to a feed's files that might be tables are listed") func otherFiles() async throws {
    try folder.writeSmallFeed(to: "feed")
    for name in ["extra.csv", "more.tsv.gz", "locations.geojson"] { try folder.write("a,b\n1,2\n", to: "feed/\(name)") }
    let run = try await Tool.run("import", "feed", "db", in: folder)
    #expect(run.status == 0)
    for name in ["extra.csv", "locations.geojson", "more.tsv.gz"] {
      #expect(
        run.errors.contains("headway: feed/\(name) is not a file of the feed, so it is skipped."), "\(run.errors)")
    }
  }

  @Test("I5: importing another release of a feed is reported with advice") func release() async throws {
    try folder.writeSmallFeed(to: "feed")
    let releases = [
      ("spring", [], nil), ("summer", [], "Use --replace"), ("autumn", ["--replace"], "it is replaced"),
    ]
    for (release, options, message) in releases as [(String, [String], String?)] {
      try folder.write(
        "feed_publisher_name,feed_publisher_url,feed_lang,feed_version\nX,http://x,de,\(release)\n",
        to: "feed/feed_info.txt")
      let run = try await Tool.run(["import", "feed", "db"] + options, in: folder)
      #expect(run.status == 0, "\(run.errors)")
      let note = run.errors.first { $0.contains("release") }
      #expect((note == nil) == (message == nil))
      if let message { #expect(note?.contains("feed is release \(release)") == true && note!.contains(message)) }
      #expect(try folder.query("SELECT feed_version FROM feed_info", in: "db") == [[release]])
    }
  }

  @Test("The path of a folder can end with a slash") func slash() async throws {
    try folder.writeSmallFeed(to: "feed")
    #expect(try await Tool.run("import", "feed/", "db", in: folder).status == 0)
    #expect(try folder.rowCount(of: "stop_times", in: "db") == 2)
  }
}
#endif
