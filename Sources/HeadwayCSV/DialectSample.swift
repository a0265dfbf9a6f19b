/// The result of parsing the first records of a file with a dialect.
struct DialectSample {
  /// How well the dialect divides the records.
  struct Score: Comparable {
    /// The share of the records that have the most common number of fields.
    var agreement: Double
    /// The most common number of fields.
    var fieldCount: Int

    static func < (left: Score, right: Score) -> Bool {
      (left.agreement, left.fieldCount) < (right.agreement, right.fieldCount)
    }
  }

  let dialect: CSVDialect
  private(set) var malformedCount = 0
  /// The number of fields in quotes.
  private(set) var quotedCount = 0
  /// The number of fields of each record.
  ///
  /// 0 for a malformed record.
  private var fieldCounts: [Int] = []
  /// For each column that has values: whether all of them, except in the first record, are in quotes.
  private var areQuoted: [Int: Bool] = [:]
  /// The number of records after the first that have a quoted field other than their first field.
  private var innerQuotedRows = 0
  /// The unquoted fields after a delimiter: how many there are, and how many begin with a space.
  private var innerFields = (count: 0, spaced: 0)

  /// Enough records to distinguish a delimiter from a comma in text, but few enough to be fast on a large sample.
  private static let mostRecords = 500

  /// Parses the complete records at the start of the sample, or its only record if that is incomplete.
  init(_ bytes: UnsafeRawBufferPointer, _ dialect: CSVDialect, skippedLineCount: Int) {
    self.dialect = dialect
    parse(bytes, isFinal: false, skippedLineCount)
    if fieldCounts.isEmpty { parse(bytes, isFinal: true, skippedLineCount) }
  }

  private mutating func parse(_ bytes: UnsafeRawBufferPointer, isFinal: Bool, _ skippedLineCount: Int) {
    var parser = CSVParser(dialect: dialect, skippedLineCount: skippedLineCount)
    _ = parser.parse(bytes, isFinal: isFinal) { record in
      note(record)
      return fieldCounts.count < Self.mostRecords ? .continue : .stop
    } malformed: { _ in
      malformedCount += 1
      fieldCounts.append(0)
      return fieldCounts.count < Self.mostRecords ? .continue : .stop
    }
  }

  private mutating func note(_ record: borrowing CSVRecord) {
    let isFirst = fieldCounts.isEmpty
    fieldCounts.append(record.count)
    if !isFirst, (1..<max(1, record.count)).contains(where: { record.wasQuoted(at: $0) }) { innerQuotedRows += 1 }
    for index in 0..<record.count {
      let (field, isQuoted) = (record.unsafeBytes(at: index), record.wasQuoted(at: index))
      if isQuoted { quotedCount += 1 }
      if !isFirst, isQuoted || !field.isEmpty { areQuoted[index] = isQuoted && areQuoted[index] ?? true }
      guard index > 0, !isQuoted, let first = field.first else { continue }
      innerFields.count += 1
      if first == UInt8(ascii: " ") { innerFields.spaced += 1 }
    }
  }

  /// The first record, which is usually the header, has more weight than others, because text can have commas in each
  /// row.
  var score: Score {
    var counts: [Int: Int] = [:]
    for count in fieldCounts where count > 0 { counts[count, default: 0] += 1 }
    let mostCommon = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }
    guard let mostCommon, mostCommon.key > 1 else { return Score(agreement: 0, fieldCount: 1) }
    let weight = 1 + fieldCounts.count / 8
    let agreeing = mostCommon.value + (fieldCounts.first == mostCommon.key ? weight : 0)
    return Score(agreement: Double(agreeing) / Double(fieldCounts.count + weight), fieldCount: mostCommon.key)
  }

  /// The number of fields in the first record.
  var firstFieldCount: Int { fieldCounts.first ?? 0 }

  /// Whether there are several records and all have the same number of fields.
  var dividesAll: Bool { fieldCounts.count > 2 && fieldCounts[0] > 1 && Set(fieldCounts).count == 1 }

  /// Whether more records have as many fields as the first one than any other number, and every row has a quoted field
  /// after another field.
  var dividesRows: Bool {
    guard malformedCount == 0, fieldCounts.count > 3, fieldCounts[0] > 2, score.fieldCount == fieldCounts[0] else {
      return false
    }
    return innerQuotedRows == fieldCounts.count - 1
  }

  /// Whether there are several rows and all values of a column are in quotes.
  var hasQuotedColumn: Bool { fieldCounts.count > 3 && areQuoted.values.contains(true) }

  /// Whether every unquoted field after a delimiter begins with a space.
  var beginsFieldsWithSpaces: Bool { innerFields.count > 1 && innerFields.spaced == innerFields.count }
}
