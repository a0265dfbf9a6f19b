#if SQLite
import GRDB
import Headway
import HeadwayImport
import Testing

/// Imports into tables that another program has created.
@Suite("Import: existing tables", .hangLimit)
struct ExistingTableTests {
  /// Creates tables manually and imports a file into the table `t`.
  private func imported(
    _ text: String, into sql: String, key: [String] = [], columns: [ColumnSchema] = [],
    options: ImportOptions = ImportOptions(), named name: String = "t",
    _ body: (ImportDatabase, ImportOperation) throws -> Void
  ) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      try database.pool.write { try $0.execute(sql: sql) }
      let operation = ImportOperation(
        file: try workspace.write(text, to: "file.csv"), table: TableSchema(name: name, columns: columns, key: key),
        into: database, options: options, rejectedRows: workspace.rejectedRowsFile())
      run(operation)
      try body(database, operation)
      guard workspace.exists("rejected-rows.csv") else { return }
      let issues = try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv"))
      #expect(issues.count == operation.report.rejectedRowCount + operation.report.flaggedRowCount)
    }
  }

  private func reasons(_ workspace: Workspace) throws -> [String] {
    try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv")).map(\.reason)
  }

  // MARK: Keys

  @Test(
    "I5: keys that compare as equal in the table identify the same row",
    arguments: [
      ("(id TEXT PRIMARY KEY COLLATE NOCASE, name TEXT)", "A", "a"),
      ("(id TEXT COLLATE RTRIM, name TEXT, UNIQUE (id))", "a", "a  "),
      ("(id TEXT PRIMARY KEY COLLATE NOCASE, name TEXT) WITHOUT ROWID", "A", "a"),
      ("(id NUMERIC PRIMARY KEY, name TEXT)", "1", "1.0"),
      ("(id INT PRIMARY KEY, name TEXT)", "1", "01"),
    ])
  func sameKeys(definition: String, one: String, other: String) throws {
    let sql = "CREATE TABLE t \(definition); INSERT INTO t VALUES ('\(one)', 'old'), ('z', 'last')"
    try imported("id,name\n\(one),new\nb,2\n\(other),second\n", into: sql, key: ["id"]) {
      (database, operation) throws in
      #expect(operation.error == nil)
      #expect((operation.report.rowCount, operation.report.rejectedRowCount) == (2, 1))
      let rows = try database.strings("SELECT id, name FROM t ORDER BY name")
      #expect(rows == ["b|2", "z|last", "\(one)|new"])
      let again = ImportOperation(
        file: operation.file, table: TableSchema(name: "t", columns: [], key: ["id"]), into: database)
      run(again)
      #expect((again.report.rowCount, again.report.rejectedRowCount) == (2, 1))
      #expect(try database.strings("SELECT id, name FROM t ORDER BY name") == rows)
    }
  }

  @Test(
    "I5: if no key is specified, the primary key of the table is the key",
    arguments: [
      "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)", "CREATE TABLE t (name TEXT, ID TEXT PRIMARY KEY)",
      "CREATE TABLE t (id TEXT PRIMARY KEY, name TEXT) WITHOUT ROWID",
    ])
  func primaryKey(sql: String) throws {
    let insert = "; INSERT INTO t (id, name) VALUES (1, 'old'), (7, 'seven')"
    try imported("name,id\nnew,1\nnine,9\n", into: sql + insert) { (database, operation) throws in
      #expect(operation.error == nil)
      #expect(try database.strings("SELECT id, name FROM t ORDER BY id") == ["1|new", "7|seven", "9|nine"])
    }
    try imported(
      "name,id\nnew,1\nnine,9\n", into: sql + insert, options: ImportOptions(existingRowPolicy: .append)
    ) { (database, operation) throws in
      #expect(operation.error == nil)
      #expect(operation.report.rejectedRowCount == 1)
      #expect(try database.strings("SELECT id, name FROM t ORDER BY id") == ["1|old", "7|seven", "9|nine"])
    }
    try imported("name,id\nnew,1\n", into: sql + insert, options: ImportOptions(existingRowPolicy: .replace)) {
      (database, operation) throws in
      #expect(operation.error == nil)
      #expect(try database.strings("SELECT id, name FROM t ORDER BY id") == ["1|new"])
    }
  }

  @Test("I5: if the file lacks the primary key, the database assigns it") func generatedKey() throws {
    try imported(
      "name\na\nb\n", into: "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO t VALUES (5, 'x')",
      options: ImportOptions(existingRowPolicy: .append)
    ) { (database, operation) throws in
      #expect(operation.error == nil)
      #expect(try database.strings("SELECT name FROM t ORDER BY id") == ["x", "a", "b"])
    }
  }

  @Test("I5: importing by key into a table without a key creates an index if the rows allow it") func newKey() throws {
    let rows = "CREATE TABLE t (id TEXT, name TEXT); INSERT INTO t VALUES ('1', 'old'), ('2', 'two')"
    try imported("id,name\n1,new\n3,three\n", into: rows, key: ["ID"]) { (database, operation) throws in
      #expect(operation.error == nil)
      #expect(try database.strings("SELECT * FROM t ORDER BY id") == ["1|new", "2|two", "3|three"])
    }
    try imported("id,name\n1,new\n", into: rows + ", ('1', 'again')", key: ["id"]) { (database, operation) throws in
      #expect(try importError(operation).code == .unsuitableTable)
      #expect(try database.count("t") == 3)
      #expect(try database.strings("SELECT name FROM sqlite_master WHERE type = 'index'").isEmpty)
    }
    try imported("number,id\n1,1\n", into: rows, key: ["number"]) { (database, operation) throws in
      #expect(try importError(operation).code == .unknownColumn)
      #expect(try database.columns("t") == ["id", "name"])
    }
  }

  @Test("I5: a key that is NULL in an existing row is rejected") func nullKey() throws {
    try imported(
      "id,a\n,x\n1,z\n", into: "CREATE TABLE t (id TEXT, a TEXT); INSERT INTO t VALUES (NULL, 'x')", key: ["id"]
    ) { (database, operation) throws in
      #expect(try importError(operation).code == .unsuitableTable)
      #expect(try database.count("t") == 1)
    }
  }

  @Test("I5: a key that differs from the table's key causes an error that names both")
  func otherKey() throws {
    try imported(
      "id,name\n1,a\n", into: "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)", key: ["name"]
    ) { (database, operation) throws in
      let error = try importError(operation)
      #expect(error.code == .unsuitableTable)
      #expect(error.context == "The key of the table t can't be name: it is id.")
      #expect(try database.count("t") == 0)
    }
    // A unique column is sufficient.
    try imported(
      "id,name\n1,a\n", into: "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE)", key: ["NAME"]
    ) { (database, operation) throws in
      #expect(operation.error == nil)
      #expect(try database.count("t") == 1)
    }
  }

  // MARK: Constraints

  @Test(
    "I3: a row that violates a constraint is rejected with that constraint, and other rows are imported",
    arguments: [true, false],
    [
      ("CHECK (name <> 'x')", "CHECK constraint failed: name <> 'x'"),
      ("NOT NULL", "NOT NULL constraint failed: t.name"), ("UNIQUE", "UNIQUE constraint failed: t.name"),
    ])
  func constraints(hasKey: Bool, limit: (constraint: String, reason: String)) throws {
    let (key, constraint) = (hasKey ? ["id"] : [], limit.constraint)
    let bad = constraint == "NOT NULL" ? "" : constraint == "UNIQUE" ? "name 7" : "x"
    let lines = people(1...50) + ["51,\(bad)"] + people(52...60)
    try withWorkspace { workspace in
      let database = try workspace.database()
      let definition = "id TEXT\(key.isEmpty ? "" : " PRIMARY KEY"), name TEXT \(constraint)"
      try database.pool.write { try $0.execute(sql: "CREATE TABLE t (\(definition))") }
      for _ in 1...2 {
        let operation = try workspace.operation(
          lines, table: TableSchema(name: "t", columns: [], key: key), into: database,
          rejectedRows: workspace.rejectedRowsFile())
        run(operation)
        #expect(operation.error == nil)
        #expect(operation.report.rowCount == 59 && operation.report.rejectedRowCount == 1)
        #expect(try reasons(workspace) == [limit.reason])
        #expect(try database.count("t") == 59)
      }
      // A row of an earlier import can be in the place of the rejected row.
      if key.isEmpty {
        let better = try workspace.operation(
          people(1...60), table: TableSchema(name: "t", columns: []), into: database)
        run(better)
        #expect(try database.count("t") == 60)
        run(
          try workspace.operation(
            lines, table: TableSchema(name: "t", columns: []), into: database,
            rejectedRows: workspace.rejectedRowsFile()))
        #expect(try database.count("t") == 59)
      }
    }
  }

  @Test(
    "I3: an import reports correct counts even if the table has a conflict clause",
    arguments: ["REPLACE", "IGNORE", "ROLLBACK", "FAIL", "ABORT"], [["id"], []])
  func conflictClauses(clause: String, key: [String]) throws {
    let definition =
      "id TEXT\(key.isEmpty ? "" : " PRIMARY KEY ON CONFLICT \(clause)"), a UNIQUE ON CONFLICT \(clause)"
    let lines = (1...100).map { "\($0),\($0 == 60 ? 3 : $0)\n" }.joined()
    for mode in [ImportOptions.ExistingRowPolicy.append, .replace] {
      try imported(
        "id,a\n\(lines)", into: "CREATE TABLE t (\(definition)); INSERT INTO t VALUES ('0', 'old')", key: key,
        options: ImportOptions(existingRowPolicy: mode)
      ) { (database, operation) throws in
        #expect(operation.error == nil)
        #expect(operation.report.rowCount == 99 && operation.report.rejectedRowCount == 1)
        #expect(try database.count("t") == (mode == .append ? 100 : 99))
      }
    }
  }

  @Test("I1: generated columns and columns named like the row ID are supported or cause typed errors")
  func oddColumns() throws {
    try imported("a,b\n1,2\n", into: "CREATE TABLE t (a TEXT, b TEXT AS (a || 1))") { (_, operation) throws in
      #expect(try importError(operation).code == .unsuitableTable)
    }
    try imported("a\n1\n", into: "CREATE TABLE t (a TEXT, b TEXT AS (a || 1))") { (database, operation) throws in
      #expect(operation.error == nil)
      #expect(try database.strings("SELECT a, b FROM t") == ["1|11"])
    }
    try imported("a\n1\n", into: "CREATE TABLE t (rowid TEXT, a TEXT)") { (database, operation) throws in
      #expect(operation.error == nil)
      #expect(try database.strings("SELECT rowid, a FROM t") == ["NULL|1"])
    }
    try imported("rowid,_rowid_,oid\n1,2,3\n", into: "") { (database, operation) throws in
      #expect(try importError(operation).code == .unsuitableTable)
    }
    try imported(
      "a\n1\n", into: "CREATE TABLE t (a); INSERT INTO t (rowid, a) VALUES (9223372036854775806, 'u')",
      options: ImportOptions(existingRowPolicy: .append)
    ) { (_, operation) throws in
      #expect(try importError(operation).code == .unsuitableTable)
    }
  }

  @Test("I3: a strict import ends at a row that violates a constraint") func strict() throws {
    try imported(
      "a\n1\nx\n3\n", into: "CREATE TABLE t (a TEXT CHECK (a <> 'x'))",
      options: ImportOptions(stopsAtFirstMalformedRow: true)
    ) { (database, operation) throws in
      let error = try importError(operation)
      #expect(error.code == .malformedRow && error.lineNumber == 3 && error.context.contains("CHECK constraint failed"))
      #expect(try database.strings("SELECT a FROM t") == ["1"])
    }
  }

  @Test("I3: a value that a strict table does not accept is rejected with the reason") func strictTable() throws {
    try imported("a\n1\nx\n3\n", into: "CREATE TABLE t (a INTEGER) STRICT") { (database, operation) throws in
      #expect(operation.error == nil)
      #expect(operation.report.rejectedRowCount == 1)
      #expect(try database.strings("SELECT a FROM t") == ["1", "3"])
    }
  }

  @Test(
    "I3, I5: a replacement rejects the rows that a trigger ignores and imports the rest", arguments: [true, false])
  func ignoredReplacement(isOwn: Bool) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let trigger = "CREATE TRIGGER ignore BEFORE INSERT ON t WHEN NEW.a = '2' BEGIN SELECT RAISE(IGNORE); END"
      try database.pool.write { try $0.execute(sql: "CREATE TABLE t (a TEXT, b TEXT UNIQUE)") }
      let file = try workspace.write("a,b\n1,x\n2,y\n3,z\n", to: "t.csv")
      run(ImportOperation(file: file, into: database))
      try database.pool.write { try $0.execute(sql: trigger) }
      let options = ImportOptions(existingRowPolicy: isOwn ? .update : .replace)
      let again = ImportOperation(file: file, into: database, options: options)
      run(again)
      #expect(again.error == nil)
      #expect((again.report.rowCount, again.report.rejectedRowCount) == (2, 1))
      #expect(try database.strings("SELECT * FROM t") == ["1|x", "3|z"])
    }
  }

  @Test("I4: references are resolved in a UTF-16 database") func unicode16() throws {
    try withWorkspace { workspace in
      let path = workspace.path("test.sqlite")
      try DatabaseQueue(path: path).write { try $0.execute(sql: "PRAGMA encoding = 'UTF-16'; CREATE TABLE x (a)") }
      let database = try workspace.database()
      let stops = try workspace.write(
        "stop_id,stop_name,location_type,parent_station\nä,A,0,\nb,B,0,ä\n", to: "stops.txt")
      let times = try workspace.write("trip_id,stop_sequence,stop_id\n1,1,ä\n1,2,c\n", to: "stop_times.txt")
      let operations = [stops, times].map {
        ImportOperation(file: $0, into: database, rejectedRows: workspace.rejectedRowsFile())
      }
      for operation in operations { run(operation) }
      #expect(operations.map(\.report.rowCount) == [2, 2] && operations.map(\.report.flaggedRowCount) == [0, 1])
      #expect(try reasons(workspace) == ["stop_id: there is no “c” in stops.stop_id"])
      #expect(try database.strings("SELECT stop_id FROM stop_times ORDER BY rowid") == ["ä", "c"])
    }
  }

  @Test("I5: a row that follows a rejected row is updated, even if both have the same key")
  func refusedFirst() throws {
    let sql = "CREATE TABLE t (id TEXT PRIMARY KEY, n INTEGER CHECK (n < 10)); INSERT INTO t VALUES ('z', 0)"
    try imported("id,n\na,10\na,1\na,2\n", into: sql) { (database, operation) throws in
      #expect((operation.report.rowCount, operation.report.rejectedRowCount) == (1, 2))
      #expect(try database.strings("SELECT * FROM t ORDER BY id") == ["a|1", "z|0"])
    }
  }

  @Test(
    "I3: an integer key that is not the row ID accepts every value that the table accepts",
    arguments: ["(id INTEGER, n TEXT, PRIMARY KEY (id)) WITHOUT ROWID", "(id INTEGER PRIMARY KEY DESC, n TEXT)"])
  func integerKeys(definition: String) throws {
    try imported("id,n\nx,1\n7,2\n07,3\n", into: "CREATE TABLE t \(definition); INSERT INTO t VALUES (7, 'old')") {
      (database, operation) throws in
      #expect((operation.report.rowCount, operation.report.rejectedRowCount) == (2, 1))
      #expect(try database.strings("SELECT id, n FROM t ORDER BY n") == ["x|1", "7|2"])
    }
  }

  @Test("I3: a row of words is not part of the header if the first line names the table's columns")
  func wordsBehindHeader() throws {
    let text = "a,b,c\nx,y,z\n2,3,4\n5,6,7\n8,9,1\n"
    for (sql, options) in [
      ("CREATE TABLE t (A, b, c, d)", ImportOptions()), ("", ImportOptions(hasHeader: true)),
    ] {
      try imported(text, into: sql, options: options) { (database, operation) throws in
        #expect(operation.error == nil && operation.report.rowCount == 4)
        #expect(try database.strings("SELECT a, b, c FROM t") == ["x|y|z", "2|3|4", "5|6|7", "8|9|1"])
      }
    }
    // Years can also be names.
    try imported("2019,2020\n1,2.5\n2,3.5\n", into: "CREATE TABLE t (\"2019\", \"2020\")") {
      (database, operation) throws in
      #expect(try database.strings("SELECT \"2019\", \"2020\" FROM t") == ["1|2.5", "2|3.5"])
    }
  }

  @Test("I3: a table that is recreated after an import keeps its own column types")
  func remadeTable() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      run(ImportOperation(file: try workspace.write("a,b\n1,2\n", to: "t.csv"), into: database))
      let definition = "CREATE TABLE t (a INTEGER, \"b\" INTEGER CHECK (b < 5))"
      try database.pool.write { try $0.execute(sql: "DROP TABLE t; \(definition)") }
      let again = ImportOperation(file: try workspace.write("a,b\n007,2\nx,01\n", to: "t.csv"), into: database)
      run(again)
      #expect(again.error == nil && again.report.rowCount == 2)
      #expect(try database.strings("SELECT a, b FROM t") == ["7|2", "x|1"])
      #expect(try database.strings("SELECT sql FROM sqlite_master WHERE name = 't'") == [definition])
    }
  }

  // MARK: Types and names

  @Test("I5: a table with more than 1,000 columns can be imported again", arguments: [true, false])
  func manyColumns(hasKey: Bool) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let header = (1...1_999).map { "c\($0)" }.joined(separator: ",")
      func row(_ number: Int, _ last: Int) -> String {
        "\(number)" + String(repeating: ",\(number)", count: 1_997) + ",\(last)\n"
      }
      let table = TableSchema(name: "t", columns: [], key: hasKey ? ["c1"] : [])
      for last in 1...2 {
        let file = try workspace.write("\(header)\n\(row(1, last))\(row(2, 7))", to: "t.csv")
        let operation = ImportOperation(file: file, table: table, into: database)
        run(operation)
        #expect(operation.error == nil && operation.report.rowCount == 2)
        #expect(try database.strings("SELECT c1, c1998, c1999 FROM t") == ["1|1|\(last)", "2|2|7"])
      }
    }
  }

  @Test("I3: a quote in a name is part of the name, no matter what follows it") func quoteInName() throws {
    // A combining accent: Swift combines it with the quote into one character.
    let name = "a\"\u{301}, b); CREATE TABLE other (x"
    let field = name.replacing("\"\u{301}", with: "\"\"\u{301}")
    for options in [ImportOptions(), ImportOptions(existingRowPolicy: .replace)] {
      try imported("id,\"\(field)\"\n1,2\n3,x\n", into: "CREATE TABLE mine (x)", options: options, named: name) {
        (database, operation) throws in
        #expect(operation.error == nil)
        let again = ImportOperation(file: operation.file, table: operation.table, into: database, options: options)
        run(again)
        #expect(again.error == nil && again.report.rowCount == 2)
        let tables = try database.strings("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        #expect(tables.count == 3 && !tables.contains("other"))
      }
    }
  }

  @Test("I3: a column name matches an existing column even if its accents are encoded differently")
  func otherAccents() throws {
    let columns = "SELECT count(*) FROM pragma_table_info('t')"
    let text = "id,cafe\u{301},e\u{301}\n1,b,c\n"
    try imported(
      text, into: "CREATE TABLE t (id TEXT PRIMARY KEY, \"caf\u{E9}\" TEXT)",
      options: ImportOptions(addsColumns: true)
    ) {
      (database, operation) throws in
      #expect(operation.error == nil)
      #expect(try database.strings("SELECT id, \"caf\u{E9}\", \"e\u{301}\" FROM t") == ["1|b|c"])
      #expect(try database.strings(columns) == ["3"])
    }
    // SQLite distinguishes the two. The column with the same bytes is meant.
    try imported(
      text, into: "CREATE TABLE t (id TEXT PRIMARY KEY, \"caf\u{E9}\" TEXT, \"CAFE\u{301}\" TEXT, \"\u{E9}\" TEXT)"
    ) { (database, operation) throws in
      #expect(operation.error == nil)
      #expect(try database.strings("SELECT id, \"cafe\u{301}\", \"\u{E9}\" FROM t") == ["1|b|c"])
    }
  }

  @Test(
    "I3: a described type that a column can't have causes an error, if requested",
    arguments: [
      ("INTEGER", .integer, true), ("INTEGER", .text, false), ("TEXT", .integer, false), ("VARCHAR(3)", .text, true),
      ("", .integer, true), ("NUMERIC", .real, true), ("DOUBLE", .integer, false), ("REAL", .real, true),
    ] as [(String, ColumnType, Bool)])
  func types(declared: String, type: ColumnType, fits: Bool) throws {
    for isRequired in [true, false] {
      try imported(
        "a\n1\n", into: "CREATE TABLE t (A \(declared))", columns: [ColumnSchema(name: "a", type: type)],
        options: ImportOptions(requiresSchemaColumns: isRequired)
      ) { (database, operation) throws in
        if fits || !isRequired {
          #expect(operation.error == nil)
        } else {
          #expect(try importError(operation).code == .unsuitableTable)
        }
      }
    }
  }

  @Test("I3: a described column that the file lacks causes an error, if requested") func missing() throws {
    for isRequired in [true, false] {
      try imported(
        "a\n1\n", into: "", columns: [ColumnSchema(name: "b", type: .real)],
        options: ImportOptions(requiresSchemaColumns: isRequired)
      ) { (_, operation) throws in
        #expect((operation.error as? ImportError)?.code == (isRequired ? .badHeader : nil))
      }
    }
  }

  @Test(
    "I1: a table name that can't be used causes an error and changes nothing",
    arguments: [("sqlite_x", "SQLite's own"), ("Headway_Imports", "table of imports"), ("v", "a view")])
  func names(name: String, reason: String) throws {
    try imported("a\n1\n", into: "CREATE VIEW v AS SELECT 1", named: name) { (database, operation) throws in
      let error = try importError(operation)
      #expect(error.code == .unsuitableTable && error.context.contains(reason))
      #expect(try database.strings("SELECT name FROM sqlite_master") == ["v"])
    }
  }
}
#endif
