#if SQLite
import Foundation
import GRDB
import Headway
@testable import HeadwayImport
import Testing

/// Several files that are imported into one table, in one import.
@Suite("Import: several files into one table", .hangLimit)
struct FileGroupTests {
  /// Imports strings as files.
  ///
  /// Cancels one of the imports from the beginning.
  private func importFiles(
    _ texts: [String], _ mode: ImportOptions.ExistingRowPolicy = .update, key: [String] = [],
    stopsAtFirstMalformedRow: Bool = false,
    cancelling cancelled: Int? = nil, into database: ImportDatabase, in workspace: Workspace
  ) throws -> [ImportOperation] {
    try? FileManager.default.removeItem(atPath: workspace.path("rejected-rows"))
    let files = try texts.enumerated().map { number, text in
      FilesImport.File(
        path: try workspace.write(text, to: "\(number).csv"), table: TableSchema(name: "t", columns: [], key: key),
        size: text.utf8.count)
    }
    let made = try FilesImport.intoOneTable(
      files, into: database,
      options: ImportOptions(batchSize: 2, stopsAtFirstMalformedRow: stopsAtFirstMalformedRow, existingRowPolicy: mode),
      rejectedRowsFolder: workspace.path("rejected-rows"))
    if let cancelled { made.operations[cancelled].cancel() }
    run(made.operations)
    return made.operations
  }

  private func rows(_ reports: [ImportOperation]) -> [Int] { reports.map(\.report.rowCount) }

  @Test(
    "I12: if one of several files can't be imported, the existing rows stay, and no temporary data remains",
    arguments: [["id"], []], [nil, "id INTEGER, name TEXT", "id INTEGER PRIMARY KEY, name TEXT"])
  func failure(key: [String], definition: String?) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      if let definition {
        try database.pool.write {
          try $0.execute(sql: "CREATE TABLE t (\(definition)); INSERT INTO t VALUES (100, 'mine')")
        }
      }
      // The history of imports stays.
      try database.pool.write { try ImportHistory.create($0) }
      let before = try database.contents()
      let (good, bad) = ("id,name\n1,a\n2,b\n3,c\n", "id,name\n4\n5\n")
      for (texts, stopsAtFirstMalformedRow, cancelled) in [
        ([good, bad, good], false, nil), ([good, "id,name\n7,x\n8\n"], true, nil), ([good, good, good], false, 1),
        ([good, good, good], false, 2),
      ] as [([String], Bool, Int?)] {
        let operations = try importFiles(
          texts, .replace, key: key, stopsAtFirstMalformedRow: stopsAtFirstMalformedRow, cancelling: cancelled,
          into: database, in: workspace)
        #expect(operations.contains { $0.error != nil } == (cancelled == nil))
        #expect(operations.allSatisfy { $0.report.rowCount == 0 && !$0.report.isComplete })
        // The end of the operations does not wait for the cancellation to complete.
        let helpers = try database.writeAndWait("look at tables") { connection in
          try String.fetchAll(connection, sql: "SELECT name FROM sqlite_temp_master")
        }
        #expect(helpers == [])
        #expect(try database.contents() == before)
      }
    }
  }

  @Test("I12: importing keyless files again keeps all rows if a file can't be imported")
  func keylessReimport() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let texts = ["id,name\n1,a\n2,b\n", "id,name\n3,c\n4,d\n"]
      _ = try importFiles(texts, into: database, in: workspace)
      let before = try database.contents()
      let failed = try importFiles([texts[0], "id,name\n3\n"], into: database, in: workspace)
      #expect(try importError(failed[1]).code == .noRows)
      #expect(try database.contents() == before)
      // Other rows must not be replaced, even if they arrive later.
      let changed = [texts[0], "id,name\n3,c\n5,e\n6,f\n"]
      let again = try importFiles(changed, into: database, in: workspace)
      #expect(again.allSatisfy { $0.error == nil && $0.report.isComplete } && rows(again) == [2, 3])
      #expect(again[1].report.replacedRowCount == 4 && again[1].report.removedRowCount == 0)
      #expect(try database.strings("SELECT id FROM t ORDER BY rowid") == ["1", "2", "3", "5", "6"])
      // The history of the files is used the next time.
      #expect(try importFiles(texts, into: database, in: workspace).allSatisfy { $0.error == nil })
      #expect(try database.contents() == before)
      try database.pool.write { try $0.execute(sql: "INSERT INTO t VALUES (9, 'mine')") }
      #expect(throws: ImportError.self) { try importFiles(texts, into: database, in: workspace) }
    }
  }

  @Test(
    "I12: a row with the key of an earlier file is rejected",
    arguments: [ImportOptions.ExistingRowPolicy.update, .replace, .append],
    [nil, "id INTEGER PRIMARY KEY, name TEXT", "id TEXT COLLATE NOCASE UNIQUE, name TEXT CHECK (name <> 'no')"])
  func sharedKeys(mode: ImportOptions.ExistingRowPolicy, definition: String?) throws {
    for hasRows in [false, true] {
      try withWorkspace { workspace in
        let database = try workspace.database()
        if let definition { try database.pool.write { try $0.execute(sql: "CREATE TABLE t (\(definition))") } }
        if hasRows { _ = try importFiles(["id,name\n1,old\n"], key: ["id"], into: database, in: workspace) }
        let isText = definition?.contains("NOCASE") == true
        let (key, other) = isText ? ("a", "A") : ("1", "1")
        let texts = ["id,name\n\(key),x\n2,b\n3,c\n", "id,name\n\(other),y\n4,d\n", "id,name\n2,z\n4,z\n"]
        let operations = try importFiles(texts, mode, key: ["id"], into: database, in: workspace)
        #expect(operations.allSatisfy { $0.error == nil && $0.report.isComplete })
        // In an append, a key of the table already exists.
        let isOld = hasRows && mode == .append && !isText
        #expect(rows(operations) == [isOld ? 2 : 3, 1, 0])
        #expect(operations.map(\.report.rejectedRowCount) == [isOld ? 1 : 0, 1, 2])
        let isKept = hasRows && isText && mode != .replace
        let expected = [isOld ? "old" : "x", "b", "c", "d"] + (isKept ? ["old"] : [])
        #expect(try database.strings("SELECT name FROM t").sorted() == expected.sorted())
        let reasons = try parsedRowIssues(workspace.bytes(of: "rejected-rows/t.csv")).map(\.reason)
        let reason = mode == .append ? "the table has a row with this key (id)" : "an earlier row has this key (id)"
        #expect(reasons.allSatisfy { $0.hasSuffix(reason) })
      }
    }
  }

  @Test("I9: several files that replace a table give the same values as one file with all their rows")
  func types() throws {
    let texts = ["id,n,m\n1,5,1.5\n2,6,2.5\n", "m,id,n\n2.50,3,7.5\n3.50,4,8\n", "id,n,m\n5,007,x\n6,9,4.50\n"]
    let all = "id,n,m\n1,5,1.5\n2,6,2.5\n3,7.5,2.50\n4,8,3.50\n5,007,x\n6,9,4.50\n"
    for hasTable in [false, true] {
      try withWorkspace { workspace in
        let database = try workspace.database()
        if hasTable { _ = try importFiles(["id,n,m\n1,1,1.5\n", "id,n,m\n1,1,1.5\n"], into: database, in: workspace) }
        let operations = try importFiles(texts, .replace, into: database, in: workspace)
        #expect(operations.allSatisfy { $0.error == nil } && rows(operations) == [2, 2, 2])
        let values = "SELECT id, n, typeof(n), typeof(m) FROM t"
        let found = try database.strings(values)
        let texts = try database.strings("SELECT m FROM t WHERE id > 4")
        #expect(texts == ["x", "4.50"])
        _ = try importFiles([all, "id,n,m\n"], .replace, into: database, in: workspace)
        #expect(try database.strings(values) == found)
        // The table still belongs to imports.
        let wider = try importFiles(["id,n,m,o\n1,2,3,4\n"], .replace, into: database, in: workspace)
        #expect(wider[0].error == nil)
      }
    }
  }

  @Test("I3: rows that a trigger blocks are reported with their files when several files replace a table")
  func triggers() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      try database.pool.write {
        try $0.execute(
          sql: """
            CREATE TABLE t (id INTEGER, name TEXT); INSERT INTO t VALUES (0, 'mine');
            CREATE TRIGGER guard BEFORE INSERT ON t WHEN NEW.id % 3 = 0 BEGIN SELECT RAISE(ABORT, 'no'); END
            """)
      }
      let texts = ["id,name\n1,a\n3,c\n", "id,name\n4,d\n5,e\n6,f\n"]
      let operations = try importFiles(texts, .replace, into: database, in: workspace)
      #expect(operations.allSatisfy { $0.error == nil } && rows(operations) == [1, 2])
      #expect(try database.strings("SELECT id FROM t") == ["1", "4", "5"])
      let issues = try parsedRowIssues(workspace.bytes(of: "rejected-rows/t.csv"))
      #expect(issues.map(\.lineNumber) == [3, 4])
      #expect(issues[0].reason.contains("0.csv") && issues[1].reason.contains("1.csv"))
    }
  }
}
#endif
