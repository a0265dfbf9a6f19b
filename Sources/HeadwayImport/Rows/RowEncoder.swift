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
    /// Numbers of it had zeros at their end, which are not kept.
    var hasLeftOutZeros = false
  }

  private let plan: TablePlan
  private var readings: [Reading]
  private let raggedRows: ImportOptions.RaggedRows
  private let nullText: [UInt8]?
  /// The header as it is in the file, where it may come again; else empty.
  private let headerRecord: [UInt8]
  /// Whether the key is SQLite's row number, which takes nothing but whole numbers.
  private let isRowIdentifier: Bool
  /// For each column with a reference that can be checked: the keys there are.
  private var known: [Int: KeySet]
  /// The keys met so far in a re-import, where the database can't tell a second row from an update.
  private var seen: KeySet?
  /// What should be known about the whole: a sentence each.
  private(set) var notes: [String] = []
  /// Columns that refer to their own table, with the values met there.
  private(set) var selfReferences: [SelfReference]

  /// - Parameters:
  ///   - plan: How fields become columns.
  ///   - known: By column, the keys of the table to which it refers.
  ///   - remembersKeys: Whether a second row with a key is to be found here, rather than by the database.
  ///   - headerRecord: The header as it is in the file.
  ///   - options: What becomes of rows with other numbers of fields, and what text means no value.
  init(
    _ plan: TablePlan, known: [Int: KeySet], remembersKeys: Bool, headerRecord: [UInt8], _ options: ImportOptions
  ) {
    self.plan = plan
    readings = plan.columns.enumerated().map { position, column in
      Reading(
        field: column.field, isKey: column.isKey, isRequired: column.isRequired,
        isChecked: column.reference != nil && known[position] != nil, isFound: column.isFound, type: column.type)
    }
    (raggedRows, nullText) = (options.raggedRows, options.nullText.map { Array($0.utf8) })
    // Of one column, it may be a value.
    self.headerRecord = plan.fieldCount > 1 ? headerRecord : []
    isRowIdentifier = plan.isRowIdentifierKey
    self.known = known
    seen = remembersKeys && plan.hasKey ? KeySet() : nil
    selfReferences = plan.columns.indices.compactMap { SelfReference(plan, column: $0) }
  }

  /// Adds a record to a batch: as a row, or to its rejects; in some cases both.
  mutating func encode(_ record: borrowing CSVRecord, into batch: RowBatch) {
    guard record.count == plan.fieldCount || isPadded(record) else {
      return reject(record, batch, "expected \(plan.fieldCount) fields, found \(record.count)")
    }
    let raw = record.rawBytes
    if raw.count == headerRecord.count, !raw.isEmpty, raw.elementsEqual(headerRecord) {
      return reject(record, batch, "the header once more")
    }
    if !raw.isASCII, String(validating: raw, as: UTF8.self) == nil {
      return reject(record, batch, "not valid UTF-8: if the file has another encoding, say which")
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
      let bytes = Self.value(of: field, in: record, nullText)
      if bytes.isEmpty {
        if column.isRequired || (isRowIdentifier && column.isKey) {
          batch.dropBytes(from: recordStart)
          batch.rejects.removeSubrange(rejectCount...)
          return reject(record, batch, "\(plan.columns[position].name) is empty")
        }
        row[position] = column.isKey ? .text(at: recordStart, count: 0) : .null
        continue
      }
      row[position] =
        column.isFound
        ? exactValue(bytes, position, record, recordStart, batch)
        : value(bytes, column.type, position, record, recordStart, batch)
      if isRowIdentifier, column.isKey, row[position].kind != .integer {
        batch.dropBytes(from: recordStart)
        batch.rejects.removeSubrange(rejectCount...)
        let name = plan.columns[position].name
        return reject(record, batch, "\(name): ‘\(bytes.shortText)’ is not a whole number, as the key must be")
      }
      if column.isChecked { check(bytes, position, record, batch) }
    }
    if seen != nil, seen?.insert(KeySet.hash(of: plan.key, in: row, of: batch)) == false {
      batch.dropBytes(from: recordStart)
      batch.rejects.removeSubrange(rejectCount...)
      return reject(record, batch, plan.duplicateReason)
    }
    for position in selfReferences.indices {
      selfReferences[position].meet(record) { [nullText] in Self.value(of: $1, in: $0, nullText) }
    }
    batch.endRow(
      RowBatch.Origin(line: record.line, ordinal: record.ordinal, recordStart: recordStart, recordCount: raw.count))
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

  /// The bytes of a field; none if the record is too short to have it, or its text means no value.
  private static func value(
    of field: Int, in record: borrowing CSVRecord, _ nullText: [UInt8]?
  ) -> UnsafeRawBufferPointer {
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    guard field < record.count else { return none }
    let bytes = record.unsafeBytes(at: field)
    guard let nullText, !record.wasQuoted(at: field), bytes.elementsEqual(nullText) else { return bytes }
    return none
  }

  private func value(
    _ bytes: UnsafeRawBufferPointer, _ type: ColumnType, _ position: Int, _ record: borrowing CSVRecord,
    _ recordStart: Int, _ batch: RowBatch
  ) -> EncodedValue {
    func reportValue(_ reason: String) {
      report(record, batch, "\(plan.columns[position].name): ‘\(bytes.shortText)’ is \(reason)")
    }
    switch type {
    case .text: break
    case .integer:
      if let number = NumberParsing.integer(bytes) { return .integer(number) }
      // SQLite makes a number of any text that looks like one. Done here, it is what is compared and what is reported.
      if let number = NumberParsing.real(bytes) {
        let whole = Int64(exactly: number)
        let kept = whole.map { "\($0)" } ?? "\(number)"
        reportValue("not a whole number; kept as \(kept)")
        return whole.map { .integer($0) } ?? .real(number)
      }
      reportValue("not a whole number; kept as text")
    case .numeric:
      if let number = NumberParsing.integer(bytes) { return .integer(number) }
      fallthrough
    case .real:
      if let number = NumberParsing.real(bytes) { return .real(number) }
      reportValue("not a number; kept as text")
    }
    return text(bytes, record, recordStart, batch)
  }

  /// The value of a column whose type was found, which widens for what it does not keep as it is.
  private mutating func exactValue(
    _ bytes: UnsafeRawBufferPointer, _ position: Int, _ record: borrowing CSVRecord, _ recordStart: Int,
    _ batch: RowBatch
  ) -> EncodedValue {
    let type = readings[position].type
    if let value = type.exactValue(bytes) {
      if value.kind == .real, bytes.last == UInt8(ascii: "0") { readings[position].hasLeftOutZeros = true }
      return value
    }
    if type != .text {
      let wider = type.widened(for: bytes)
      readings[position].type = wider
      if wider == .text, readings[position].hasLeftOutZeros {
        notes.append(
          "\(plan.columns[position].name) is text because of line \(record.line), and numbers before it have lost zeros "
            + "at their end: --column-type '\(plan.columns[position].name):text' keeps them")
      }
      batch.widenings[position] = wider
      if let value = wider.exactValue(bytes) { return value }
    }
    return text(bytes, record, recordStart, batch)
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
    batch.rejects.append(
      RejectedRow(
        table: plan.table, line: record.line, status: .rejected, reason: reason, record: Array(record.rawBytes)))
  }
}

extension ColumnReference {
  /// What is said of a row whose reference does not exist.
  func missing(_ value: String, from column: String) -> String {
    "\(column): there is no ‘\(value)’ in \(table).\(self.column)"
  }
}
