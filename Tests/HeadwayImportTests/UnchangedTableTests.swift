#if SQLite
import Foundation
import GRDB
import Headway
@testable import HeadwayImport
import Testing

/// The rows and the schema that remain of a table if imports fail or replace rows.
@Suite("Import: unchanged tables", .hangLimit)
struct UnchangedTableTests {
  private func importFile(
    _ text: String, _ mode: ImportOptions.ExistingRowPolicy = .update, key: [String] = [],
    into database: ImportDatabase, in workspace: Workspace, hasHeader: Bool? = true, allowsNoRows: Bool = false,
    addsColumns: Bool = false, cancelling: Bool = false
  ) throws -> ImportOperation {
    let options = ImportOptions(
      batchSize: 2, hasHeader: hasHeader, existingRowPolicy: mode, addsColumns: addsColumns, allowsNoRows: allowsNoRows)
    let operation = ImportOperation(
      file: try workspace.write(text, to: "t.csv"), table: TableSchema(name: "t", columns: [], key: key),
      into: database, options: options, rejectedRows: workspace.rejectedRowsFile())
    if cancelling { operation.commitHandler = { [weak operation] _ in operation?.cancel() } }
    run(operation)
    return operation
  }

  @Test(
    "I12: a file without a usable row changes nothing, even if an option allows it",
    arguments: [ImportOptions.ExistingRowPolicy.update, .replace], [["id"], []])
  func noRows(mode: ImportOptions.ExistingRowPolicy, key: [String]) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      _ = try importFile("id,name\n1,a\n2,b\n3,c\n4,d\n", key: key, into: database, in: workspace)
      let before = try database.contents()
      let bad = "id,name\n1\n2\n"
      let operation = try importFile(bad, mode, key: key, into: database, in: workspace)
      let error = try importError(operation)
      #expect(error.code == .noRows && operation.report.rejectedRowCount == 2 && operation.report.rowCount == 0)
      #expect(error.context.hasPrefix("None of the 2 rows could be imported. The database is unchanged; see "))
      #expect(try database.contents() == before)
      let allowed = try importFile(bad, mode, key: key, into: database, in: workspace, allowsNoRows: true)
      #expect(allowed.error == nil && allowed.report.rejectedRowCount == 2 && allowed.report.removedRowCount == 0)
      #expect(try database.contents() == before)
      // A file without rows is a different case.
      let empty = try importFile("id,name\n", mode, key: key, into: database, in: workspace)
      #expect(empty.error == nil)
      #expect(try database.count("t") == (mode == .update && !key.isEmpty ? 4 : 0))
    }
  }

  @Test("I12: if no row can be imported, no table or column is added") func undone() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      #expect(try importError(importFile("a,b\n1\n2\n", into: database, in: workspace)).code == .noRows)
      #expect(try database.strings("SELECT name FROM sqlite_master WHERE name NOT LIKE 'grdb%'") == [])
      let definition = "CREATE TABLE t (a TEXT, b TEXT)"
      try database.pool.write { try $0.execute(sql: definition) }
      let added = try importFile(
        "a,b,c\n1\n2\n", key: ["a"], into: database, in: workspace, addsColumns: true)
      #expect(try importError(added).code == .noRows)
      #expect(
        try database.strings("SELECT sql FROM sqlite_master WHERE name NOT LIKE 'grdb_headway_imp%'") == [definition])
    }
  }

  @Test("I12: an unfinished replacement leaves the database unchanged", arguments: [["id"], []])
  func helperTables(key: [String]) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      _ = try importFile("id,name\n1,a\n2,b\n", key: key, into: database, in: workspace)
      let before = try database.contents()
      let new = "id,name\n" + people(1...50).map { $0 + "\n" }.joined()
      _ = try importFile(new, .replace, key: key, into: database, in: workspace, cancelling: true)
      #expect(try database.contents() == before)
      // New rows are in a table of the connection, so nothing remains if the process is killed.
      let gate = Checkpoint()
      let operation = ImportOperation(
        file: workspace.path("t.csv"), table: TableSchema(name: "t", columns: [], key: key), into: database,
        options: ImportOptions(batchSize: 2, existingRowPolicy: .replace))
      operation.stop(at: gate)
      let queue = Headway.OperationQueue()
      queue.addOperation(operation)
      gate.awaitArrival()
      #expect(try database.contents() == before)
      operation.commitHandler = nil
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(operation.error == nil && operation.report.replacedRowCount == 2 && operation.report.removedRowCount == 0)
      #expect(try database.count("t") == 50)
    }
  }

  @Test("I12: importing a file again reports the number of removed rows", arguments: [true, false])
  func removed(hasOtherColumns: Bool) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      _ = try importFile("a,b\n1,x\n2,y\n3,z\n4,w\n", into: database, in: workspace)
      let text = hasOtherColumns ? "a,c\n9,x\n" : "a,b\n9,x\n1\n"
      let again = try importFile(text, into: database, in: workspace)
      #expect(again.error == nil && again.report.replacedRowCount == 1 && again.report.removedRowCount == 3)
      #expect(try database.count("t") == 1)
    }
  }

  @Test(
    "I5: an import does not overwrite the rows of other programs after VACUUM", arguments: [true, false])
  func vacuum(hasHeader: Bool) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let text = (hasHeader ? "column_1,column_2\n" : "") + "1,x\n2,y\n3,x\n"
      #expect(try importFile(text, into: database, in: workspace, hasHeader: hasHeader).error == nil)
      for change in ["INSERT INTO t VALUES (50, 'mine')", "UPDATE t SET column_2 = 'mine' WHERE column_1 = 50"] {
        try database.pool.write { try $0.execute(sql: "DELETE FROM t WHERE column_1 = 1; \(change)") }
        try database.pool.vacuum()
        let before = try database.strings("SELECT * FROM t")
        let again = try importFile(text, into: database, in: workspace, hasHeader: hasHeader)
        #expect(try importError(again).code == .foreignRows)
        #expect(try database.strings("SELECT * FROM t") == before)
      }
    }
  }
}
#endif
