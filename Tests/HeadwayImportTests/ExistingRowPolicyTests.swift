#if SQLite
import Dispatch
import Foundation
import GRDB
import Headway
@testable import HeadwayImport
import HeadwayTestKit
import Testing

/// How an import treats rows that are already in the table.
@Suite("Import: existing rows", .hangLimit)
struct ExistingRowPolicyTests {
  private let rows = "SELECT id, name FROM log ORDER BY rowid"

  private func importFile(
    _ name: String, _ lines: [String], table: TableSchema = .log,
    _ existingRowPolicy: ImportOptions.ExistingRowPolicy = .update,
    batchSize: Int = 20, into database: ImportDatabase, in workspace: Workspace,
    cancellingAfter batches: Int? = nil
  ) throws -> ImportOperation {
    let file = try workspace.write((["id,name"] + lines).map { $0 + "\n" }.joined(), to: name)
    let operation = ImportOperation(
      file: file, table: table, into: database,
      options: ImportOptions(batchSize: batchSize, existingRowPolicy: existingRowPolicy))
    let commits = EventRecorder<Int>()
    operation.commitHandler = { [weak operation] _ in
      commits.record(1)
      if commits.events.count == batches { operation?.cancel() }
    }
    run(operation)
    return operation
  }

  private func code(_ operation: ImportOperation) -> ImportError.Code? { (operation.error as? ImportError)?.code }

  @Test("I5: importing another file does not overwrite the rows of a table without a key") func otherFile() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      _ = try importFile("a.csv", ["1,a", "2,b", "3,c"], into: database, in: workspace)
      let second = try importFile("b.csv", ["9,z"], into: database, in: workspace)
      #expect(code(second) == .foreignRows)
      #expect(try database.strings(rows) == ["1|a", "2|b", "3|c"])
      // The first file still owns them.
      #expect(try importFile("a.csv", ["1,A"], into: database, in: workspace).error == nil)
      #expect(try database.strings(rows) == ["1|A"])
      // It owns no rows after its own, even if it was longer before.
      try database.pool.write { try $0.execute(sql: "INSERT INTO log VALUES ('2', 'by hand')") }
      #expect(code(try importFile("a.csv", ["1,B"], into: database, in: workspace)) == .foreignRows)
      #expect(try database.strings(rows) == ["1|A", "2|by hand"])
    }
  }

  @Test("I5: an import does not overwrite rows that other programs have added")
  func unknownRows() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      try database.pool.write { try $0.execute(sql: "CREATE TABLE log (id TEXT, name TEXT)") }
      try database.pool.write { try $0.execute(sql: "INSERT INTO log VALUES ('0', 'by hand')") }
      #expect(code(try importFile("a.csv", ["1,a"], into: database, in: workspace)) == .foreignRows)
      #expect(try database.strings(rows) == ["0|by hand"])
      try database.pool.write { try $0.execute(sql: "DELETE FROM log") }
      #expect(try importFile("a.csv", ["1,a"], into: database, in: workspace).error == nil)
      try database.pool.write { try $0.execute(sql: "INSERT INTO log VALUES ('2', 'by hand')") }
      #expect(code(try importFile("a.csv", ["1,b"], into: database, in: workspace)) == .foreignRows)
      #expect(try database.strings(rows) == ["1|a", "2|by hand"])
    }
  }

  @Test("I5: each append adds its rows after the existing rows") func append() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      _ = try importFile("a.csv", ["1,a", "2,b"], into: database, in: workspace)
      for _ in 1...2 {
        #expect(try importFile("b.csv", ["3,c", "4,d"], .append, into: database, in: workspace).error == nil)
      }
      #expect(try database.strings(rows) == ["1|a", "2|b", "3|c", "4|d", "3|c", "4|d"])
      #expect(code(try importFile("a.csv", ["1,x"], into: database, in: workspace)) == .foreignRows)
    }
  }

  @Test("I5: repeating a cancelled append adds each missing row once")
  func appendResumed() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      _ = try importFile("a.csv", people(1...10), into: database, in: workspace)
      let lines = people(11...100)
      let cancelled = try importFile(
        "b.csv", lines, .append, batchSize: 10, into: database, in: workspace, cancellingAfter: 3)
      #expect(cancelled.isCancelled && cancelled.report.rowCount < 90)
      #expect(try importFile("b.csv", lines, .append, into: database, in: workspace).error == nil)
      #expect(try database.strings(rows) == people(1...100).map { $0.replacing(",", with: "|") })
      // The same if another program has added a row after them.
      _ = try importFile("c.csv", lines, .append, batchSize: 10, into: database, in: workspace, cancellingAfter: 3)
      try database.pool.write { try $0.execute(sql: "INSERT INTO log VALUES ('x', 'y')") }
      #expect(try importFile("c.csv", lines, .append, into: database, in: workspace).error == nil)
      #expect(try database.count("log") == 191)
    }
  }

  @Test("I5: an append to a table with a key adds only rows with new keys") func appendToKeyed() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      _ = try importFile("a.csv", ["1,a", "2,b"], table: .people, into: database, in: workspace)
      let second = try importFile("b.csv", ["2,x", "3,c"], table: .people, .append, into: database, in: workspace)
      #expect(second.report.rejectedRowCount == 1 && second.report.rowCount == 1)
      #expect(try database.strings("SELECT * FROM people ORDER BY id") == ["1|a", "2|b", "3|c"])
    }
  }

  @Test(
    "I5: replacing rows is one transaction, and the table keeps indices of other programs",
    arguments: [true, false])
  func replace(hasKey: Bool) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let table = hasKey ? TableSchema.people : .log
      let rows = "SELECT id, name FROM \(table.name) ORDER BY rowid"
      _ = try importFile("a.csv", people(1...60), table: table, into: database, in: workspace)
      try database.pool.write { try $0.execute(sql: "CREATE INDEX mine ON \(table.name) (name)") }
      let before = try database.strings(rows)
      let cancelled = try importFile(
        "b.csv", people(100...200), table: table, .replace, batchSize: 10, into: database, in: workspace,
        cancellingAfter: 4)
      #expect(cancelled.isCancelled)
      #expect(try database.strings(rows) == before)
      // In the meantime, readers see the old rows.
      let seen = EventRecorder<Int>()
      let file = try workspace.write((["id,name"] + people(100...110)).map { $0 + "\n" }.joined(), to: "b.csv")
      let operation = ImportOperation(
        file: file, table: table, into: database, options: ImportOptions(batchSize: 5, existingRowPolicy: .replace))
      operation.commitHandler = { _ in seen.record((try? database.count(table.name)) ?? -1) }
      run(operation)
      #expect(operation.error == nil && operation.report.rowCount == 11)
      #expect(seen.events == [60, 60, 60])
      #expect(try database.strings(rows) == people(100...110).map { $0.replacing(",", with: "|") })
      #expect(
        try database.strings(
          "SELECT name FROM sqlite_master WHERE name IN ('mine', '\(table.name) (headway import)')")
          == ["mine"])
      // They belong to that file from now on.
      #expect(try importFile("b.csv", ["1,a"], table: table, into: database, in: workspace).error == nil)
      #expect(try database.isIntact())
    }
  }

  @Test("I3: column names can differ in non-ASCII case, and key names ignore ASCII case") func names() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let file = try workspace.write("ID,Übung,übung\n1,a,b\n", to: "a.csv")
      let table = TableSchema(name: "t", columns: [], key: ["id"])
      for _ in 1...2 {
        let operation = ImportOperation(file: file, table: table, into: database)
        run(operation)
        #expect(operation.error == nil)
      }
      #expect(try database.strings("SELECT ID, \"Übung\", \"übung\" FROM t") == ["1|a|b"])
      #expect(try database.strings("SELECT name FROM pragma_table_info('t') WHERE pk > 0") == ["ID"])
    }
  }

  @Test("I5: two concurrent imports into one table run one after the other", arguments: [true, false])
  func atOnce(hasKey: Bool) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let table = TableSchema(name: "log", columns: [], key: hasKey ? ["id"] : [])
      let operations = try (1...4).map { number in
        let lines = (1...500).map { "\(hasKey ? $0 : number * 1_000 + $0),\(number)\n" }.joined()
        return ImportOperation(
          file: try workspace.write("id,name\n\(lines)", to: "\(number).csv"), table: table, into: database,
          options: ImportOptions(batchSize: 20, existingRowPolicy: hasKey ? .update : .append))
      }
      run(operations)
      #expect(operations.allSatisfy { $0.error == nil && $0.report.rowCount == 500 && $0.report.rejectedRowCount == 0 })
      #expect(try database.count("log") == (hasKey ? 500 : 2_000))
      #expect(try database.strings("SELECT count(DISTINCT name) FROM log") == [hasKey ? "1" : "4"])
    }
  }

  @Test("I5, I10: an import neither overwrites concurrently added rows nor reports duplicates")
  func addedMeanwhile() throws {
    for mode in [ImportOptions.ExistingRowPolicy.append, .update] {
      try withWorkspace { workspace in
        let database = try workspace.database()
        let other = try DatabaseQueue(path: database.path)
        let operation = try workspace.operation(
          people(1...200), table: .log, into: database, options: ImportOptions(batchSize: 20, existingRowPolicy: mode))
        operation.commitHandler = { report in
          guard report.rowCount == 60 else { return }
          try? other.write { try $0.execute(sql: "INSERT INTO log VALUES ('x', 'another program')") }
        }
        run(operation)
        // An append continues after them; an update identifies its rows by their numbers.
        let rows = mode == .append ? 200 : 60
        #expect(code(operation) == (mode == .append ? nil : .foreignRows))
        #expect(operation.report.rowCount == rows && operation.report.rejectedRowCount == 0)
        #expect(try database.count("log") == rows + 1)
        #expect(try database.strings("SELECT count(DISTINCT id) FROM log") == ["\(rows + 1)"])
      }
    }
  }

  @Test("I5: an import fails, without reporting duplicates, if another program adds keys of its file")
  func keysAddedMeanwhile() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let other = try DatabaseQueue(path: database.path)
      let table = TableSchema(name: "log", columns: [ColumnSchema(name: "id", type: .integer)], key: ["id"])
      let file = try workspace.write("id,name\n" + people(1...200).map { "\($0)\n" }.joined(), to: "a.csv")
      func operation() -> ImportOperation {
        ImportOperation(file: file, table: table, into: database, options: ImportOptions(batchSize: 20))
      }
      let first = operation()
      first.commitHandler = { report in
        guard report.rowCount == 60 else { return }
        try? other.write { try $0.execute(sql: "INSERT INTO log VALUES (150, 'another program')") }
      }
      run(first)
      #expect(code(first) == .otherWriter)
      #expect(first.report.rejectedRowCount == 0)
      let second = operation()
      run(second)
      #expect(second.error == nil && second.report.rejectedRowCount == 0)
      #expect(try database.count("log") == 200)
      #expect(try database.strings("SELECT name FROM log WHERE id = 150") == ["name 150"])
    }
  }

  private static let vacuum = "VACUUM"

  @Test(
    "I5: an import does not overwrite rows after another program has changed the table",
    arguments: [
      ("1,a\n2,b\n3,c\n", vacuum, 3),
      // The last record was rejected, and another program's row has its row number.
      ("1,a\n2,b\n3\n", "INSERT INTO log VALUES ('mine', 'precious')", 3),
      ("1,a\n2,b\n", "DROP TABLE log; CREATE TABLE log (id, name); INSERT INTO log VALUES (1, 2), (3, 4)", 2),
    ])
  func changedTable(text: String, sql: String, count: Int) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let file = try workspace.write("id,name\n\(text)", to: "a.csv")
      run(ImportOperation(file: file, table: .log, into: database))
      try database.pool.writeWithoutTransaction { try $0.execute(sql: sql) }
      let before = try database.strings(rows)
      let operation = ImportOperation(file: file, table: .log, into: database)
      run(operation)
      #expect(code(operation) == .foreignRows)
      #expect(try database.strings(rows) == before && before.count == count)
    }
  }

  @Test("I5: importing a file again keeps rows that another program adds in the meantime") func addedBehind() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      _ = try importFile("a.csv", people(1...100), into: database, in: workspace)
      let other = try DatabaseQueue(path: database.path)
      let file = try workspace.write("id,name\n" + people(1...60).map { "\($0)\n" }.joined(), to: "a.csv")
      let operation = ImportOperation(
        file: file, table: .log, into: database, options: ImportOptions(batchSize: 20))
      operation.commitHandler = { report in
        guard report.rowCount == 20 else { return }
        try? other.write { try $0.execute(sql: "INSERT INTO log VALUES ('x', 'another program')") }
      }
      run(operation)
      #expect(operation.error == nil)
      #expect(try database.strings(rows).suffix(2) == ["60|name 60", "x|another program"])
      #expect(try database.count("log") == 61)
    }
  }

  @Test(
    "I5: importing a file again after its columns have changed leaves no old values in its rows",
    arguments: [true, false])
  func otherColumns(hadHeader: Bool) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let file = try workspace.write("name,phone\nann,1\nbob,2\n", to: "log.csv")
      run(ImportOperation(file: file, into: database, options: ImportOptions(hasHeader: hadHeader)))
      try workspace.write("name,mail\nbob,b@\nann,a@\n", to: "log.csv")
      let operation = ImportOperation(file: file, into: database)
      run(operation)
      // Without a header, row 1 is the first record, and no file with a header has written it.
      if hadHeader {
        #expect(operation.error == nil)
        #expect(try database.strings("SELECT name, phone, mail FROM log") == ["bob|NULL|b@", "ann|NULL|a@"])
      } else {
        #expect(code(operation) == .foreignRows)
      }
    }
  }

  @Test("I5: rows that have moved within the file are not treated as duplicates") func movedRows() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      try database.pool.write { try $0.execute(sql: "CREATE TABLE log (id, name UNIQUE CHECK (name <> 'bad'))") }
      _ = try importFile("a.csv", ["1,x", "2,y", "3,z", "4,w"], into: database, in: workspace)
      let operation = try importFile("a.csv", ["2,y", "3,z", "4,w", "5,bad"], into: database, in: workspace)
      #expect(operation.error == nil && operation.report.rowCount == 3 && operation.report.rejectedRowCount == 1)
      #expect(try database.strings(rows) == ["2|y", "3|z", "4|w"])
      // Rejected rows do not end a replacement either.
      let replacing = try importFile("b.csv", ["7,bad", "8,y", "9,y"], .replace, into: database, in: workspace)
      #expect(replacing.error == nil && replacing.report.rowCount == 1 && replacing.report.rejectedRowCount == 2)
      #expect(try database.strings(rows) == ["8|y"])
    }
  }

  @Test("I5: an append that was interrupted before its first batch can be repeated") func earlyAppend() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      _ = try importFile("a.csv", people(1...30), into: database, in: workspace)
      let history = ImportHistory(target: "log", file: workspace.path("b.csv"), isRegular: true)
      try database.pool.write { connection in
        _ = try history.begin(
          size: 1, columns: ["id", "name"], inferredColumns: [], beganEmpty: false, offset: 31, lastRow: 31, connection)
      }
      #expect(try importFile("b.csv", people(31...40), .append, into: database, in: workspace).error == nil)
      #expect(try database.count("log") == 40)
    }
  }

  @Test("I10: a cancelled append can be completed even after another append") func appendBetween() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      _ = try importFile("a.csv", people(1...30), .append, into: database, in: workspace)
      _ = try importFile("b.csv", people(1...90), .append, into: database, in: workspace, cancellingAfter: 2)
      _ = try importFile("c.csv", people(1...30), .append, into: database, in: workspace)
      #expect(try importFile("b.csv", people(1...90), .append, into: database, in: workspace).error == nil)
      #expect(try database.count("log") == 150)
    }
  }

  @Test("I5: concurrent replacements run one at a time and keep a user's table with a similar name")
  func replacingAtOnce() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      _ = try importFile("a.csv", people(1...30), into: database, in: workspace)
      try database.pool.write { try $0.execute(sql: #"CREATE TABLE "log (headway import)" AS SELECT 1 AS mine"#) }
      let operations = try (1...3).map { number in
        ImportOperation(
          file: try workspace.write(
            "id,name\n" + (1...100).map { "\($0),\(number)\n" }.joined(), to: "\(number).csv"),
          table: .log, into: try workspace.database(),
          options: ImportOptions(batchSize: 10, existingRowPolicy: .replace))
      }
      run(operations)
      #expect(operations.allSatisfy { $0.error == nil })
      #expect(try database.strings("SELECT count(DISTINCT name), count(*) FROM log") == ["1|100"])
      #expect(try database.strings(#"SELECT * FROM "log (headway import)""#) == ["1"])
      #expect(try database.strings("SELECT count(*) FROM sqlite_master WHERE name LIKE '%headway import %'") == ["0"])
    }
  }

  @Test("I5: an update from a pipe does not overwrite the rows of an earlier pipe at its path") func pipes() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let path = workspace.path("pipe")
      try #require(mkfifo(path, 0o600) == 0)
      func importPipe(_ text: String, _ mode: ImportOptions.ExistingRowPolicy) -> ImportOperation {
        let written = DispatchGroup()
        DispatchQueue.global().async(group: written) {
          try? FileHandle(forWritingAtPath: path)?.write(contentsOf: Data(text.utf8))
        }
        let operation = ImportOperation(
          file: path, table: .log, into: database, options: ImportOptions(existingRowPolicy: mode))
        run(operation)
        written.wait()
        return operation
      }
      #expect(importPipe("id,name\n1,a\n2,b\n", .update).error == nil)
      #expect(code(importPipe("id,name\n9,z\n", .update)) == .foreignRows)
      #expect(try database.strings(rows) == ["1|a", "2|b"])
      #expect(importPipe("id,name\n9,z\n", .append).error == nil)
      #expect(try database.strings(rows) == ["1|a", "2|b", "9|z"])
    }
  }

  @Test("I5: the report of a cancelled replacement counts no new rows")
  func replacingCancelled() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      _ = try importFile("a.csv", people(1...30), into: database, in: workspace)
      let operation = try importFile(
        "b.csv", people(1...100), .replace, into: database, in: workspace, cancellingAfter: 2)
      #expect(
        operation.report.rowCount == 0 && operation.report.committedByteCount == 0 && !operation.report.isComplete)
      #expect(try database.count("log") == 30)
    }
  }

  @Test("I4, I5: importing a feed does not overwrite the keyless tables of another feed") func feeds() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let extra = "note,text\n1,first\n"
      let folder = try workspace.feed(["notes.txt": extra])
      run(try FeedImport(folder: folder, into: database).operations)
      let other = workspace.path("other")
      try workspace.move("feed", to: "other")
      #expect {
        try FeedImport(folder: other, into: database)
      } throws: {
        ($0 as? ImportError)?.code == .foreignRows
      }
      let replacing = try FeedImport(
        folder: other, into: database, options: ImportOptions(existingRowPolicy: .replace))
      run(replacing.operations)
      #expect(replacing.operations.allSatisfy { $0.error == nil })
      #expect(try database.strings("SELECT * FROM notes") == ["1|first"])
    }
  }

  @Test("I5: the database records the imported files and their outcomes") func history() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      _ = try importFile("a.csv", people(1...30), batchSize: 10, into: database, in: workspace, cancellingAfter: 1)
      _ = try importFile("a.csv", people(1...30), into: database, in: workspace)
      _ = try importFile("b.csv", people(1...3), .append, into: database, in: workspace)
      let name = "replace(source, rtrim(source, 'abcsv.'), '')"
      let history = "SELECT \(name), \"table\", columns, outcome, row_offset FROM grdb_headway_imports"
      #expect(
        try database.strings(history)
          == ["a.csv|log|id,name|cancelled|0", "a.csv|log|id,name|finished|0", "b.csv|log|id,name|finished|31"])
    }
  }
}
#endif
