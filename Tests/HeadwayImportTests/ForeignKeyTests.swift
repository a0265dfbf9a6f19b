#if SQLite
import Foundation
import GRDB
import Headway
import HeadwayCSV
@testable import HeadwayImport
import Synchronization
import Testing

@Suite("Import: foreign keys of an app's tables", .hangLimit)
struct ForeignKeyTests {
  /// Imports a file into a table of a database that an app has created.
  private func imported(
    _ schema: String, _ text: String, to table: String, policy: ImportOptions.ExistingRowPolicy = .update,
    _ body: (ImportDatabase, ImportOperation, [RowIssue]) throws -> Void
  ) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      try database.pool.write { try $0.execute(sql: schema) }
      let operation = ImportOperation(
        file: try workspace.write(text, to: "\(table).csv"), into: database,
        options: ImportOptions(existingRowPolicy: policy), rejectedRows: workspace.rejectedRowsFile())
      run(operation)
      let issues =
        operation.report.rejectedRowsPath == nil ? [] : try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv"))
      try body(database, operation, issues)
    }
  }

  private static let parents = """
    CREATE TABLE parent(id INTEGER PRIMARY KEY, n TEXT); INSERT INTO parent VALUES (1, 'a'), (3, 'c');
    """

  @Test(
    "I17: a row that violates a foreign key is rejected with its line, whether it is new or updates a row",
    arguments: [
      "INTEGER NOT NULL REFERENCES parent(id)", "INT REFERENCES parent(id) ON DELETE CASCADE",
      "INT REFERENCES parent DEFERRABLE INITIALLY DEFERRED",
    ],
    [ImportOptions.ExistingRowPolicy.update, .append, .replace])
  func rows(declaration: String, policy: ImportOptions.ExistingRowPolicy) throws {
    let schema =
      "\(Self.parents) CREATE TABLE child(id INTEGER PRIMARY KEY, p \(declaration)); INSERT INTO child VALUES (4, 1);"
    let text = "id,p\n1,1\n2,99\n3,3\n\(policy == .append ? "5" : "4"),98\n"
    try imported(schema, text, to: "child", policy: policy) { (database, operation, issues) throws in
      #expect(operation.error == nil && operation.report.rejectedRowCount == 2)
      #expect(issues.map(\.lineNumber) == [3, 5])
      #expect(issues.allSatisfy { $0.reason.contains("parent (id)") }, "\(issues.map(\.reason))")
      let kept = policy == .replace ? [] : ["4|1"]
      #expect(try database.strings("SELECT * FROM child ORDER BY id") == ["1|1", "3|3"] + kept)
      #expect(try database.strings("PRAGMA foreign_key_check").isEmpty)
    }
  }

  @Test(
    "I17: a row can refer to a later row of the same table",
    arguments: [ImportOptions.ExistingRowPolicy.update, .replace])
  func ownTable(policy: ImportOptions.ExistingRowPolicy) throws {
    let schema = """
      CREATE TABLE node(id INTEGER PRIMARY KEY, up INTEGER REFERENCES node(id)); INSERT INTO node VALUES (50, NULL);
      """
    let text = "id,up\n1,2\n2,3\n3,\n4,99\n5,4\n6,6\n"
    try imported(schema, text, to: "node", policy: policy) { (database, operation, issues) throws in
      #expect(operation.error == nil)
      #expect(issues.map(\.lineNumber) == [5, 6])
      #expect(try database.strings("SELECT id FROM node WHERE id < 50 ORDER BY id") == ["1", "2", "3", "6"])
      #expect(try database.strings("PRAGMA foreign_key_check").isEmpty)
    }
  }

  @Test("I17: the cost per row of rows that refer to the next or an earlier row does not grow with their number")
  func chain() throws {
    try withWorkspace { workspace in
      let (count, database) = (400, try workspace.database())
      let attempts = Mutex(0)
      try database.pool.writeWithoutTransaction { connection in
        try connection.execute(sql: "CREATE TABLE node(id INTEGER PRIMARY KEY, up INTEGER REFERENCES node(id))")
        connection.trace { event in
          if "\(event)" == "SAVEPOINT headway_row" { attempts.withLock { $0 += 1 } }
        }
      }
      // Each row in the first half refers to the next row. Each row in the second half refers to the first row.
      let lines = (1...count).map { $0 < count / 2 ? "\($0),\($0 + 1)" : $0 == count / 2 ? "\($0)," : "\($0),1" }
      let operation = ImportOperation(
        file: try workspace.write("id,up\n\(lines.joined(separator: "\n"))\n", to: "node.csv"), into: database,
        options: ImportOptions(batchSize: 2 * count))
      run(operation)
      #expect(operation.error == nil && operation.report.rejectedRowCount == 0)
      #expect(try database.strings("SELECT count(*) FROM node") == ["\(count)"])
      #expect(attempts.withLock { (count..<4 * count).contains($0) })
    }
  }

  @Test("I17: a replacement that would remove rows that other tables refer to changes nothing")
  func orphans() throws {
    let schema = """
      \(Self.parents)
      CREATE TABLE child(id INTEGER PRIMARY KEY, p INT REFERENCES parent(id) ON DELETE CASCADE);
      INSERT INTO child VALUES (11, 3);
      """
    try imported(schema, "id,n\n1,new\n2,two\n", to: "parent", policy: .replace) { (database, operation, _) throws in
      #expect(try importError(operation).code == .brokenReferences)
      #expect(try importError(operation).context.contains("1 row of the table child"))
      #expect(try database.strings("SELECT * FROM parent") == ["1|a", "3|c"])
      #expect(try database.strings("SELECT * FROM child") == ["11|3"])
    }
    try imported(schema, "id,n\n3,new\n4,two\n", to: "parent", policy: .replace) { (database, operation, _) throws in
      #expect(operation.error == nil)
      #expect(try database.strings("SELECT * FROM parent") == ["3|new", "4|two"])
      #expect(try database.strings("SELECT * FROM child") == ["11|3"])
    }
  }

  @Test("I17: referenced tables are imported first, and tables that refer to each other are replaced together")
  func severalFiles() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      try database.pool.write {
        try $0.execute(
          sql: """
            \(Self.parents) CREATE TABLE child(id INTEGER PRIMARY KEY, p INT REFERENCES parent(id));
            INSERT INTO child VALUES (11, 3);
            """)
      }
      let files = try [("child", "id,p\n1,7\n2,3\n"), ("parent", "id,n\n7,x\n")].map { name, text in
        FilesImport.File(
          path: try workspace.write(text, to: "\(name).csv"), table: TableSchema(name: name, columns: []), size: 1)
      }
      for policy in [ImportOptions.ExistingRowPolicy.update, .replace] {
        let options = ImportOptions(existingRowPolicy: policy)
        let made = try FilesImport(
          files, into: database, options: options, rejectedRowsFolder: workspace.path("rejected"))
        run(made.operations)
        #expect(made.operations.allSatisfy { $0.error == nil })
        #expect(made.operations.map(\.report.rejectedRowCount) == [policy == .replace ? 1 : 0, 0])
        #expect(try database.strings("PRAGMA foreign_key_check").isEmpty)
      }
      #expect(try database.strings("SELECT * FROM child") == ["1|7"])
    }
  }

  @Test("I17: foreign keys that can't be checked are reported, and the rows are imported") func unchecked() throws {
    try imported("CREATE TABLE child(id INTEGER PRIMARY KEY, p INT REFERENCES gone(id));", "id,p\n1,2\n", to: "child") {
      (database, operation, _) throws in
      #expect(operation.error == nil && operation.report.rowCount == 1)
      #expect(operation.report.uncheckedReferences.count == 1)
    }
  }
}
#endif
