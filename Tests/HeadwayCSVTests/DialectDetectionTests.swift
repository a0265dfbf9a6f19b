import HeadwayCSV
import Testing

@Suite(.hangLimit) struct DialectDetectionTests {
  @Test(
    "I3, I16: the delimiter is detected by parsing, regardless of delimiters in quotes and comments",
    arguments: [
      ("a,b,c\n1,2,3\n", ","),
      ("a;b;c\n1;2;3\n", ";"),
      ("a\tb\n1\t2\n", "\t"),
      ("a|b\n1|2\n", "|"),
      ("name;price\n\"x,y\";1,50\nz;2,50\n", ";"),
      ("\"a;b\",c\n\"d;e\",f\n", ","),
      ("a,b\n\"1;2;3;4\n5;6\",7\n", ","),
      ("a;b;c", ";"),
      ("a\tb,c\n1\t2\n", "\t"),
      ("one\ntwo\n", ","),
      ("", ","),
      ("\u{FEFF}a|b|c\r\n1|2|3,4\r\n5|6", "|"),
      ("a,b;c,d\n1,2;3,4\n", ";"),
      ("1,5;2,5\n3,5;4,5\n", ";"),
      ("Field1;Field2;\"Field,3,3,3\"\na;b;\"c,1,2,3\"\nd;e;\"f,1,2,3\"\n", ";"),
      ("name;\"addr, city\"\nAnn;\"Street 1, 1234 City\"\nBob;\"Way 2, 999 Town\"\n", ";"),
      ("name|\"a,b;c\"\nAnn|\"1,2;3\"\n", "|"),
      ("\"Doe, Jane\"\tAge\n\"Roe, John\"\t42\n", "\t"),
      ("id,size\n1,5\" pipe; red\n2,7\" pipe; blue\n3,9\" pipe; gray\n", ","),
      ("# x; y; z\n# by us, 2020, here\nid|name\n1|x\n2|y\n", "|"),
    ] as [(String, Unicode.Scalar)])
  func detects(sample: String, delimiter: Unicode.Scalar) {
    let dialect = Array(sample.utf8).withUnsafeBytes { CSVDialect.detected(from: $0) }
    #expect(dialect == CSVDialect(delimiter: UInt8(ascii: delimiter)))
  }

  @Test("I3: a character with another known meaning is not detected as the delimiter")
  func knownCharacters() {
    let sample = Array("a;b,c\n1;2,3\n".utf8)
    func detected(quote: Unicode.Scalar?, escape: Unicode.Scalar?) -> CSVDialect {
      sample.withUnsafeBytes {
        .detected(from: $0, quote: quote.map { UInt8(ascii: $0) }, escape: escape.map { UInt8(ascii: $0) })
      }
    }
    let semicolon = UInt8(ascii: ";")
    #expect(detected(quote: nil, escape: ",") == CSVDialect(delimiter: semicolon, escape: UInt8(ascii: ",")))
    #expect(detected(quote: ",", escape: nil) == CSVDialect(delimiter: semicolon, quote: UInt8(ascii: ",")))
    // A doubled quote is read in any case.
    #expect(detected(quote: nil, escape: "\"") == CSVDialect(delimiter: semicolon))
    #expect(detected(quote: "'", escape: "'") == CSVDialect(delimiter: semicolon, quote: UInt8(ascii: "'")))
  }

  @Test(
    "I3: quotes, escapes and spaces after delimiters are detected",
    arguments: [
      ("a,b\n'x, y',2\n'z',3\n", CSVDialect(quote: UInt8(ascii: "'"))),
      ("a,b\n'x',2\n'y',3\n'z',3\n", CSVDialect(quote: UInt8(ascii: "'"))),
      ("a,b\n't Hoen,2\nit's,3\n'x',4\n", CSVDialect()),
      ("a,b\n'v, w, x',2\n'it's, y',3\n'x, y',4\n'y, z, a',5\n", CSVDialect(quote: UInt8(ascii: "'"))),
      ("a,b\n'kids' shoes, x',2\n'it's, y',3\n'can't',4\n", CSVDialect(quote: UInt8(ascii: "'"))),
      (
        "a,b\n'it\\'s, x',2\n'y',3\n'z\\' ',4\n", CSVDialect(quote: UInt8(ascii: "'"), escape: UInt8(ascii: "\\"))
      ),
      (
        "a b c\n1 \"x, y\" z\n2 \"x, y\" p q\n3 \"z\" r\n4 \"w\" s\n", CSVDialect(delimiter: UInt8(ascii: " "))
      ),
      ("a,b\n\"x\",'2'\n\"y\",'3'\n\"z\",'4'\n", CSVDialect()),
      ("a,b\n\"x \\\"y\\\"\",2\n", CSVDialect(escape: UInt8(ascii: "\\"))),
      ("a,b\n\"C:\\\",2\n\"x\",3\n", CSVDialect()),
      ("a, b, c\n1, \"x, y\", 2\n", CSVDialect(skipsSpacesAfterDelimiter: true)),
      (
        "\"A\" , \"B\" , \"C\"\n\"1\" , \"x\" , \"y\"\n\"2\" , \"z\" , \"w\"\n",
        CSVDialect(skipsSpacesAfterDelimiter: true)
      ),
      ("a;'b, c'\n1;'x, y'\n2;'z, w'\n", CSVDialect(delimiter: UInt8(ascii: ";"), quote: UInt8(ascii: "'"))),
      ("'t Hoen\nit's\nAl\n", CSVDialect()),
      ("a,b,c\n1, x,2\n", CSVDialect()),
      ("a b c\n1 \"x y\" 2\n3 z 4\n", CSVDialect(delimiter: UInt8(ascii: " "))),
      ("John Smith\nAnn Miller\nJane Doe\n", CSVDialect()),
      ("Report, of 2020\na;b;c\n1;2;3\n4;5;6\n7;8;9\n", CSVDialect(delimiter: UInt8(ascii: ";"))),
    ] as [(String, CSVDialect)])
  func more(sample: String, expected: CSVDialect) {
    #expect(Array(sample.utf8).withUnsafeBytes { CSVDialect.detected(from: $0) } == expected)
  }
}
