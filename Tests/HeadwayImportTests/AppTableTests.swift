#if SQLite
import Foundation
import GRDB
import Headway
@testable import HeadwayImport
import Testing

/// Imports into the database of an app that manages its schema.
@Suite("Import: app tables", .hangLimit)
struct AppTableTests {
  private var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.eraseDatabaseOnSchemaChange = true
    migrator.registerMigration("v1") { database in
      try database.create(table: "person") { table in
        table.primaryKey("id", .integer)
        table.column("name", .text).notNull()
        table.column("email", .text)
      }
      try database.create(table: "visit") { table in
        table.column("person", .integer)
        table.column("day", .text)
      }
      try database.execute(sql: "INSERT INTO visit VALUES (0, 'before')")
    }
    return migrator
  }

  private func importFile(
    _ text: String, to table: String, key: [String] = [], indices: [[String]] = [], into database: ImportDatabase,
    in workspace: Workspace, options: ImportOptions = ImportOptions()
  ) throws -> ImportOperation {
    let columns = indices.joined().map { ColumnSchema(name: $0) }
    let operation = ImportOperation(
      file: try workspace.write(text, to: "\(table).csv"),
      table: TableSchema(name: table, columns: columns, key: key, indices: indices), into: database, options: options)
    run(operation)
    return operation
  }

  @Test("I11: GRDB's migrator finds the schema unchanged after imports, and keeps the rows") func migrations() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      try migrator.migrate(database.pool)
      let (people, visits) = ("id,name\n1,Ada\n2,Grace\n", "person,day\n1,mon\n2,tue\n")
      func expectUnchanged(_ location: SourceLocation = #_sourceLocation) throws {
        let hasChanged = try database.pool.read { try migrator.hasSchemaChanges($0) }
        #expect(!hasChanged, sourceLocation: location)
      }
      for mode in [ImportOptions.ExistingRowPolicy.update, .append, .replace] {
        let options = ImportOptions(existingRowPolicy: mode)
        #expect(
          try importFile(people, to: "person", key: ["id"], into: database, in: workspace, options: options).error
            == nil)
        try expectUnchanged()
      }
      for mode in [ImportOptions.ExistingRowPolicy.append, .replace, .update] {
        let options = ImportOptions(existingRowPolicy: mode)
        let operation = try importFile(
          visits, to: "visit", indices: [["day"]], into: database, in: workspace, options: options)
        #expect(operation.error == nil)
        try expectUnchanged()
      }
      // A key requires an index if the table has none for it.
      let keyed = try importFile(
        visits, to: "visit", key: ["person"], into: database, in: workspace)
      #expect(keyed.error == nil && keyed.report.schemaChanges.count == 1)
      try expectUnchanged()
      // One import that fails, and one that is interrupted.
      #expect(try importFile("id,nam\n3,x\n", to: "person", into: database, in: workspace).error != nil)
      try expectUnchanged()
      let rows = try database.strings("SELECT * FROM person")
      try database.close()

      // The app is launched again.
      let pool = try DatabasePool(path: workspace.path("test.sqlite"))
      try migrator.migrate(pool)
      #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM person") } == rows.count)
      #expect(rows.count == 2)
      try pool.close()
    }
  }

  @Test("I11: opening a database migrates the import history of earlier versions")
  func formerHistory() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      _ = try importFile("a,b\n1,2\n3,4\n", to: "t", into: database, in: workspace)
      // The state that earlier versions leave.
      try database.pool.write { connection in
        try connection.execute(
          sql: """
            CREATE TABLE headway_imports (
              id INTEGER PRIMARY KEY, "table" TEXT NOT NULL COLLATE NOCASE, source TEXT NOT NULL, size INTEGER,
              columns TEXT NOT NULL, started TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, ended TEXT,
              outcome TEXT NOT NULL DEFAULT 'running', rows INTEGER NOT NULL DEFAULT 0,
              began_empty INTEGER NOT NULL, row_offset INTEGER NOT NULL, last_row INTEGER NOT NULL DEFAULT 0,
              run TEXT, found_columns TEXT NOT NULL DEFAULT '[]');
            INSERT INTO headway_imports SELECT id, "table", source, size, columns, started, ended, outcome, rows,
              began_empty, row_offset, last_row, run, found_columns FROM grdb_headway_imports;
            DROP TABLE grdb_headway_imports;
            CREATE TABLE "t (headway import 4194305 7)" (a);
            CREATE TABLE "t (headway import \(getpid()) 7)" (a);
            CREATE TABLE "t (headway import)" (a);
            """)
      }
      try database.close()
      let reopened = try workspace.database()
      let tables = try reopened.strings("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      // The table of a process that is still running and a table with a similar name are kept.
      #expect(
        tables == ["grdb_headway_imports", "t", "t (headway import \(getpid()) 7)", "t (headway import)"])
      let again = try importFile("a,b\n5,x\n", to: "t", into: reopened, in: workspace)
      #expect(again.error == nil && again.report.replacedRowCount == 1 && again.report.removedRowCount == 1)
      #expect(try reopened.strings("SELECT * FROM t") == ["5|x"])
      // Imports have created the table, so it gets columns.
      let wider = try importFile("a,b,c\n5,x,y\n", to: "t", into: reopened, in: workspace)
      #expect(wider.error == nil && wider.report.schemaChanges == ["added the column c"])
    }
  }

  @Test("I11: an import does not change an app's table, even if the table has the previous name of the history")
  func similarName() throws {
    try withWorkspace { workspace in
      let path = workspace.path("test.sqlite")
      try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE headway_imports (id, note)") }
      let database = try workspace.database()
      #expect(try importFile("a\n1\n", to: "t", into: database, in: workspace).error == nil)
      #expect(try database.columns("headway_imports") == ["id", "note"])
    }
  }

  @Test(
    "I11: a column that an app's table lacks causes an error with a suggestion, and nothing changes",
    arguments: [false, true], [ImportOptions.ExistingRowPolicy.update, .append, .replace])
  func unknownColumn(stopsAtFirstMalformedRow: Bool, mode: ImportOptions.ExistingRowPolicy) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      try migrator.migrate(database.pool)
      try database.pool.write { try $0.execute(sql: "INSERT INTO person VALUES (1, 'Ada', 'ada@example.org')") }
      let before = try database.contents()
      var options = ImportOptions(stopsAtFirstMalformedRow: stopsAtFirstMalformedRow, existingRowPolicy: mode)
      let text = "id,name,E-Mail\n2,Grace,grace@example.org\n3,Anita,anita@example.org\n"
      let operation = try importFile(text, to: "person", into: database, in: workspace, options: options)
      let error = try importError(operation)
      #expect(error.code == .unknownColumn && error.lineNumber == 1)
      #expect(error.context == "The table person has no column E-Mail (the nearest is email).")
      #expect(try database.contents() == before)

      options.addsColumns = true
      let added = try importFile(text, to: "person", into: database, in: workspace, options: options)
      #expect(added.error == nil && added.report.schemaChanges == ["added the column E-Mail"])
      #expect(try database.columns("person") == ["id", "name", "email", "E-Mail"])
      // It is still the app's table.
      let more = try importFile("id,name,x\n1,Ada,1\n", to: "person", into: database, in: workspace)
      #expect(try importError(more).code == .unknownColumn)
    }
  }

  @Test("I11: a table that the app recreates after an import belongs to the app") func remadeTable() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      #expect(try importFile("a,b\n1,2\n", to: "t", into: database, in: workspace).error == nil)
      let wider = try importFile("a,b,c\n1,2,3\n", to: "t", into: database, in: workspace)
      #expect(wider.report.schemaChanges == ["added the column c"])
      try database.pool.write { try $0.execute(sql: "DROP TABLE t; CREATE TABLE t (a TEXT, b TEXT)") }
      let other = try importFile("a,b,c\n1,2,3\n", to: "t", into: database, in: workspace)
      #expect(try importError(other).code == .unknownColumn)
      #expect(try database.columns("t") == ["a", "b"])
    }
  }

  @Test("Spelling suggestions compare letters and digits first")
  func spelling() {
    #expect(Spelling.nearest(to: "e-mail", among: ["mail", "email", "e_address"]) == "email")
    #expect(Spelling.nearest(to: "NAME", among: ["id", "last name", "Name"]) == "Name")
    #expect(Spelling.nearest(to: "naem", among: ["num", "name"]) == "name")
    #expect(Spelling.nearest(to: "x", among: ["street", "id"]) == "id")
    #expect(Spelling.nearest(to: "x", among: []) == nil)
    #expect(Spelling.suggestion(for: "improt", among: ["import", "export"]) == "import")
    #expect(Spelling.suggestion(for: "thumb", among: ["import", "thumbnails"]) == "thumbnails")
    #expect(Spelling.suggestion(for: "fly", among: ["import", "thumbnails"]) == nil)
  }
}
#endif
