import HeadwayCSV
import Testing

private let loneCarriageReturns = CSVDialect(endsRecordsAtLoneCarriageReturn: true)
private let blankLines = CSVDialect(keepsBlankLines: true)

@Suite(.hangLimit) struct RecordTests {
  @Test(
    "I3: empty fields, ragged rows, blank lines and a missing final newline are parsed",
    arguments: [
      CSVCase("nothing", "", []),
      CSVCase("one byte", "a", [["a"]]),
      CSVCase("only a delimiter", ",", [["", ""]]),
      CSVCase("only delimiters", ",,\n,,\n", [["", "", ""], ["", "", ""]]),
      CSVCase("empty fields", ",a,,b,\n", [["", "a", "", "b", ""]]),
      CSVCase(
        "ragged rows", "a,b,c\n1\n1,2\n1,2,3,4\n", [["a", "b", "c"], ["1"], ["1", "2"], ["1", "2", "3", "4"]]),
      CSVCase("no final newline", "a,b\n1,2", [["a", "b"], ["1", "2"]]),
      CSVCase("no final newline behind a delimiter", "a,b\n1,", [["a", "b"], ["1", ""]]),
      CSVCase("blank lines", "\n\na\n\n\nb\n\n", [["a"], ["b"]]),
      CSVCase("blank lines, CRLF", "\r\n\r\na\r\n\r\nb\r\n\r\n", [["a"], ["b"]]),
      CSVCase("only blank lines", "\n\r\n\n", []),
      CSVCase("a blank is not blank", " \na\n", [[" "], ["a"]]),
      CSVCase("blank lines kept", "\na\n\r\nb\n\n", [[""], ["a"], [""], ["b"], [""]], dialect: blankLines),
      CSVCase("eight bytes and more", "12345678,1234567,123456789\n", [["12345678", "1234567", "123456789"]]),
      CSVCase(
        "more fields than the table has at first", String(repeating: "x,", count: 150) + "\n1,2\n",
        [.fields(Array(repeating: "x", count: 150) + [""]), ["1", "2"]]),
    ])
  func shapes(_ example: CSVCase) {
    example.check()
  }

  @Test(
    "I3: a record ends with LF, CRLF or, if an option allows it, CR",
    arguments: [
      CSVCase("LF", "a\nb\n", [["a"], ["b"]]),
      CSVCase("CRLF", "a\r\nb\r\n", [["a"], ["b"]]),
      CSVCase("LF and CRLF mixed", "a\nb\r\nc\nd\r\n", [["a"], ["b"], ["c"], ["d"]]),
      CSVCase("CR is data", "a\rb,\r\nc\r", [["a\rb", ""], ["c\r"]]),
      CSVCase("CR CR LF", "a\r\r\nb\n", [["a\r"], ["b"]]),
      CSVCase("CR by option", "a,b\r1,2\r3,4", [["a", "b"], ["1", "2"], ["3", "4"]], dialect: loneCarriageReturns),
      CSVCase(
        "CR, LF and CRLF by option", "a\rb\nc\r\nd\r", [["a"], ["b"], ["c"], ["d"]], dialect: loneCarriageReturns),
      CSVCase("blank lines of CR", "\r\ra\r\r\n\rb", [["a"], ["b"]], dialect: loneCarriageReturns),
      CSVCase(
        "CR behind and in quotes", "\"a\r\r\nb\"\r\"c\"\r\n\"d\"\r", [["a\r\r\nb"], ["c"], ["d"]],
        dialect: loneCarriageReturns),
    ])
  func lineEnding(_ example: CSVCase) {
    example.check()
  }

  @Test("I3: records have the line numbers, record numbers and byte offsets of the file")
  func places() {
    let records = Feeding(sizes: [7]).records(of: Array("\u{FEFF}h,i\r\n\r\n\"a\nb\r\nc\",d\n\"x\"y\nz\n".utf8))
    #expect(records.map(\.lineNumber) == [1, 3, 6, 7])
    #expect(records.map(\.recordNumber) == [1, 2, 3, 4])
    #expect(records.map(\.byteOffset) == [3, 10, 21, 26])
  }

  @Test(
    "I3: a byte order mark is removed only at the start; NUL and invalid UTF-8 are kept",
    arguments: [
      CSVCase("mark", "\u{FEFF}a,b\n", [["a", "b"]]),
      CSVCase("mark before a quote", "\u{FEFF}\"a\",b\n", [["a", "b"]]),
      CSVCase("mark alone", "\u{FEFF}", []),
      CSVCase("mark and a blank line", "\u{FEFF}\r\na\n", [["a"]]),
      CSVCase("mark further on", "a\n\u{FEFF}b\n", [["a"], ["\u{FEFF}b"]]),
      CSVCase("half a mark", bytes: [0xEF, 0xBB], [["\u{FFFD}"]]),
      CSVCase("half a mark and more", bytes: [0xEF, 0xBB, 0x61], [["\u{FFFD}a"]]),
      CSVCase("NUL", bytes: Array("a\0b,\0\n\"\0\"\n".utf8), [["a\0b", "\0"], ["\0"]]),
      CSVCase(
        "invalid UTF-8", bytes: [0xFF, 0x2C, 0x80, 0x0A, 0x22, 0xC3, 0x22, 0x0A],
        [["\u{FFFD}", "\u{FFFD}"], ["\u{FFFD}"]]),
      CSVCase(
        "high bits of structural bytes", bytes: [0xAC, 0x8A, 0xA2, 0x8D, 0x2C, 0x2D, 0x0B, 0x0A],
        [
          .fields(["\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}", "-\u{0B}"])
        ]),
    ])
  func bytes(_ example: CSVCase) {
    example.check()
  }

  @Test("I3: a field has the bytes of the file, even if they are not valid UTF-8")
  func invalidBytes() {
    let records = Feeding(sizes: [1]).records(of: [0xFF, 0x00, 0x2C, 0xC3, 0x28, 0x0A])
    #expect(records.map { $0.fields.map(\.bytes) } == [[[0xFF, 0x00], [0xC3, 0x28]]])
  }
}
