#if SQLite && Compression
import Foundation
import Headway
@testable import HeadwayImport
import HeadwayTestSupport
import Testing

@Suite("Import: feeds in zip archives", .hangLimit)
struct ArchivedFeedTests {
  /// An archive with the files of a feed that is written for the test.
  private func archive(
    in workspace: Workspace, folder: String = "", _ changes: [String: String?] = [:], beside: [String] = []
  ) throws -> String {
    let feed = try workspace.feed(changes)
    let names = try FileManager.default.contentsOfDirectory(atPath: feed).sorted()
    var files = try names.map {
      (name: folder + $0, text: String(decoding: try workspace.bytes(of: "feed/\($0)"), as: UTF8.self))
    }
    files += beside.map { ($0, "x") }
    try FileManager.default.removeItem(atPath: feed)
    return try workspace.write(zipped(files), to: "feed.zip")
  }

  @Test(
    "I4: importing a feed from a zip archive gives the same result as from a folder",
    arguments: ["", "My Feed/", "a/b/"])
  func sameContent(inner: String) throws {
    try withWorkspace { workspace in
      let path = try archive(in: workspace, folder: inner, beside: ["__MACOSX/\(inner)._stops.txt", ".DS_Store"])
      let database = try workspace.database()
      let feed = try FeedImport(folder: path, into: database, rejectedRowsFolder: workspace.path("rejected-rows"))
      run(feed.operations)
      #expect(feed.operations.allSatisfy { $0.error == nil })
      #expect(feed.folder == (inner.isEmpty ? path : "\(path)/\(inner.dropLast())"))
      #expect(feed.reports.allSatisfy { $0.isComplete && $0.committedByteCount == $0.fileSize })
      let contents = try database.contents()
      let folder = try workspace.feed()
      let other = try ImportDatabase(path: workspace.path("other.sqlite"))
      run(try FeedImport(folder: folder, into: other).operations)
      #expect(try contents == other.contents())
      let source = URL(filePath: path).resolvingSymlinksInPath().path
      #expect(
        try database.strings(#"SELECT source FROM grdb_headway_imports WHERE "table" = 'stops'"#) == [
          "\(source)/\(inner)stops.txt"
        ])
    }
  }

  @Test("I5: importing an archived feed again updates or replaces its tables")
  func again() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let info = "feed_publisher_name,feed_publisher_url,feed_lang,feed_version\nX,http://x,de,"
      func run(_ version: String, _ existing: ImportOptions.ExistingRowPolicy) throws {
        let path = try archive(in: workspace, ["feed_info.txt": info + version + "\n"])
        let feed = try FeedImport(folder: path, into: database, options: ImportOptions(existingRowPolicy: existing))
        HeadwayImportTests.run(feed.operations)
        for operation in feed.operations { if let error = operation.error { throw error } }
      }
      try run("1", .update)
      try run("2", .update)
      #expect(try database.strings("SELECT feed_version FROM feed_info") == ["2"])
      try workspace.move("feed.zip", to: "old.zip")
      try run("3", .replace)
      #expect(try database.strings("SELECT feed_version FROM feed_info") == ["3"])
      // The same file from another archive is another source.
      try workspace.move("feed.zip", to: "new.zip")
      let error = #expect(throws: ImportError.self) {
        try FeedImport(folder: workspace.path("new.zip"), into: database)
      }
      #expect(error?.code == .foreignRows)
    }
  }

  @Test("I5: a second import completes a cancelled import of an archived feed") func resumed() throws {
    try withWorkspace { workspace in
      let log = (1...50).map { "\($0),x\n" }.joined()
      let path = try archive(in: workspace, ["log.txt": "a,b\n" + log])
      let database = try workspace.database()
      let first = try FeedImport(folder: path, into: database, options: ImportOptions(batchSize: 10))
      let operation = try #require(first.operations.first { $0.table.name == "log" })
      operation.commitHandler = { [unowned operation] in if $0.rowCount == 20 { operation.cancel() } }
      run(first.operations)
      #expect(try database.count("log") == 20)
      let second = try FeedImport(folder: path, into: database)
      run(second.operations)
      #expect(second.operations.allSatisfy { $0.error == nil })
      #expect(try database.strings("SELECT rowid, a FROM log LIMIT 2") == ["2|1", "3|2"])
      #expect(try database.count("log") == 50)
    }
  }

  @Test("I5: repeating a cancelled append of a feed adds only the missing rows")
  func appendedTwice() throws {
    try withWorkspace { workspace in
      let rows = (1...30).map { "\($0),x\n" }.joined()
      let path = try archive(in: workspace, ["log.txt": "a,b\n" + rows, "other.txt": "a,b\n" + rows])
      let database = try workspace.database()
      func append(cancelling: Bool) throws {
        let options = ImportOptions(batchSize: 10, existingRowPolicy: .append)
        let feed = try FeedImport(folder: path, into: database, options: options)
        let (log, other) = (
          feed.operations.first { $0.table.name == "log" }, feed.operations.first { $0.table.name == "other" }
        )
        if cancelling, let log, let other {
          log.addDependency(other)
          log.commitHandler = { [unowned log] in if $0.rowCount == 20 { log.cancel() } }
        }
        run(feed.operations)
      }
      for round in 1...2 {
        try append(cancelling: true)
        #expect(try database.count("other") == 30 * round && database.count("log") == 30 * round - 10)
        try append(cancelling: false)
        #expect(try database.count("other") == 30 * round && database.count("log") == 30 * round)
      }
    }
  }

  @Test("I4: an unusable archive causes a typed error before any table is created")
  func unreadable() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let files = [(name: "stops.txt", text: "a,b\n1,2\n")]
      let archives: [(bytes: [UInt8], code: ImportError.Code, text: String)] = [
        (zipped(files, password: "x"), .foreignContent, "encrypted"),
        (claiming(.max / 2, zipped(files)), .foreignContent, "200 times"),
        (zipped(files).dropLast(30), .foreignContent, "damaged"),
        (zipped([("../stops.txt", "x")]), .foreignContent, "such a name"),
        (zipped([("a/", "")]), .foreignContent, "no file"),
        (zipped([("a/stops.txt", "x"), ("b/stops.txt", "x")]), .foreignContent, "several folders"),
        (zipped(files), .missingFiles, "there is no agency.txt"),
      ]
      for archive in archives {
        let path = try workspace.write(archive.bytes, to: "x.zip")
        let error = #expect(throws: ImportError.self) { try FeedImport(folder: path, into: database) }
        #expect(error?.code == archive.code, "\(archive.text)")
        #expect(error?.context.contains(archive.text) == true, "\(String(describing: error))")
      }
      #expect(try database.contents() == ["schema": []])
    }
  }

  @Test("I4: the outermost of several feeds in an archive is used, unless the path names another feed")
  func several() throws {
    try withWorkspace { workspace in
      func agency(_ name: String) -> String { "agency_id,agency_name,agency_timezone\nA,\(name),Europe/Berlin\n" }
      let path = try workspace.write(
        zipped([("a/agency.txt", agency("one")), ("a/old/agency.txt", agency("two")), ("notes/x.txt", "x")]),
        to: "x.zip")
      #expect(try SourceFolder(path: path).path == "\(path)/a")
      #expect(try SourceFolder(path: "\(path)/a/old").path == "\(path)/a/old")
    }
  }
}
#endif
