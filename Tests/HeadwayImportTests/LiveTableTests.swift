#if SQLite
import GRDB
import Headway
@testable import HeadwayImport
import HeadwayTestKit
import Testing

@Suite("Import: live table", .hangLimit)
struct LiveTableTests {
  private func snapshots(_ table: LiveTable, _ clock: SteppingClock = SteppingClock()) -> LiveTable.Snapshots.Iterator {
    LiveTable.Snapshots(table: table, operations: nil, clock: clock).makeAsyncIterator()
  }

  // MARK: Delivery

  @Test("I6: a snapshot contains the count, the columns and the newest rows of the range")
  func snapshot() async throws {
    try await withWorkspace { workspace in
      let database = try workspace.database()
      let table = TableSchema(
        name: "t",
        columns: [
          ColumnSchema(name: "id"), ColumnSchema(name: "n", type: .integer), ColumnSchema(name: "r", type: .real),
        ],
        key: ["id"])
      run(
        try workspace.operation(
          (1...30).map { "k\($0),\($0),\($0).5" } + ["e,,"], header: "id,n,r", table: table, into: database))

      func snapshot(_ rowRange: Range<Int>, _ columns: [String] = []) async throws -> LiveTable.Snapshot {
        try await LiveTable(path: database.path, table: "t", columns: columns, rowRange: rowRange).snapshot()
      }
      let newest = try await snapshot(0..<3)
      #expect(newest.count == 31)
      #expect(newest.columns == ["id", "n", "r"])
      #expect(newest.rows == [["e", nil, nil], ["k30", "30", "30.5"], ["k29", "29", "29.5"]])
      #expect(try await snapshot(29..<40).rows == [["k2", "2", "2.5"], ["k1", "1", "1.5"]])
      #expect(try await snapshot(31..<50).rows == [])
      #expect(try await snapshot(5..<5).rows == [])
      let some = try await snapshot(1..<2, ["r", "id"])
      #expect(some.columns == ["r", "id"])
      #expect(some.rows == [["30.5", "k30"]])
      #expect(some.count == 31)
      #expect(LiveTable(path: "", table: "").rowRange == 0..<20)
    }
  }

  @Test("I6: names can contain any characters, and a column can have the name of SQLite's row ID")
  func names() async throws {
    try await withWorkspace { workspace in
      let database = try workspace.database()
      let table = TableSchema(name: "a \"b\"", columns: [])
      run(try workspace.operation(["9,x", "1,y", "5,z"], header: "rowid,select", table: table, into: database))
      let snapshot = try await LiveTable(path: database.path, table: "A \"b\"", columns: ["select"]).snapshot()
      #expect(snapshot.rows == [["z"], ["y"], ["x"]])
    }
  }

  @Test("I6: the last snapshot shows the table after the operations have finished", arguments: [false, true])
  func untilFinished(fails: Bool) async throws {
    try await withWorkspace { workspace in
      let database = try workspace.database()
      let operation = try workspace.operation(
        people(1...5_000) + (fails ? ["broken"] : []), into: database,
        options: ImportOptions(batchSize: 50, stopsAtFirstMalformedRow: fails))
      let queue = Headway.OperationQueue()
      queue.addOperation(operation)
      var counts: [Int] = []
      let table = LiveTable(path: database.path, table: "people")
      for try await snapshot in table.snapshots(until: [operation]) { counts.append(snapshot.count) }
      #expect(counts.last == 5_000 && counts == counts.sorted())
      #expect((operation.error != nil) == fails)
      // Again, after the operations have finished; and for a database that does not exist.
      for try await snapshot in table.snapshots(until: [operation]) { counts.append(snapshot.count) }
      #expect(counts.suffix(2) == [5_000, 5_000])
      let none = LiveTable(path: workspace.path("none"), table: "people")
      for try await _ in none.snapshots(until: [operation]) { Issue.record("a snapshot of nothing") }
    }
  }

  @Test("I6: the iteration waits for the database, and reports an empty table until it exists")
  func notYet() async throws {
    try await withWorkspace { workspace in
      let path = workspace.path("test.sqlite")
      let stages = EventRecorder<ImportDatabase>()
      let clock = SteppingClock { number in
        switch number {
        case 3: stages.record(try workspace.database())
        case 6: run(try workspace.operation([], into: try #require(stages.events.first)))
        case 9: run(try workspace.operation(people(1...2), into: try #require(stages.events.first)))
        default: break
        }
      }
      let table = LiveTable(path: path, table: "people")
      let absent = try await table.snapshot()
      #expect(absent == LiveTable.Snapshot(count: 0, columns: [], rows: []))
      #expect(!workspace.exists("test.sqlite"))

      var iterator = snapshots(table, clock)
      let first = try await iterator.next()
      #expect(first == LiveTable.Snapshot(count: 0, columns: [], rows: []))
      #expect(clock.sleeps.count >= 3)
      let second = try await iterator.next()
      #expect(second == LiveTable.Snapshot(count: 0, columns: ["id", "name"], rows: []))
      var third = try await iterator.next()
      while let snapshot = third, snapshot.count == 0 { third = try await iterator.next() }
      #expect(third?.rows == [["2", "name 2"], ["1", "name 1"]])
    }
  }

  @Test("I6: the iteration reports each change, and nothing between changes")
  func changes() async throws {
    try await withWorkspace { workspace in
      let database = try workspace.database()
      run(try workspace.operation(people(1...3), into: database))
      let clock = SteppingClock { number in
        // Nothing happens in nine of ten intervals.
        guard number % 10 == 0 else { return }
        try await database.pool.write {
          try $0.execute(sql: "INSERT INTO people VALUES (?, ?)", arguments: ["n\(number)", nil])
        }
      }
      var iterator = snapshots(LiveTable(path: database.path, table: "people", rowRange: 0..<1), clock)
      for step in 0...5 {
        let snapshot = try await iterator.next()
        #expect(snapshot?.count == 3 + step)
        if step > 0 { #expect(snapshot?.rows == [["n\(step * 10)", nil]]) }
        #expect(clock.sleeps.count == step * 10)
      }
    }
  }

  @Test("I6: the iteration reads at most 30 times per second, however often the table changes")
  func rate() async throws {
    try await withWorkspace { workspace in
      let database = try workspace.database()
      run(try workspace.operation(people(1...3), into: database))
      let clock = SteppingClock { number in
        for half in 0...1 {
          try await database.pool.write {
            try $0.execute(sql: "INSERT INTO people VALUES (?, ?)", arguments: ["\(number) \(half)", nil])
          }
        }
      }
      var iterator = snapshots(LiveTable(path: database.path, table: "people"), clock)
      for step in 0..<90 {
        // Two changes between two snapshots are reported as one.
        let snapshot = try await iterator.next()
        #expect(snapshot?.count == 3 + 2 * step)
      }
      #expect(clock.sleeps.count == 89)
      #expect(clock.sleeps.allSatisfy { $0 >= .seconds(1) / 30 })
      #expect(clock.now.offset >= .seconds(1) / 30 * 89)
    }
  }

  @Test("I6: the count and the rows of a snapshot match while batches are committed")
  func consistency() async throws {
    try await withWorkspace { workspace in
      let database = try workspace.database()
      let operation = try workspace.operation(
        (1...1_000).map { "\($0)" }, header: "number", table: .log, into: database,
        options: ImportOptions(batchSize: 10))
      let queue = Headway.OperationQueue()
      queue.addOperation(operation)
      var iterator = snapshots(LiveTable(path: database.path, table: "log", rowRange: 0..<1))
      var last = 0
      while last < 1_000, let snapshot = try await iterator.next() {
        #expect(snapshot.count % 10 == 0)
        #expect(snapshot.count >= last)
        if snapshot.count > 0 { #expect(snapshot.rows == [["\(snapshot.count)"]]) }
        last = snapshot.count
      }
      try await queue.untilAllOperationsAreFinished()
      #expect(last == 1_000)
    }
  }

  // MARK: Blocking

  @Test("I6: snapshots arrive while the import is paused between two batches")
  func whileImporting() async throws {
    try await withWorkspace { workspace in
      let database = try workspace.database()
      let operation = try workspace.operation(people(1...40), into: database, options: ImportOptions(batchSize: 10))
      let gate = Checkpoint()
      operation.stop(at: gate)
      let queue = Headway.OperationQueue()
      queue.addOperation(operation)
      var iterator = snapshots(LiveTable(path: database.path, table: "people", columns: ["id"], rowRange: 0..<2))
      for batch in 1...4 {
        gate.awaitArrival()
        var snapshot = try await iterator.next()
        while let earlier = snapshot, earlier.count < batch * 10 { snapshot = try await iterator.next() }
        #expect(snapshot?.count == batch * 10)
        #expect(snapshot?.rows == [["\(batch * 10)"], ["\(batch * 10 - 1)"]])
        #expect(!operation.isFinished)
        gate.open()
      }
      try await queue.untilAllOperationsAreFinished()
    }
  }

  @Test("I6: an open write transaction neither blocks snapshots nor appears in them")
  func whileWriting() async throws {
    try await withWorkspace { workspace in
      let database = try workspace.database()
      run(try workspace.operation(people(1...3), into: database))
      let table = LiveTable(path: database.path, table: "people")
      var iterator = snapshots(table)
      var configuration = GRDB.Configuration()
      configuration.allowsUnsafeTransactions = true  // Transactions that stay open from one access to the next.
      let elsewhere = try DatabaseQueue(path: database.path, configuration: configuration)
      try await elsewhere.writeWithoutTransaction { connection in
        try connection.execute(
          sql: "BEGIN IMMEDIATE; INSERT INTO people VALUES ('x', 'y'); DELETE FROM people WHERE id = '1'")
      }
      let during = try await iterator.next()
      #expect(during?.count == 3)
      let another = try await table.snapshot()
      #expect(another.count == 3)
      #expect(another.rows.last == ["1", "name 1"])
      try await elsewhere.writeWithoutTransaction { try $0.execute(sql: "DELETE FROM people; COMMIT") }
      let after = try await iterator.next()
      #expect(after?.count == 0)
    }
  }

  @Test("I6: an iteration that pauses does not delay the import, and then reports the current table")
  func slowReader() async throws {
    try await withWorkspace { workspace in
      let database = try workspace.database()
      run(try workspace.operation(people(1...3), into: database))
      var iterator = snapshots(LiveTable(path: database.path, table: "people", rowRange: 0..<1))
      let first = try await iterator.next()
      #expect(first?.count == 3)
      let operation = try workspace.operation(people(1...500), into: database)
      run(operation)
      #expect(operation.report.isComplete)
      let next = try await iterator.next()
      #expect(next?.count == 500)
      #expect(next?.rows == [["500", "name 500"]])
      // It does not prevent a checkpoint of the log either.
      let busy = try await database.pool.writeWithoutTransaction {
        try Int.fetchOne($0, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
      }
      #expect(busy == 0)
    }
  }

  // MARK: The end

  @Test(
    "I6: cancelling its task ends the iteration without an error at any point", arguments: [0, 1, 2])
  func cancellation(place: Int) async throws {
    try await withWorkspace { workspace in
      let database = try workspace.database()
      run(try workspace.operation(people(1...3), into: database))
      let clock = SteppingClock { number in
        guard number == 3 else { return }
        withUnsafeCurrentTask { $0?.cancel() }
        // A clock might detect the cancellation. Otherwise, a cancelled task queries the database.
        if place == 1 { try Task.checkCancellation() }
        if place == 2 { try await Task.detached { try await Self.change(database) }.value }
      }
      let table = LiveTable(path: database.path, table: "people")
      let watching = Task {
        var seen = 0
        for try await snapshot in LiveTable.Snapshots(table: table, operations: nil, clock: clock) {
          seen += snapshot.count
        }
        return seen
      }
      #expect(try await watching.value == 3)
      #expect(clock.sleeps.count == 3)
    }
  }

  private static func change(_ database: ImportDatabase) async throws {
    try await database.pool.write { try $0.execute(sql: "INSERT INTO people VALUES ('more', NULL)") }
  }

  @Test("I6: the iteration returns no snapshot if its task is already cancelled")
  func cancelledBefore() async throws {
    try await withWorkspace { workspace in
      let table = LiveTable(path: workspace.path("test.sqlite"), table: "people")
      let watching = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        var iterator = table.snapshots.makeAsyncIterator()
        return try await iterator.next()
      }
      let snapshot = try await watching.value
      #expect(snapshot == nil)
    }
  }

  @Test("I6: a file that is not a database causes an error")
  func noDatabase() async throws {
    try await withWorkspace { workspace in
      let path = try workspace.write(String(repeating: "This isn't a database. ", count: 100), to: "text.sqlite")
      await #expect(throws: DatabaseError.self) { try await LiveTable(path: path, table: "people").snapshot() }
    }
  }
}
#endif
