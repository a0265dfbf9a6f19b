#if SQLite
import GRDB
import Headway
@testable import HeadwayImport
import HeadwayTestKit
import Testing

/// Tables that another program has created, with columns that convert text to numbers.
@Suite("Import: text that a column converts to numbers", .hangLimit)
struct ConvertedColumnTests {
  /// Creates a table manually, imports a file into it, and returns the report.
  private func imported(
    _ text: String, into sql: String, columns: [ColumnSchema] = [], key: [String] = [],
    options: ImportOptions = ImportOptions(hasHeader: true), database: ImportDatabase, _ workspace: Workspace
  ) throws -> TableReport {
    try database.pool.write { try $0.execute(sql: sql) }
    let operation = ImportOperation(
      file: try workspace.write(text, to: "t.csv"), table: TableSchema(name: "t", columns: columns, key: key),
      into: database, options: options)
    run(operation)
    #expect(operation.error == nil)
    return operation.report
  }

  private func converted(
    _ text: String, into sql: String, columns: [ColumnSchema] = [], key: [String] = [],
    options: ImportOptions = ImportOptions(hasHeader: true)
  ) throws -> [String] {
    try withWorkspace { workspace in
      let report = try imported(
        text, into: sql, columns: columns, key: key, options: options, database: workspace.database(), workspace)
      return report.convertedColumns.map { "\($0.column) \($0.count) \($0.firstLineNumber) \($0.firstValue)" }
    }
  }

  @Test(
    "I11: a report counts text that becomes a number with a different spelling",
    arguments: [
      ("STRING", "007"), ("STRING", "1e3"), ("INTEGER", "+5"), ("NUMERIC", " 7"), ("DECIMAL(10, 2)", "-0"),
      ("INT", "12345678901234567890"), ("REAL", "9007199254740993"), ("REAL", "1e400"), ("NUMERIC", "5."),
      ("DATE", "0123"), ("DOUBLE", "01.5"), ("STRING", "1234567890.123456789"),
    ])
  func counted(type: String, value: String) throws {
    let text = "a,v\n1,x\n2,\(value)\n3,1\n4,\(value)\n"
    #expect(try converted(text, into: "CREATE TABLE t (a TEXT, v \(type))") == ["v 2 3 \(value)"])
  }

  @Test(
    "I11: a report does not count text that is kept or can be restored from its number",
    arguments: [
      ("STRING", "0x10"), ("INTEGER", "x7"), ("NUMERIC", "1e"), ("NUMERIC", "."), ("INTEGER", "-17"), ("REAL", "1.5"),
      ("NUMERIC", "1.5"), ("REAL", "5"), ("TEXT", "007"), ("VARCHAR(3)", "007"), ("", "007"), ("BLOB", "007"),
      ("INTEGER", "1 2"), ("DECIMAL(10, 2)", "9.50"), ("REAL", "3.0"), ("NUMERIC", "Infinity"),
    ])
  func notCounted(type: String, value: String) throws {
    let text = "a,v\n1,\(value)\n2,\(value)\n"
    #expect(try converted(text, into: "CREATE TABLE t (a TEXT, v \(type))").isEmpty)
  }

  @Test("I11: a report counts trailing zeros of fractions if they can't be restored") func zeros() throws {
    let table = "CREATE TABLE t (a TEXT, v NUMERIC)"
    #expect(try converted("a,v\n1,9.50\n2,12.25\n3,x\n4,100.00\n", into: table).isEmpty)
    #expect(try converted("a,v\n1,9.50\n2,10\n3,7.10\n", into: table) == ["v 2 2 9.50"])
    #expect(try converted("a,v\n1,1.5\n2,1.50\n3,01\n", into: table) == ["v 2 3 1.50"])
    #expect(try converted("a,v\n1,1.0\n2,1.25\n3,1.250\n", into: "CREATE TABLE t (a, v REAL)") == ["v 1 4 1.250"])
  }

  @Test("I11: a report counts nothing in described number columns and in tables that an import has created")
  func described() throws {
    let (text, table) = ("a,v\n1,007\n2,8\n", "CREATE TABLE t (a TEXT, v INTEGER)")
    #expect(try converted(text, into: table, columns: [ColumnSchema(name: "V", type: .integer)]).isEmpty)
    #expect(try converted(text, into: table, columns: [ColumnSchema(name: "v", type: .text)]) == ["v 1 2 007"])
    #expect(try converted(text, into: "").isEmpty)
    #expect(try converted(text, into: "", columns: [ColumnSchema(name: "v", type: .integer)]).isEmpty)
    #expect(try converted(text, into: "CREATE TABLE t (a TEXT, v ANY) STRICT").isEmpty)
    #expect(try converted(text, into: "CREATE TABLE t (a TEXT, v ANY)") == ["v 1 2 007"])
    try withWorkspace { workspace in
      let database = try workspace.database()
      let file = try workspace.write("a,v\n1,1.50\n2,8.25\n", to: "u.csv")
      for rows in [ImportOptions.ExistingRowPolicy.update, .append] {
        let operation = ImportOperation(file: file, into: database, options: ImportOptions(existingRowPolicy: rows))
        run(operation)
        #expect(operation.error == nil && operation.report.convertedColumns.isEmpty)
      }
    }
  }

  @Test("I11: a report also counts conversions in key columns") func keys() throws {
    let text = "id,v\n007,a\n08,b\n9,c\n"
    let number = "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)"
    #expect(try converted(text, into: number) == ["id 2 2 007"])
    #expect(try converted(text, into: number, columns: [ColumnSchema(name: "id", type: .integer)], key: ["id"]).isEmpty)
    #expect(try converted(text, into: "CREATE TABLE t (id NUM PRIMARY KEY, v TEXT)") == ["id 2 2 007"])
  }

  @Test("I11: a report counts numbers that SQLite reads differently from what the format specifies")
  func formats() throws {
    var options = ImportOptions(delimiter: UInt8(ascii: ";"), hasHeader: true)
    options.numberFormat = NumberFormat(decimalSeparator: ",", groupSeparator: ".")
    let table = "CREATE TABLE t (a TEXT, v NUMERIC)"
    #expect(try converted("a;v\n1;1,5\n2;1.500\n3;7\n", into: table, options: options) == ["v 1 3 1.500"])
  }

  @Test("I11: a report does not count conversions in rows that are not imported") func refused() throws {
    let table = "CREATE TABLE t (id TEXT PRIMARY KEY, v INTEGER CHECK (v < 100), w STRING NOT NULL)"
    let text = "id,v,w\na,0100,x\nb,007,x\nb,008,x\nc,009,\nd,010,01\n"
    for existing in [ImportOptions.ExistingRowPolicy.update, .append, .replace] {
      let options = ImportOptions(hasHeader: true, existingRowPolicy: existing)
      #expect(try converted(text, into: table, options: options) == ["v 2 3 007", "w 1 6 01"], "\(existing)")
    }
    let trigger = """
      CREATE TABLE t (v INTEGER);
      INSERT INTO t VALUES (1);
      CREATE TRIGGER ignore BEFORE INSERT ON t WHEN NEW.v = 7 BEGIN SELECT RAISE(IGNORE); END
      """
    for existing in [ImportOptions.ExistingRowPolicy.append, .replace] {
      let options = ImportOptions(hasHeader: true, existingRowPolicy: existing)
      #expect(try converted("v\n007\n08\n09\n", into: trigger, options: options) == ["v 2 3 08"], "\(existing)")
    }
  }

  @Test(
    "I11: the counted conversions of random strings match the conversions that SQLite performs",
    arguments: ["NUMERIC", "INTEGER", "REAL"])
  func everyText(type: String) throws {
    var generator = SeededGenerator(seed: 7)
    let characters = Array("0011234567899+-..eE \tx")
    let values = (1...4_000).map { _ in
      String((0...Int.random(in: 0...6, using: &generator)).map { _ in characters.randomElement(using: &generator)! })
    }
    try withWorkspace { workspace in
      let database = try workspace.database()
      var options = ImportOptions(hasHeader: true)
      options.delimiter = UInt8(ascii: ",")
      let text = "a,v\n" + values.map { "x,\($0)\n" }.joined()
      let report = try imported(
        text, into: "CREATE TABLE t (a TEXT, v \(type))", options: options, database: database, workspace)
      let kinds = try database.strings("SELECT typeof(v) FROM t ORDER BY rowid")
      try #require(kinds.count == values.count)
      let exactType = type == "REAL" ? ColumnType.real : .numeric
      let counted = zip(values, kinds).count { value, kind in
        guard kind != "text" else { return false }
        guard Array(value.utf8).withUnsafeBytes({ exactType.exactValue($0) != nil }) else { return true }
        let number = value.lowercased().prefix { $0 != "e" }
        return number.contains(".") && number.hasSuffix("0") && !(type == "REAL" && number.hasSuffix(".0"))
      }
      let column = try #require(report.convertedColumns.first)
      #expect(column.count == counted && counted > 300)
      #expect(column.declaredType == type)
    }
  }
}
#endif
