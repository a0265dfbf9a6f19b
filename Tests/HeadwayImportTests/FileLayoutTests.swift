#if SQLite
import Dispatch
import Foundation
import GRDB
import Headway
import HeadwayCSV
import HeadwayImport
import Testing

@Suite("Import: file layouts", .hangLimit)
struct FileFormTests {
  private func imported(
    _ text: String, as name: String = "file.csv", table: TableSchema? = nil, options: ImportOptions = ImportOptions(),
    _ body: (ImportDatabase, ImportOperation) throws -> Void
  ) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let file = try workspace.write(text, to: name)
      let operation = ImportOperation(file: file, table: table, into: database, options: options)
      run(operation)
      try body(database, operation)
    }
  }

  @Test(
    "I3: small files are imported with any line ending, even without a final line ending",
    arguments: [0, 1, 2, 3, 98, 99, 100, 101, 249, 250, 251], ["\n", "\r\n"])
  func sizes(rows: Int, lineEnding: String) throws {
    for endsWithLineEnd in [true, false] {
      var text = (["id,name"] + people(0..<rows)).joined(separator: lineEnding)
      if endsWithLineEnd { text += lineEnding }
      try imported(text) { (database, operation) throws in
        #expect(operation.error == nil)
        #expect(operation.report.rowCount == rows)
        #expect(operation.report.rejectedRowCount == 0)
        #expect(operation.report.isComplete)
        #expect(operation.report.committedByteCount == text.utf8.count)
        #expect(try database.columns("file") == ["id", "name"])
        #expect(try database.strings("SELECT * FROM file ORDER BY rowid") == (0..<rows).map { "\($0)|name \($0)" })
      }
    }
  }

  @Test("I3: rows are not skipped as the preamble of wider rows after them, which are rejected")
  func tableBeforeWiderRows() throws {
    let text = (["id,name"] + people(0..<20) + (0..<300).map { "\($0),name,remark" }).joined(separator: "\n")
    try imported(text) { (database, operation) throws in
      #expect(operation.report.rowCount == 20)
      #expect(operation.report.rejectedRowCount == 300)
      #expect(try database.columns("file") == ["id", "name"])
      #expect(try database.strings("SELECT * FROM file ORDER BY rowid") == (0..<20).map { "\($0)|name \($0)" })
    }
  }

  @Test("I9: no row is lost if the header has another width or the first row has missing values")
  func headersOfOtherWidth() throws {
    let unnamed = ["column_1", "column_2", "column_3"]
    for (text, columns, rows) in [
      ("country,2019,2020,2021\nA,1,2\nB,3,4\nC,5,6\n", unnamed, 3),
      ("2019,2020\nA,1,2\nB,3,4\nC,5,6\n", unnamed, 3),
      ("Towns\nname,land,note,remark\nRome,Italy,x\nOslo,Norway,y\n", unnamed, 2),
      ("Towns\nid,name,a,b,c,d\n1,#N/A,-\n2,Rome,x\n3,Oslo,y\n", unnamed, 3),
      (
        "id,name,price,day,note,more\n1,closed,2.50,2020-01-01,x\n2,4,3.50,2020-01-02,y\n3,5,4.50,2020-01-03,z\n",
        (1...5).map { "column_\($0)" }, 3
      ),
      ("id,lat,lon\nS1,#N/A,unknown\nS2,52.5,13.4\nS3,52.6,13.5\n", ["id", "lat", "lon"], 3),
    ] {
      try imported(text) { (database, operation) throws in
        #expect(operation.error == nil && operation.report.rejectedRowCount == 0, "\(text)")
        #expect(operation.report.rowCount == rows, "\(text)")
        #expect(try database.columns("file") == columns, "\(text)")
      }
    }
  }

  @Test("I9: values stay in their columns if each row except the header ends with a delimiter")
  func delimiterBehindRows() throws {
    try imported("a,b\n1,2,\n3,4,\n5,6,\n") { (database, operation) throws in
      #expect(operation.report.rowCount == 3 && operation.report.rejectedRowCount == 0)
      #expect(try database.strings("SELECT a, b FROM file") == ["1|2", "3|4", "5|6"])
    }
  }

  @Test("I3: a record with a quoted field over the limit is rejected, and none of its lines becomes a row")
  func longField() throws {
    let inner = String(repeating: "9,inner\n", count: 400)
    let options = ImportOptions(maxRecordLength: 1_000)
    try imported("id,v\n1,a\n2,\"\(inner)\"\n3,c\n4,\"\(inner)\"\n5,e", options: options) {
      (database, operation) throws in
      #expect(operation.error == nil && operation.report.rejectedRowCount == 2)
      #expect(try database.strings("SELECT id, v FROM file") == ["1|a", "3|c", "5|e"])
    }
    // A stray quote that no other quote closes, or that another one closes incorrectly.
    for end in ["", "8,\"x\"\n"] {
      try imported("id,v\n1,a\n2,\"b\n\(inner)3,c\n\(end)", options: options) { (database, operation) throws in
        #expect(operation.error == nil && operation.report.rejectedRowCount == 1)
        #expect(try database.strings("SELECT count(*) FROM file WHERE v = 'inner'") == ["400"])
      }
    }
    // The largest record that is allowed.
    let value = String(repeating: "x\n", count: 497)
    try imported("id,v\n1,\"\(value)\"\n2,b\n", options: options) { (database, operation) throws in
      #expect(operation.report.rejectedRowCount == 0)
      #expect(try database.strings("SELECT length(v) FROM file") == ["994", "1"])
    }
  }

  @Test("I3: no line of a quoted field over the limit becomes a row, even in a pipe", arguments: [400, 400_000])
  func longFieldInPipe(lines: Int) throws {
    let inner = String(repeating: "9,inner\n", count: lines)
    let size = 8 * lines
    let tooLong = "a record of \(size + 5) bytes, which is longer than the maximum"
    for (text, rows, reasons) in [
      ("id,v\n1,a\n2,\"\(inner)\"\n3\n4,\"\(inner)\"\n5,e", ["1|a", "5|e"], [tooLong, "expected 2", tooLong]),
      // A stray quote that no other quote closes, or that another one closes incorrectly.
      ("id,v\n1,a\n2,\"\(inner)8,\"x\"\n9,b\n", ["1|a", "9|b"], ["a record of \(size + 9) bytes"]),
      ("id,v\n1,a\n2,\"\(inner)9,b\n", ["1|a"], ["a quote that is never closed, so the last \(size + 7) bytes"]),
    ] {
      try withWorkspace { workspace in
        let (database, path) = (try workspace.database(), workspace.path("file"))
        try #require(mkfifo(path, 0o600) == 0)
        let written = DispatchGroup()
        DispatchQueue.global().async(group: written) {
          try? FileHandle(forWritingAtPath: path)?.write(contentsOf: Data(text.utf8))
        }
        let operation = ImportOperation(
          file: path, into: database, options: ImportOptions(maxRecordLength: 1_000),
          rejectedRows: workspace.rejectedRowsFile())
        run(operation)
        written.wait()
        #expect(operation.error == nil && operation.report.rejectedRowCount == reasons.count)
        #expect(try database.strings("SELECT id, v FROM file") == rows)
        let issues = try parsedRowIssues(workspace.bytes(of: "rejected-rows.csv"))
        for (reject, reason) in zip(issues, reasons) { #expect(reject.reason.contains(reason), "\(reject.reason)") }
        if issues.count == 3 { #expect(issues.map(\.lineNumber) == [3, lines + 4, lines + 5]) }
      }
    }
  }

  @Test("I9: if a file contains its table twice, only the repeated rows are rejected")
  func tableTwice() throws {
    let rows = (1...10).map { "\($0),name \($0)\n" }.joined()
    let text = "id,name\n\(rows)\"id\",\"name\"\n\(rows.replacing("name 9", with: "other"))"
    try imported(text) { (database, operation) throws in
      // The header and nine rows.
      #expect(operation.report.rowCount == 11 && operation.report.rejectedRowCount == 10)
      #expect(try database.strings("SELECT name FROM file WHERE id = 9") == ["name 9", "other"])
    }
    try imported("id,name\n\(rows)id,name\n11,b\n12,c\n") { (_, operation) throws in
      #expect(operation.report.rowCount == 12 && operation.report.rejectedRowCount == 1)
    }
  }

  @Test("I3: comments before a header are detected, regardless of the rows") func commentsBeforeText() throws {
    try imported("# made by us\n#\nname,town\nAl,Rome\n#1,Oslo\n") { (database, operation) throws in
      #expect(operation.report.rowCount == 2 && operation.report.rejectedRowCount == 0)
      #expect(try database.columns("file") == ["name", "town"])
    }
    try imported("#\nname,town\nAl,Rome\nBo,Paris\n") { (database, operation) throws in
      #expect(operation.report.rowCount == 2)
    }
  }

  @Test("I3: records before a header are a preamble, even if they have several fields")
  func preambleWithFields() throws {
    let preamble = ["made,2020-01-01", "by,us", "for,you"]
    let text = (preamble + ["id,name,amount"] + (0..<30).map { "\($0),name \($0),1.5" }).joined(separator: "\n")
    try imported(text) { (database, operation) throws in
      #expect(operation.report.rowCount == 30)
      #expect(try database.columns("file") == ["id", "name", "amount"])
    }
  }

  @Test(
    "I3: a file without a header causes a typed error that names it", arguments: ["", "\u{FEFF}", "\n", "\r\n\r\n\n"])
  func empty(text: String) throws {
    try imported(text) { (database, operation) throws in
      let error = try importError(operation)
      #expect(error.code == .badHeader)
      #expect(error.path == operation.file)
      #expect(error.lineNumber == 1)
      #expect(try !database.hasTable("file"))
      #expect(!operation.report.isComplete)
    }
  }

  @Test("I3: a file that can't be read causes a typed error that names it", arguments: ["nowhere.csv", "."])
  func unreadable(name: String) throws {
    try withWorkspace { workspace in
      let operation = ImportOperation(file: workspace.path(name), table: .people, into: try workspace.database())
      run(operation)
      let error = try importError(operation)
      #expect(error.code == .cannotReadFile)
      #expect(error.path == workspace.path(name))
      #expect(error.underlyingError != nil)
    }
  }

  @Test("I3: a described name that occurs twice in the header, in any case, causes a typed error")
  func duplicateColumn() throws {
    let table = TableSchema(name: "t", columns: [ColumnSchema(name: "id")])
    try imported("id,name,ID\n1,2,3\n", table: table) { (_, operation) throws in
      let error = try importError(operation)
      #expect(error.code == .badHeader)
      #expect(error.lineNumber == 1)
      #expect(error.context.contains("ID"))
    }
  }

  @Test("I3: key columns that the header lacks cause a typed error that names them")
  func missingColumns() throws {
    let table = TableSchema(
      name: "t", columns: [ColumnSchema(name: "must", isRequired: true), ColumnSchema(name: "may")],
      key: ["must", "made_up"])
    try imported("id,name\n1,2\n", table: table) { (_, operation) throws in
      let error = try importError(operation)
      #expect(error.code == .badHeader)
      #expect(error.context.contains("must"))
      #expect(error.context.contains("made_up"))
      #expect(!error.context.contains("may"))
    }
  }

  @Test("I3: a malformed header of a described table causes a typed error with its line")
  func malformedHeader() throws {
    try imported("\n\"id\"x,name\n1,2\n", as: "stops.txt") { (_, operation) throws in
      let error = try importError(operation)
      #expect(error.code == .badHeader)
      #expect(error.lineNumber == 2)
    }
  }

  @Test("I3: without a header, columns are numbered and the first record is a row")
  func noHeader() throws {
    try imported("1,Zoo\n2,\"Alex, Nord\"\n", options: ImportOptions(hasHeader: false)) {
      (database, operation) throws in
      #expect(operation.error == nil)
      #expect(try database.columns("file") == ["column_1", "column_2"])
      #expect(try database.strings("SELECT rowid, * FROM file") == ["1|1|Zoo", "2|2|Alex, Nord"])
    }
  }

  @Test("I3: a byte order mark is not part of the first name or value", arguments: [true, false])
  func byteOrderMark(hasHeader: Bool) throws {
    try imported("\u{FEFF}id,name\n1,Zoo\n", options: ImportOptions(hasHeader: hasHeader)) { (database, _) throws in
      if hasHeader {
        #expect(try database.columns("file") == ["id", "name"])
        #expect(try database.strings("SELECT * FROM file") == ["1|Zoo"])
      } else {
        #expect(try database.strings("SELECT * FROM file") == ["id|name", "1|Zoo"])
      }
    }
  }

  @Test("I3: the delimiter is detected from the file", arguments: [",", ";", "\t", "|"])
  func detection(delimiter: String) throws {
    let rows = [["id", "name", "text"], ["1", "Zoo", "a.b"], ["2", "\"x\(delimiter)y\"", "c"]]
    try imported(rows.map { $0.joined(separator: delimiter) + "\n" }.joined()) { (database, operation) throws in
      #expect(operation.error == nil)
      #expect(try database.columns("file") == ["id", "name", "text"])
      let values = try database.pool.read { try String.fetchAll($0, sql: "SELECT name FROM file") }
      #expect(values == ["Zoo", "x\(delimiter)y"])
    }
  }

  @Test("I3: a specified dialect is used, even if the file seems to have another")
  func givenDialect() throws {
    let dialect = CSVDialect(delimiter: UInt8(ascii: ":"), quote: UInt8(ascii: "'"))
    try imported("a,b:c\n1,2:'3:''4'''\n", options: ImportOptions(dialect: dialect)) { (database, _) throws in
      #expect(try database.columns("file") == ["a,b", "c"])
      #expect(try database.strings("SELECT * FROM file") == ["1,2|3:'4'"])
    }
  }

  @Test(
    "I3: fields are read as RFC 4180 specifies",
    arguments: [
      ("\"a\"", "a"), ("\"a,b\"", "a,b"), ("\"a\"\"b\"", "a\"b"), ("\"\"\"\"", "\""), ("\"a\nb\"", "a\nb"),
      ("\"a\r\nb\"", "a\r\nb"), ("a\"b", "a\"b"), (" a ", " a "), ("ü€😀", "ü€😀"),
      ("\"ü\"\"€\"", "ü\"€"),
      ("", nil), ("\"\"", nil),
    ] as [(String, String?)])
  func fields(field: String, value: String?) throws {
    try imported("id,name,last\n1,\(field),x\n2,\(field),\(field)\n") { (database, operation) throws in
      #expect(operation.error == nil)
      #expect(operation.report.rejectedRowCount == 0)
      let rows = try database.pool.read { try Row.fetchAll($0, sql: "SELECT name, last FROM file ORDER BY rowid") }
      #expect(rows.map { $0["name"] as String? } == [value, value])
      #expect(rows.last?["last"] as String? == value)
    }
  }

  @Test("I3: a NUL in a field is imported unchanged")
  func nul() throws {
    try imported("id,name\n1,a\0b\n") { (database, operation) throws in
      #expect(operation.report.rejectedRowCount == 0)
      // SQLite returns a string only up to the NUL.
      #expect(try database.strings("SELECT hex(name), typeof(name) FROM file") == ["610062|text"])
    }
  }

  @Test("I3: blank lines are skipped, even in a table without a key")
  func blankLines() throws {
    try imported("\nid,name\n\n1,a\n\n\n2,b\n\n") { (database, operation) throws in
      #expect(operation.report.rowCount == 2)
      #expect(operation.report.rejectedRowCount == 0)
      #expect(try database.strings("SELECT * FROM file") == ["1|a", "2|b"])
    }
  }

  @Test("I3: records larger than the buffers are imported completely")
  func largeRecords() throws {
    let sizes = [10, 300_000, 70_000, 1, 600_000, 5]
    let lines = sizes.enumerated().map { "\($0),\"\(String(repeating: "x\"\"", count: $1 / 3))\"" }
    try imported((["id,name"] + lines).joined(separator: "\n"), options: ImportOptions(batchSize: 4)) {
      (database, _) throws in
      let lengths = try database.strings("SELECT length(name) FROM file WHERE name IS NOT NULL")
      #expect(lengths == ["6", "200000", "46666", "400000", "2"])
      #expect(try database.strings("SELECT replace(name, 'x\"', '') FROM file WHERE id = 4") == [""])
    }
  }

  @Test("I3: table and column names can contain any characters")
  func names() throws {
    try imported("order,\"a\"\"b\",ä b, select ,,'\n1,2,3,4,5,6\n", as: "gr\"oup by;.csv") {
      (database, operation) throws in
      #expect(operation.error == nil)
      #expect(operation.table.name == "gr\"oup by;")
      #expect(try database.columns("gr\"oup by;") == ["order", "a\"b", "ä b", "select", "column_5", "'"])
      #expect(try database.count("gr\"oup by;") == 1)
    }
  }

  @Test("I5: columns named like SQLite's row ID do not affect re-imports")
  func rowIdentifierNames() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let text = "rowid,oid,name\n70,80,a\n71,81,b\n"
      let file = try workspace.write(text, to: "file.csv")
      for _ in 1...2 {
        let operation = ImportOperation(file: file, into: database)
        run(operation)
        #expect(operation.error == nil)
        #expect(operation.report.rowCount == 2)
        #expect(try database.strings("SELECT _rowid_, * FROM file") == ["2|70|80|a", "3|71|81|b"])
      }
      try workspace.write("rowid,oid,name\n70,80,a\n", to: "file.csv")
      run(ImportOperation(file: file, into: database))
      #expect(try database.strings("SELECT _rowid_, * FROM file") == ["2|70|80|a"])
    }
  }

  @Test("I1: the name of a GTFS file determines the table's schema; other files have no schema")
  func tableOfFile() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let levels = ImportOperation(file: workspace.path("levels.txt"), into: database)
      #expect(levels.table == GTFSSchema.table(named: "levels"))
      let other = ImportOperation(file: workspace.path("levels.csv"), into: database)
      #expect(other.table == TableSchema(name: "levels", columns: []))
      #expect(ImportOperation(file: "no-ending", into: database).table.name == "no-ending")
    }
  }
}
#endif
