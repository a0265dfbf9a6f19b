import HeadwayCSV
import HeadwayLines
import Testing

/// Each error with its code, its position and its text.
@Suite(.hangLimit) struct ReaderErrorTests {
  private func failure(
    _ text: String, _ options: CSVReader.Options = .init(), _ body: (CSVRow) throws -> Void = { _ in }
  ) throws -> CSVReaderError {
    try readerError { try CSVReader(text: text, name: "t.csv", options: options).forEachRow(body) }
  }

  @Test("I3: a missing file causes an error") func missingFile() throws {
    let error = try readerError { try CSVReader(path: "/nowhere/t.csv").forEachRow { _ in } }
    #expect(error.code == .cannotRead && error.lineNumber == nil && error.path == "/nowhere/t.csv")
    #expect((error.underlyingError as? LineReaderError)?.code == .fileNotFound)
    #expect(error.context == "There is no such file.")
    #expect(error.description == "/nowhere/t.csv: There is no such file.")
  }

  @Test("I3: a file that is not text causes an error that names its format") func foreignContent() throws {
    let error = try readerError { try CSVReader(bytes: Array("%PDF-1.7\n".utf8)).forEachRow { _ in } }
    #expect(error.code == .foreignContent)
    #expect(error.description == "bytes: This is a PDF document.")
  }

  @Test("I3: a header that can't name the columns causes an error") func badHeader() throws {
    let error = try failure("\n\"a\"b,c\n1,2\n", .init(dialect: CSVDialect()))
    #expect(error.code == .badHeader && error.lineNumber == 2 && error.rowNumber == nil)
    #expect(
      error.description
        == "t.csv:2: The first record is malformed: line 2, byte 4: text after a closing quote: \"b,c\".")
    let found = try failure("id,\"na\"me,x\n1,2\n3,4\n", .init(header: .detected))
    #expect(found.code == .badHeader && found.lineNumber == 1)
    let options = CSVReader.Options(dialect: CSVDialect(), encoding: .utf8)
    let invalid = try readerError {
      try CSVReader(bytes: [0x61, 0x2C, 0xFF, 0x0A], name: "t.csv", options: options).forEachRow { _ in }
    }
    #expect(
      invalid.description
        == "t.csv:1: The name of column 2 is not valid UTF-8: specify the encoding of the file.")
  }

  @Test(
    "I3: a malformed record causes an error after the rows before it are delivered", arguments: ReadingForm.allCases)
  func malformedRecord(form: ReadingForm) async throws {
    let text = "a,b\n1,2\n3,\"4\"x\n5,6\n"
    let (rows, error) = await form.read(CSVReader(text: text, name: "t.csv", options: .init(dialect: CSVDialect())))
    #expect(rows.count == 1)
    let failure = try #require(error as? CSVReaderError)
    #expect(failure.code == .malformedRecord && failure.lineNumber == 3 && failure.rowNumber == 2)
    #expect((failure.underlyingError as? CSVError)?.code == .textAfterClosingQuote)
    #expect(
      failure.description == "t.csv:3, row 2: The record is malformed: text after a closing quote: \"x\".")
  }

  @Test("I3: a row with more or fewer fields than columns causes an error", arguments: ReadingForm.allCases)
  func raggedRow(form: ReadingForm) async throws {
    let (rows, error) = await form.read(CSVReader(text: "a,b\n1,2\n\n3\n", name: "t.csv"))
    #expect(rows.count == 1)
    let failure = try #require(error as? CSVReaderError)
    #expect(failure.code == .raggedRow && failure.lineNumber == 4 && failure.rowNumber == 2)
    #expect(failure.description == "t.csv:4, row 2: The row has 1 field, and there are 2 columns.")
    let options = CSVReader.Options(dialect: CSVDialect())
    let other = try self.failure("a\n1,2\n", options)
    #expect(other.description == "t.csv:2, row 1: The row has 2 fields, and there is 1 column.")
  }

  @Test("I3: a record over the maximum length causes an error") func longRecord() throws {
    let error = try failure("a\n123456789\n", .init(maxRecordLength: 8))
    #expect(error.code == .malformedRecord && (error.underlyingError as? CSVError)?.code == .recordTooLong)
  }

  @Test("I3: reading a missing column causes an error") func noSuchColumn() throws {
    let named = try failure("id,name\n1,Zoo\n") { _ = try $0["hight"] }
    #expect(named.code == .noSuchColumn && named.columnName == "hight")
    #expect(named.description == "t.csv:2, row 1, column hight: There is no such column; there are id, name.")
    for position in [2, -1] {
      let error = try failure("id,name\n1,Zoo\n") { _ = try $0[position] }
      #expect(error.code == .noSuchColumn && error.columnName == "\(position)")
    }
    let bytes = try failure("id\n1\n") { try $0.withUnsafeBytes(of: CSVColumn("x")) { _ in } }
    #expect(bytes.code == .noSuchColumn && bytes.columnName == "x")
  }

  @Test("I3: reading a field that a short row lacks causes an error") func missingField() throws {
    let error = try failure("id,name\n1\n", .init(raggedRowPolicy: .keep)) { _ = try $0["name"] }
    #expect(error.code == .missingField && error.columnName == "name" && error.field == nil)
    #expect(error.description == "t.csv:2, row 1, column name: The row has no such field: it has 1.")
    let positioned = try failure("id,name\n1\n", .init(raggedRowPolicy: .keep)) { _ = try $0[1] }
    #expect(positioned.code == .missingField && positioned.columnName == "name")
  }

  @Test("I3: reading a field as another type causes an error") func invalidValue() throws {
    let error = try failure("id,name\n1,Zoo\n") { _ = try $0.value("name", as: Int?.self) }
    #expect(error.code == .invalidValue && error.columnName == "name" && error.field == "Zoo")
    #expect(error.description == "t.csv:2, row 1, column name: “Zoo” is no Int.")
    let empty = try failure("id,height\n1,\n") { _ = try $0.value("height", as: Double.self) }
    #expect(empty.description == "t.csv:2, row 1, column height: It is empty, and is no Double.")
    let long = try failure("id,text\n1,\(String(repeating: "ä", count: 200))\n") { _ = try $0.value(1, as: Bool.self) }
    #expect(long.field == String(repeating: "ä", count: 80) + "…" && long.columnName == "text")
  }

  @Test("I3: reading a field that is not valid UTF-8 causes an error") func invalidUTF8() throws {
    let options = CSVReader.Options(dialect: CSVDialect(), encoding: .utf8)
    let reader = CSVReader(bytes: Array("a,b\n1,".utf8) + [0xFF, 0x0A], name: "t.csv", options: options)
    let error = try readerError { try reader.forEachRow { _ = try $0.fields } }
    #expect(error.code == .invalidUTF8 && error.columnName == "b")
    #expect(
      error.description
        == "t.csv:2, row 1, column b: “\u{FFFD}” is not valid UTF-8: specify the encoding of the file.")
    for row in try rows(reader) { #expect(try row.withUnsafeBytes(of: "b") { Array($0) } == [0xFF]) }
  }
}
