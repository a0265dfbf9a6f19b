#if SQLite
import Foundation
import GRDB
import Headway
import HeadwayCSV
import HeadwayImport
import Testing

@Suite("Import: export as CSV", .hangLimit)
struct ExportTests {
  /// The file that an export of a table writes.
  private func exported(
    _ sql: String, options: ExportOptions = ExportOptions(), table: String = "t"
  ) throws -> (text: String?, operation: ExportOperation) {
    try withWorkspace { workspace in
      let database = try workspace.database()
      try database.pool.write { try $0.execute(sql: sql) }
      let operation = ExportOperation(
        table: table, ofDatabase: database.path, to: workspace.path("out.csv"), options: options)
      run(operation)
      return (try? String(contentsOfFile: workspace.path("out.csv"), encoding: .utf8), operation)
    }
  }

  private let sample = #"""
    CREATE TABLE t (id INTEGER PRIMARY KEY, "a ""name""" TEXT, n REAL, b BLOB);
    INSERT INTO t VALUES (1, 'Zoo, "Berlin"', 1.5, NULL), (2, NULL, 0.1, x'00ff'), (3, 'two
    lines', -9e300, 'text');
    CREATE VIEW v AS SELECT n, id FROM t WHERE id < 3;
    """#

  @Test("I8: each value is written exactly, with quotes where they are needed") func values() throws {
    let (text, operation) = try exported(sample)
    #expect(operation.error == nil && operation.rowCount == 3)
    #expect(
      text == #"""
        id,"a ""name""",n,b
        1,"Zoo, ""Berlin""",1.5,
        2,,0.1,X'00FF'
        3,"two
        lines",-9e+300,text

        """#)
  }

  @Test("I8: options specify columns, delimiter, header and NULL text, and views can be exported")
  func choices() throws {
    let options = ExportOptions(
      columns: ["N", "id"], nullText: "\\N",
      csv: CSVWriter.Options(
        dialect: CSVDialect(delimiter: UInt8(ascii: "\t")), lineEnding: .crlf, writesHeader: false))
    #expect(try exported(sample, options: options, table: "v").text == "1.5\t1\r\n0.1\t2\r\n")
  }

  @Test("I8: exporting a missing table or column fails, and no file is created") func missing() throws {
    for (options, table) in [(ExportOptions(), "other"), (ExportOptions(columns: ["zip"]), "t")] {
      let (text, operation) = try exported(sample, options: options, table: table)
      #expect((operation.error as? ImportError)?.code == .unsuitableTable)
      #expect(text == nil)
    }
  }

  @Test("I8: importing an exported file restores the same values") func roundTrip() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let file = try workspace.write(
        (["id,name,n"] + people(0..<500).map { "\($0),0.25" }).joined(separator: "\n"), to: "a.csv")
      run(ImportOperation(file: file, into: database))
      let export = ExportOperation(table: "a", ofDatabase: database.path, to: workspace.path("b.csv"))
      run(export)
      run(ImportOperation(file: workspace.path("b.csv"), into: database))
      let rows = try database.strings("SELECT * FROM a ORDER BY rowid")
      #expect(rows.count == 500)
      #expect(try database.strings("SELECT * FROM b ORDER BY rowid") == rows)
    }
  }

  @Test("I8: text is exported with all its bytes, and infinite numbers as SQLite writes them")
  func allBytes() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      try database.pool.write {
        try $0.execute(
          sql: """
            CREATE TABLE t (v);
            INSERT INTO t VALUES (CAST(x'61006200' AS TEXT)), (CAST(x'63ff' AS TEXT)), (''), (9e999), (-9e999)
            """)
      }
      let file = workspace.path("out.csv")
      run(ExportOperation(table: "t", ofDatabase: database.path, to: file))
      let lines = try workspace.bytes(of: "out.csv").split(separator: 10, omittingEmptySubsequences: false)
      #expect(
        lines.map { Array($0) } == [
          Array("v".utf8), [0x61, 0, 0x62, 0], [0x63, 0xFF], Array("\"\"".utf8), Array("9.0e+999".utf8),
          Array("-9.0e+999".utf8), [],
        ])
      // A column of real numbers accepts them.
      try database.pool.write { try $0.execute(sql: "CREATE TABLE n (v REAL)") }
      let numbers = try workspace.write("v\n9.0e+999\n-9.0e+999\n1.5\n", to: "n.csv")
      run(ImportOperation(file: numbers, into: database))
      #expect(try database.strings("SELECT count(*) FROM n WHERE v IN (9e999, -9e999, 1.5)") == ["3"])
    }
  }

  @Test("I8: a cancelled export keeps the existing file") func cancelled() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      try database.pool.write { try $0.execute(sql: sample) }
      let file = try workspace.write("before\n", to: "out.csv")
      let operation = ExportOperation(table: "t", ofDatabase: database.path, to: file)
      operation.cancel()
      run(operation)
      #expect(try String(contentsOfFile: file, encoding: .utf8) == "before\n")
    }
  }
}
#endif
