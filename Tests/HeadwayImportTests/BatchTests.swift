#if SQLite
import GRDB
import Headway
import HeadwayCSV
import HeadwayImport
import HeadwayTestKit
import Testing

@Suite("Import: batches", .hangLimit)
struct BatchTests {
  @Test("I1: 250 rows are committed together by default")
  func defaultSize() throws {
    #expect(ImportOptions().batchSize == 250)
    try withWorkspace { workspace in
      let database = try workspace.database()
      let operation = try workspace.operation(people(1...1_100), into: database)
      let commits = EventRecorder<Int>()
      operation.commitHandler = { commits.record($0.rowCount) }
      run(operation)
      #expect(operation.error == nil)
      #expect(commits.events == [250, 500, 750, 1_000, 1_100])
      #expect(try database.count("people") == 1_100)
    }
  }

  @Test(
    "I1: rows are committed in batches of the given size, with and without a key",
    arguments: [1, 31, 32, 33, 64, 100, 500, 501, 9_999], [TableSchema.people, .log])
  func sizes(size: Int, table: TableSchema) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let operation = try workspace.operation(
        people(1...500), table: table, into: database, options: ImportOptions(batchSize: size))
      let commits = EventRecorder<Int>()
      operation.commitHandler = { commits.record($0.rowCount) }
      run(operation)
      #expect(operation.error == nil)
      #expect(commits.events == Array(stride(from: size, to: 500, by: size)) + [500])
      let rows = try database.strings("SELECT id, name FROM \(table.name) ORDER BY rowid")
      #expect(rows == (1...500).map { "\($0)|name \($0)" })
      #expect(operation.report.isComplete)
    }
  }

  @Test("I1: readers on any connection see each committed batch while the import is paused")
  func readersBetweenBatches() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let operation = try workspace.operation(people(1...40), into: database, options: ImportOptions(batchSize: 10))
      let gate = Checkpoint()
      operation.stop(at: gate)
      let queue = Headway.OperationQueue()
      queue.addOperation(operation)
      for batch in 1...4 {
        gate.awaitArrival()
        let elsewhere = try DatabaseQueue(path: database.path)
        let rows = try elsewhere.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM people") }
        #expect(try database.count("people") == batch * 10)
        #expect(rows == batch * 10)
        #expect(operation.report.rowCount == batch * 10)
        #expect(operation.isExecuting)
        gate.open()
      }
      queue.waitUntilAllOperationsAreFinished()
      #expect(operation.report.isComplete)
    }
  }

  @Test("I1: an import runs on a different thread than the thread that adds it to a queue")
  func threads() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let operation = try workspace.operation(people(1...10), into: database)
      let gate = Checkpoint()
      let threads = EventRecorder<UInt>()
      operation.commitHandler = { _ in
        threads.record(currentThread())
        gate.pass()
      }
      let queue = Headway.OperationQueue()
      queue.addOperation(operation)  // Returns, although the import can't end before the gate is opened.
      gate.awaitArrival()
      #expect(!operation.isFinished)
      #expect(threads.events.count == 1)
      #expect(!threads.events.contains(currentThread()))
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(operation.error == nil)
    }
  }

  @Test("I1: GRDB observers of the database are notified of each batch")
  func observations() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      run(try workspace.operation([], into: database))
      let operation = try workspace.operation(people(1...30), into: database, options: ImportOptions(batchSize: 10))
      let changes = EventRecorder<Int>()
      let observation = DatabaseRegionObservation(tracking: Table("people"))
      operation.commitHandler = { _ in }  // With a handler, each is committed separately.
      let token = observation.start(in: database.pool) { error in
        Issue.record(error)
      } onChange: { connection in
        changes.record((try? Int.fetchOne(connection, sql: "SELECT COUNT(*) FROM people")) ?? -1)
      }
      run(operation)
      token.cancel()
      #expect(changes.events == [10, 20, 30])
    }
  }

  @Test("I1: closing the database keeps the committed rows and removes the write-ahead log")
  func closing() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      run(try workspace.operation(people(1...300), into: database))
      try database.close()
      #expect(!workspace.exists("test.sqlite-wal"))
      let again = try workspace.database()
      #expect(try again.count("people") == 300)
      #expect(try again.isIntact())
    }
  }

  // MARK: Releasing

  @Test("O8: a finished import releases its observer")
  func observerIsReleased() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      var operation: ImportOperation? = try workspace.operation(people(1...5), into: database)
      weak let weakOperation = operation
      // The usual mistake: the observer retains the operation, and the operation retains the observer.
      operation?.commitHandler = { [operation] _ in _ = operation?.report }
      // Started manually, so that no thread of a queue still holds it.
      operation?.start()
      #expect(operation?.isFinished == true)
      operation = nil
      // The thread that has written the batch then releases it. If it is never freed, the watchdog stops the test.
      while weakOperation != nil { yieldProcessor() }
    }
  }
}
#endif
