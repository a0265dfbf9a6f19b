import HeadwayCSV
import HeadwayTestKit
import Testing

@Suite(.hangLimit) struct RoundTripTests {
  @Test("I3: random tables are the same after they are written and parsed", arguments: 100..<112 as Range<UInt64>)
  func roundTrip(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let delimiter = Array(",;\t|".utf8).randomElement(using: &generator) ?? UInt8(ascii: ",")
    let dialect = CSVDialect(delimiter: delimiter)
    let lineEnding = Bool.random(using: &generator) ? "\n" : "\r\n"
    let rows = (0..<40).map { _ in
      (0..<Int.random(in: 1...12, using: &generator)).map { _ in randomField(using: &generator) }
    }
    var output: [UInt8] = []
    for (index, row) in rows.enumerated() {
      write(row, to: &output, delimiter: delimiter, using: &generator)
      if index + 1 < rows.count || Bool.random(using: &generator) {
        output += Array(lineEnding.utf8)
      }
    }
    for size in [1, 2, 3, 7, 8, 9, 64, 1000, output.count] {
      let records = Feeding(sizes: [size], dialect: dialect).records(of: output)
      let fields = records.map { $0.fields.map(\.bytes) }
      #expect(fields == rows, "seed \(seed), pieces of \(size)")
      #expect(records.allSatisfy { $0.defect == nil }, "seed \(seed), pieces of \(size)")
    }
  }

  private func randomField(using generator: inout SeededGenerator) -> [UInt8] {
    let length = Int.random(in: 0...Int.random(in: 0...30, using: &generator), using: &generator)
    let alphabet = Array("abc\"\",;\t|\r\n 0\0ä\u{FEFF}".utf8) + [0xFF]
    return (0..<length).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
  }

  /// A simple writer that quotes where it must, and sometimes where it need not.
  private func write(
    _ row: [[UInt8]], to output: inout [UInt8], delimiter: UInt8, using generator: inout SeededGenerator
  ) {
    let quote = UInt8(ascii: "\"")
    for (index, field) in row.enumerated() {
      if index > 0 { output.append(delimiter) }
      let special: Set<UInt8> = [delimiter, quote, 0x0A, 0x0D, 0xEF]
      let mustQuote = field.contains { special.contains($0) } || (row.count == 1 && field.isEmpty)
      guard mustQuote || Bool.random(using: &generator) else {
        output += field
        continue
      }
      output.append(quote)
      for byte in field {
        output += byte == quote ? [quote, quote] : [byte]
      }
      output.append(quote)
    }
  }
}
