import HeadwayCSV

/// Determines which fields have no value.
struct NullTexts {
  private let texts: [[UInt8]]
  /// Whether the strings also mean that there is no value in quotes.
  private let countInQuotes: Bool

  init(_ options: ImportOptions) {
    texts = options.nullTexts.map { Array($0.utf8) }
    countInQuotes = options.nullTextsInQuotes
  }

  func contains(_ field: some Collection<UInt8>) -> Bool { texts.contains { $0.elementsEqual(field) } }

  /// The bytes of a field; empty if the record is too short to have it, or if its text means that it has no value.
  func value(of field: Int, in record: borrowing CSVRecord) -> UnsafeRawBufferPointer {
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    guard field < record.count else { return none }
    let bytes = record.unsafeBytes(at: field)
    guard !texts.isEmpty, countInQuotes || !record.wasQuoted(at: field), contains(bytes) else { return bytes }
    return none
  }
}
