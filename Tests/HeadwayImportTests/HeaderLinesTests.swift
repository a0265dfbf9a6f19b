#if SQLite
import Foundation
import GRDB
import Headway
import HeadwayCSV
import HeadwayImport
import HeadwayTestKit
import Testing

@Suite("Import: header or row", .hangLimit)
struct HeaderLinesTests {
  private func imported(
    _ text: String, options: ImportOptions = ImportOptions(), _ body: (ImportDatabase, ImportOperation) throws -> Void
  ) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let operation = ImportOperation(file: try workspace.write(text, to: "t.csv"), into: database, options: options)
      run(operation)
      #expect(operation.error == nil)
      try body(database, operation)
    }
  }

  @Test(
    "I15: a first row with words, sizes or units in numeric columns is a row",
    arguments: [
      "[NULL],[NULL]", "(none),(none)", "(n/a),(n/a)", "(blank),(blank)", "(unknown),(unknown)", "S,M", "min,h",
      "keine,keine", "fehlt,leer", "<leer>,{}", "#N/A N/A,#REF!", "—,…", "12 kB,5 km", "3%,$1.50", "EUR,USD", "m,km",
      "text,text", "closed,open", "?,x", "low,high",
    ])
  func firstRow(words: String) throws {
    let rows = ["Beta,34.5,36", "Gamma,40,42.5", "Delta,1,2"]
    try imported((["name,front,back", "Alpha,\(words)"] + rows).map { $0 + "\n" }.joined()) {
      (database, operation) throws in
      #expect(try database.columns("t") == ["name", "front", "back"])
      #expect(operation.report.rowCount == 4 && operation.report.headerNotes.isEmpty)
      #expect(try database.strings("SELECT name FROM t WHERE rowid = 2") == ["Alpha"])
    }
  }

  @Test("I15: a first row with text is not part of the header, regardless of its words") func anyWord() throws {
    var random = SeededGenerator(seed: 11)
    let letters = Array("abcdefghijklmnopqrstuvwxyzÄÖÜ()[]<>#/%$°. -")
    for _ in 0..<60 {
      let words = (0..<3).map { _ in
        String((0..<Int.random(in: 1...6, using: &random)).map { _ in letters.randomElement(using: &random) ?? "x" })
      }
      let text = "name,a,b,c\nAlpha,\(words.joined(separator: ","))\nBeta,1,2,3.5\nGamma,4,5,6.5\nDelta,7,8,9.5\n"
      try imported(text) { (database, operation) throws in
        #expect(operation.report.rowCount == 4, "\(words)")
        #expect(try database.columns("t") == ["name", "a", "b", "c"], "\(words)")
      }
    }
  }

  @Test(
    "I15: a note reports that several lines form the header",
    arguments: [
      ("name,length,weight\ntext,km,kg\n", ["name text", "length km", "weight kg"]),
      ("name,length,weight\n,(km),[kg]\n", ["name", "length (km)", "weight [kg]"]),
      ("length,weight,time\nm,kg,s\n", ["length m", "weight kg", "time s"]),
      ("a,b,c\na,b,c\n", ["a", "b", "c"]),
    ])
  func severalLines(header: String, columns: [String]) throws {
    let rows = (1...4).map { header.hasPrefix("length") ? "\($0),2,3.5\n" : "row \($0),2,3.5\n" }.joined()
    try imported(header + rows) { (database, operation) throws in
      #expect(try database.columns("t") == columns)
      #expect(operation.report.rowCount == 4)
      #expect(operation.report.headerNotes.count == 1)
    }
    try imported(header + rows, options: ImportOptions(hasHeader: true)) { (_, operation) throws in
      #expect(operation.report.headerNotes.isEmpty)
    }
  }

  @Test("I15: the whole file is examined: later text in a numeric column proves that the second line is a row")
  func wholeFile() throws {
    let rows = (0..<20_000).map { "row \($0),\($0),2.5\n" }.joined()
    for (last, rowCount) in [("", 20_000), ("x,min,h\n", 20_002)] {
      try imported("name,a,b\n,min,h\n\(rows)\(last)") { (_, operation) throws in
        #expect(operation.report.rowCount == rowCount)
        #expect(operation.report.headerNotes.isEmpty == (rowCount > 20_000))
      }
    }
  }

  @Test("I15: the same word for a missing value in two columns is not a name") func noHeader() throws {
    try imported("Alpha,[NULL],[NULL]\nBeta,34.5,36\nGamma,40,42.5\n") { (database, operation) throws in
      #expect(operation.report.rowCount == 3)
      #expect(try database.columns("t") == ["column_1", "column_2", "column_3"])
    }
  }

  @Test(
    "I3: comments before the header are skipped, even if they have as many delimiters as the table",
    arguments: [
      ("# made, by\nid,name\n", ["id", "name"], 1), ("# a, b\n# c, d\nid,name\n", ["id", "name"], 2),
      ("#id,name\n", ["#id", "name"], 0), ("# by us\n#id,name\n", ["#id", "name"], 1),
      ("# \"x, y\nid,name\n", ["id", "name"], 1), ("# id,name\n", ["# id", "name"], 0),
    ])
  func comments(header: String, columns: [String], skipped: Int) throws {
    try imported(header + "1,x\n2,y\n3,z\n") { (database, operation) throws in
      #expect(try database.columns("t") == columns)
      #expect(operation.report.rowCount == 3 && operation.report.skippedRecordCount == skipped)
      // A comment is not a row.
      #expect(operation.report.headerNotes.isEmpty)
    }
  }

  @Test(
    "I16: if several delimiters divide the rows equally well, the column names in the last comment decide",
    arguments: [
      ("#id;name\n1,5;x\n", ["1,5|x"]), ("#id;name\n1,5;x\n2,6;y\n", ["1,5|x", "2,6|y"]),
      ("# made in 2020, by us\n#id;name\n1,5;x\n2,6;y\n", ["1,5|x", "2,6|y"]),
      ("#a\tb\n1,x\ty\n2,z\tw\n", ["1,x|y", "2,z|w"]), ("# id;name\n1,5;x\n2,6;y\n", ["1,5|x", "2,6|y"]),
      ("# by us, with care\nid;v\n1,5;3\n2,6;4\n", ["1,5|3", "2,6|4"]),
    ])
  func namesInComment(text: String, rows: [String]) throws {
    try imported(text, options: ImportOptions(columnTypePolicy: .text)) { (database, operation) throws in
      #expect(try database.strings("SELECT * FROM t") == rows)
      #expect(try database.columns("t").count == 2)
    }
  }
}
#endif
