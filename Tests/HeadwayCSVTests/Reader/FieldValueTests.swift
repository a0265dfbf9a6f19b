import HeadwayCSV
import Testing

@Suite(.hangLimit) struct FieldValueTests {
  private func row(_ text: String, _ options: CSVReader.Options = .init()) throws -> CSVRow {
    var rows: [CSVRow] = []
    try CSVReader(text: text, name: "table.csv", options: options).forEachRow { rows.append($0) }
    return try #require(rows.last)
  }

  enum Kind: String, CSVFieldConvertible { case bus, tram }
  enum Name: String, CSVColumnSelector { case id, height }

  @Test("I3: fields are read as text, numbers, and Boolean values, by name, position, and column")
  func values() throws {
    let row = try row("id,name,height,open,kind\n 7 ,Zoo,2.50,TRUE,tram\n")
    let height = CSVColumn("height")
    #expect(try row["name"] == "Zoo")
    #expect(try row[1] == "Zoo")
    #expect(try row[height] == "2.50")
    #expect(try row[Name.id] == " 7 ")
    #expect(try row.value("id", as: Int.self) == 7)
    #expect(try row.value(Name.id, as: UInt8.self) == 7)
    #expect(try row.value(height, as: Double.self) == 2.5)
    #expect(try row.value(2, as: Float?.self) == 2.5)
    #expect(try row.value("open", as: Bool.self))
    #expect(try row.value("kind", as: Kind.self) == .tram)
    #expect(try row.withUnsafeBytes(of: height) { Array($0) } == Array("2.50".utf8))
    #expect(row.count == 5 && row.header.position(of: "open") == 3 && row.header.position(of: "x") == nil)
  }

  @Test("I3: an empty field is nil for an optional type, and empty text for a string")
  func emptyFields() throws {
    let row = try row("a,b,c\n,\"\",x\n")
    #expect(try row.value("a", as: Int?.self) == nil)
    #expect(try row.value("b", as: String?.self) == nil)
    #expect(try row["a"].isEmpty && row["b"].isEmpty)
    #expect(try row.value("c", as: String?.self) == "x")
  }

  @Test("I3: a number beyond the limits of its type causes an error")
  func limits() throws {
    let row = try row("a,b,c,d,e\n-128,18446744073709551615,255,1e400,-9223372036854775808\n")
    #expect(try row.value("a", as: Int8.self) == -128)
    #expect(try row.value("b", as: UInt64.self) == .max)
    #expect(throws: CSVReaderError.self) { try row.value("b", as: Int.self) }
    #expect(throws: CSVReaderError.self) { try row.value("c", as: Int8.self) }
    #expect(throws: CSVReaderError.self) { try row.value("d", as: Double.self) }
    #expect(throws: CSVReaderError.self) { try row.value("a", as: UInt.self) }
    #expect(try row.value("e", as: Int.self) == .min)
    #expect(try row.value("e", as: Int128.self) == Int128(Int.min))
  }

  @Test("I3: a column is found by name in files with different headers") func columns() throws {
    let column = CSVColumn("b")
    let (first, second, third) = (try row("a,b\n1,2\n"), try row("b,a\n3,4\n"), try row("a\n5\n"))
    for _ in 0..<3 {
      #expect(try first[column] == "2")
      #expect(try second[column] == "3")
      #expect(throws: CSVReaderError.self) { try third[column] }
    }
  }

  @Test("I3: rows stay valid after further rows are read") func keptRows() throws {
    let lines = (0..<20_000).map { "\($0),\"row \"\"\($0)\"\"\"" }
    var kept: [CSVRow] = []
    try CSVReader(text: "id,name\n" + lines.joined(separator: "\n")).forEachRow { row in
      if row.rowNumber % 1_000 == 1 { kept.append(row) }
    }
    #expect(kept.count == 20)
    for row in kept {
      let id = try row.value("id", as: Int.self)
      #expect(try row["name"] == "row \"\(id)\"")
    }
  }
}
