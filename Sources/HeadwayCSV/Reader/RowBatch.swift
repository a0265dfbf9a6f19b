/// Consecutive rows of a file, with the memory of their fields.
///
/// `@unchecked Sendable`, because its reference count protects it: it is written to only while no row and no iterator
/// refers to it. Afterward, no thread writes to it.
///
/// See `Docs/decisions/0022-csv-for-programs.md`.
@usableFromInline
final class RowBatch: @unchecked Sendable {
  /// The position of a field's content in the batch's bytes.
  @usableFromInline
  struct Field {
    @usableFromInline let start: UInt32
    @usableFromInline let end: UInt32
  }

  /// The position of a row's fields, and the number of the row in the file.
  struct Row {
    let firstField: Int
    let fieldCount: Int
    let lineNumber: Int
    let rowNumber: Int
  }

  /// A batch is full when its records have this many bytes or this many fields: for short records, the tables are
  /// larger than the bytes.
  private static let usualSize = 64 << 10
  private static let usualFieldCount = 8 << 10

  @usableFromInline let header: CSVHeader
  /// The file's name in errors.
  let path: String
  private var bytes: UnsafeMutableRawPointer
  private var byteCapacity = RowBatch.usualSize + RowBatch.usualSize / 8
  private var byteCount = 0
  private var fields: UnsafeMutablePointer<Field>
  private var fieldCapacity = RowBatch.usualFieldCount + RowBatch.usualFieldCount / 8
  private var fieldCount = 0
  private var rows: [Row] = []

  init(_ header: CSVHeader, path: String) {
    (self.header, self.path) = (header, path)
    bytes = .allocate(byteCount: byteCapacity, alignment: 16)
    fields = .allocate(capacity: fieldCapacity)
  }

  deinit {
    bytes.deallocate()
    fields.deallocate()
  }

  /// The number of rows.
  var count: Int { rows.count }

  var isFull: Bool { byteCount >= Self.usualSize || fieldCount >= Self.usualFieldCount }

  /// Whether the batch's memory has grown for a long record.
  var isOversized: Bool { byteCapacity > 2 * Self.usualSize || fieldCapacity > 2 * Self.usualFieldCount }

  func removeAll() {
    (byteCount, fieldCount) = (0, 0)
    rows.removeAll(keepingCapacity: true)
  }

  /// Appends a record.
  ///
  /// - Parameters:
  ///   - record: The record whose fields are added.
  ///   - count: The number of its fields to append.
  ///   - rowNumber: The number of the row in the file, starting at one.
  func append(_ record: borrowing CSVRecord, count: Int, rowNumber: Int) {
    let raw = record.rawBytes
    reserve(bytes: raw.count, fields: count)
    let base = bytes + byteCount
    if let start = raw.baseAddress { base.copyMemory(from: start, byteCount: raw.count) }
    var place = 0
    for index in 0..<count {
      let end = record.ends[index]
      var start = place
      var length = end.position &- place
      if !end.isPlain {
        let content = record.unsafeBytes(at: index)
        length = content.count
        if end.isRewritten {
          // The content is never longer than the field in the file, and no other field needs that space.
          if let source = content.baseAddress { (base + start).copyMemory(from: source, byteCount: length) }
        } else {
          start &+= 1
        }
      }
      fields[fieldCount &+ index] = Field(byteCount &+ start, length)
      place = end.position &+ 1
    }
    rows.append(Row(firstField: fieldCount, fieldCount: count, lineNumber: record.lineNumber, rowNumber: rowNumber))
    byteCount += raw.count
    fieldCount += count
  }

  /// Returns one of the rows.
  func row(at position: Int) -> CSVRow {
    let row = rows[position]
    return CSVRow(
      bytes: bytes, fields: fields + row.firstField, count: row.fieldCount, lineNumber: row.lineNumber,
      rowNumber: row.rowNumber, batch: self)
  }

  private func reserve(bytes more: Int, fields moreFields: Int) {
    if byteCount + more > byteCapacity {
      byteCapacity = max(byteCount + more, byteCapacity * 2)
      let larger = UnsafeMutableRawPointer.allocate(byteCount: byteCapacity, alignment: 16)
      larger.copyMemory(from: bytes, byteCount: byteCount)
      bytes.deallocate()
      bytes = larger
    }
    if fieldCount + moreFields > fieldCapacity {
      fieldCapacity = max(fieldCount + moreFields, fieldCapacity * 2)
      let larger = UnsafeMutablePointer<Field>.allocate(capacity: fieldCapacity)
      larger.moveInitialize(from: fields, count: fieldCount)
      fields.deallocate()
      fields = larger
    }
  }
}

extension RowBatch.Field {
  init(_ start: Int, _ count: Int) {
    self.init(start: UInt32(truncatingIfNeeded: start), end: UInt32(truncatingIfNeeded: start &+ count))
  }
}
