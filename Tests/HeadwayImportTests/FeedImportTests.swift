#if SQLite
import Foundation
import GRDB
import Headway
@testable import HeadwayImport
import HeadwaySampleData
import HeadwayTestKit
import Testing

@Suite("Import: feeds", .hangLimit)
struct FeedImportTests {
  // MARK: Content

  @Test(
    "I4: each table of a feed has the expected rows, types, keys, references and indices",
    arguments: [SampleFeed.LineEnding.lf, .crlf])
  func sampleFeed(lineEnding: SampleFeed.LineEnding) throws {
    try withWorkspace { workspace in
      try SampleFeed(stopTimes: 500, seed: 3, lineEnding: lineEnding).write(to: workspace.path("feed"))
      try expectImport(of: workspace.path("feed"), workspace)
    }
  }

  @Test(
    "I4: each table of a real feed has the expected rows, types, keys, references and indices",
    .enabled(if: realFeed != nil, "There is no shared/data/vbb-2020"))
  func wholeRealFeed() throws {
    try withWorkspace { workspace in try expectImport(of: #require(realFeed), workspace) }
  }

  private func expectImport(of folder: String, _ workspace: Workspace) throws {
    let database = try workspace.database()
    let feed = try FeedImport(folder: folder, into: database, rejectedRowsFolder: workspace.path("rejected-rows"))
    run(feed.operations)
    #expect(feed.operations.allSatisfy { $0.error == nil })
    let reference = try ReferenceFeed(folder)
    #expect(Set(feed.reports.map(\.table)) == Set(reference.tables.keys))
    for report in feed.reports {
      let table = try #require(reference.tables[report.table])
      #expect(report.isComplete)
      #expect(report.rowCount == table.rows.count, "\(report.table)")
      #expect(report.rejectedRowCount == 0, "\(report.table)")
      #expect(report.flaggedRowCount == reference.reportCount(of: table), "\(report.table)")
      try database.expectContent(table)
      try database.expectDeclarations(table, of: reference)
    }
    let flagged = feed.reports.reduce(0) { $0 + $1.flaggedRowCount }
    if flagged > 0 {
      #expect(try workspace.feedRowIssues().count == flagged)
    } else {
      #expect(!workspace.exists("rejected-rows"))
    }
    #expect(try database.isIntact())
  }

  @Test("I4: unknown tables and columns are imported as text, and other files are ignored")
  func unknown() throws {
    try withWorkspace { workspace in
      let folder = try workspace.feed([
        "colours.txt": "name,code\nred,007\n",
        "stops.txt": "stop_id,stop_name,colour,parent_station\nS1,One,0815,P\nS2,Two,,\nP,Parent,1e3,\n",
        "locations.geojson": "{", "notes.md": "# Notes", "empty.txt": "a,b\n",
        "README.txt": "This feed, published on Monday, is for tests.\n\nIt has stops, and so on.\n",
        "licence.txt": "CC0\n", "list.txt": "name,code\n1\n2\n3,4,5\n", "twice.txt": "a,A\n1,2\n",
      ])
      let database = try workspace.database()
      let feed = try FeedImport(folder: folder, into: database)
      run(feed.operations)
      #expect(feed.operations.allSatisfy { $0.error == nil })
      #expect(try database.strings("SELECT name, code, typeof(code) FROM colours") == ["red|007|text"])
      #expect(
        try database.strings("SELECT colour, typeof(colour) FROM stops ORDER BY rowid") == [
          "0815|text", "NULL|null", "1e3|text",
        ])
      #expect(feed.ignoredFiles == ["README.txt", "licence.txt", "list.txt", "locations.geojson", "twice.txt"])
      #expect(Set(feed.reports.map(\.table)).isSuperset(of: ["colours", "empty"]))
      for table in ["notes", "README", "licence"] { #expect(try !database.hasTable(table)) }
      let reference = try ReferenceFeed(folder)
      for (name, table) in reference.tables where !feed.ignoredFiles.contains("\(name).txt") {
        try database.expectDeclarations(table, of: reference)
      }
    }
  }

  @Test("I4: hidden files, folders, and empty optional files are skipped")
  func passedOver() throws {
    try withWorkspace { workspace in
      let folder = try workspace.feed(["._stops.txt": "\u{1}", "transfers.txt": ""])
      try FileManager.default.createDirectory(atPath: "\(folder)/notes.txt", withIntermediateDirectories: false)
      let feed = try FeedImport(folder: folder, into: workspace.database())
      run(feed.operations)
      #expect(feed.operations.allSatisfy { $0.error == nil })
      #expect(Set(feed.reports.map(\.table)) == ["agency", "stops", "routes", "trips", "stop_times", "calendar"])
    }
  }

  @Test("I4: a feed without optional files is complete")
  func optionalFiles() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let feed = try FeedImport(folder: try workspace.feed(), into: database)
      run(feed.operations)
      #expect(feed.operations.allSatisfy { $0.error == nil })
      #expect(feed.reports.allSatisfy { $0.isComplete && $0.rejectedRowCount == 0 && $0.flaggedRowCount == 0 })
      #expect(Set(feed.reports.map(\.table)) == ["agency", "stops", "routes", "trips", "stop_times", "calendar"])
      #expect(
        try database.strings("SELECT arrival_time, departure_time FROM stop_times") == [
          "06:00:00|06:00:00", "25:10:00|NULL",
        ])
    }
  }

  @Test(
    "I4: a folder without the required files causes an error that names them, and nothing changes",
    arguments: [
      (["trips.txt"], "trips.txt"), (["agency.txt", "stop_times.txt"], "agency.txt, stop_times.txt"),
      (["calendar.txt"], "calendar.txt or calendar_dates.txt"), (["stops.txt"], "stops.txt or locations.geojson"),
    ])
  func requiredFiles(missing: [String], names: String) throws {
    try withWorkspace { workspace in
      let folder = try workspace.feed(Dictionary(uniqueKeysWithValues: missing.map { ($0, nil) }))
      let database = try workspace.database()
      let error = #expect(throws: ImportError.self) { try FeedImport(folder: folder, into: database) }
      #expect(error?.code == .missingFiles)
      #expect(error?.path == folder)
      #expect(error?.context == "This is not a GTFS feed: there is no \(names).")
      #expect(try database.contents() == ["schema": []])
    }
  }

  @Test("I4: a folder that can't be read causes a typed error", arguments: ["nowhere", "file"])
  func unreadable(name: String) throws {
    try withWorkspace { workspace in
      try workspace.write("", to: "file")
      let database = try workspace.database()
      let error = #expect(throws: ImportError.self) { try FeedImport(folder: workspace.path(name), into: database) }
      #expect(error?.code == .cannotReadFile)
      #expect(error?.path == workspace.path(name))
    }
  }

  // MARK: References

  @Test("I4: rows with invalid references are imported and reported with table, line, value, and record")
  func missingReferences() throws {
    try withWorkspace { workspace in
      let folder = try workspace.feed([
        "routes.txt": "route_id,agency_id,route_short_name,route_type\nR,A,1,3\nQ,nobody,2,3\nP,,3,3\n",
        "trips.txt": "route_id,service_id,trip_id\nR,D,T\n\"no \"\"way\"\"\",D,U\n",
      ])
      let database = try workspace.database()
      for rejectedRowsFolder in ["rejected-rows", "again"] {
        let feed = try FeedImport(
          folder: folder, into: database, rejectedRowsFolder: workspace.path(rejectedRowsFolder))
        run(feed.operations)
        #expect(feed.operations.allSatisfy { $0.error == nil })
        let issues = try workspace.feedRowIssues(in: rejectedRowsFolder).sorted { $0.table < $1.table }
        #expect(
          issues == [
            RowIssue(
              table: "routes", lineNumber: 3, status: .importedWithIssue,
              reason: "agency_id: there is no “nobody” in agency.agency_id",
              record: Array("Q,nobody,2,3".utf8)),
            RowIssue(
              table: "trips", lineNumber: 3, status: .importedWithIssue,
              reason: "route_id: there is no “no \"way\"” in routes.route_id",
              record: Array("\"no \"\"way\"\"\",D,U".utf8)),
          ])
        #expect(feed.reports.map(\.flaggedRowCount).reduce(0, +) == 2)
        #expect(feed.reports.map(\.rejectedRowCount).reduce(0, +) == 0)
        #expect(
          try database.strings("SELECT route_id, agency_id FROM routes ORDER BY rowid") == [
            "R|A", "Q|nobody", "P|NULL",
          ])
        #expect(
          try database.strings("SELECT route_id, trip_id FROM trips ORDER BY rowid") == ["R|T", "no \"way\"|U"])
      }
    }
  }

  @Test(
    "I4: a reference can point to a later row of its file, and is reported if no row matches", arguments: [1, 2, 250])
  func selfReferences(batchSize: Int) throws {
    try withWorkspace { workspace in
      let folder = try workspace.feed([
        "stops.txt":
          """
        stop_id,stop_name,parent_station
        S1,a,P
        S2,b,gone
        P,c,
        S3,d,P
        self,e,self
        S4,f,gone
        broken
        S5,g,"P"

        """
      ])
      let database = try workspace.database()
      let feed = try FeedImport(
        folder: folder, into: database, options: ImportOptions(batchSize: batchSize),
        rejectedRowsFolder: workspace.path("rejected-rows")
      )
      run(feed.operations)
      let issues = try workspace.feedRowIssues().filter { $0.status == .importedWithIssue }
      #expect(issues.map(\.lineNumber) == [3, 7])
      let reason = "parent_station: there is no “gone” in stops.stop_id"
      #expect(issues.map(\.reason) == [reason, reason])
      #expect(issues.map(\.record) == [Array("S2,b,gone".utf8), Array("S4,f,gone".utf8)])
      let report = try #require(feed.reports.first { $0.table == "stops" })
      #expect(report.flaggedRowCount == 2)
      #expect(report.rejectedRowCount == 1)
      #expect(report.rowCount == 7)
    }
  }

  @Test("I4: a reference can point to a row of an earlier import")
  func selfReferencesToEarlierImports() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      run(try FeedImport(folder: try workspace.feed(), into: database).operations)
      let folder = try workspace.feed(["stops.txt": "stop_id,stop_name,parent_station\nS1,One,P\nS2,Two,\n"])
      let feed = try FeedImport(folder: folder, into: database)
      run(feed.operations)
      #expect(feed.reports.allSatisfy { $0.flaggedRowCount == 0 })
    }
  }

  @Test("I4: a column without values is not reported as unchecked") func nothingToCheck() throws {
    try withWorkspace { workspace in
      let folder = try workspace.feed(["trips.txt": "route_id,service_id,trip_id,shape_id\nR,D,T,\nR,D,U,\n"])
      let feed = try FeedImport(folder: folder, into: workspace.database())
      run(feed.operations)
      #expect(feed.reports.allSatisfy { $0.uncheckedReferences.isEmpty })
    }
  }

  @Test("I4: references to a missing table are reported as unchecked, once per column")
  func uncheckedReferences() throws {
    try withWorkspace { workspace in
      let folder = try workspace.feed([
        "trips.txt": "route_id,service_id,trip_id,shape_id\nR,D,T,X\nR,D,U,Y\n"
      ])
      let database = try workspace.database()
      let feed = try FeedImport(folder: folder, into: database, rejectedRowsFolder: workspace.path("rejected-rows"))
      run(feed.operations)
      #expect(!workspace.exists("rejected-rows"), "Nothing is wrong with a row.")
      let report = try #require(feed.reports.first { $0.table == "trips" })
      #expect(report.flaggedRowCount == 0)
      #expect(
        report.uncheckedReferences == [
          "shape_id refers to shapes.shape_id, but there is no table shapes: not checked"
        ])
      #expect(try database.count("trips") == 2)
    }
  }

  @Test("I4: tables and references are found regardless of the case of their names")
  func caseOfNames() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let parents = TableSchema(name: "Parents", columns: [ColumnSchema(name: "ID")], key: ["ID"])
      run(try workspace.operation(["1", "2"], header: "id", table: parents, into: database))
      let children = TableSchema(
        name: "children",
        columns: [ColumnSchema(name: "parent", reference: ColumnReference(table: "Parents", column: "ID"))])
      let operation = try workspace.operation(
        ["1", "3"], header: "Parent", table: children, into: database, rejectedRows: workspace.rejectedRowsFile())
      run(operation)
      #expect(operation.error == nil)
      #expect(try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv")).map(\.lineNumber) == [3])
    }
  }

  // MARK: Order

  @Test("I4, D1: each table has one operation, which runs after the operations of the tables that it refers to")
  func order() throws {
    try withWorkspace { workspace in
      try SampleFeed(stopTimes: 300, seed: 6).write(to: workspace.path("feed"))
      let feed = try FeedImport(
        folder: workspace.path("feed"), into: try workspace.database(), options: ImportOptions(batchSize: 20))
      let events = EventRecorder<String>()
      for operation in feed.operations {
        let name = operation.table.name
        let expected = operation.table.dependencies.intersection(feed.operations.map(\.table.name))
        let parents = operation.dependencies.compactMap { $0 as? ImportOperation }
        #expect(Set(parents.map(\.table.name)) == expected, "\(name)")
        #expect(parents.count == expected.count)
        operation.commitHandler = { [parents] _ in
          if events.events.contains("\(name) begins") == false { events.record("\(name) begins") }
          #expect(parents.allSatisfy { $0.isFinished && $0.report.isComplete }, "\(name)")
        }
        operation.completionBlock = { events.record("\(name) is finished") }
      }
      run(feed.operations)
      #expect(feed.operations.allSatisfy { $0.error == nil })
      #expect(feed.operations.first { $0.table.name == "stop_times" }?.table.dependencies.isEmpty == false)
      #expect(events.events.count { $0.hasSuffix("begins") } == feed.operations.count)
    }
  }

  /// ```
  /// writing thread                        the import that reads a pipe
  /// first batch of the pipe
  /// first batch of the other import
  ///   held at the gate                    reads and parses 240 KB
  ///   released when all of that is read
  /// ```
  @Test("I4: one import parses its file while another import writes")
  func overlap() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let pipe = try Pipe(workspace.path("pipe.csv"))
      let parsing = ImportOperation(
        file: workspace.path("pipe.csv"), table: .log, into: database, options: ImportOptions(batchSize: 100))
      let writing = try workspace.operation(people(1...10), into: database)
      let (parsingGate, writingGate) = (Checkpoint(), Checkpoint())
      parsing.commitHandler = { if $0.rowCount == 100 { parsingGate.pass() } }
      writing.stop(at: writingGate)
      let queue = Headway.OperationQueue()
      queue.addOperation(parsing)
      let row = String(repeating: "x", count: 797) + ",a\n"  // 800 bytes
      pipe.write("id,name\n" + String(repeating: row, count: 100))
      parsingGate.awaitArrival()
      parsingGate.open()

      queue.addOperation(writing)
      writingGate.awaitArrival()
      // A pipe holds 64 KB: the rest must have been read from it, and parsed to make room in the reader's buffer.
      pipe.write(String(repeating: row, count: 300))
      #expect(parsing.report.rowCount == 100)
      #expect(!writing.isFinished)
      writingGate.open()
      pipe.close()
      queue.waitUntilAllOperationsAreFinished()
      #expect(parsing.error == nil)
      #expect(parsing.report.rowCount == 400)
      #expect(writing.report.isComplete)
    }
  }

  // MARK: Failures

  /// ```
  /// shapes, on the writing thread         agency
  /// commits its first batch
  ///   waits for agency                    fails at its header: the others are cancelled
  ///   continues: is cancelled
  /// ```
  @Test("I4: if one table fails, the other tables are cancelled and keep their committed rows")
  func failure() throws {
    try withWorkspace { workspace in
      let shapes = (1...100).map { "X,52.5,13.4,\($0)\n" }.joined()
      let folder = try workspace.feed([
        "agency.txt": "agency_id,agency_name,agency_ID,agency_timezone\n",
        "shapes.txt": "shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence\n" + shapes,
      ])
      let database = try workspace.database()
      let feed = try FeedImport(folder: folder, into: database, options: ImportOptions(batchSize: 10))
      let byTable = Dictionary(uniqueKeysWithValues: feed.operations.map { ($0.table.name, $0) })
      let (failing, held) = (try #require(byTable["agency"]), try #require(byTable["shapes"]))
      // Not earlier: otherwise, it might be cancelled before it begins.
      let gate = Checkpoint()
      held.commitHandler = { _ in
        gate.pass()
        failing.waitUntilFinished()
      }
      let queue = Headway.OperationQueue()
      queue.addOperations(feed.operations.filter { $0 != failing }, waitUntilFinished: false)
      gate.awaitArrival()
      queue.addOperation(failing)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()

      #expect(try importError(failing).code == .badHeader)
      #expect(held.isCancelled)
      #expect(held.report.rowCount == 10)
      #expect(feed.operations.allSatisfy { $0.isFinished })
      #expect(feed.operations.filter { $0 != failing }.allSatisfy { $0.error == nil })
      for name in ["trips", "stop_times", "routes"] {
        #expect(byTable[name]?.isCancelled == true)
        #expect(try !database.hasTable(name))
      }
      for report in feed.reports where try database.hasTable(report.table) {
        #expect(try database.count(report.table) == report.rowCount)
      }
      #expect(feed.progress.isCancelled)
      #expect(feed.progress.fractionCompleted < 1)
    }
  }

  @Test("I4, I5: cancelling a feed cancels each import after the imports that depend on it")
  func cancelledParents() throws {
    try withWorkspace { workspace in
      try SampleFeed(stopTimes: 50, seed: 7).write(to: workspace.path("feed"))
      let database = try workspace.database()
      let feed = try FeedImport(folder: workspace.path("feed"), into: database)
      for operation in feed.operations {
        let children = feed.operations.filter { $0.dependencies.contains(operation) }
        operation.onCancel { #expect(children.allSatisfy { $0.isCancelled }) }
      }
      feed.progress.cancel()
      #expect(feed.operations.allSatisfy { $0.isCancelled })
    }
  }
}

/// The writing end of a FIFO, open from the beginning, so no thread waits for another one to open it.
private struct Pipe {
  private let descriptor: Int32

  init(_ path: String) throws {
    try #require(mkfifo(path, 0o600) == 0)
    descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    try #require(descriptor >= 0)
  }

  /// Writes all bytes, or records an issue if they are not read within 20 seconds.
  func write(_ text: String) {
    let bytes = Array(text.utf8)
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        written += count
        continue
      }
      var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      guard poll(&entry, 1, 20_000) > 0 else {
        Issue.record("No process reads the pipe")
        return
      }
    }
  }

  func close() { Foundation.close(descriptor) }
}
#endif
