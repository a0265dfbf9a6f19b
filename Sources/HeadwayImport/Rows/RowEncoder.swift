import HeadwayCSV
import HeadwayLines

/// Turns records into rows of a batch: converts fields to the types of their columns, checks what must hold, and sets
/// aside what can't be taken.
struct RowEncoder {
  /// What is asked of a column for each field; without names, whose references would be counted for each.
  private struct Reading {
    /// The position of the field; nil when the file does not have the column.
    let field: Int?
    let isKey: Bool
    let isRequired: Bool
    let isChecked: Bool
    let isFound: Bool
    var type: ColumnType
    /// The numbers that the table makes of text although nothing asks for that.
    let affinity: ColumnType?
    /// The number of decimals of the first number, and whether others have another one; only with an affinity.
    var decimals: Int?
    var isUneven = false
    /// Numbers of it were written in another way than they are kept, for instance with zeros at their end.
    var hasOtherText = false
  }

  private let plan: TablePlan
  private var readings: [Reading]
  private let raggedRows: ImportOptions.RaggedRows
  private let nullTexts: NullTexts
  /// What reads numbers of another format than SQLite's; nil for that.
  private let numbers: PlainNumbers?
  /// The fields of the header, where it may come again; else empty.
  private let header: [[UInt8]]
  /// Whether the key is SQLite's row number, which takes nothing but whole numbers.
  private let isRowIdentifier: Bool
  /// For each column with a reference that can be checked: the keys there are.
  private var known: [Int: KeySet]
  /// The keys met so far in a re-import, where the database can't tell a second row from an update.
  private(set) var seen: KeySet?
  /// Whether a row has the key of another.
  private(set) var hasDuplicates = false
  /// What should be known about the whole: a sentence each.
  private(set) var notes: [String] = []
  /// The columns that the table turns into numbers, and whose numbers have different numbers of decimals.
  var unevenColumns: Set<Int> { Set(readings.indices.filter { readings[$0].isUneven }) }
  /// Columns that refer to their own table, with the values met there.
  private(set) var selfReferences: [SelfReference]

  /// - Parameters:
  ///   - plan: How fields become columns.
  ///   - known: By column, the keys of the table to which it refers.
  ///   - seen: The keys of earlier files, if a second row with a key is to be found here; nil if the database finds it.
  ///   - header: The fields of the header.
  ///   - options: What becomes of rows with other numbers of fields, and what text means no value.
  init(
    _ plan: TablePlan, known: [Int: KeySet], seen: KeySet?, header: [[UInt8]], _ options: ImportOptions
  ) {
    self.plan = plan
    readings = plan.columns.enumerated().map { position, column in
      Reading(
        field: column.field, isKey: column.isKey, isRequired: column.isRequired,
        isChecked: column.reference != nil && known[position] != nil, isFound: column.isFound, type: column.type,
        affinity: column.affinity?.type)
    }
    (raggedRows, nullTexts, numbers) = (options.raggedRows, NullTexts(options), PlainNumbers(options.numberFormat))
    // Of one column, it may be a value.
    self.header = plan.fieldCount > 1 ? header : []
    isRowIdentifier = plan.isRowIdentifierKey
    self.known = known
    self.seen = plan.hasKey ? seen : nil
    selfReferences = plan.columns.indices.compactMap { SelfReference(plan, column: $0) }
  }

  /// Adds a record to a batch: as a row, or to its rejects; in some cases both.
  mutating func encode(_ record: borrowing CSVRecord, into batch: RowBatch) {
    guard record.count == plan.fieldCount || isPadded(record) else {
      return reject(record, batch, "expected \(plan.fieldCount) fields, found \(record.count)")
    }
    let raw = record.rawBytes
    if isHeader(record) {
      return reject(record, batch, "the header once more")
    }
    if !plan.repeatedLines.isEmpty, plan.repeatedLines.contains(record.line) {
      return reject(record, batch, "duplicate row: the file contains its table twice")
    }
    if !raw.isASCII, String(validating: raw, as: UTF8.self) == nil {
      let advice = raw.contains(0) ? "it has NUL bytes, as no text has" : "if the file has another encoding, say which"
      return reject(record, batch, "not valid UTF-8: \(advice)")
    }
    if record.hasStrayQuotes, let quoting = plan.quoting, record.count != quoting.fieldCountTakingQuotes(in: raw) {
      return reject(record, batch, "a quote inside a field, and delimiters behind it that it may enclose")
    }
    let recordStart = batch.append(raw)
    let row = batch.nextRow
    let rejectCount = batch.rejects.count
    for position in readings.indices {
      let column = readings[position]
      guard let field = column.field else {
        row[position] = column.isKey ? .text(at: recordStart, count: 0) : .null
        continue
      }
      let bytes = nullTexts.value(of: field, in: record)
      if bytes.isEmpty, !(plan.isJSONLines && record.wasQuoted(at: field)) {
        if column.isRequired || (isRowIdentifier && column.isKey) {
          batch.dropRow(from: recordStart)
          batch.rejects.removeSubrange(rejectCount...)
          return reject(record, batch, "\(plan.columns[position].name) is empty")
        }
        row[position] = column.isKey ? .text(at: recordStart, count: 0) : .null
        continue
      }
      row[position] = convert(bytes, position, record, recordStart, batch)
      if isRowIdentifier, column.isKey, row[position].kind != .integer {
        batch.dropRow(from: recordStart)
        batch.rejects.removeSubrange(rejectCount...)
        let name = plan.columns[position].name
        return reject(record, batch, "\(name): ‘\(bytes.shortText)’ is not a whole number, as the key must be")
      }
      if column.isChecked { check(bytes, position, record, batch) }
    }
    if seen != nil, seen?.insert(KeySet.hash(of: plan.key, in: row, of: batch)) == false {
      batch.dropRow(from: recordStart)
      batch.rejects.removeSubrange(rejectCount...)
      hasDuplicates = true
      return reject(record, batch, plan.duplicateReason)
    }
    for position in selfReferences.indices {
      selfReferences[position].meet(record) { [nullTexts] in nullTexts.value(of: $1, in: $0) }
    }
    batch.endRow(
      RowBatch.Origin(line: record.line, ordinal: record.ordinal, recordStart: recordStart, recordCount: raw.count))
  }

  private func isHeader(_ record: borrowing CSVRecord) -> Bool {
    guard record.count == header.count, !header.isEmpty else { return false }
    for (position, name) in header.enumerated() where !record.unsafeBytes(at: position).elementsEqual(name) {
      return false
    }
    return true
  }

  /// Whether a record with another number of fields than it should have may be a row.
  private func isPadded(_ record: borrowing CSVRecord) -> Bool {
    guard record.count > plan.fieldCount else {
      let isExpected = plan.endsRowsWithDelimiter && plan.namesSurplusFields && record.count == plan.fieldCount - 1
      return raggedRows == .pad || isExpected
    }
    let isExpected =
      plan.endsRowsWithDelimiter && !plan.namesSurplusFields && record.count == plan.fieldCount + 1
    guard raggedRows == .pad || isExpected else { return false }
    for field in plan.fieldCount..<record.count where !record.unsafeBytes(at: field).isEmpty { return false }
    return true
  }

  private mutating func convert(
    _ bytes: UnsafeRawBufferPointer, _ position: Int, _ record: borrowing CSVRecord, _ recordStart: Int,
    _ batch: RowBatch
  ) -> EncodedValue {
    let (isFound, type) = (readings[position].isFound, readings[position].type)
    // A number of JSON has one format; a string has that of the options.
    let isJSONNumber = plan.isJSONLines && readings[position].field.map { !record.wasQuoted(at: $0) } == true
    if let affinity = readings[position].affinity {
      noteConversion(bytes, affinity, position, isPlain: numbers == nil || isJSONNumber, batch)
    }
    guard let numbers, type != .text, !isJSONNumber else {
      return isFound
        ? exactValue(bytes, bytes, position, record, recordStart, batch)
        : value(bytes, bytes, type, position, record, recordStart, batch)
    }
    return withUnsafeTemporaryAllocation(byteCount: PlainNumbers.mostBytes, alignment: 1) { buffer in
      let plain = numbers.plain(bytes, in: buffer)
      return isFound
        ? exactValue(bytes, plain, position, record, recordStart, batch)
        : value(bytes, plain, type, position, record, recordStart, batch)
    }
  }

  /// Converts a value whose number SQLite reads as `plain`, if it is one.
  private func value(
    _ bytes: UnsafeRawBufferPointer, _ plain: UnsafeRawBufferPointer, _ type: ColumnType, _ position: Int,
    _ record: borrowing CSVRecord, _ recordStart: Int, _ batch: RowBatch
  ) -> EncodedValue {
    func reportValue(_ reason: String) {
      report(record, batch, "\(plan.columns[position].name): ‘\(bytes.shortText)’ is \(reason)")
    }
    // The type of the column makes a number of what SQLite reads as one.
    let kept = numbers != nil && NumberParsing.real(bytes) != nil ? "kept as SQLite reads it" : "kept as text"
    switch type {
    case .text: break
    case .integer:
      if let number = NumberParsing.integer(plain) { return .integer(number) }
      // SQLite makes a number of any text that looks like one. Done here, it is what is compared and what is reported.
      if let number = NumberParsing.real(plain) {
        let whole = Int64(exactly: number)
        reportValue("not a whole number; kept as \(whole.map { "\($0)" } ?? "\(number)")")
        return whole.map { .integer($0) } ?? .real(number)
      }
      reportValue("not a whole number; \(kept)")
    case .numeric:
      if let number = NumberParsing.integer(plain) { return .integer(number) }
      fallthrough
    case .real:
      if let number = NumberParsing.real(plain) { return .real(number) }
      reportValue("not a number; \(kept)")
    }
    return text(bytes, record, recordStart, batch)
  }

  /// Converts a value of a column whose type was found, which widens for a value that it does not keep.
  private mutating func exactValue(
    _ bytes: UnsafeRawBufferPointer, _ plain: UnsafeRawBufferPointer, _ position: Int, _ record: borrowing CSVRecord,
    _ recordStart: Int, _ batch: RowBatch
  ) -> EncodedValue {
    let type = readings[position].type
    if let value = type.exactValue(plain) {
      if bytes.baseAddress != plain.baseAddress || (value.kind == .real && bytes.last == UInt8(ascii: "0")) {
        readings[position].hasOtherText = true
      }
      return value
    }
    if type != .text {
      let wider = type.widened(for: plain)
      readings[position].type = wider
      let name = plan.columns[position].name
      if wider == .text, readings[position].hasOtherText {
        notes.append(
          "\(name) became text at line \(record.line). Earlier numbers have lost their original spelling. To keep it, "
            + "use --column-type '\(name):text'")
      } else if wider == .text, plan.existingColumns.isEmpty {
        // The change of a column that existed is reported by itself.
        notes.append(
          "\(name) became text at line \(record.line), because of ‘\(bytes.shortText)’. To make its numbers "
            + "comparable, use --column-type '\(name):real'")
      }
      batch.widenings[position] = wider
      if let value = wider.exactValue(plain) { return value }
    }
    return text(bytes, record, recordStart, batch)
  }

  /// Notes a value that the table turns into a number, if that has another text.
  private mutating func noteConversion(
    _ bytes: UnsafeRawBufferPointer, _ affinity: ColumnType, _ position: Int, isPlain: Bool, _ batch: RowBatch
  ) {
    var (decimals, loss) = (Int?.none, TextLoss.nothing)
    if readings[position].type == .integer {
      // A whole number is what the key must be; others are reported or rejected.
      guard isPlain, ExactNumber.integer(bytes) == nil, NumberParsing.integer(bytes) != nil else { return }
      loss = .text
    } else {
      loss = affinity.loss(of: bytes, decimals: &decimals)
      // SQLite does not know the format, in which this is another number or none.
      if !isPlain, decimals != nil, bytes.contains(UInt8(ascii: ".")) { loss = .text }
    }
    if let decimals {
      if let first = readings[position].decimals, first != decimals { readings[position].isUneven = true }
      readings[position].decimals = decimals
    }
    guard loss != .nothing else { return }
    batch.conversions.append(
      TextConversion(row: batch.count, column: position, isZeros: loss == .zeros, text: bytes.shortText))
  }

  private func text(
    _ bytes: UnsafeRawBufferPointer, _ record: borrowing CSVRecord, _ recordStart: Int, _ batch: RowBatch
  ) -> EncodedValue {
    // Most fields are stretches of the record, whose bytes are in the batch already; those with doubled quotes are not.
    if let start = record.rawBytes.offset(of: bytes) { return .text(at: recordStart + start, count: bytes.count) }
    return .text(at: batch.append(bytes), count: bytes.count)
  }

  private func check(
    _ bytes: UnsafeRawBufferPointer, _ position: Int, _ record: borrowing CSVRecord, _ batch: RowBatch
  ) {
    guard let reference = plan.columns[position].reference, let keys = known[position] else { return }
    guard !keys.contains(KeySet.hash(bytes)) else { return }
    report(record, batch, reference.missing(bytes.shortText, from: plan.columns[position].name))
  }

  // MARK: Setting aside

  private func reject(_ record: borrowing CSVRecord, _ batch: RowBatch, _ reason: String) {
    if !plan.hasKey { batch.rejectedOrdinals.append(record.ordinal) }
    batch.rejects.append(
      RejectedRow(
        table: plan.table, line: record.line, status: .rejected, reason: reason, record: Array(record.rawBytes)))
  }

  private func report(_ record: borrowing CSVRecord, _ batch: RowBatch, _ reason: String) {
    batch.rejects.append(
      RejectedRow(
        table: plan.table, line: record.line, status: .reported, reason: reason, record: Array(record.rawBytes)))
  }

  func reject(_ record: borrowing CSVMalformedRecord, into batch: RowBatch) {
    if !plan.hasKey { batch.rejectedOrdinals.append(record.ordinal) }
    let reason = "\(record.error)\(record.isTruncated ? "; only the beginning of the record follows" : "")"
    let raw = record.isTruncated ? record.rawBytes.prefix(Self.longestBeginning) : record.rawBytes[...]
    batch.rejects.append(
      RejectedRow(
        table: plan.table, line: record.line, status: .rejected, reason: reason, record: Array(raw)))
  }

  /// How much of a record that is longer than the maximum is in the rejects.
  private static let longestBeginning = 4_096
}

extension ColumnReference {
  /// What is said of a row whose reference does not exist.
  func missing(_ value: String, from column: String) -> String {
    "\(column): there is no ‘\(value)’ in \(table).\(self.column)"
  }
}
