#if SQLite
import Foundation
import GRDB
import Headway
import HeadwayCSV
import HeadwayImport
import Testing

@Suite("Import: JSON Lines", .hangLimit)
struct JSONLinesTests {
  private func imported(
    _ text: String, as name: String = "file.jsonl", table: TableSchema? = nil,
    options: ImportOptions = ImportOptions(), _ body: (ImportDatabase, ImportOperation) throws -> Void
  ) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let operation = ImportOperation(
        file: try workspace.write(text, to: name), table: table, into: database, options: options)
      run(operation)
      try body(database, operation)
    }
  }

  @Test("I7: member names become columns, even if they first occur in later objects") func columns() throws {
    let text = """
      {"id": 1, "name": "Zoo \\"x\\"", "ok": true}

      {"name": "", "id": 2, "ok": false, "tags": ["a", {"b": null}]}
      {"id": 3, "name": null, "last": "one\\ntwo"}
      """
    try imported(text) { (database, operation) throws in
      #expect(operation.error == nil && operation.report.rejectedRowCount == 0)
      #expect(operation.report.layout?.isJSONLines == true)
      #expect(try database.columns("file") == ["id", "name", "ok", "tags", "last"])
      #expect(
        try database.strings("SELECT quote(id), quote(name), quote(ok), quote(tags), quote(last) FROM file") == [
          "1|'Zoo \"x\"'|1|NULL|NULL", "2|''|0|'[\"a\", {\"b\": null}]'|NULL", "3|NULL|NULL|NULL|'one\ntwo'",
        ])
    }
  }

  @Test("I18: if a line lacks a member, its value stays, and null removes it") func partialUpdates() throws {
    let table = TableSchema(name: "t", columns: [ColumnSchema(name: "id", type: .integer)], key: ["id"])
    try withWorkspace { workspace in
      let database = try workspace.database()
      func add(_ text: String, _ name: String) throws -> ImportOperation {
        let operation = ImportOperation(file: try workspace.write(text, to: name), table: table, into: database)
        run(operation)
        #expect(operation.error == nil)
        return operation
      }
      _ = try add("{\"id\":1,\"a\":\"x\",\"b\":\"y\"}\n{\"id\":2,\"a\":\"x\",\"b\":\"y\"}\n", "1.jsonl")
      _ = try add(
        "{\"id\":1,\"b\":\"new\"}\n{\"id\":2,\"a\":null}\n{\"id\":3}\n{\"id\":2,\"a\":\"again\"}\n", "2.jsonl")
      #expect(
        try database.strings("SELECT id, coalesce(a, '-'), coalesce(b, '-') FROM t ORDER BY id") == [
          "1|x|new", "2|-|y", "3|-|-",
        ])
    }
  }

  @Test("I18: a new row has default values for members that its line lacks, and constraints hold")
  func defaults() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      try database.pool.write {
        try $0.execute(
          sql: """
            CREATE TABLE t(
              id INTEGER PRIMARY KEY, a TEXT NOT NULL, b TEXT NOT NULL DEFAULT 'none', c INT CHECK (c > 0));
            INSERT INTO t VALUES (1, 'a', 'b', 1);
            """)
      }
      let text = #"""
        {"id":1,"c":2}
        {"id":2,"a":"new"}
        {"id":3,"b":"lacks a"}
        {"id":1,"c":3}
        {"id":4,"a":"x","b":"y","c":-1}
        """#
      let operation = ImportOperation(file: try workspace.write(text, to: "t.jsonl"), into: database)
      run(operation)
      #expect(operation.error == nil && operation.report.rowCount == 2 && operation.report.rejectedRowCount == 3)
      #expect(
        try database.strings("SELECT id, a, b, coalesce(c, '-') FROM t ORDER BY id") == ["1|a|b|2", "2|new|none|-"])
    }
  }

  @Test("I18: a CSV file updates only its columns, even if the table requires others") func columnsOfFile() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      try database.pool.write {
        try $0.execute(
          sql:
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT NOT NULL, b TEXT); INSERT INTO t VALUES (1, 'keep', 'old');")
      }
      let operation = ImportOperation(file: try workspace.write("id,b\n1,new\n2,x\n", to: "t.csv"), into: database)
      run(operation)
      #expect(operation.error == nil && operation.report.rejectedRowCount == 1)
      #expect(try database.strings("SELECT * FROM t") == ["1|keep|new"])
    }
  }

  @Test(
    "I7: JSON Lines in other encodings are detected",
    arguments: [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32])
  func encodings(encoding: String.Encoding) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let path = workspace.path("t.data")
      try #require(#"{"id":1,"n":"ä"}\#n{"id":2,"n":"€"}\#n"#.data(using: encoding)).write(to: URL(filePath: path))
      let operation = ImportOperation(file: path, table: TableSchema(name: "t", columns: []), into: database)
      run(operation)
      #expect(operation.error == nil && operation.report.layout?.isJSONLines == true)
      #expect(try database.strings("SELECT * FROM t") == ["1|ä", "2|€"])
    }
  }

  @Test("I7: JSON Lines are detected if the encoding is specified", arguments: ["UTF-8", "ISO-8859-1"])
  func specifiedEncoding(name: String) throws {
    try imported("{\"id\":1}\n{\"id\":2}\n", options: ImportOptions(encoding: CSVTextEncoding(name))) {
      (database, operation) throws in
      #expect(operation.error == nil && operation.report.rowCount == 2)
    }
  }

  @Test("I20: rejected rows don't determine the types of columns", arguments: [1, 30_000])
  func typesWithoutRejectedRows(count: Int) throws {
    let table = TableSchema(name: "t", columns: [], key: ["id"])
    let json = (0..<count).map { "{\"id\":\"k\($0)\",\"v\":\($0)}\n" }.joined() + "{\"id\":\"k0\",\"v\":\"x\"}\n"
    let csv = "id,v\n" + (0..<count).map { "k\($0),\($0)\n" }.joined() + "k0,x\nid,v\nk1,\u{1},2\n"
    for (text, name, rejected) in [(json, "t.jsonl", 1), (csv, "t.csv", 3)] {
      try imported(text, as: name, table: table) { (database, operation) throws in
        #expect(operation.error == nil && operation.report.rejectedRowCount == rejected)
        #expect(try database.strings("SELECT DISTINCT typeof(v) FROM t") == ["integer"])
        #expect(operation.report.notes.isEmpty, "\(operation.report.notes)")
        #expect(try database.strings("SELECT type FROM pragma_table_info('t') WHERE name = 'v'") == ["INTEGER"])
      }
    }
  }

  @Test("I7: invalid lines are rejected with their line numbers, and all other lines become rows")
  func rejectedRows() throws {
    let lines = ["{\"a\":1}", "", "[1]", "{\"a\":2,\"a\":3}", "{\"a\":", "{\"a\":4}", "{\"a\":5} {\"a\":6}"]
    try withWorkspace { workspace in
      let database = try workspace.database()
      let file = try workspace.write(lines.joined(separator: "\r\n"), to: "file.jsonl")
      let operation = ImportOperation(file: file, into: database, rejectedRows: workspace.rejectedRowsFile())
      run(operation)
      #expect(operation.report.rowCount == 2 && operation.report.rejectedRowCount == 4)
      #expect(try database.strings("SELECT a FROM file ORDER BY rowid") == ["1", "4"])
      let issues = try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv"))
      #expect(issues.map(\.lineNumber) == [3, 4, 5, 7])
      #expect(issues.map { String(decoding: $0.record, as: UTF8.self) } == [2, 3, 4, 6].map { lines[$0] })
    }
  }

  @Test("I7: a line from a pipe is rejected if it introduces a member too late") func pipes() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let count = 30_000
      let text = (0..<count).map { "{\"id\":\($0),\"name\":\"a name that takes some room\"}\n" }.joined()
      let pipe = Pipe()
      let operation = ImportOperation(
        file: "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)", table: TableSchema(name: "t", columns: []),
        into: database)
      let writer = Headway.BlockOperation {
        try? pipe.fileHandleForWriting.write(contentsOf: Data((text + "{\"id\":1,\"late\":2}\n").utf8))
        try? pipe.fileHandleForWriting.close()
      }
      let queue = Headway.OperationQueue()
      queue.addOperation(writer)
      run(operation)
      #expect(operation.report.rowCount == count && operation.report.rejectedRowCount == 1)
      #expect(try database.strings("SELECT count(*), sum(id) FROM t") == ["\(count)|\(count * (count - 1) / 2)"])
    }
  }

  @Test(
    "I3, I7: null strings apply to JSON strings only on request; an empty string is a value", arguments: [false, true])
  func nullTexts(inQuotes: Bool) throws {
    let options = ImportOptions(nullTexts: ["NULL"], nullTextsInQuotes: inQuotes)
    try imported("{\"id\": 1, \"a\": \"NULL\"}\n{\"id\": 2, \"a\": \"\"}\n", options: options) {
      (database, operation) throws in
      #expect(operation.error == nil && operation.report.rejectedRowCount == 0)
      let first = inQuotes ? "NULL" : "'NULL'"
      #expect(try database.strings("SELECT quote(a) FROM file ORDER BY id") == [first, "''"])
    }
  }

  @Test("I7: a byte order mark is not part of the first line", arguments: [1, 2])
  func byteOrderMark(count: Int) throws {
    let lines = ["{\"a\":1,\"b\":2}\n", "{\"a\":2}\n"]
    try imported("\u{FEFF}" + lines[..<count].joined()) { (database, operation) throws in
      #expect(operation.error == nil && operation.report.rejectedRowCount == 0)
      #expect(try database.strings("SELECT a, coalesce(b, '') FROM file") == Array(["1|2", "2|"][..<count]))
      #expect(operation.report.committedByteCount == operation.report.fileSize)
    }
  }

  @Test(
    "I7: an invalid first line is rejected if other lines or the file name indicate the format",
    arguments: [
      ("{\"a\":01}", "file.json"), ("{\"a\":\"\\ud800\"}", "file"), ("{\"a\":1,", "file"), ("[1]", "file.jsonl"),
      ("a,b", "FILE.NDJSON"), ("{", "file.jsonl"),
    ])
  func badFirstLine(line: String, name: String) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let file = try workspace.write("\(line)\n{\"a\":1}\n{\"a\":2}\n", to: name)
      let operation = ImportOperation(
        file: file, table: TableSchema(name: "t", columns: []), into: database,
        rejectedRows: workspace.rejectedRowsFile())
      run(operation)
      #expect(operation.error == nil && operation.report.layout?.isJSONLines == true)
      #expect(try database.strings("SELECT a FROM t ORDER BY rowid") == ["1", "2"])
      #expect(try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv")).map(\.lineNumber) == [1])
    }
  }

  @Test("I7: importing a file again by key updates its rows in place") func again() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let table = TableSchema(name: "t", columns: [], key: ["id"])
      let file = try workspace.write("{\"id\":\"a\",\"n\":1}\n{\"id\":\"b\",\"n\":2}\n", to: "t.jsonl")
      run(ImportOperation(file: file, table: table, into: database))
      _ = try workspace.write("{\"n\":3,\"id\":\"b\"}\n{\"id\":\"c\",\"n\":4}\n", to: "t.jsonl")
      let second = ImportOperation(file: file, table: table, into: database)
      run(second)
      #expect(second.error == nil)
      #expect(try database.strings("SELECT id, n FROM t ORDER BY id") == ["a|1", "b|3", "c|4"])
    }
  }

  @Test(
    "I7: JSON that is not one object per line causes an error that explains how to convert it",
    arguments: [
      "{\n  \"a\": 1\n}\n", "[{\"a\": 1}]\n", "{\"rows\": [\n  {\"a\": 1},\n  {\"a\": 2}\n]}\n", "{\"a\": 01}\n",
    ])
  func otherJSON(text: String) throws {
    try imported(text, as: "file.json") { (_, operation) throws in
      let error = try #require(operation.error as? ImportError)
      #expect(error.code == .foreignContent && error.context.contains("jq"))
    }
  }

  @Test("I7: the number format applies to strings; a JSON number always has a decimal point")
  func numberFormat() throws {
    let format = NumberFormat(decimalSeparator: ",", groupSeparator: ".")
    let typed = TableSchema(name: "file", columns: [ColumnSchema(name: "price", type: .real)])
    let text = "{\"price\": 1.500}\n{\"price\": \"1.500\"}\n{\"price\": \"2.000,25\"}\n{\"price\": 1e3}\n"
    try imported(text, table: typed, options: ImportOptions(numberFormat: format)) { (database, operation) throws in
      #expect(operation.error == nil && operation.report.flaggedRowCount == 0)
      #expect(try database.strings("SELECT price FROM file") == ["1.5", "1500.0", "2000.25", "1000.0"])
    }
    let found = String(text.split(separator: "\n").dropLast().joined(separator: "\n"))
    try imported(found, options: ImportOptions(numberFormat: format)) { (database, operation) throws in
      #expect(try database.strings("SELECT type FROM pragma_table_info('file')") == ["NUMERIC"])
      #expect(try database.strings("SELECT price FROM file") == ["1.5", "1500", "2000.25"])
    }
  }

  @Test("I7: a note about a mixed column suggests no character that already has a meaning") func mixedNotes() throws {
    let text = "{\"price\": \"1.500,25\"}\n{\"price\": 1.5}\n"
    for (format, advice) in [
      (NumberFormat(), "--decimal ',' --thousands '.'"), (NumberFormat(decimalSeparator: ","), ": --thousands '.'"),
    ] {
      try imported(text, options: ImportOptions(numberFormat: format)) { (_, operation) throws in
        #expect(operation.report.notes.count == 1)
        #expect(operation.report.notes.first?.contains(advice) == true, "\(operation.report.notes)")
      }
    }
    // No format reads this value, and the comma already separates the decimals.
    let odd = "{\"price\": \"1,500,250\"}\n{\"price\": 1.5}\n"
    try imported(odd, options: ImportOptions(numberFormat: NumberFormat(decimalSeparator: ","))) {
      (_, operation) throws in
      #expect(operation.report.notes.isEmpty, "\(operation.report.notes)")
    }
  }

  @Test(
    "I7: the reason for rejecting a line contains the position of the error",
    arguments: [
      ("{\"id\":4,\"name\":", "line 2, byte 24: the object is incomplete"),
      ("{\"id\":4", "line 2, byte 16: the object is incomplete"),
      ("{\"id\":\"open", "line 2, byte 15: a string that is never closed"),
      ("{\"id\":x}", "line 2, byte 15: not a value: \"x}\""),
    ])
  func reasons(line: String, reason: String) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let file = try workspace.write("{\"id\":1}\n\(line)\n", to: "file.jsonl")
      run(ImportOperation(file: file, into: database, rejectedRows: workspace.rejectedRowsFile()))
      #expect(try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv")).map(\.reason) == [reason])
    }
  }

  @Test("I7: a line over the limit is rejected as a whole, and reading continues after it") func longLine() throws {
    let long = "{\"a\":\"\(String(repeating: "x", count: 17 << 20))\"}"
    try imported("{\"a\":\"1\"}\n\(long)\n{\"a\":\"2\"}\n") { (database, operation) throws in
      #expect(operation.report.rowCount == 2 && operation.report.rejectedRowCount == 1)
      #expect(try database.strings("SELECT a FROM file ORDER BY rowid") == ["1", "2"])
    }
  }
}
#endif
