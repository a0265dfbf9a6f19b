import HeadwayCSV
import Testing

@Suite("Dialects beyond RFC 4180", .hangLimit) struct ExtensionTests {
  private static let backslash = CSVDialect(escape: UInt8(ascii: "\\"))
  private static let spaced = CSVDialect(skipsSpacesAfterDelimiter: true)
  private static let commented = CSVDialect(comment: UInt8(ascii: "#"))

  @Test(
    "I3: a quote or an escape that follows an escape is part of the quoted field",
    arguments: [
      CSVCase("a quote", "\"a \\\"b\\\" c\",d\n", [["a \"b\" c", "d"]], dialect: backslash),
      CSVCase("itself", "\"a\\\\\",d\n", [["a\\", "d"]], dialect: backslash),
      CSVCase("itself and a doubled quote", "\"\\\\\"\"\",d\n", [["\\\"", "d"]], dialect: backslash),
      CSVCase("anything else", "\"a\\nb\\,\",\\d\n", [["a\\nb\\,", "\\d"]], dialect: backslash),
      CSVCase("a line end", "\"a\\\nb\",c\nd,e\n", [["a\\\nb", "c"], ["d", "e"]], dialect: backslash),
      CSVCase("outside quotes", "a\\\"b,c\n", [["a\\\"b", "c"]], dialect: backslash),
      CSVCase("at the end", "a,\"b\\\"\"", [["a", "b\""]], dialect: backslash),
      CSVCase("left open", "\"a\\\"\nb\n", [.malformed(.unclosedQuote, raw: "\"a\\\""), ["b"]], dialect: backslash),
    ])
  func escapes(_ example: CSVCase) { example.check() }

  @Test(
    "I3: spaces after a delimiter are not part of the field",
    arguments: [
      CSVCase("without quotes", "a, b,  c\n", [["a", "b", "c"]], dialect: spaced),
      CSVCase("at the start of a record", " a, b\n", [[" a", "b"]], dialect: spaced),
      CSVCase("behind a field", "a , b \n", [["a ", "b "]], dialect: spaced),
      CSVCase("before quotes", "a, \"b, c\",  \"d\"\"e\"\n", [["a", "b, c", "d\"e"]], dialect: spaced),
      CSVCase(
        "behind quotes", "\"a\" , \"b\"\"\"  ,c \n\"d\",\"e\" ", [["a", "b\"", "c "], ["d", "e"]], dialect: spaced),
      CSVCase(
        "text behind quotes and spaces", "\"a\" x,b\n", [.malformed(.textAfterClosingQuote, raw: "\"a\" x,b")],
        dialect: spaced),
      CSVCase("nothing else", "a, ,  \nb,,\n", [["a", "", ""], ["b", "", ""]], dialect: spaced),
      CSVCase("at the end of the file", "a, b", [["a", "b"]], dialect: spaced),
      CSVCase("line breaks in quotes", "a, \"b\nc\"\nd, e\n", [["a", "b\nc"], ["d", "e"]], dialect: spaced),
    ])
  func spaces(_ example: CSVCase) { example.check() }

  @Test(
    "I3: comments are skipped, and count as lines",
    arguments: [
      CSVCase("at the start", "# \"x, y\n#\na,b\n", [["a", "b"]], dialect: commented),
      CSVCase("between records", "a,b\n#c,\"d\n\ne,#f\n", [["a", "b"], ["e", "#f"]], dialect: commented),
      CSVCase("at the end", "a\n#b", [["a"]], dialect: commented),
      CSVCase("in quotes", "\"a\n#b\"\n", [["a\n#b"]], dialect: commented),
    ])
  func comments(_ example: CSVCase) { example.check() }

  @Test("I3: skipped lines are not records, regardless of their content", arguments: ["\n", "\r\n"])
  func skippedLineCount(lineEnding: String) {
    let text = Array(["\u{FEFF}\"one", "", "three,\"", "a,b", "c,d"].joined(separator: lineEnding).utf8)
    for pieceSize in [1, 3, text.count] {
      var parser = CSVParser(skippedLineCount: 3)
      var lines: [Int] = []
      var fields: [[String]] = []
      var pending: [UInt8] = []
      for start in stride(from: 0, to: text.count, by: pieceSize) {
        pending += text[start..<min(start + pieceSize, text.count)]
        let consumed = pending.withUnsafeBytes { bytes in
          parser.parse(bytes, isFinal: start + pieceSize >= text.count) { record in
            lines.append(record.lineNumber)
            fields.append(record.fields)
            return .continue
          } malformed: { record in
            Issue.record("\(record.error)")
            return .continue
          }
        }
        pending.removeFirst(consumed)
      }
      #expect(lines == [4, 5] && fields == [["a", "b"], ["c", "d"]], "\(pieceSize)")
    }
  }

  @Test("I3: a record reports whether an unquoted field contains quotes") func strayQuotes() {
    var parser = CSVParser()
    var found: [Bool] = []
    _ = Array("a\"b,c\n\"a\"\"b\",c\na,b\nc,d\"".utf8).withUnsafeBytes { bytes in
      parser.parse(bytes, isFinal: true) { record in
        found.append(record.hasStrayQuotes)
        return .continue
      } malformed: { _ in
        .stop
      }
    }
    #expect(found == [true, false, false, true])
  }
}
