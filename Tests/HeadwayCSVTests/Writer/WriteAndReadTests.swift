import HeadwayCSV
import HeadwayTestKit
import Testing

@Suite(.hangLimit) struct WriteAndReadTests {
  @Test(
    "I3: random fields in random dialects are the same after writing and reading", arguments: 300..<340 as Range<UInt64>
  )
  func roundTrip(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let dialect = randomDialect(using: &generator)
    let width = Int.random(in: 1...8, using: &generator)
    let table = (0..<60).map { _ in (0..<width).map { _ in randomField(using: &generator) } }
    let columns = (0..<width).map { "c\($0)" }
    let writer = CSVWriter(
      columns: columns, options: .init(dialect: dialect, lineEnding: Bool.random(using: &generator) ? .lf : .crlf))
    for row in table { try writer.write(row) }
    let reader = CSVReader(bytes: writer.bytes, options: .init(dialect: dialect, encoding: .utf8))
    for form in ReadingForm.allCases {
      let (rows, error) = await form.read(reader)
      #expect(error == nil, "seed \(seed)")
      #expect(try rows.map { try $0.fields } == table, "seed \(seed)")
      #expect(rows.first?.header.names == columns, "seed \(seed)")
    }
    // Rows of one dialect are written in another and are read back the same.
    let other = randomDialect(using: &generator)
    let copy = CSVWriter(options: .init(dialect: other))
    try reader.forEachRow { try copy.write($0) }
    let options = CSVReader.Options(header: .names(columns), dialect: other, encoding: .utf8)
    #expect(try fields(CSVReader(bytes: copy.bytes, options: options)) == table, "seed \(seed)")
  }

  @Test("I3: random numbers are the same after writing and reading", arguments: 400..<410 as Range<UInt64>)
  func numbers(seed: UInt64) throws {
    struct Numbers: Codable, Equatable { var a: Double, b: Float, c: Int, d: UInt64, e: Bool, f: Int8? }
    var generator = SeededGenerator(seed: seed)
    let rows = (0..<200).map { _ in
      Numbers(
        a: Double(bitPattern: generator.next()), b: Float(bitPattern: UInt32(truncatingIfNeeded: generator.next())),
        c: Int(truncatingIfNeeded: generator.next()), d: generator.next(), e: Bool.random(using: &generator),
        f: Bool.random(using: &generator) ? nil : Int8(truncatingIfNeeded: generator.next()))
    }.filter { $0.a.isFinite && $0.b.isFinite }
    let writer = CSVWriter()
    try writer.encode(contentsOf: rows)
    #expect(try CSVReader(bytes: writer.bytes).decodeAll(as: Numbers.self) == rows, "seed \(seed)")
  }

  private func randomDialect(using generator: inout SeededGenerator) -> CSVDialect {
    func pick(_ characters: String) -> UInt8 { Array(characters.utf8).randomElement(using: &generator) ?? 0 }
    return CSVDialect(
      delimiter: pick(",;\t|: "), quote: pick("\"'"), escape: Bool.random(using: &generator) ? nil : pick("\\^"),
      skipsSpacesAfterDelimiter: false, comment: Bool.random(using: &generator) ? nil : pick("#%"),
      endsRecordsAtLoneCarriageReturn: Bool.random(using: &generator))
  }

  private func randomField(using generator: inout SeededGenerator) -> String {
    let length = Int.random(in: 0...Int.random(in: 0...30, using: &generator), using: &generator)
    let alphabet = Array("abc\"\"'',;\t|:#%\\^\r\n 0\0ä\u{FEFF}".unicodeScalars)
    return (0..<length).reduce(into: "") { text, _ in
      text.unicodeScalars.append(alphabet.randomElement(using: &generator) ?? "a")
    }
  }
}
