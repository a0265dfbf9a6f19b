#if SQLite
import Foundation
import GRDB
import Headway
import HeadwayCSV
@testable import HeadwayImport
import Testing

@Suite("Import: inferred types", .hangLimit)
struct InferredTypesTests {
  /// The columns with their declared types.
  private func types(_ database: ImportDatabase, _ table: String = "t") throws -> [String] {
    try database.strings("SELECT name, type FROM pragma_table_info('\(table)')")
  }

  private func stored(_ database: ImportDatabase, _ column: String = "v") throws -> [String] {
    try database.strings("SELECT \(column), typeof(\(column)) FROM t ORDER BY rowid")
  }

  private func imported(
    _ text: String, _ options: ImportOptions = ImportOptions(), table: TableSchema? = nil,
    into database: ImportDatabase, _ workspace: Workspace, as name: String = "t.csv"
  ) throws -> ImportOperation {
    let operation = ImportOperation(
      file: try workspace.write(text, to: name), table: table ?? TableSchema(name: "t", columns: []), into: database,
      options: options)
    run(operation)
    #expect(operation.error == nil)
    #expect(operation.report.rejectedRowCount == 0)
    return operation
  }

  @Test(
    "I3: a column gets the narrowest type that keeps the text of its values",
    arguments: [
      (["1", "-20", "0", "9223372036854775807"], "INTEGER"), (["1.5", "-0.25", "3.0"], "REAL"),
      (["1.5", "2"], "NUMERIC"), (["007", "1"], "TEXT"), (["+1"], "TEXT"), (["007.5"], "TEXT"), (["+1.5"], "TEXT"),
      (["1e5"], "TEXT"), (["12E+5"], "TEXT"), (["5E-3", "0.5"], "TEXT"), (["2E+3"], "TEXT"),
      (["9223372036854775808"], "TEXT"), (["-0"], "TEXT"), (["-0.0"], "TEXT"), (["5."], "TEXT"),
      (["1234567890.12345678"], "TEXT"), ([" 1"], "TEXT"), (["2020-01-01"], "TEXT"), (["1e-999"], "TEXT"),
      (["08:30"], "TEXT"), (["0x10"], "TEXT"), (["nan", "1.5"], "TEXT"), ([""], "TEXT"), (["", "1"], "INTEGER"),
    ] as [([String], String)])
  func narrowest(values: [String], type: String) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      _ = try imported("name,v\n" + values.map { "x,\($0)\n" }.joined(), into: database, workspace)
      #expect(try types(database) == ["name|TEXT", "v|\(type)"])
      let texts = try database.strings("SELECT coalesce(v, '') FROM t ORDER BY rowid")
      #expect(texts == values)
    }
  }

  @Test(
    "I3: amounts and other fractions are imported as numbers",
    arguments: [
      (["9.50", "12.50", "100.00"], "REAL", ["9.5", "12.5", "100.0"]), (["1.0", "2"], "NUMERIC", ["1", "2"]),
      (["9.50", "100", "12.5"], "NUMERIC", ["9.5", "100", "12.5"]), (["1.10"], "REAL", ["1.1"]),
      (["0.00001"], "REAL", ["1.0e-05"]), (["1.5e-7", "2e-05"], "REAL", ["1.5e-07", "2.0e-05"]),
      ([".5", "-.25"], "REAL", ["0.5", "-0.25"]), (["0.10", "0.00"], "REAL", ["0.1", "0.0"]),
    ] as [([String], String, [String])])
  func amounts(values: [String], type: String, stored: [String]) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      _ = try imported("name,v\n" + values.map { "x,\($0)\n" }.joined(), into: database, workspace)
      #expect(try types(database) == ["name|TEXT", "v|\(type)"])
      #expect(try database.strings("SELECT CAST(v AS TEXT) FROM t ORDER BY rowid") == stored)
    }
  }

  @Test(
    "I3: the shortest decimal form of a floating-point number is imported as a number",
    arguments: [
      "19.120680555438692", "0.1234567890123456", "5.551115123125783e-17", "1.7976931348623157e+308",
      "-0.30000000000000004",
      "0.30000000000000004000",
    ])
  func shortest(value: String) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let operation = try imported("name,v\nx,1.5\nx,\(value)\n", into: database, workspace)
      #expect(try types(database) == ["name|TEXT", "v|REAL"])
      let numbers = try database.pool.read { try Double.fetchAll($0, sql: "SELECT v FROM t ORDER BY rowid") }
      #expect(numbers == [1.5, Double(value)])
      #expect(operation.report.notes.allSatisfy { $0.contains("zeros") })
      // And its text is restored.
      guard !value.hasSuffix("000") else { return }
      _ = try imported(
        "name,v\nx,1.5\nx,\(value)\nx,007\n", ImportOptions(existingRowPolicy: .update), into: database, workspace)
      #expect(try types(database) == ["name|TEXT", "v|TEXT"])
      #expect(try stored(database) == ["1.5|text", "\(value)|text", "007|text"])
    }
  }

  @Test(
    "I3: a note reports that a late value changed the type of a column to text",
    arguments: ["1234567890.12345678", "x", "007"])
  func noteOnWidening(late: String) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let count = 30_000
      let text = "name,v\n" + (0..<count).map { "x,\($0).5\n" }.joined() + "x,\(late)\n"
      let operation = try imported(text, into: database, workspace)
      #expect(try types(database) == ["name|TEXT", "v|TEXT"])
      let notes = operation.report.notes
      #expect(notes.count == 1)
      #expect(notes.first?.contains("at line \(count + 2), because of “\(late)”") == true, "\(notes)")
    }
  }

  @Test("I3: a note suggests an option if zeros are not kept or numbers are stored as text")
  func notes() throws {
    for (values, note) in [
      (["9.50", "12.50"], nil), (["1", "2.5"], nil), (["007", "1.5"], nil), (["a", "1.50", "1.5"], nil),
      (["1.9", "1.10"], "--column-type 'v:text'"), (["1", "2.00"], "--column-type 'v:text'"),
      (["9,50", "100,00", "7"], ": --decimal ',' makes"), (["1.234,50", "2"], "--decimal ',' --thousands '.'"),
      (["1,234.50", "2.5"], ": --thousands ',' makes"), (["9,50", "a"], nil), (["1,2,3"], nil),
      (["1,234"], "--decimal ',' or --thousands ','"), (["1'234.5"], "--thousands \"'\""),
      (["1.5", "1234567890.12345678"], "--column-type 'v:real'"),
      (["0.12345678901234567890", "1.5"], "--column-type 'v:real'"),
      ([".12345678901234567890"], "--column-type 'v:real'"), (["1e5", "2.5"], "--column-type 'v:real'"),
    ] as [([String], String?)] {
      try withWorkspace { workspace in
        let operation = try imported(
          "name,v\n" + values.map { "x,\"\($0)\"\n" }.joined(), into: workspace.database(), workspace)
        let notes = operation.report.notes
        #expect(notes.count == (note == nil ? 0 : 1), "\(values)")
        if let note { #expect(notes.first?.contains(note) == true, "\(notes)") }
      }
    }
  }

  @Test(
    "I3: a late value widens its column without changing strings or rejecting rows",
    arguments: [
      ("5", "007", "TEXT"), ("5", "+1", "TEXT"), ("5", "1e5", "TEXT"), ("5", "9223372036854775808", "TEXT"),
      ("5", "x", "TEXT"), ("5", "1.5", "NUMERIC"), ("2.0", "x", "TEXT"), ("1.5", "9007199254740993", "TEXT"),
    ])
  func widening(early: String, late: String, type: String) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let count = 30_000
      var values = (0..<count).map { _ in early }
      values[count - 3] = late
      let text = "name,v\n" + values.map { "x,\($0)\n" }.joined()
      _ = try imported(text, ImportOptions(batchSize: 1_000), into: database, workspace)
      #expect(try types(database) == ["name|TEXT", "v|\(type)"])
      #expect(
        try database.strings("SELECT CAST(v AS TEXT), count(*) FROM t GROUP BY 1 ORDER BY 2") == [
          "\(late)|1", "\(early)|\(count - 1)",
        ])
      // Row n is still record n.
      #expect(try database.strings("SELECT rowid FROM t WHERE CAST(v AS TEXT) = '\(late)'") == ["\(count - 1)"])
      #expect(try database.isIntact())
    }
  }

  @Test("I3: a column can widen several times, even within one batch", arguments: [1, 1_000])
  func steps(batchSize: Int) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let head = String(repeating: "1,x\n", count: 20_000)
      _ = try imported(
        "v,n\n" + head + "2.5,x\n3,x\n04,x\n5,x\n", ImportOptions(batchSize: max(batchSize, 50)), into: database,
        workspace)
      #expect(try types(database) == ["v|TEXT", "n|TEXT"])
      #expect(try stored(database).suffix(5) == ["1|text", "2.5|text", "3|text", "04|text", "5|text"])
    }
  }

  @Test("I5: new rows can widen a column that an earlier import created")
  func laterImports() throws {
    for existingRowPolicy in [ImportOptions.ExistingRowPolicy.append, .update, .replace] {
      try withWorkspace { workspace in
        let database = try workspace.database()
        _ = try imported("v,n\n1,x\n2,y\n", into: database, workspace)
        #expect(try types(database) == ["v|INTEGER", "n|TEXT"])
        try database.pool.write { connection in
          try connection.execute(
            sql: """
              CREATE INDEX t_n ON t (n); CREATE VIEW ones AS SELECT * FROM t WHERE v = '1';
              CREATE TABLE log (v); CREATE TRIGGER t_log AFTER DELETE ON t BEGIN INSERT INTO log VALUES (old.v); END
              """)
        }
        let name = existingRowPolicy == .append ? "more.csv" : "t.csv"
        _ = try imported(
          "v,n\n1,x\n007,z\n", ImportOptions(columnTypePolicy: .text, existingRowPolicy: existingRowPolicy),
          into: database, workspace,
          as: name)
        #expect(try types(database) == ["v|TEXT", "n|TEXT"])
        let added = ["1|text", "007|text"]
        #expect(try stored(database) == (existingRowPolicy == .append ? ["1|text", "2|text"] : []) + added)
        let dependents = "SELECT name FROM sqlite_master WHERE type IN ('index', 'trigger', 'view') ORDER BY name"
        #expect(try database.strings(dependents) == ["ones", "t_log", "t_n"])
        #expect(try database.count("ones") == (existingRowPolicy == .append ? 2 : 1))
      }
    }
  }

  @Test("I5: a table that no import has created keeps its types") func otherTables() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      try database.pool.write { try $0.execute(sql: "CREATE TABLE t (v INTEGER, n TEXT)") }
      _ = try imported("v,n\n1,2\n007,3\n", into: database, workspace)
      #expect(try types(database) == ["v|INTEGER", "n|TEXT"])
      #expect(try stored(database, "n") == ["2|text", "3|text"])
    }
  }

  @Test("I3: types are not inferred for keys, described columns, or any columns if an option disables it")
  func given() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let table = TableSchema(name: "t", columns: [ColumnSchema(name: "a", type: .text)], key: ["id"])
      _ = try imported("id,a,b\n1,2,3\n", table: table, into: database, workspace)
      #expect(try types(database) == ["id|TEXT", "a|TEXT", "b|INTEGER"])
      _ = try imported(
        "id,a\n1,2\n", ImportOptions(columnTypePolicy: .text), table: TableSchema(name: "u", columns: []),
        into: database,
        workspace, as: "u.csv")
      #expect(try types(database, "u") == ["id|TEXT", "a|TEXT"])
    }
  }

  @Test("I3: types are also inferred for a pipe, and its columns can widen") func pipe() throws {
    try withWorkspace { workspace in
      let path = workspace.path("pipe")
      try #require(mkfifo(path, 0o600) == 0)
      let text = "v,n\n" + String(repeating: "1,x\n", count: 40_000) + "01,y\n"
      let written = DispatchGroup()
      DispatchQueue.global().async(group: written) {
        try? FileHandle(forWritingAtPath: path)?.write(contentsOf: Data(text.utf8))
      }
      let database = try workspace.database()
      let operation = ImportOperation(file: path, table: TableSchema(name: "t", columns: []), into: database)
      run(operation)
      written.wait()
      #expect(operation.error == nil && operation.report.rowCount == 40_001)
      #expect(try database.strings("SELECT v, count(*) FROM t GROUP BY v ORDER BY v") == ["01|1", "1|40000"])
    }
  }

  @Test("I3: the string of --null-text represents a missing value, but not in quotes") func nullText() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      _ = try imported(
        "v,n\n1,NULL\nNULL,\"NULL\"\n3,null\n", ImportOptions(nullTexts: ["NULL"]), into: database, workspace)
      #expect(try types(database) == ["v|INTEGER", "n|TEXT"])
      #expect(try database.strings("SELECT v, n FROM t") == ["1|NULL", "NULL|NULL", "3|null"])
      #expect(try database.strings("SELECT count(*) FROM t WHERE n IS NULL") == ["1"])
    }
  }

  @Test("I3: a blank line that counts as a record is a row without values")
  func blankRecords() throws {
    for (hasHeader, text) in [
      (true, "v\n1\n\n2\n"), (false, "1\n\n2\n"), (true, "v,n\n1,\n\n2,\n"), (false, "1,\n\n2,\n"),
    ] {
      try withWorkspace { workspace in
        let database = try workspace.database()
        let options = ImportOptions(
          dialect: CSVDialect(keepsBlankLines: true), hasHeader: hasHeader, raggedRowPolicy: .pad)
        _ = try imported(text, options, into: database, workspace)
        let column = hasHeader ? "v" : "column_1"
        #expect(try database.strings("SELECT coalesce(\(column), '-') FROM t ORDER BY rowid") == ["1", "-", "2"])
      }
    }
  }

  @Test("I3: an option accepts rows with missing fields or additional empty fields") func padded() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let text = "a,b,c\n1,2,3\n4,5\n6\n7,8,9,\n7,8,9,,\n1,2,3,4\n"
      for (ragged, rows, rejected) in [(ImportOptions.RaggedRowPolicy.reject, 1, 5), (.pad, 5, 1)] {
        let file = try workspace.write(text, to: "\(rows).csv")
        let operation = ImportOperation(
          file: file, into: database, options: ImportOptions(hasHeader: true, raggedRowPolicy: ragged))
        run(operation)
        #expect(operation.report.rowCount == rows && operation.report.rejectedRowCount == rejected)
      }
      #expect(
        try database.strings("SELECT coalesce(a, '-'), coalesce(b, '-'), coalesce(c, '-') FROM \"5\"")
          == ["1|2|3", "4|5|-", "6|-|-", "7|8|9", "7|8|9"])
    }
  }

  @Test("I3: a reference without a value is not reported as invalid")
  func paddedReference() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let text = "stop_id,stop_name,location_type,parent_station\na,A,1,\nb,B,0,a\nc,C\nd,D,0,NULL\ne,E,0,x\n"
      let file = try workspace.write(text, to: "stops.txt")
      let operation = ImportOperation(
        file: file, into: database, options: ImportOptions(raggedRowPolicy: .pad, nullTexts: ["NULL"]),
        rejectedRows: workspace.rejectedRowsFile())
      run(operation)
      #expect(operation.error == nil && operation.report.rowCount == 5)
      #expect(try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv")).map(\.lineNumber) == [6])
    }
  }
}
#endif
