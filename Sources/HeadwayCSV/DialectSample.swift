/// The result of parsing the first records of a file with a dialect.
struct DialectSample {
  /// How well the dialect divides the records.
  struct Score: Comparable {
    /// The share of the records that have the most common number of fields.
    ///
    /// A record with a stray quote counts half, because the quote might enclose delimiters.
    var agreement: Double
    /// Whether fields in quotes contain characters that might otherwise be delimiters.
    var protectsDelimiters: Bool
    /// The most common number of fields.
    var fieldCount: Int

    static func < (left: Score, right: Score) -> Bool {
      if left.agreement != right.agreement { return left.agreement < right.agreement }
      if left.protectsDelimiters != right.protectsDelimiters { return right.protectsDelimiters }
      return left.fieldCount < right.fieldCount
    }

    /// Whether only the number of fields distinguishes two scores of dialects that divide the records.
    func isEqual(to other: Score) -> Bool {
      agreement > 0 && agreement == other.agreement && protectsDelimiters == other.protectsDelimiters
    }
  }

  let dialect: CSVDialect
  private(set) var malformedCount = 0
  /// The number of fields in quotes.
  private(set) var quotedCount = 0
  /// The number of records with a quote inside a field that is not quoted.
  private(set) var strayCount = 0
  /// For each record, the number of fields and whether it has a stray quote.
  ///
  /// The number is 0 for a malformed record.
  private var records: [(fieldCount: Int, isStray: Bool)] = []
  /// Whether all values of a column, except in the first record, are in quotes, for each column that has values.
  private var areQuoted: [Int: Bool] = [:]
  /// The number of records after the first that have a quoted field other than their first field.
  private var innerQuotedRows = 0
  /// The unquoted fields after a delimiter: how many there are, and how many begin with a space.
  private var innerFields = (count: 0, spaced: 0)
  /// Whether a field in quotes contains one of the characters that are tried as delimiters.
  private var protectsDelimiters = false

  /// Enough for all records of a small file.
  private static let mostRecords = 5_000

  /// Parses the complete records at the start of the sample, or its only record if that is incomplete.
  init(_ bytes: UnsafeRawBufferPointer, _ dialect: CSVDialect, skippedLineCount: Int) {
    self.dialect = dialect
    parse(bytes, isFinal: false, skippedLineCount)
    if records.isEmpty { parse(bytes, isFinal: true, skippedLineCount) }
  }

  private mutating func parse(_ bytes: UnsafeRawBufferPointer, isFinal: Bool, _ skippedLineCount: Int) {
    var parser = CSVParser(dialect: dialect, skippedLineCount: skippedLineCount)
    _ = parser.parse(bytes, isFinal: isFinal) { record in
      note(record)
      return records.count < Self.mostRecords ? .continue : .stop
    } malformed: { _ in
      malformedCount += 1
      records.append((0, false))
      return records.count < Self.mostRecords ? .continue : .stop
    }
  }

  private mutating func note(_ record: borrowing CSVRecord) {
    let isFirst = records.isEmpty
    records.append((record.count, record.hasStrayQuotes))
    if record.hasStrayQuotes { strayCount += 1 }
    if !isFirst, (1..<max(1, record.count)).contains(where: { record.wasQuoted(at: $0) }) { innerQuotedRows += 1 }
    for index in 0..<record.count {
      let (field, isQuoted) = (record.unsafeBytes(at: index), record.wasQuoted(at: index))
      if isQuoted {
        quotedCount += 1
        protectsDelimiters = protectsDelimiters || field.contains(where: CSVDialect.usualDelimiters.contains)
      }
      if !isFirst, isQuoted || !field.isEmpty { areQuoted[index] = isQuoted && areQuoted[index] ?? true }
      guard index > 0, !isQuoted, let first = field.first else { continue }
      innerFields.count += 1
      if first == UInt8(ascii: " ") { innerFields.spaced += 1 }
    }
  }

  /// Returns the share of the values in the rows that are missing, numbers, dates, or times.
  ///
  /// The comma in `1,50` is a decimal comma if more values are then numbers.
  func typedShare(of bytes: UnsafeRawBufferPointer, skippedLineCount: Int) -> Double {
    var (count, typed, recordCount) = (0, 0, 0)
    var parser = CSVParser(dialect: dialect, skippedLineCount: skippedLineCount)
    _ = parser.parse(bytes, isFinal: true) { record in
      recordCount += 1
      for index in 0..<record.count where recordCount > 1 {
        let value = Array(record.unsafeBytes(at: index).prefix(Self.longestValue))
        count += 1
        if ValueKind(value) != nil || ValueKind.isMissing(value) { typed += 1 }
      }
      return recordCount < Self.mostTypedRecords ? .continue : .stop
    } malformed: { _ in
      .continue
    }
    return count > 0 ? Double(typed) / Double(count) : 0
  }

  /// Longer values are text.
  private static let longestValue = 40
  private static let mostTypedRecords = 200

  /// The first record, which is usually the header, has more weight than others, because text can have commas in each
  /// row.
  var score: Score {
    let counts = fieldCounts
    let mostCommon = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }
    guard let mostCommon, mostCommon.key > 1 else {
      return Score(agreement: 0, protectsDelimiters: false, fieldCount: 1)
    }
    let weight = 1 + records.count / 8
    func agreement(_ record: (fieldCount: Int, isStray: Bool)) -> Double {
      record.fieldCount == mostCommon.key ? record.isStray ? 0.5 : 1 : 0
    }
    let agreeing = records.reduce(0) { $0 + agreement($1) } + Double(weight) * (records.first.map(agreement) ?? 0)
    return Score(
      agreement: agreeing / Double(records.count + weight), protectsDelimiters: protectsDelimiters,
      fieldCount: mostCommon.key)
  }

  /// How many records have each number of fields.
  private var fieldCounts: [Int: Int] {
    var counts: [Int: Int] = [:]
    for record in records where record.fieldCount > 0 { counts[record.fieldCount, default: 0] += 1 }
    return counts
  }

  /// The number of fields in the first record.
  var firstFieldCount: Int { records.first?.fieldCount ?? 0 }

  /// Whether there are several records and all have the same number of fields.
  var dividesAll: Bool { records.count > 2 && firstFieldCount > 1 && fieldCounts[firstFieldCount] == records.count }

  /// Whether more records have as many fields as the first record than have any other number of fields, and every row
  /// has a quoted field after another field.
  var dividesRows: Bool {
    guard malformedCount == 0, records.count > 3, firstFieldCount > 2, score.fieldCount == firstFieldCount else {
      return false
    }
    return innerQuotedRows == records.count - 1
  }

  /// Whether there are several rows and all values of a column are in quotes.
  var hasQuotedColumn: Bool { records.count > 3 && areQuoted.values.contains(true) }

  /// Whether every unquoted field after a delimiter begins with a space.
  var beginsFieldsWithSpaces: Bool { innerFields.count > 1 && innerFields.spaced == innerFields.count }
}
