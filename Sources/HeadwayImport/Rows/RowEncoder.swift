import HeadwayCSV
import HeadwayLines

/// Turns records into rows of a batch: converts fields to the types of their columns, checks what must hold, and sets
/// aside what can't be taken.
struct RowEncoder {
  private let plan: TablePlan
  /// Whether the key is SQLite's row number, which takes nothing but whole numbers.
  private let isRowIdentifier: Bool
  /// For each column with a reference that can be checked: the keys there are.
  private var known: [Int: KeySet]
  /// The keys met so far in a re-import, where the database can't tell a second row from an update.
  private var seen: KeySet?
  /// Columns that refer to their own table, with the values met there.
  private(set) var selfReferences: [SelfReference]

  /// - Parameters:
  ///   - plan: How fields become columns.
  ///   - known: By column, the keys of the table to which it refers.
  ///   - remembersKeys: Whether a second row with a key is to be found here, rather than by the database.
  init(_ plan: TablePlan, known: [Int: KeySet], remembersKeys: Bool) {
    self.plan = plan
    isRowIdentifier = plan.isRowIdentifierKey
    self.known = known
    seen = remembersKeys && plan.hasKey ? KeySet() : nil
    selfReferences = plan.columns.indices.compactMap { SelfReference(plan, column: $0) }
  }

  /// Adds a record to a batch: as a row, or to its rejects; in some cases both.
  mutating func encode(_ record: borrowing CSVRecord, into batch: RowBatch) {
    guard record.count == plan.fieldCount else {
      return reject(record, batch, "expected \(plan.fieldCount) fields, found \(record.count)")
    }
    let raw = record.rawBytes
    if !raw.isASCII, String(validating: raw, as: UTF8.self) == nil {
      return reject(record, batch, "not valid UTF-8: if the file has another encoding, say which")
    }
    let recordStart = batch.append(raw)
    let row = batch.nextRow
    let rejectCount = batch.rejects.count
    for (position, column) in plan.columns.enumerated() {
      guard let field = column.field else {
        row[position] = column.isKey ? .text(at: recordStart, count: 0) : .null
        continue
      }
      let bytes = record.unsafeBytes(at: field)
      if bytes.isEmpty {
        if column.isRequired || (isRowIdentifier && column.isKey) {
          batch.dropBytes(from: recordStart)
          batch.rejects.removeSubrange(rejectCount...)
          return reject(record, batch, "\(column.name) is empty")
        }
        row[position] = column.isKey ? .text(at: recordStart, count: 0) : .null
        continue
      }
      row[position] = value(bytes, column, record, recordStart, batch)
      if isRowIdentifier, column.isKey, row[position].kind != .integer {
        batch.dropBytes(from: recordStart)
        batch.rejects.removeSubrange(rejectCount...)
        return reject(record, batch, "\(column.name): ‘\(bytes.shortText)’ is not a whole number, as the key must be")
      }
      check(bytes, column, position, record, batch)
    }
    if seen != nil, seen?.insert(KeySet.hash(of: plan.key, in: row, of: batch)) == false {
      batch.dropBytes(from: recordStart)
      batch.rejects.removeSubrange(rejectCount...)
      return reject(record, batch, plan.duplicateReason)
    }
    for position in selfReferences.indices { selfReferences[position].meet(record, plan) }
    batch.endRow(
      RowBatch.Origin(line: record.line, ordinal: record.ordinal, recordStart: recordStart, recordCount: raw.count))
  }

  private func value(
    _ bytes: UnsafeRawBufferPointer, _ column: TablePlan.Column, _ record: borrowing CSVRecord, _ recordStart: Int,
    _ batch: RowBatch
  ) -> EncodedValue {
    switch column.type {
    case .text: break
    case .integer:
      if let number = NumberParsing.integer(bytes) { return .integer(number) }
      // SQLite makes a number of any text that looks like one. Done here, it is what is compared and what is reported.
      if let number = NumberParsing.real(bytes) {
        let whole = Int64(exactly: number)
        let kept = whole.map { "\($0)" } ?? "\(number)"
        report(record, batch, "\(column.name): ‘\(bytes.shortText)’ is not a whole number; kept as \(kept)")
        return whole.map { .integer($0) } ?? .real(number)
      }
      report(record, batch, "\(column.name): ‘\(bytes.shortText)’ is not a whole number; kept as text")
    case .real:
      if let number = NumberParsing.real(bytes) { return .real(number) }
      report(record, batch, "\(column.name): ‘\(bytes.shortText)’ is not a number; kept as text")
    }
    // Most fields are stretches of the record, whose bytes are in the batch already; those with doubled quotes are not.
    if let start = record.rawBytes.offset(of: bytes) { return .text(at: recordStart + start, count: bytes.count) }
    return .text(at: batch.append(bytes), count: bytes.count)
  }

  private func check(
    _ bytes: UnsafeRawBufferPointer, _ column: TablePlan.Column, _ position: Int, _ record: borrowing CSVRecord,
    _ batch: RowBatch
  ) {
    guard let reference = column.reference, let keys = known[position] else { return }
    guard !keys.contains(KeySet.hash(bytes)) else { return }
    report(record, batch, reference.missing(bytes.shortText, from: column.name))
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

extension UnsafeRawBufferPointer {
  /// Looks at eight bytes at a time.
  var isASCII: Bool {
    var position = 0
    while position + 8 <= count {
      if loadUnaligned(fromByteOffset: position, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { return false }
      position += 8
    }
    while position < count {
      if self[position] >= 0x80 { return false }
      position += 1
    }
    return true
  }

  /// Where `part` starts in these bytes, if it is a stretch of them and not a copy.
  func offset(of part: UnsafeRawBufferPointer) -> Int? {
    guard let start = baseAddress, let partStart = part.baseAddress else { return nil }
    let offset = partStart - start
    return offset >= 0 && offset + part.count <= count ? offset : nil
  }

  /// The text, repaired where it must be, and not too long for a message.
  var shortText: String {
    count <= 80 ? String(decoding: self, as: UTF8.self) : String(decoding: self.prefix(80), as: UTF8.self) + "…"
  }
}
