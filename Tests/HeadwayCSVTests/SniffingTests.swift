import HeadwayCSV
import Testing

@Suite(.hangLimit) struct SniffingTests {
  @Test(
    "I3: the delimiter is sniffed from the first records, quotes respected",
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
      ("a,b;c,d\n1,2;3,4\n", ","),
    ] as [(String, Unicode.Scalar)])
  func sniffs(sample: String, delimiter: Unicode.Scalar) {
    let dialect = Array(sample.utf8).withUnsafeBytes { CSVDialect.sniffed(from: $0) }
    #expect(dialect == CSVDialect(delimiter: UInt8(ascii: delimiter)))
  }
}
