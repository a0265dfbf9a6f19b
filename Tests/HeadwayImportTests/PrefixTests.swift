#if SQLite
import Headway
import HeadwayImport
import Testing

@Suite("Import: feeds under a prefix", .hangLimit)
struct PrefixTests {
  @Test("I4, I5: a feed with a prefix has its own tables, references, indices, and history") func twoFeeds() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let folder = try workspace.feed(["log.txt": "a,b\n1,2\n"])
      for prefix in ["a_", "Ü b-", "a_"] {
        let feed = try FeedImport(
          folder: folder, into: database, tablePrefix: prefix, rejectedRowsFolder: workspace.path("rejected-rows"))
        run(feed.operations)
        #expect(feed.operations.allSatisfy { $0.error == nil })
        #expect(
          feed.reports.allSatisfy { $0.table.hasPrefix(prefix) && $0.rejectedRowCount == 0 && $0.flaggedRowCount == 0 })
      }
      #expect(try database.count("a_stops") == 3)
      #expect(try database.count("a_log") == 1)
      #expect(try database.strings("SELECT \"table\" FROM pragma_foreign_key_list('a_trips')") == ["a_routes"])
      #expect(try database.strings("SELECT \"table\" FROM pragma_foreign_key_list('Ü b-stops')") == ["Ü b-stops"])
      #expect(
        try database.strings(
          "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND sql NOT NULL AND name NOT LIKE tbl_name || '%'"
        )
          == ["0"])
      #expect(try !database.hasTable("stops") && !database.hasTable("log"))
      #expect(!workspace.exists("rejected-rows"))
    }
  }

  @Test("I4: references of a feed with a prefix refer to its own tables")
  func references() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      run(try FeedImport(folder: workspace.feed(), into: database).operations)
      let folder = try workspace.feed([
        "routes.txt": "route_id,agency_id,route_short_name,route_type\nQ,A,1,3\n",
        "trips.txt": "route_id,service_id,trip_id\nR,D,T\n",
      ])
      let feed = try FeedImport(
        folder: folder, into: database, tablePrefix: "b_", rejectedRowsFolder: workspace.path("rejected-rows"))
      run(feed.operations)
      #expect(
        try workspace.feedRowIssues().map(\.reason) == ["route_id: there is no “R” in b_routes.route_id"])
    }
  }
}
#endif
