import HeadwayCSV
import HeadwayTestKit
import Testing

@Suite(.hangLimit) struct DifferentialTests {
  private static let dialects = [
    CSVDialect(),
    CSVDialect(endsRecordsAtLoneCarriageReturn: true),
    CSVDialect(keepsBlankLines: true),
    CSVDialect(endsRecordsAtLoneCarriageReturn: true, keepsBlankLines: true),
    CSVDialect(escape: UInt8(ascii: "\\"), comment: UInt8(ascii: "#")),
    CSVDialect(skipsSpacesAfterDelimiter: true, endsRecordsAtLoneCarriageReturn: true),
    CSVDialect(escape: UInt8(ascii: "\\"), skipsSpacesAfterDelimiter: true),
  ]

  @Test(
    "I3: random bytes in chunks of any size give the same result as a simple parser", arguments: 0..<8 as Range<UInt64>)
  func randomBytes(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for round in 0..<500 {
      let length = Int.random(in: 0...(round % 10 == 0 ? 80 : 24), using: &generator)
      let input = (0..<length).map { _ in Array("a,\"\r\n\\ #".utf8).randomElement(using: &generator) ?? 0 }
      let maximum = Bool.random(using: &generator) ? 16 << 20 : Int.random(in: 1...16, using: &generator)
      for dialect in Self.dialects {
        let expected = ReferenceParser(dialect: dialect, maxRecordLength: maximum).records(of: input)
        for _ in 0..<6 {
          let sizes = (0..<5).map { _ in Int.random(in: 1...(length + 1), using: &generator) }
          let feeding = Feeding(
            sizes: sizes, announcesEndAlone: Bool.random(using: &generator), dialect: dialect,
            maxRecordLength: maximum)
          let records = feeding.records(of: input)
          guard records == expected else {
            Issue.record(
              """
              seed \(seed), round \(round): \(String(decoding: input, as: UTF8.self).debugDescription) by \(feeding):
              \(records)
              expected:
              \(expected)
              """)
            return
          }
        }
      }
    }
  }

  @Test("I3: each string of up to six structural bytes gives the same result as a simple parser")
  func allShortStrings() {
    let alphabet = Array("a,\"\r\n".utf8)
    for length in 1...6 {
      let total = (0..<length).reduce(1) { product, _ in product * alphabet.count }
      for number in 0..<total {
        var rest = number
        var input: [UInt8] = []
        for _ in 0..<length {
          input.append(alphabet[rest % alphabet.count])
          rest /= alphabet.count
        }
        let dialect = Self.dialects[number % 2]
        let maximum = number % 3 == 0 ? 16 << 20 : number % 3
        let expected = ReferenceParser(dialect: dialect, maxRecordLength: maximum).records(of: input)
        for size in [1, length] {
          let records = Feeding(sizes: [size], dialect: dialect, maxRecordLength: maximum).records(of: input)
          guard records == expected else {
            let text = String(decoding: input, as: UTF8.self).debugDescription
            Issue.record(
              "\(text), \(dialect), maximum \(maximum), pieces of \(size):\n\(records)\nexpected:\n\(expected)")
            return
          }
        }
      }
    }
  }
}
