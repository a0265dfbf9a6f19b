import HeadwayCSV
import HeadwayLines

/// Converts records to rows of a batch: converts fields to the types of their columns, checks references and keys, and
/// rejects records that can't be imported.
struct RowEncoder {
  /// The properties of a column that are needed for each field.
  ///
  /// It has no names, because their reference counts would be updated for each field.
  private struct Reading {
    /// The position of the field; nil if the file does not have the column.
    let field: Int?
    let isKey: Bool
    let isRequired: Bool
    let isChecked: Bool
    let isInferred: Bool
    var type: ColumnType
    /// The affinity of a column that converts text to numbers although the import does not describe it as a number.
    let affinity: ColumnType?
    /// The number of decimal places of the first number.
    ///
    /// Set only with an affinity, like ``isUneven``, which is true if other numbers have a different number of decimal
    /// places.
    var decimals: Int?
    var isUneven = false
    /// Whether some numbers are written in another way than they are stored, for example with trailing zeros.
    var hasOtherText = false
  }

  private let plan: TablePlan
  private var readings: [Reading]
  private let raggedRowPolicy: ImportOptions.RaggedRowPolicy
  private let nullTexts: NullTexts
  /// Converts numbers in another format than SQLite's; nil for SQLite's own.
  private let numbers: PlainNumbers?
  /// The fields of the header, if a repeated header is rejected; otherwise empty.
  private let header: [[UInt8]]
  /// Whether the key is SQLite's row number, which must be a whole number.
  private let isRowIdentifier: Bool
  /// The keys that exist, for each column with a reference that can be checked.
  private var known: [Int: KeySet]
  /// The keys met so far in a repeated import, where the database can't distinguish a duplicate row from an update.
  private(set) var seen: KeySet?
  /// Whether a row was a duplicate of another, by its key.
  private(set) var hasDuplicates = false
  /// Notes about the whole file, one sentence each.
  private(set) var notes: [String] = []
  /// The columns that the table converts to numbers, and whose numbers have different numbers of decimal places.
  var unevenColumns: Set<Int> { Set(readings.indices.filter { readings[$0].isUneven }) }
  /// The state of columns before the current row widened them.
  private var widened: [(column: Int, reading: Reading, widening: ColumnType?, noteCount: Int)] = []
  /// The columns that refer to their own table, with the values met there.
  private(set) var selfReferences: [SelfReference]

  /// - Parameters:
  ///   - plan: How fields become columns.
  ///   - known: The keys of the table that a column refers to, by column.
  ///   - seen: The keys of earlier files, if the encoder must find duplicate keys; nil if the database finds them.
  ///   - header: The fields of the header.
  ///   - options: How to treat rows with more or fewer fields, and which strings mean that a field has no value.
  init(
    _ plan: TablePlan, known: [Int: KeySet], seen: KeySet?, header: [[UInt8]], _ options: ImportOptions
  ) {
    self.plan = plan
    readings = plan.columns.enumerated().map { position, column in
      Reading(
        field: column.field, isKey: column.isKey, isRequired: column.isRequired,
        isChecked: column.reference != nil && known[position] != nil, isInferred: column.isInferred, type: column.type,
        affinity: column.affinity?.type)
    }
    (raggedRowPolicy, nullTexts, numbers) = (
      options.raggedRowPolicy, NullTexts(options), PlainNumbers(options.numberFormat)
    )
    // In a file with one column, a field that equals its name might be a value.
    self.header = plan.fieldCount > 1 ? header : []
    isRowIdentifier = plan.isRowIdentifierKey
    self.known = known
    self.seen = plan.hasKey ? seen : nil
    selfReferences = plan.columns.indices.compactMap { SelfReference(plan, column: $0) }
  }

  /// Adds a record to a batch as a row, to its issues, or to both.
  mutating func encode(_ record: borrowing CSVRecord, into batch: RowBatch) {
    guard record.count == plan.fieldCount || isPadded(record) else {
      return reject(record, batch, "expected \(plan.fieldCount) fields, found \(record.count)")
    }
    let raw = record.rawBytes
    if isHeader(record) {
      return reject(record, batch, "the header once more")
    }
    if !plan.repeatedLines.isEmpty, plan.repeatedLines.contains(record.lineNumber) {
      return reject(record, batch, "duplicate row: the file contains its table twice")
    }
    if !raw.isASCII, String(validating: raw, as: UTF8.self) == nil {
      let advice = raw.contains(0) ? "it has NUL bytes, as no text has" : "if the file has another encoding, specify it"
      return reject(record, batch, "not valid UTF-8: \(advice)")
    }
    if record.hasStrayQuotes, let quoting = plan.quoting, record.count != quoting.fieldCountTakingQuotes(in: raw) {
      return reject(record, batch, "a quote inside a field, and delimiters behind it that it may enclose")
    }
    let recordStart = batch.append(raw)
    let row = batch.nextRow
    let issueCount = batch.issues.count
    if !widened.isEmpty { widened = [] }
    for position in readings.indices {
      let column = readings[position]
      guard let field = column.field else {
        row[position] = column.isKey ? .text(at: recordStart, count: 0) : .null
        continue
      }
      let bytes = nullTexts.value(of: field, in: record)
      if bytes.isEmpty, !isEmptyJSONString(field, of: record) {
        if column.isRequired || (isRowIdentifier && column.isKey) {
          dropRow(batch, recordStart, issueCount)
          return reject(record, batch, "\(plan.columns[position].name) is empty")
        }
        row[position] =
          column.isKey
          ? .text(at: recordStart, count: 0) : plan.isJSONLines && record.isAbsent(at: field) ? .absent : .null
        continue
      }
      row[position] = convert(bytes, position, record, recordStart, batch)
      if isRowIdentifier, column.isKey, row[position].kind != .integer {
        let name = plan.columns[position].name
        dropRow(batch, recordStart, issueCount)
        return reject(record, batch, "\(name): “\(bytes.shortText)” is not a whole number, as the key must be")
      }
      if column.isChecked { check(bytes, position, record, batch) }
    }
    if seen != nil, seen?.insert(KeySet.hash(of: plan.key, in: row, of: batch)) == false {
      hasDuplicates = true
      dropRow(batch, recordStart, issueCount)
      return reject(record, batch, plan.duplicateReason)
    }
    for position in selfReferences.indices {
      selfReferences[position].meet(record) { [nullTexts] in nullTexts.value(of: $1, in: $0) }
    }
    batch.endRow(
      RowBatch.Origin(
        lineNumber: record.lineNumber, recordNumber: record.recordNumber, recordStart: recordStart,
        recordCount: raw.count))
  }

  /// Removes a row that was not completed from a batch, with all its effects.
  ///
  /// The types of columns do not widen for a row that is rejected.
  private mutating func dropRow(_ batch: RowBatch, _ recordStart: Int, _ issueCount: Int) {
    batch.dropRow(from: recordStart)
    batch.issues.removeSubrange(issueCount...)
    for former in widened.reversed() {
      readings[former.column] = former.reading
      batch.widenings[former.column] = former.widening
      notes.removeSubrange(former.noteCount...)
    }
    widened = []
  }

  private func isHeader(_ record: borrowing CSVRecord) -> Bool {
    guard record.count == header.count, !header.isEmpty else { return false }
    for (position, name) in header.enumerated() where !record.unsafeBytes(at: position).elementsEqual(name) {
      return false
    }
    return true
  }

  /// Whether a record with an unexpected number of fields can still be a row.
  private func isPadded(_ record: borrowing CSVRecord) -> Bool {
    guard record.count > plan.fieldCount else {
      let isExpected = plan.endsRowsWithDelimiter && plan.namesSurplusFields && record.count == plan.fieldCount - 1
      return raggedRowPolicy == .pad || isExpected
    }
    let isExpected =
      plan.endsRowsWithDelimiter && !plan.namesSurplusFields && record.count == plan.fieldCount + 1
    guard raggedRowPolicy == .pad || isExpected else { return false }
    for field in plan.fieldCount..<record.count where !record.unsafeBytes(at: field).isEmpty { return false }
    return true
  }

  /// Whether a field is an empty string of JSON, which is a value; a text that means no value is not.
  private func isEmptyJSONString(_ field: Int, of record: borrowing CSVRecord) -> Bool {
    plan.isJSONLines && field < record.count && record.wasQuoted(at: field) && record.unsafeBytes(at: field).isEmpty
  }

  private mutating func convert(
    _ bytes: UnsafeRawBufferPointer, _ position: Int, _ record: borrowing CSVRecord, _ recordStart: Int,
    _ batch: RowBatch
  ) -> EncodedValue {
    let (isInferred, type) = (readings[position].isInferred, readings[position].type)
    // All JSON numbers have the same format. A JSON string has the format of the options.
    let isJSONNumber = plan.isJSONLines && readings[position].field.map { !record.wasQuoted(at: $0) } == true
    if let affinity = readings[position].affinity {
      noteConversion(bytes, affinity, position, isPlain: numbers == nil || isJSONNumber, batch)
    }
    guard let numbers, type != .text, !isJSONNumber else {
      return isInferred
        ? exactValue(bytes, bytes, position, record, recordStart, batch)
        : value(bytes, bytes, type, position, record, recordStart, batch)
    }
    return withUnsafeTemporaryAllocation(byteCount: PlainNumbers.mostBytes, alignment: 1) { buffer in
      let plain = numbers.plain(bytes, in: buffer)
      return isInferred
        ? exactValue(bytes, plain, position, record, recordStart, batch)
        : value(bytes, plain, type, position, record, recordStart, batch)
    }
  }

  /// Converts a value whose number SQLite reads as `plain`, if it is a number.
  private func value(
    _ bytes: UnsafeRawBufferPointer, _ plain: UnsafeRawBufferPointer, _ type: ColumnType, _ position: Int,
    _ record: borrowing CSVRecord, _ recordStart: Int, _ batch: RowBatch
  ) -> EncodedValue {
    func reportValue(_ reason: String) {
      report(record, batch, "\(plan.columns[position].name): “\(bytes.shortText)” is \(reason)")
    }
    // The type of the column converts any text that SQLite reads as a number.
    let kept = numbers != nil && NumberParsing.real(bytes) != nil ? "kept as SQLite reads it" : "kept as text"
    switch type {
    case .text: break
    case .integer:
      if let number = NumberParsing.integer(plain) { return .integer(number) }
      // SQLite converts any text that looks like a number. Converting it here makes the compared and the reported value
      // the same.
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

  /// Converts a value of a column whose type was found.
  ///
  /// The type widens if it can't store the value exactly.
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
      widened.append((position, readings[position], batch.widenings[position], notes.count))
      readings[position].type = wider
      let name = plan.columns[position].name
      if wider == .text, readings[position].hasOtherText {
        notes.append(
          "\(name) became text at line \(record.lineNumber). Earlier numbers have lost their original spelling. To "
            + "keep it, use --column-type '\(name):text'")
      } else if wider == .text, plan.existingColumns.isEmpty {
        // The change of an existing column is reported separately.
        notes.append(
          "\(name) became text at line \(record.lineNumber), because of “\(bytes.shortText)”. To make its numbers "
            + "comparable, use --column-type '\(name):real'")
      }
      batch.widenings[position] = wider
      if let value = wider.exactValue(plain) { return value }
    }
    return text(bytes, record, recordStart, batch)
  }

  /// Records a value that the table converts to a number with a different text.
  private mutating func noteConversion(
    _ bytes: UnsafeRawBufferPointer, _ affinity: ColumnType, _ position: Int, isPlain: Bool, _ batch: RowBatch
  ) {
    var (decimals, loss) = (Int?.none, TextLoss.nothing)
    if readings[position].type == .integer {
      // The key must be a whole number. Other values are flagged or rejected.
      guard isPlain, ExactNumber.integer(bytes) == nil, NumberParsing.integer(bytes) != nil else { return }
      loss = .text
    } else {
      loss = affinity.loss(of: bytes, decimals: &decimals)
      // SQLite does not know the format. In that format, the value is another number, or not a number.
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
    // Most fields are ranges of the record, whose bytes are already in the batch. Fields with doubled quotes are not.
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

  // MARK: Rejecting

  private func reject(_ record: borrowing CSVRecord, _ batch: RowBatch, _ reason: String) {
    if !plan.hasKey { batch.rejectedRecordNumbers.append(record.recordNumber) }
    batch.issues.append(
      RowIssue(
        table: plan.table, lineNumber: record.lineNumber, status: plan.isIgnored(reason) ? .ignored : .rejected,
        reason: reason, record: Array(record.rawBytes)))
  }

  private func report(_ record: borrowing CSVRecord, _ batch: RowBatch, _ reason: String) {
    batch.issues.append(
      RowIssue(
        table: plan.table, lineNumber: record.lineNumber, status: .importedWithIssue, reason: reason,
        record: Array(record.rawBytes)))
  }

  func reject(_ record: borrowing CSVParser.MalformedRecord, into batch: RowBatch) {
    if !plan.hasKey { batch.rejectedRecordNumbers.append(record.recordNumber) }
    let reason = "\(record.error.reason)\(record.isTruncated ? "; only the beginning of the record follows" : "")"
    let raw = record.isTruncated ? record.rawBytes.prefix(Self.longestBeginning) : record.rawBytes[...]
    batch.issues.append(
      RowIssue(
        table: plan.table, lineNumber: record.lineNumber, status: .rejected, reason: reason, record: Array(raw)))
  }

  /// The number of bytes that an issue contains of a record that is longer than the maximum.
  private static let longestBeginning = 4_096
}

extension ColumnReference {
  /// The reason for a row whose reference does not exist.
  func missing(_ value: String, from column: String) -> String {
    "\(column): there is no “\(value)” in \(table).\(self.column)"
  }
}
