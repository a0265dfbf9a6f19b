#if SQLite
import Dispatch
import GRDB
import Headway
@testable import HeadwayImport
@testable import HeadwaySampleData
import HeadwayTestKit
import Testing

@Suite("Import: concurrent imports", .hangLimit)
struct ConcurrentImportTests {
  @Test(
    "I4: two concurrent imports into two tables of one database lose nothing", arguments: 1...20 as ClosedRange<UInt64>)
  func two(seed: UInt64) throws {
    try withWorkspace { workspace in
      var random = SplitMix64(seed: seed)
      let database = try workspace.database()
      let issues = workspace.rejectedRowsFile()
      var expected: [String: (rows: Int, rejected: Int)] = [:]
      let operations = try [TableSchema.people, .log].map { table in
        let lines = randomLines(&random)
        expected[table.name] = table.key.isEmpty ? lines.withoutKey : lines.withKey
        return try workspace.operation(
          lines.text, table: table, into: database, options: ImportOptions(batchSize: 1 + random.below(60)),
          rejectedRows: issues)
      }
      run(operations)
      for operation in operations {
        let name = operation.table.name
        #expect(operation.error == nil)
        #expect(operation.report.isComplete)
        #expect(operation.report.rowCount == expected[name]?.rows)
        #expect(operation.report.rejectedRowCount == expected[name]?.rejected)
        #expect(try database.count(name) == expected[name]?.rows)
      }
      let rejected = expected.values.reduce(0) { $0 + $1.rejected }
      let written =
        workspace.exists("rejected-rows.csv") ? try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv")) : []
      #expect(written.count == rejected)
      for table in ["people", "log"] {
        let lines = written.filter { $0.table == table }.map(\.lineNumber)
        #expect(lines == lines.sorted())
      }
      #expect(try database.isIntact())
    }
  }

  /// Lines, some of them malformed and some with an existing key.
  private func randomLines(
    _ random: inout SplitMix64
  ) -> (text: [String], withKey: (rows: Int, rejected: Int), withoutKey: (rows: Int, rejected: Int)) {
    var lines: [String] = []
    var keys: Set<Int> = []
    var malformed = 0
    let count = random.below(400)
    for _ in 0..<count {
      if random.below(20) == 0 {
        lines.append(["broken", ",", "\"1\"x,y"][random.below(2) * 2])
        malformed += 1
      } else {
        let key = random.below(4 * count)
        keys.insert(key)
        lines.append("\(key),\(random.next())")
      }
    }
    return (lines, (keys.count, count - keys.count), (count - malformed, malformed))
  }

  @Test("I4: each of many concurrent imports adds all rows of its file while other code reads", arguments: [1, 2, 3])
  func many(round: Int) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let tables = (0..<24).map { number in
        TableSchema(
          name: "t\(number)", columns: [ColumnSchema(name: "id")], key: number % 2 == 0 ? ["id"] : [],
          indices: [["name"]])
      }
      let operations = try tables.enumerated().map { number, table in
        try workspace.operation(
          people(0..<(number * 7)), table: table, into: database, options: ImportOptions(batchSize: 1 + number % 5))
      }
      let reading = Headway.BlockOperation { [database] in
        while operations.contains(where: { !$0.isFinished }) {
          _ = try database.strings("SELECT name FROM sqlite_master")
        }
      }
      run(operations + [reading])
      #expect(reading.error == nil)
      for (number, operation) in operations.enumerated() {
        #expect(operation.error == nil)
        #expect(operation.report.isComplete)
        #expect(try database.count("t\(number)") == number * 7)
      }
      #expect(try database.isIntact())
      #expect(try preparedStatements(database) == [])
    }
  }

  @Test(
    "I4: cancelling one of two concurrent imports does not affect the other", arguments: 1...5 as ClosedRange<UInt64>)
  func oneCancelled(seed: UInt64) throws {
    try withWorkspace { workspace in
      var random = SplitMix64(seed: seed)
      let database = try workspace.database()
      let batchSize = 1 + random.below(20)
      let batches = 1 + random.below(5)
      let cancelled = try workspace.operation(
        people(1...500), into: database, options: ImportOptions(batchSize: batchSize))
      let other = try workspace.operation(
        people(1...500), table: .log, into: database, options: ImportOptions(batchSize: batchSize))
      cancelled.commitHandler = { [weak cancelled] in if $0.rowCount == batches * batchSize { cancelled?.cancel() } }
      run([cancelled, other])
      #expect(try database.count("people") == batches * batchSize)
      #expect(try database.count("log") == 500)
      #expect(other.report.isComplete)
      #expect(other.error == nil)
      #expect(try preparedStatements(database) == [])
    }
  }

  @Test("I4: a failed import leaves no prepared statements, and the next import succeeds")
  func statementsAfterAFailure() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let failing = try workspace.operation(
        people(1...20) + ["broken"], into: database,
        options: ImportOptions(batchSize: 5, stopsAtFirstMalformedRow: true))
      run(failing)
      #expect(failing.error != nil)
      #expect(try preparedStatements(database) == [])
      run(try workspace.operation(people(1...20), into: database))
      #expect(try database.count("people") == 20)
    }
  }

  @Test("I4: an import releases its prepared statements before the next write on their connection")
  func statementsAtTheEnd() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let table = TableSchema(name: "people", columns: TableSchema.people.columns, key: ["id"], indices: [["name"]])
      let operation = try workspace.operation(people(1...20), table: table, into: database)
      let left = EventRecorder<[String]>()
      database.pool.writeWithoutTransaction { connection in
        connection.trace { event in
          guard case .statement(let statement) = event, statement.sql.hasPrefix("CREATE INDEX") else { return }
          // Runs next on the writing connection, while the import's thread ends.
          _ = database.write("look at statements") { left.record(try Self.preparedStatements($0)) }
        }
      }
      run(operation)
      try database.close()
      #expect(operation.error == nil)
      #expect(left.events == [[]])
    }
  }

  /// The statements that write and are still prepared on the writing connection.
  ///
  /// SQLite's connection must be used by one thread at a time, and nothing checks this. If an import released its
  /// statements whenever its memory is freed, this could happen during another import's batch.
  private func preparedStatements(_ database: ImportDatabase) throws -> [String] {
    try database.pool.writeWithoutTransaction { try Self.preparedStatements($0) }
  }

  private static func preparedStatements(_ connection: Database) throws -> [String] {
    // SQLite can be built without the table that lists them.
    guard try String.fetchAll(connection, sql: "PRAGMA compile_options").contains("ENABLE_STMTVTAB") else {
      return []
    }
    return try String.fetchAll(
      connection, sql: "SELECT sql FROM sqlite_stmt WHERE sql LIKE 'INSERT%' OR sql LIKE 'DELETE%'")
  }

  /// ```
  /// first                     second                    third
  /// held at the gate          waits for the first       waits for both
  ///                           cancelled: ends
  /// released
  ///                                                     imports
  /// ```
  @Test("I2: an import that waits for another import into its table can be cancelled immediately")
  func cancelledWhileWaiting() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let gate = Checkpoint()
      let first = try workspace.operation(people(1...10), table: .log, into: database)
      first.stop(at: gate)
      let queue = Headway.OperationQueue()
      queue.maxConcurrentOperationCount = 3
      queue.addOperation(first)
      gate.awaitArrival()
      let path = try workspace.write("id,name\n11,x\n", to: "other.csv")
      let append = ImportOptions(existingRowPolicy: .append)
      let (second, third) = (
        ImportOperation(file: path, table: .log, into: database, options: append),
        ImportOperation(file: path, table: .log, into: database, options: append)
      )
      let begun = DispatchSemaphore(value: 0)
      let observation = second.observe(\.isExecuting) { second, _ in if second.isExecuting { begun.signal() } }
      defer { observation.invalidate() }
      queue.addOperation(second)
      begun.wait()
      queue.addOperation(third)
      second.cancel()
      second.waitUntilFinished()
      #expect(!first.isFinished && !third.isFinished)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(second.report.rowCount == 0 && third.error == nil)
      #expect(try database.count("log") == 11)
    }
  }
}
#endif
