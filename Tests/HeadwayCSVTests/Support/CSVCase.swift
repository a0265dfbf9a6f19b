import HeadwayCSV
import Testing

/// An input and its expected records.
struct CSVCase: Sendable, CustomTestStringConvertible {
  var name: String
  var input: [UInt8]
  var expected: [ExpectedRecord]
  var dialect: CSVDialect
  var maxRecordLength: Int

  init(
    _ name: String, _ input: String, _ expected: [ExpectedRecord], dialect: CSVDialect = CSVDialect(),
    maxRecordLength: Int = 16 << 20
  ) {
    self.init(name, bytes: Array(input.utf8), expected, dialect: dialect, maxRecordLength: maxRecordLength)
  }

  init(
    _ name: String, bytes: [UInt8], _ expected: [ExpectedRecord], dialect: CSVDialect = CSVDialect(),
    maxRecordLength: Int = 16 << 20
  ) {
    self.name = name
    self.input = bytes
    self.expected = expected
    self.dialect = dialect
    self.maxRecordLength = maxRecordLength
  }

  var testDescription: String { name }

  /// Expects the records listed in the case, the details that the reference parser finds, and both in all pieces.
  func check(sourceLocation: SourceLocation = #_sourceLocation) {
    let whole = Feeding(sizes: [input.count + 1], dialect: dialect, maxRecordLength: maxRecordLength)
      .records(of: input)
    #expect(whole.map(ExpectedRecord.init) == expected, sourceLocation: sourceLocation)
    let reference = ReferenceParser(dialect: dialect, maxRecordLength: maxRecordLength).records(of: input)
    #expect(whole == reference, sourceLocation: sourceLocation)
    expectSameInAllPieces(
      input, as: whole, dialect: dialect, maxRecordLength: maxRecordLength, sourceLocation: sourceLocation)
  }
}
