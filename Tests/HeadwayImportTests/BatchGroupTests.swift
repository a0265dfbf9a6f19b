#if SQLite
import GRDB
import Headway
import HeadwayImport
import HeadwayTestKit
import HeadwayTestSupport
import Testing

/// Batches that wait for the database are committed together.
@Suite("Import: batches that are committed together", .hangLimit)
struct BatchGroupTests {
  /// An import that pauses in its first commit while the maximum number of batches waits.
  private struct Halted {
    let operation: ImportOperation
    let queue = Headway.OperationQueue()
    let gate = Checkpoint()
    let commits = EventRecorder<Int>()
    let token: AnyDatabaseCancellable

    init(
      _ lines: [String], in database: ImportDatabase, _ workspace: Workspace, stopsAtFirstMalformedRow: Bool = false
    ) throws {
      try database.pool.write { try $0.execute(sql: "CREATE TABLE people (id TEXT PRIMARY KEY, name TEXT UNIQUE)") }
      operation = try workspace.operation(
        lines, into: database, options: ImportOptions(batchSize: 10, stopsAtFirstMalformedRow: stopsAtFirstMalformedRow)
      )
      let observation = DatabaseRegionObservation(tracking: Table("people"))
      token = observation.start(in: database.pool) { error in
        Issue.record(error)
      } onChange: { [commits, gate] connection in
        commits.record((try? Int.fetchOne(connection, sql: "SELECT COUNT(*) FROM people")) ?? -1)
        if commits.events.count == 1 { gate.pass() }
      }
      queue.addOperation(operation)
      gate.awaitArrival()
      // The import's thread waits for the oldest batch only when it can't fill another one.
      while !operation.diagnosis.contains("waits for") { yieldProcessor() }
    }
  }

  @Test("I1: waiting batches are committed together, complete and in order") func together() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let halted = try Halted(people(1...400), in: database, workspace)
      let first = halted.commits.events[0]
      halted.gate.open()
      halted.queue.waitUntilAllOperationsAreFinished()
      #expect(halted.operation.error == nil && halted.operation.report.rowCount == 400)
      // Eight waiting batches are committed together.
      #expect(halted.commits.events[1] == first + 80)
      #expect(halted.commits.events.allSatisfy { $0.isMultiple(of: 10) } && halted.commits.events.last == 400)
      #expect(try database.strings("SELECT id FROM people ORDER BY rowid") == (1...400).map { "\($0)" })
    }
  }

  @Test("W3: an import that waits for the database does not seem to wait forever") func waiting() throws {
    try withWorkspace { workspace in
      let halted = try Halted(people(1...400), in: try workspace.database(), workspace)
      let diagnosis = halted.operation.diagnosis
      #expect(diagnosis.contains("waits for") && !diagnosis.contains("ready") && !diagnosis.contains("no queue"))
      halted.gate.open()
      halted.queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("I2: cancelling keeps committed batches, and rolls back all batches that are written together") func cancelled()
    throws
  {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let halted = try Halted(people(1...400), in: database, workspace)
      let first = halted.commits.events[0]
      halted.operation.cancel()
      halted.gate.open()
      halted.queue.waitUntilAllOperationsAreFinished()
      #expect(try database.count("people") == first)
      #expect(halted.operation.report.rowCount == first)
    }
  }

  @Test("I3: a strict import stops at a rejected row, even if several batches are written together")
  func strict() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      // A duplicate name, which only the database detects.
      let lines = people(1...400)
      let halted = try Halted(
        Array(lines[0..<135]) + ["1000,name 7"] + Array(lines[135...]), in: database, workspace,
        stopsAtFirstMalformedRow: true)
      halted.gate.open()
      halted.queue.waitUntilAllOperationsAreFinished()
      #expect((halted.operation.error as? ImportError)?.lineNumber == 137)
      #expect(try database.count("people") == 135 && halted.operation.report.rowCount == 135)
    }
  }
}
#endif
