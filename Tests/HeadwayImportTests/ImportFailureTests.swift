#if SQLite
import Dispatch
import GRDB
import Headway
import HeadwayCSV
import HeadwayImport
import HeadwayTestKit
import Testing

@Suite("Import: failures", .hangLimit)
struct ImportFailureTests {
  // MARK: Strict

  @Test(
    "I3: a strict import stops at the first malformed row, names it, and keeps the rows before it",
    arguments: RejectedRowsTests.Case.all)
  func strict(malformed: RejectedRowsTests.Case) throws {
    for isAgain in [false, true] {
      for (position, batchSize) in [(1, 10), (10, 10), (11, 10), (40, 250)] {
        try withWorkspace { workspace in
          let database = try workspace.database()
          if isAgain { run(try workspace.operation(["1,name 1", "900,old"], into: database)) }
          let before = people(1...position).map { $0 + "\n" }.joined()
          let text = Array("id,name\n\(before)".utf8) + malformed.record + Array("\n100,a\nbroken\n".utf8)
          let operation = ImportOperation(
            file: try workspace.write(text, to: "people.csv"), table: .people, into: database,
            options: ImportOptions(batchSize: batchSize, stopsAtFirstMalformedRow: true, encoding: .utf8),
            rejectedRows: workspace.rejectedRowsFile())
          run(operation)
          let error = try importError(operation)
          #expect(error.code == .malformedRow)
          #expect(error.path == operation.file)
          #expect(error.lineNumber == position + 2)
          #expect(error.context.contains(malformed.reason))
          #expect("\(error)".hasPrefix("\(operation.file):\(position + 2): "))
          #expect(operation.report.rowCount == position)
          #expect(operation.report.rejectedRowCount == 1)
          #expect(!operation.report.isComplete)
          #expect(try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv")).map(\.lineNumber) == [position + 2])
          let rows = try database.strings("SELECT id FROM people WHERE id <> '900' ORDER BY rowid")
          #expect(rows == (1...position).map(String.init))
        }
      }
    }
  }

  @Test("I3: a strict import accepts rows that are only flagged")
  func strictAndReported() throws {
    try withWorkspace { workspace in
      let table = TableSchema(name: "t", columns: [ColumnSchema(name: "n", type: .integer)])
      let operation = try workspace.operation(
        ["1", "many", "3"], header: "n", table: table, into: try workspace.database(),
        options: ImportOptions(stopsAtFirstMalformedRow: true))
      run(operation)
      #expect(operation.error == nil)
      #expect(operation.report.rowCount == 3)
      #expect(operation.report.flaggedRowCount == 1)
    }
  }

  // MARK: Failures

  @Test("I3: an import that can't write rejected rows fails with a typed error")
  func unwritableRejectedRows() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let operation = try workspace.operation(
        people(1...20) + ["broken"] + people(21...100), into: database, options: ImportOptions(batchSize: 10),
        rejectedRows: RejectedRowsFile(path: workspace.path("nowhere/nowhere/rejected-rows.csv")))
      run(operation)
      #expect(try importError(operation).code == .cannotWriteRejectedRows)
      #expect(!operation.report.isComplete)
      // The batch is in the database, so it is reported.
      #expect(operation.report.rowCount == (try database.count("people")) && operation.report.rejectedRowCount == 1)
    }
  }

  @Test("I1: if the database rejects a batch, the import ends without writing later batches")
  func refusedBatch() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      run(try workspace.operation(["0,old"], into: database))
      // Simulates a disk that becomes full.
      try database.pool.writeWithoutTransaction { connection in
        let pages = try #require(try Int.fetchOne(connection, sql: "PRAGMA page_count"))
        try connection.execute(sql: "PRAGMA max_page_count = \(pages + 6)")
      }
      let operation = try workspace.operation(
        people(1...2_000), into: database, options: ImportOptions(batchSize: 10))
      let commits = EventRecorder<Int>()
      operation.commitHandler = { commits.record($0.rowCount) }
      run(operation)
      let error = try importError(operation)
      #expect(error.code == .database)
      #expect(error.path == database.path)
      #expect((error.underlyingError as? DatabaseError)?.resultCode == .SQLITE_FULL)
      let rows = operation.report.rowCount
      #expect(rows > 0 && rows < 2_000 && commits.events == Array(stride(from: 10, through: rows, by: 10)))
      #expect(try database.count("people") == rows + 1)
      #expect(try database.isIntact())
      // With enough space, importing again adds the missing rows.
      try database.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
      let again = try workspace.operation(people(1...2_000), into: database)
      run(again)
      #expect(again.error == nil)
      #expect(try database.count("people") == 2_001)
    }
  }

  @Test(
    "I1: a row that a trigger ignores is rejected, unlike a row that already exists", arguments: [true, false])
  func ignoredRows(hasKey: Bool) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      try database.pool.write { connection in
        try connection.execute(
          sql: """
            CREATE TABLE t (id TEXT NOT NULL\(hasKey ? " PRIMARY KEY" : ""), name TEXT);
            CREATE TRIGGER ignore BEFORE INSERT ON t WHEN NEW.id % 10 = 5 BEGIN SELECT RAISE(IGNORE); END
            """)
      }
      let path = try workspace.write("id,name\n" + (1...100).map { "\($0),n\n" }.joined(), to: "t.csv")
      for _ in 1...2 {
        let operation = ImportOperation(file: path, into: database)
        run(operation)
        #expect(operation.error == nil)
        #expect(operation.report.rowCount == 90 && operation.report.rejectedRowCount == 10)
        #expect(try database.count("t") == 90)
      }
    }
  }

  @Test("I1: truncating a file while it is read causes an error, and no further rows are written")
  func truncatedFile() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      // One read has room for three batches and part of the fourth.
      let operation = try workspace.operation(
        (1...40_000).map { "\($0),some name for \($0)" }, into: database, options: ImportOptions(batchSize: 3_000))
      // While the table is prepared, the parser waits with the rows that it has read.
      database.pool.writeWithoutTransaction { connection in
        connection.trace { event in
          guard case .statement(let statement) = event, statement.sql.hasPrefix("SELECT 1 FROM") else { return }
          truncate(workspace.path("people.csv"))
        }
      }
      let ended = DispatchSemaphore(value: 0)
      operation.completionBlock = { ended.signal() }
      let endedEarly = EventRecorder<Bool>()
      operation.commitHandler = { report in
        guard report.rowCount == 3_000 else { return }
        // The only wait of these tests for an event that must not occur.
        endedEarly.record(ended.wait(timeout: .now() + .milliseconds(200)) == .success)
      }
      run(operation)
      #expect(endedEarly.events == [false])
      let rows = try database.count("people")
      #expect(rows == 9_000)
      #expect(operation.report.rowCount == rows)
      #expect(try importError(operation).code == .cannotReadFile)
    }
  }
}
#endif
