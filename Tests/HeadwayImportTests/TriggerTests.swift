#if SQLite
import Foundation
import GRDB
import Headway
@testable import HeadwayImport
import HeadwayTestKit
import Testing

/// Imports into tables with triggers.
@Suite("Import: tables with triggers", .hangLimit)
struct TriggerTests {
  private func withTable(
    _ sql: String, _ body: (Workspace, ImportDatabase) throws -> Void
  ) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      try database.pool.write { try $0.execute(sql: sql) }
      try body(workspace, database)
    }
  }

  private func operation(
    _ text: String, _ options: ImportOptions = ImportOptions(), key: [String] = [], into database: ImportDatabase,
    in workspace: Workspace
  ) throws -> ImportOperation {
    let operation = ImportOperation(
      file: try workspace.write(text, to: "t.csv"), table: TableSchema(name: "t", columns: [], key: key),
      into: database, options: options, rejectedRows: workspace.rejectedRowsFile())
    run(operation)
    return operation
  }

  @Test(
    "I3: a row that a trigger blocks is rejected with its line, and all other rows are imported",
    arguments: ["ABORT", "FAIL", "ROLLBACK", "IGNORE"], [("BEFORE", ["a"]), ("BEFORE", []), ("AFTER", [])])
  func refusal(action: String, timing: (when: String, key: [String])) throws {
    // RAISE(IGNORE) in a trigger that runs after the insertion leaves the row.
    guard action != "IGNORE" || timing.when == "BEFORE" else { return }
    let message = action == "IGNORE" ? "" : ", 'no fives'"
    let trigger = """
      CREATE TRIGGER guard \(timing.when) INSERT ON t WHEN NEW.a % 5 = 0 BEGIN
        INSERT INTO seen VALUES (NEW.a); SELECT RAISE(\(action)\(message)); END
      """
    let key = timing.key.isEmpty ? "" : " PRIMARY KEY"
    try withTable("CREATE TABLE seen (a); CREATE TABLE t (a INTEGER\(key), b TEXT); \(trigger)") {
      (workspace, database) throws in
      let text = "a,b\n" + (1...42).map { "\($0),x\n" }.joined()
      let operation = try operation(
        text, ImportOptions(batchSize: 10), key: timing.key, into: database, in: workspace)
      #expect(operation.error == nil)
      #expect((operation.report.rowCount, operation.report.rejectedRowCount) == (34, 8))
      let issues = try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv"))
      #expect(issues.map(\.lineNumber) == (1...8).map { $0 * 5 + 1 })
      let reason =
        action == "IGNORE" ? "A trigger of the table t ignores it" : "A trigger of the table t rejects it: no fives"
      #expect(Set(issues.map(\.reason)) == [reason])
      #expect(try database.strings("SELECT a FROM t ORDER BY a") == (1...42).filter { $0 % 5 != 0 }.map { "\($0)" })
      // The effects of a trigger for a row that it then blocks are undone together with the row.
      #expect(try database.count("seen") == (action == "IGNORE" ? 8 : 0))
    }
  }

  @Test("I3: a strict import ends at the line of the row that a trigger blocks") func strict() throws {
    let trigger = "CREATE TRIGGER guard BEFORE INSERT ON t WHEN NEW.a = 3 BEGIN SELECT RAISE(ABORT, 'no'); END"
    try withTable("CREATE TABLE t (a INTEGER, b TEXT); \(trigger)") { (workspace, database) throws in
      let operation = try operation(
        "a,b\n1,x\n2,x\n3,x\n4,x\n", ImportOptions(stopsAtFirstMalformedRow: true), into: database, in: workspace)
      let error = try importError(operation)
      #expect(error.code == .malformedRow && error.lineNumber == 4)
      #expect(try database.strings("SELECT a FROM t") == ["1", "2"])
    }
  }

  @Test("I3: a row is rejected if a constraint of another table stops the trigger") func otherTable() throws {
    let trigger = "CREATE TRIGGER log AFTER INSERT ON t BEGIN INSERT INTO log VALUES (NEW.b); END"
    try withTable("CREATE TABLE log (b PRIMARY KEY); CREATE TABLE t (a, b); \(trigger)") {
      (workspace, database) throws in
      let operation = try operation("a,b\n1,x\n2,y\n3,x\n4,z\n", into: database, in: workspace)
      #expect(operation.error == nil && operation.report.rowCount == 3)
      let issues = try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv"))
      #expect(issues.map(\.lineNumber) == [4])
      #expect(issues.map(\.reason) == ["UNIQUE constraint failed: log.b"])
      #expect(try database.strings("SELECT a FROM t") == ["1", "2", "4"])
    }
  }

  @Test(
    "I5: rows that a trigger adds to the table do not count as the file's rows",
    arguments: ["BEFORE", "AFTER"], [1, 3, 100])
  func ownRows(timing: String, batchSize: Int) throws {
    let trigger = """
      CREATE TRIGGER audit \(timing) INSERT ON t WHEN NEW.b <> 'audit'
      BEGIN INSERT INTO t VALUES (-NEW.a, 'audit'); END
      """
    let text = "a,b\n" + (1...20).map { "\($0),x\n" }.joined()
    try withTable("PRAGMA recursive_triggers = OFF; CREATE TABLE t (a INTEGER, b TEXT); \(trigger)") {
      (workspace, database) throws in
      func expectRows(_ times: Int, _ location: SourceLocation = #_sourceLocation) throws {
        let rows = try database.strings("SELECT a FROM t ORDER BY a")
        let expected = (-20...20).filter { $0 != 0 }.flatMap { Array(repeating: "\($0)", count: times) }
        #expect(rows == expected, sourceLocation: location)
      }
      let first = try operation(text, ImportOptions(batchSize: batchSize), into: database, in: workspace)
      #expect(first.error == nil && first.report.rowCount == 20)
      try expectRows(1)
      // The numbers do not identify the file's rows, so they are not overwritten.
      let again = try operation(text, ImportOptions(batchSize: batchSize), into: database, in: workspace)
      #expect(try importError(again).code == .foreignRows)
      try expectRows(1)
      let replacing = try operation(
        text, ImportOptions(batchSize: batchSize, existingRowPolicy: .replace), into: database, in: workspace)
      #expect(replacing.error == nil && replacing.report.rowCount == 20)
      try expectRows(1)
      let appending = try operation(
        text, ImportOptions(batchSize: batchSize, existingRowPolicy: .append), into: database, in: workspace)
      #expect(appending.error == nil && appending.report.rowCount == 20)
      try expectRows(2)
    }
  }

  @Test("I10: a repeated append adds each missing row once, even if a trigger also adds rows")
  func completion() throws {
    let trigger = "CREATE TRIGGER audit AFTER INSERT ON t WHEN NEW.a > 0 BEGIN INSERT INTO t VALUES (-NEW.a, ''); END"
    try withTable("CREATE TABLE t (a INTEGER, b TEXT); \(trigger)") { (workspace, database) throws in
      let file = try workspace.write("a,b\n" + (1...50).map { "\($0),x\n" }.joined(), to: "t.csv")
      for batches in [1, 2, nil] {
        let operation = ImportOperation(
          file: file, table: TableSchema(name: "t", columns: []), into: database,
          options: ImportOptions(batchSize: 7, existingRowPolicy: .append))
        let commits = EventRecorder<Int>()
        operation.commitHandler = { [weak operation] _ in
          commits.record(1)
          if commits.events.count == batches { operation?.cancel() }
        }
        run(operation)
        #expect(operation.error == nil)
      }
      #expect(try database.strings("SELECT a FROM t ORDER BY a") == (-50...50).filter { $0 != 0 }.map { "\($0)" })
    }
  }

  @Test(
    "I3: a replacement rejects the rows that a trigger blocks, with their lines",
    arguments: ["ABORT", "FAIL", "IGNORE"], [["a"], []])
  func replacement(action: String, key: [String]) throws {
    let message = action == "IGNORE" ? "" : ", 'no'"
    let trigger =
      "CREATE TRIGGER guard BEFORE INSERT ON t WHEN NEW.a % 3 = 0 BEGIN SELECT RAISE(\(action)\(message)); END"
    let definition = "(a INTEGER\(key.isEmpty ? "" : " PRIMARY KEY"), b TEXT)"
    try withTable("CREATE TABLE t \(definition); INSERT INTO t VALUES (9, 'old'), (10, 'old'); \(trigger)") {
      (workspace, database) throws in
      let options = ImportOptions(batchSize: 2, existingRowPolicy: .replace)
      let all = try operation("a,b\n3,x\n6,\"y\ny\"\n", options, key: key, into: database, in: workspace)
      #expect(try importError(all).code == .noRows)
      #expect(all.report.rowCount == 0)
      #expect(try database.strings("SELECT * FROM t") == ["9|old", "10|old"])
      var allowing = options
      allowing.allowsNoRows = true
      let none = try operation("a,b\n3,x\n6,\"y\ny\"\n", allowing, key: key, into: database, in: workspace)
      #expect(none.error == nil && none.report.rowCount == 0 && none.report.rejectedRowCount == 2)
      #expect(try database.strings("SELECT * FROM t") == ["9|old", "10|old"])
      var strict = options
      strict.stopsAtFirstMalformedRow = true
      let first = try operation("a,b\n1,x\n3,x\n", strict, key: key, into: database, in: workspace)
      #expect(try importError(first).code == .malformedRow && importError(first).lineNumber == 3)
      #expect(try database.strings("SELECT * FROM t") == ["9|old", "10|old"])
      let text = "a,b\n1,x\n3,x\n2,\"y\ny\"\n6,\"z\nz\"\nbroken\n4,w\n"
      let some = try operation(text, options, key: key, into: database, in: workspace)
      #expect(some.error == nil)
      #expect((some.report.rowCount, some.report.rejectedRowCount, some.report.replacedRowCount) == (3, 3, 2))
      #expect(try database.strings("SELECT a FROM t ORDER BY a") == ["1", "2", "4"])
      let issues = try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv")).sorted {
        $0.lineNumber < $1.lineNumber
      }
      #expect(issues.map(\.lineNumber) == [3, 6, 8])
      #expect(String(decoding: issues[1].record, as: UTF8.self) == "6,\"z\nz\"")
      #expect(try database.strings("SELECT name FROM sqlite_temp_master") == [])
    }
  }
}
#endif
