import HeadwayCSV
import Testing

@Suite(.hangLimit) struct QuotingTests {
  @Test(
    "I3: quoted fields can contain doubled quotes, delimiters and newlines",
    arguments: [
      CSVCase("no quotes", "a,b,c\n1,2,3\n", [["a", "b", "c"], ["1", "2", "3"]]),
      CSVCase("every field quoted", "\"a\",\"b\"\n\"1\",\"2\"\n", [["a", "b"], ["1", "2"]]),
      CSVCase("first field quoted", "\"a\",b,c\n", [["a", "b", "c"]]),
      CSVCase("middle field quoted", "a,\"b\",c\n", [["a", "b", "c"]]),
      CSVCase("last field quoted", "a,b,\"c\"\n", [["a", "b", "c"]]),
      CSVCase("last field quoted, CRLF", "a,b,\"c\"\r\nd,e,\"f\"\r\n", [["a", "b", "c"], ["d", "e", "f"]]),
      CSVCase("last field quoted, no line end", "a,\"b\"", [["a", "b"]]),
      CSVCase("empty quoted fields", "\"\",\"\"\n\"\"\n", [["", ""], [""]]),
      CSVCase("delimiters in quotes", "\"a,b\",\",\",\",,\"\n", [["a,b", ",", ",,"]]),
      CSVCase("LF in quotes", "\"a\nb\",\"\n\"\nc,d\n", [["a\nb", "\n"], ["c", "d"]]),
      CSVCase("CRLF in quotes", "\"a\r\nb\",\"\r\n\"\r\nc,d\r\n", [["a\r\nb", "\r\n"], ["c", "d"]]),
      CSVCase("CR in quotes", "\"a\rb\",\"\r\"\nc\n", [["a\rb", "\r"], ["c"]]),
      CSVCase("blank lines in quotes", "\"\n\n\n\",x\ny\n", [["\n\n\n", "x"], ["y"]]),
      CSVCase("doubled quote alone", "\"\"\"\"\n", [["\""]]),
      CSVCase("two doubled quotes", "\"\"\"\"\"\"\n", [["\"\""]]),
      CSVCase("doubled quotes around", "\"\"\"a\"\"\",b\n", [["\"a\"", "b"]]),
      CSVCase("doubled quotes within", "a,\"b\"\"c\"\"d\",e\n", [["a", "b\"c\"d", "e"]]),
      CSVCase("doubled quote before a delimiter", "\"a\"\",b\",c\n", [["a\",b", "c"]]),
      CSVCase("doubled quote before a newline", "\"a\"\"\nb\",c\n", [["a\"\nb", "c"]]),
      CSVCase("two escaped fields in a record", "\"a\"\"\",\"\"\"b\",c\n", [["a\"", "\"b", "c"]]),
      CSVCase("quote inside an unquoted field", "a\"b,c\"\"d,e\"\n", [["a\"b", "c\"\"d", "e\""]]),
      CSVCase("quote behind a blank", " \"a\",b\n", [[" \"a\"", "b"]]),
      CSVCase(
        "a text longer than a machine word", "\"0123456789, \"\"0123456789\"\"\n0123456789\",abcdefghijklmnop\n",
        [["0123456789, \"0123456789\"\n0123456789", "abcdefghijklmnop"]]),
      CSVCase(
        "apostrophes in words", "'it's, not';can't;'x''y'\n'Men's ''shoes''';'kids' shoes'\n",
        [["it's, not", "can't", "x'y"], ["Men's 'shoes'", "kids' shoes"]],
        dialect: CSVDialect(delimiter: UInt8(ascii: ";"), quote: UInt8(ascii: "'"))),
      CSVCase(
        "other dialect", "'a;b';c,d;\"e\"\n'it''s'\n", [["a;b", "c,d", "\"e\""], ["it's"]],
        dialect: CSVDialect(delimiter: UInt8(ascii: ";"), quote: UInt8(ascii: "'"))),
      CSVCase("tabs", "a\t\"b\tc\"\n", [["a", "b\tc"]], dialect: CSVDialect(delimiter: UInt8(ascii: "\t"))),
      // The cases of csv-spectrum, which SpectrumTests reads if it is available.
      CSVCase(
        "spectrum: comma in quotes", "first,last,address\nJohn,Doe,\"Anytown, WW\"",
        [["first", "last", "address"], ["John", "Doe", "Anytown, WW"]]),
      CSVCase("spectrum: empty", "a,b,c\n1,\"\",\"\"\n2,3,4", [["a", "b", "c"], ["1", "", ""], ["2", "3", "4"]]),
      CSVCase(
        "spectrum: empty, CRLF", "a,b,c\r\n1,\"\",\"\"\r\n2,3,4", [["a", "b", "c"], ["1", "", ""], ["2", "3", "4"]]),
      CSVCase(
        "spectrum: escaped quotes", "a,b\n1,\"ha \"\"ha\"\" ha\"\n3,4\n",
        [["a", "b"], ["1", "ha \"ha\" ha"], ["3", "4"]]),
      CSVCase(
        "spectrum: JSON", "key,val\n1,\"{\"\"type\"\": \"\"Point\"\", \"\"at\"\": [102.0, 0.5]}\"\n",
        [["key", "val"], ["1", "{\"type\": \"Point\", \"at\": [102.0, 0.5]}"]]),
      CSVCase(
        "spectrum: location coordinates", "Phone,Location\n2095,37°36'37.8\"N 121°2'17.9\"W",
        [["Phone", "Location"], ["2095", "37°36'37.8\"N 121°2'17.9\"W"]]),
      CSVCase(
        "spectrum: newlines, CRLF", "a,b\r\n\"Once upon \r\na time\",5\r\n7,8\r\n",
        [["a", "b"], ["Once upon \r\na time", "5"], ["7", "8"]]),
      CSVCase(
        "spectrum: quotes and newlines", "a,b\n1,\"ha \n\"\"ha\"\" \nha\"\n3,4\n",
        [["a", "b"], ["1", "ha \n\"ha\" \nha"], ["3", "4"]]),
      CSVCase("spectrum: UTF-8", "a,b\n4,ʤ", [["a", "b"], ["4", "ʤ"]]),
    ])
  func quotes(_ example: CSVCase) {
    example.check()
  }

  @Test("I3: a field reports whether it was quoted, and a record provides its raw bytes")
  func quotedAndRaw() {
    let records = Feeding(sizes: [100]).records(of: Array("a,\"\",\"b\"\"\",,\"c\"\r\n".utf8))
    #expect(records.count == 1)
    #expect(records.first?.fields.map(\.isQuoted) == [false, true, true, false, true])
    #expect(records.first.map { String(decoding: $0.rawBytes, as: UTF8.self) } == "a,\"\",\"b\"\"\",,\"c\"")
  }
}
