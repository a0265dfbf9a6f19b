import HeadwayCSV
import Testing

@Suite(.hangLimit) struct MalformedTests {
  @Test(
    "I3: text after a closing quote makes only its own record malformed",
    arguments: [
      CSVCase("in the first field", "\"a\"b,c\nd\n", [.malformed(.textAfterClosingQuote, raw: "\"a\"b,c"), ["d"]]),
      CSVCase("in the last field", "c,\"a\"b\r\nd\n", [.malformed(.textAfterClosingQuote, raw: "c,\"a\"b"), ["d"]]),
      CSVCase("at the end", "c\n\"a\" ", [["c"], .malformed(.textAfterClosingQuote, raw: "\"a\" ")]),
      CSVCase("a CR", "\"a\"\rb\nc\n", [.malformed(.textAfterClosingQuote, raw: "\"a\"\rb"), ["c"]]),
      CSVCase("a CR at the end", "\"a\"\r", [.malformed(.textAfterClosingQuote, raw: "\"a\"\r")]),
      CSVCase(
        "behind a newline in quotes", "\"a\n\"b\nc\n", [.malformed(.textAfterClosingQuote, raw: "\"a\n\"b"), ["c"]]),
      CSVCase(
        "quotes behind it open nothing", "\"a\"b\"c,\"d\ne\n",
        [.malformed(.textAfterClosingQuote, raw: "\"a\"b\"c,\"d"), ["e"]]),
      CSVCase("a quote behind it", "\"a\" \"\nb\n", [.malformed(.textAfterClosingQuote, raw: "\"a\" \""), ["b"]]),
      CSVCase("an empty field before it", "\"\"a\nb\n", [.malformed(.textAfterClosingQuote, raw: "\"\"a"), ["b"]]),
      CSVCase(
        "a doubled quote before it", "\"\"\"\"a\nb\n", [.malformed(.textAfterClosingQuote, raw: "\"\"\"\"a"), ["b"]]),
    ])
  func textAfterClosingQuote(_ example: CSVCase) {
    example.check()
  }

  @Test(
    "I3: an unclosed quote makes the record malformed up to the end of the line with the quote",
    arguments: [
      CSVCase("alone", "\"", [.malformed(.unclosedQuote, raw: "\"")]),
      CSVCase("at the end", "a\n\"b", [["a"], .malformed(.unclosedQuote, raw: "\"b")]),
      CSVCase("at the end, doubled", "a\n\"b\"\"", [["a"], .malformed(.unclosedQuote, raw: "\"b\"\"")]),
      CSVCase(
        "lines follow", "a,\"b\nc,d\ne,f\n", [.malformed(.unclosedQuote, raw: "a,\"b"), ["c", "d"], ["e", "f"]]),
      CSVCase("CRLF lines follow", "\"b\r\n\r\ne,f\r\n", [.malformed(.unclosedQuote, raw: "\"b"), ["e", "f"]]),
      CSVCase(
        "closed fields before it, on separate lines", "1,\"x\ny\",\"b\nc\n",
        [.malformed(.unclosedQuote, raw: "1,\"x\ny\",\"b"), ["c"]]),
      CSVCase(
        "doubled quotes and empty fields behind it", "\"b\nc,\"\"\nd,e\"\"f\n",
        [.malformed(.unclosedQuote, raw: "\"b"), ["c", ""], ["d", "e\"\"f"]]),
      CSVCase(
        "text behind quotes behind it", "\"b\n\"\"c\n1\n",
        [.malformed(.unclosedQuote, raw: "\"b"), .malformed(.textAfterClosingQuote, raw: "\"\"c"), ["1"]]),
      CSVCase(
        "CR lines follow", "\"b\rc\rd", [.malformed(.unclosedQuote, raw: "\"b"), ["c"], ["d"]],
        dialect: CSVDialect(endsRecordsAtLoneCarriageReturn: true)),
      CSVCase(
        "a record passes the maximum in quotes", "a,\"b\nc,1\nd,2\ne,\"\"\nf,3\n",
        [.malformed(.unclosedQuote, raw: "a,\"b"), ["c", "1"], ["d", "2"], ["e", ""], ["f", "3"]],
        maxRecordLength: 10),
    ])
  func unclosedQuote(_ example: CSVCase) {
    example.check()
  }

  @Test(
    "I3: a record over the maximum length is truncated, and the next record is complete",
    arguments: [
      CSVCase("at the maximum", "12345\nab\n", [["12345"], ["ab"]], maxRecordLength: 5),
      CSVCase("at the maximum, CRLF", "12345\r\nab\r\n", [["12345"], ["ab"]], maxRecordLength: 5),
      CSVCase("at the maximum, no line end", "12345", [["12345"]], maxRecordLength: 5),
      CSVCase("one over", "123456\nab\n", [.malformed(.recordTooLong, raw: "12345"), ["ab"]], maxRecordLength: 5),
      CSVCase(
        "one over, CRLF", "123456\r\nab\r\n", [.malformed(.recordTooLong, raw: "12345"), ["ab"]], maxRecordLength: 5
      ),
      CSVCase("one over, no line end", "123456", [.malformed(.recordTooLong, raw: "12345")], maxRecordLength: 5),
      CSVCase(
        "one over, a CR", "12345\ra\nb", [.malformed(.recordTooLong, raw: "12345"), ["b"]], maxRecordLength: 5),
      CSVCase(
        "far over", "1,2,3,4,5,6,7,8,9,0\nab\n", [.malformed(.recordTooLong, raw: "1,2,3"), ["ab"]],
        maxRecordLength: 5),
      CSVCase(
        "one line in quotes", "\"23456789\"\nab\n", [.malformed(.recordTooLong, raw: "\"2345"), ["ab"]],
        maxRecordLength: 5),
      CSVCase(
        "text behind a closing quote", "\"2\"456789\nab\n",
        [.malformed(.textAfterClosingQuote, raw: "\"2\"45"), ["ab"]],
        maxRecordLength: 5),
      CSVCase(
        "CR ends lines", "1234567\r12345\rab\r", [.malformed(.recordTooLong, raw: "12345"), ["12345"], ["ab"]],
        dialect: CSVDialect(endsRecordsAtLoneCarriageReturn: true), maxRecordLength: 5),
      CSVCase(
        "the least maximum", "a\r\nbc\r\n\"\n\n",
        [
          ["a"], .malformed(.recordTooLong, raw: "b"), .malformed(.unclosedQuote, raw: "\""),
        ], maxRecordLength: 1),
    ])
  func recordTooLong(_ example: CSVCase) {
    example.check()
  }

  @Test("I3: an error contains the code, line, offset, and text of the defect")
  func defects() {
    let input = "a,b\n1,\"x\ny\" z,\"\n2,\"open\n3"
    var errors: [CSVError] = []
    var parser = CSVParser()
    _ = Array(input.utf8).withUnsafeBytes { bytes in
      parser.parse(bytes, isFinal: true) { _ in
        .continue
      } malformed: { record in
        errors.append(record.error)
        return .continue
      }
    }
    #expect(
      errors == [
        CSVError(code: .textAfterClosingQuote, lineNumber: 3, byteOffset: 11, excerpt: " z,\""),
        CSVError(code: .unclosedQuote, lineNumber: 4, byteOffset: 18, excerpt: "\"open"),
      ])
    #expect(
      errors.first?.description == "line 3, byte 11: The record is malformed: text after a closing quote: \" z,\\\"\".")
    #expect(errors.map(\.code.description) == ["text after a closing quote", "unclosed quote"])
  }
}
