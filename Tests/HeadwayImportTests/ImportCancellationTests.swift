#if SQLite
import Foundation
import GRDB
import Headway
import HeadwayImport
import HeadwaySampleData
import HeadwayTestKit
import Testing

@Suite("Import: cancelling", .hangLimit)
struct ImportCancellationTests {
  @Test(
    "I2: cancelling leaves exactly the batches committed so far, with and without a key",
    arguments: [1, 2, 3, 7], [1, 10, 32, 64, 100])
  func inTheMiddle(batches: Int, size: Int) throws {
    for table in [TableSchema.people, .log] {
      try withWorkspace { workspace in
        let database = try workspace.database()
        let operation = try workspace.operation(
          people(1...1_000), table: table, into: database, options: ImportOptions(batchSize: size))
        let commits = EventRecorder<Int>()
        operation.commitHandler = { [weak operation] report in
          commits.record(report.rowCount)
          if report.rowCount == batches * size { operation?.cancel() }
        }
        run(operation)
        #expect(operation.isFinished)
        #expect(operation.isCancelled)
        #expect(operation.error == nil)
        #expect(commits.events == (1...batches).map { $0 * size })
        #expect(operation.report.rowCount == batches * size)
        #expect(!operation.report.isComplete)
        #expect(operation.progress.fractionCompleted < 1)
        let rows = try database.strings("SELECT id, name FROM \(table.name) ORDER BY rowid")
        #expect(rows == (1...(batches * size)).map { "\($0)|name \($0)" })
      }
    }
  }

  @Test("I2: cancelling while a batch is being written rolls that batch back", arguments: [1, 2, 3])
  func insideABatch(statement: Int) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let operation = try workspace.operation(people(1...500), into: database, options: ImportOptions(batchSize: 100))
      let commits = EventRecorder<Int>()
      operation.commitHandler = { commits.record($0.rowCount) }
      // A batch of 100 rows is written by three statements of 32 rows and one of 4 rows.
      cancel(operation, before: "INSERT", number: 4 + statement, in: database)
      run(operation)
      #expect(operation.isCancelled)
      #expect(operation.error == nil)
      #expect(commits.events == [100])
      #expect(try database.count("people") == 100)
      #expect(operation.report.rowCount == 100)
    }
  }

  @Test("I2: an operation that is cancelled before it starts leaves nothing, not even a table")
  func beforeTheStart() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let queue = Headway.OperationQueue()
      queue.isSuspended = true
      let first = try workspace.operation(people(1...10), into: database)
      let second = try workspace.operation(people(1...10), into: database)
      first.cancel()
      queue.addOperations([first, second], waitUntilFinished: false)
      second.cancel()
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      for operation in [first, second] {
        #expect(operation.isFinished)
        #expect(operation.error == nil)
        #expect(operation.report.rowCount == 0)
        #expect(!operation.report.isComplete)
      }
      #expect(try !database.hasTable("people"))
    }
  }

  @Test("I2: cancelling while an index is created discards the index, and the rows stay")
  func whileIndexing() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let table = TableSchema(
        name: "people", columns: TableSchema.people.columns, key: ["id"], indices: [["name"], ["name", "id"]])
      func importAll() throws -> ImportOperation {
        try workspace.operation(
          people(1...3_000), table: table, into: database, options: ImportOptions(batchSize: 1_000))
      }
      let operation = try importAll()
      cancel(operation, before: "CREATE INDEX", number: 1, in: database)
      run(operation)
      #expect(operation.isFinished)
      #expect(operation.isCancelled)
      #expect(operation.error == nil)
      #expect(!operation.report.isComplete)
      #expect(operation.report.rowCount == 3_000)
      #expect(try database.count("people") == 3_000)
      let indices = "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name"
      #expect(try database.strings(indices) == [])

      // The connection works as before.
      let again = try importAll()
      run(again)
      #expect(again.error == nil)
      #expect(try database.strings(indices) == ["people_name", "people_name_id"])
      #expect(try database.isIntact())
    }
  }

  #if os(Linux)
  @Test("I2: an import that waits for the writer of a FIFO, or for a silent writer, ends when it is cancelled")
  func waitingForBytes() throws {
    for text in [nil, "", "id,name\n1,a\n2"] {
      try withWorkspace { workspace in
        let database = try workspace.database()
        let path = workspace.path("people.csv")
        try #require(mkfifo(path, 0o600) == 0)
        let writer = text == nil ? -1 : open(path, O_RDWR | O_CLOEXEC)
        if let text { try #require(write(writer, text, text.utf8.count) == text.utf8.count) }
        let operation = ImportOperation(file: path, table: .people, into: database)
        let queue = Headway.OperationQueue()
        queue.addOperation(operation)
        // One descriptor belongs to the writer.
        while openDescriptors(of: path) < (text == nil ? 1 : 2) { sched_yield() }
        operation.cancel()
        operation.waitUntilFinished()
        #expect(operation.error == nil && !operation.report.isComplete && operation.report.rowCount == 0)
        #expect(try !database.hasTable("people"))
        if writer >= 0 { close(writer) }
      }
    }
  }

  private func openDescriptors(of path: String) -> Int {
    let (files, folder) = (FileManager.default, "/proc/self/fd")
    return ((try? files.contentsOfDirectory(atPath: folder)) ?? []).count {
      (try? files.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path
    }
  }
  #endif

  @Test("I2: cancelling after the last batch keeps all rows and leaves the import incomplete")
  func afterTheLastBatch() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let operation = try workspace.operation(people(1...20), into: database, options: ImportOptions(batchSize: 10))
      operation.commitHandler = { [weak operation] in if $0.rowCount == 20 { operation?.cancel() } }
      run(operation)
      #expect(operation.error == nil)
      #expect(!operation.report.isComplete)
      #expect(try database.count("people") == 20)
    }
  }

  @Test("I2: rejected rows of batches that were not committed are neither written nor counted")
  func rejectedRows() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      var lines = people(1...60)
      for line in [5, 15, 25, 35] { lines[line] = "broken" }
      let operation = try workspace.operation(
        lines, into: database, options: ImportOptions(batchSize: 8), rejectedRows: workspace.rejectedRowsFile())
      operation.commitHandler = { [weak operation] in if $0.rowCount == 16 { operation?.cancel() } }
      run(operation)
      let issues = try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv"))
      #expect(operation.report.rowCount == 16)
      #expect(operation.report.rejectedRowCount == issues.count)
      #expect(issues.map(\.lineNumber) == [7, 17])
    }
  }

  @Test("I2: cancelling a progress cancels its import or its feed", arguments: [false, true])
  func throughProgress(isWhole: Bool) throws {
    try withWorkspace { workspace in
      try SampleFeed(stopTimes: 300, seed: 4).write(to: workspace.path("feed"))
      let database = try workspace.database()
      let feed = try FeedImport(
        folder: workspace.path("feed"), into: database, options: ImportOptions(batchSize: 5))
      let stops = try #require(feed.operations.first { $0.table.name == "stops" })
      let whole = feed.progress
      stops.commitHandler = { [weak stops] report in
        guard report.rowCount == 10 else { return }
        if isWhole { whole.cancel() } else { stops?.progress.cancel() }
      }
      run(feed.operations)
      #expect(stops.isCancelled)
      #expect(stops.report.rowCount == 10)
      #expect(try database.count("stops") == 10)
      #expect(feed.operations.allSatisfy { $0.isFinished && $0.error == nil })
      let last = try #require(feed.operations.first { $0.table.name == "stop_times" })
      #expect(last.isCancelled == isWhole)
      #expect(last.report.rowCount == (isWhole ? 0 : 300))
    }
  }

  @Test("I2: cancelling discards the batches that wait to be written, and the import finishes")
  func withAFullLine() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let other = try workspace.operation(people(1...10), table: .log, into: database)
      let gate = Checkpoint()
      let operation = try workspace.operation(
        people(1...2_000), into: database, options: ImportOptions(batchSize: 10))
      let commits = EventRecorder<Int>()
      operation.commitHandler = { report in
        commits.record(report.rowCount)
        if report.rowCount == 30 { gate.pass() }
      }
      let queue = Headway.OperationQueue()
      queue.addOperations([operation, other], waitUntilFinished: false)
      gate.awaitArrival()
      operation.cancel()
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(commits.events == [10, 20, 30])
      #expect(try database.count("people") == 30)
      #expect(try database.count("log") == 10)
    }
  }

  /// Cancels when SQLite begins a statement with this beginning, for the given time.
  private func cancel(
    _ operation: ImportOperation, before start: String, number: Int, in database: ImportDatabase
  ) {
    let seen = EventRecorder<String>()
    database.pool.writeWithoutTransaction { connection in
      connection.trace { [weak operation] event in
        guard case .statement(let statement) = event, statement.sql.hasPrefix(start) else { return }
        seen.record(statement.sql)
        if seen.events.count == number { operation?.cancel() }
      }
    }
  }
}
#endif
