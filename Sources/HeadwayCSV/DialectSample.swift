/// What a dialect makes of the first records of a file.
struct DialectSample {
  /// How well the dialect divides the records.
  struct Score: Comparable {
    /// The share of the records with the most common number of fields.
    var agreement: Double
    /// The most common number of fields.
    var fieldCount: Int

    static func < (left: Score, right: Score) -> Bool {
      (left.agreement, left.fieldCount) < (right.agreement, right.fieldCount)
    }
  }

  let dialect: CSVDialect
  private(set) var malformedCount = 0
  /// How many fields are in quotes.
  private(set) var quotedCount = 0
  /// The number of fields of each record, 0 for a malformed one.
  private var fieldCounts: [Int] = []
  /// By column, whether it has values and all of them, but in the first record, are in quotes.
  private var areQuoted: [Int: Bool] = [:]
  /// How many records behind the first have a field in quotes that is not their first.
  private var innerQuotedRows = 0
  /// Of the fields behind a delimiter that are in no quotes: how many there are, and how many begin with a space.
  private var innerFields = (count: 0, spaced: 0)

  /// Enough to tell a delimiter from a comma in a text, and quick on a large sample.
  private static let mostRecords = 500

  /// Parses the sample's first complete records, or the one incomplete record that it is.
  init(_ bytes: UnsafeRawBufferPointer, _ dialect: CSVDialect, skippedLines: Int) {
    self.dialect = dialect
    parse(bytes, isFinal: false, skippedLines)
    if fieldCounts.isEmpty { parse(bytes, isFinal: true, skippedLines) }
  }

  private mutating func parse(_ bytes: UnsafeRawBufferPointer, isFinal: Bool, _ skippedLines: Int) {
    var parser = CSVParser(dialect: dialect, skippedLines: skippedLines)
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

  /// The first record, mostly the header, has some weight more than others: a text may have commas in each row.
  var score: Score {
    var counts: [Int: Int] = [:]
    for count in fieldCounts where count > 0 { counts[count, default: 0] += 1 }
    let mostCommon = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }
    guard let mostCommon, mostCommon.key > 1 else { return Score(agreement: 0, fieldCount: 1) }
    let weight = 1 + fieldCounts.count / 8
    let agreeing = mostCommon.value + (fieldCounts.first == mostCommon.key ? weight : 0)
    return Score(agreement: Double(agreeing) / Double(fieldCounts.count + weight), fieldCount: mostCommon.key)
  }

  /// How many fields the first record has.
  var firstFieldCount: Int { fieldCounts.first ?? 0 }

  /// Whether all of several records have as many fields.
  var dividesAll: Bool { fieldCounts.count > 2 && fieldCounts[0] > 1 && Set(fieldCounts).count == 1 }

  /// Whether the records are divided into as many fields as the first one more often than into any other number, and
  /// all rows have a field in quotes behind another.
  var dividesRows: Bool {
    guard malformedCount == 0, fieldCounts.count > 3, fieldCounts[0] > 2, score.fieldCount == fieldCounts[0] else {
      return false
    }
    return innerQuotedRows == fieldCounts.count - 1
  }

  /// Whether all values of a column of several rows are in quotes.
  var hasQuotedColumn: Bool { fieldCounts.count > 3 && areQuoted.values.contains(true) }

  /// Whether each field behind a delimiter that is in no quotes begins with a space.
  var beginsFieldsWithSpaces: Bool { innerFields.count > 1 && innerFields.spaced == innerFields.count }
}
