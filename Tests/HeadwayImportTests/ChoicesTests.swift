#if SQLite
import Foundation
import Headway
import HeadwayCSV
@testable import HeadwayImport
import HeadwaySampleData
import Testing

@Suite("Import: number formats, missing values, and selected columns", .hangLimit)
struct ChoicesTests {
  @Test("I3: a file can have as many columns as an SQLite table", arguments: [true, false])
  func manyColumns(hasKey: Bool) throws {
    func text(_ count: Int) -> String {
      let names = (0..<count).map { "c\($0)" }.joined(separator: ",")
      let row = (0..<count).map(String.init).joined(separator: ",")
      return "\(names)\n\(row)\n\(row.replacing(",1999", with: ",x"))\n"
    }
    try withWorkspace { workspace in
      let database = try workspace.database()
      let table = TableSchema(name: "t", columns: [], key: hasKey ? ["c0"] : [])
      for policy in [ImportOptions.ExistingRowPolicy.update, .replace] {
        let operation = ImportOperation(
          file: try workspace.write(text(2_000), to: "t.csv"), table: table, into: database,
          options: ImportOptions(existingRowPolicy: policy))
        run(operation)
        #expect(operation.error == nil && operation.report.rowCount + operation.report.rejectedRowCount == 2)
        #expect(try database.strings("SELECT c1, c1999 FROM t LIMIT 1") == ["1|1999"])
      }
      let wider = ImportOperation(file: try workspace.write(text(2_001), to: "u.csv"), into: database)
      run(wider)
      #expect(try importError(wider).context.contains("2001 columns, but an SQLite table has 2000 at most"))
    }
  }

  private func imported(
    _ text: String, _ options: ImportOptions, table: TableSchema = TableSchema(name: "t", columns: []),
    _ body: (ImportDatabase, ImportOperation) throws -> Void
  ) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let operation = ImportOperation(
        file: try workspace.write(text, to: "t.csv"), table: table, into: database, options: options)
      run(operation)
      try body(database, operation)
    }
  }

  private static let german = NumberFormat(decimalSeparator: ",", groupSeparator: ".")

  // MARK: Numbers

  @Test(
    "I3: numbers in another format have the right value, and other text stays text",
    arguments: [
      (german, ["1.234,56", "-7,5", "1000"], "NUMERIC", ["1234.56", "-7.5", "1000"]),
      (german, ["1.234", "12.345.678"], "INTEGER", ["1234", "12345678"]),
      (german, ["9,50", "12,50"], "REAL", ["9.5", "12.5"]),
      (german, ["1.5", "2"], "TEXT", ["1.5", "2"]), (german, ["12.34,5"], "TEXT", ["12.34,5"]),
      (german, ["1234.567"], "TEXT", ["1234.567"]), (german, ["1,5,5"], "TEXT", ["1,5,5"]),
      (german, ["01.234"], "TEXT", ["01.234"]), (german, [".234"], "TEXT", [".234"]),
      (NumberFormat(decimalSeparator: ","), ["1,5", ",5", "2"], "NUMERIC", ["1.5", "0.5", "2"]),
      (NumberFormat(decimalSeparator: ","), ["1.500"], "TEXT", ["1.500"]),
      (NumberFormat(groupSeparator: ","), ["1,234.5", "999"], "NUMERIC", ["1234.5", "999"]),
      (NumberFormat(groupSeparator: "'"), ["1'234.25"], "REAL", ["1234.25"]),
      (
        NumberFormat(decimalSeparator: ",", groupSeparator: " "), ["1 234,5", "1\u{A0}234,5", "1\u{202F}234,5"],
        "REAL", ["1234.5", "1234.5", "1234.5"]
      ),
    ] as [(NumberFormat, [String], String, [String])])
  func numbers(format: NumberFormat, values: [String], type: String, stored: [String]) throws {
    let options = ImportOptions(delimiter: UInt8(ascii: ";"), numberFormat: format)
    try imported("name;v\n" + values.map { "x;\($0)\n" }.joined(), options) { (database, operation) throws in
      #expect(operation.error == nil && operation.report.rejectedRowCount == 0)
      #expect(try database.strings("SELECT type FROM pragma_table_info('t') WHERE name = 'v'") == [type])
      #expect(try database.strings("SELECT CAST(v AS TEXT) FROM t ORDER BY rowid") == stored)
    }
  }

  @Test("I3: typed columns accept numbers in the specified format and report other values")
  func describedNumbers() throws {
    let table = TableSchema(
      name: "t",
      columns: [ColumnSchema(name: "price", type: .real), ColumnSchema(name: "count", type: .integer)])
    let options = ImportOptions(delimiter: UInt8(ascii: ";"), numberFormat: Self.german)
    let text = "price;count;note\n1.234,5;1.000;1.000\n1.5;2;x\n"
    try imported(text, options, table: table) { (database, operation) throws in
      #expect(operation.report.flaggedRowCount == 1)
      #expect(try database.strings("SELECT price, count, note FROM t") == ["1234.5|1000|1.000", "1.5|2|x"])
    }
  }

  // MARK: Missing values

  @Test("I3: several strings can represent a missing value, even in quotes if requested")
  func nullTexts() throws {
    let text = "v,n\n1,NULL\nn.d.,\"NULL\"\n-,null\n4,x\n"
    for (inQuotes, count) in [(false, 1), (true, 2)] {
      let options = ImportOptions(nullTexts: ["NULL", "n.d.", "-"], nullTextsInQuotes: inQuotes)
      try imported(text, options) { (database, _) throws in
        #expect(try database.strings("SELECT type FROM pragma_table_info('t')") == ["INTEGER", "TEXT"])
        #expect(try database.strings("SELECT count(*) FROM t WHERE v IS NULL") == ["2"])
        #expect(try database.strings("SELECT count(*) FROM t WHERE n IS NULL") == ["\(count)"])
      }
    }
  }

  // MARK: Columns and files

  @Test("I3: an import contains only the selected columns and the key columns") func columns() throws {
    let text = "id,name,note,price\n1,a,x,2.5\n2,b,y,3.5\n"
    let table = TableSchema(name: "t", columns: [], key: ["id"])
    try imported(text, ImportOptions(columns: ["Price"]), table: table) { (database, operation) throws in
      #expect(operation.error == nil && operation.report.rowCount == 2)
      #expect(try database.strings("SELECT * FROM t") == ["1|2.5", "2|3.5"])
      #expect(try database.strings("SELECT name FROM pragma_table_info('t')") == ["id", "price"])
    }
    try imported(text, ImportOptions(columns: ["name", "prize"])) { (_, operation) throws in
      let error = try #require(operation.error as? ImportError)
      #expect(error.code == .badHeader)
      #expect(
        error.context
          == "The header has no column “prize”. Did you mean “price”? Its columns are id, name, note and price.")
    }
  }

  @Test("I3: importing a file again with other columns replaces its rows") func otherColumns() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let path = try workspace.write("a,b\n1,x\n2,y\n", to: "t.csv")
      for columns in [[], ["a"]] {
        let operation = ImportOperation(file: path, into: database, options: ImportOptions(columns: columns))
        run(operation)
        #expect(operation.error == nil && operation.report.rowCount == 2)
      }
      #expect(try database.strings("SELECT a, b IS NULL FROM t") == ["1|1", "2|1"])
    }
  }

  @Test("I4: a feed is imported without some of its files") func withoutFiles() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let folder = workspace.path("feed")
      try SampleFeed(stopTimes: 200, seed: 1).write(to: folder)
      let files = try FeedFiles(inFolder: folder)
      let error = #expect(throws: ImportError.self) { try files.without(["shape.txt"]) }
      #expect(
        error?.context.hasPrefix("The feed has no file “shape.txt”. Did you mean “shapes.txt”? Its files are ") == true)
      let feed = try FeedImport(files.without(["stop_times.txt", "trips"]), into: database)
      #expect(feed.operations.count == files.tables.count - 2)
      for operation in feed.operations { run(operation) }
      #expect(feed.operations.allSatisfy { $0.error == nil })
      #expect(try database.strings("SELECT name FROM sqlite_master WHERE name IN ('trips', 'stop_times')") == [])
    }
  }

  @Test("I3: a preview contains the statements that create the table, and the detected format") func preview() throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let path = try workspace.write("Prices\n\nid;name;price\n1;a;2,50\n2;b;10\n", to: "t.csv")
      let options = ImportOptions(numberFormat: Self.german)
      let preview = try ImportPreview(ofFile: path, options: options)
      #expect(preview.layout.headerLineNumber == 3 && preview.notes.count == 1)
      #expect(
        preview.statements == ["CREATE TABLE IF NOT EXISTS \"t\" (\"id\" INTEGER, \"name\" TEXT, \"price\" NUMERIC)"])
      let operation = ImportOperation(file: path, into: database, options: options)
      run(operation)
      #expect(
        try database.strings("SELECT sql FROM sqlite_master WHERE name = 't'")
          == preview.statements.map { $0.replacingOccurrences(of: "IF NOT EXISTS ", with: "") })
      #expect(operation.report.notes == preview.notes)
    }
  }
}
#endif
