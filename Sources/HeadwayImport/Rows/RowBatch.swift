/// Rows in flight from the parser to the database, with the bytes they need.
///
/// Batches are reused during the whole import: one thread fills a batch and hands it over to another, which writes it.
final class RowBatch: @unchecked Sendable {  // Passed between owners, and never used by two at a time.
  /// The origin of a row.
  struct Origin {
    var lineNumber: Int
    /// The number of the record in the file, counted from 1.
    var recordNumber: Int
    /// The bytes of the record in the file, as a range of `bytes`.
    var recordStart: Int
    var recordCount: Int
  }

  /// The number of bytes that make a batch full: a thousand rows of a thousand bytes.
  static let mostBytes = 1 << 20

  let columnCount: Int
  let capacity: Int
  /// `capacity` rows of `columnCount` values.
  let values: UnsafeMutablePointer<EncodedValue>
  private(set) var origins: [Origin] = []
  private(set) var bytes: UnsafeMutableRawPointer
  private var byteCapacity: Int
  private(set) var byteCount = 0
  /// The issues of the records that were read for this batch, ordered by line.
  var issues: [RowIssue] = []
  /// In a table without a key, the records that did not become rows.
  ///
  /// An earlier import might have filled their places.
  var rejectedRecordNumbers: [Int] = []
  /// The values whose text the table does not keep.
  var conversions: [TextConversion] = []
  /// The types that columns must have before these rows are written, by column.
  var widenings: [Int: ColumnType] = [:]
  /// The offset in the file where this batch ends.
  var endOffset = 0

  init(columnCount: Int, capacity: Int) {
    self.columnCount = columnCount
    self.capacity = capacity
    values = .allocate(capacity: columnCount * capacity)
    byteCapacity = 64 * capacity
    bytes = .allocate(byteCount: byteCapacity, alignment: 1)
    origins.reserveCapacity(capacity)
  }

  deinit {
    values.deallocate()
    bytes.deallocate()
  }

  var count: Int { origins.count }
  var isFull: Bool { origins.count == capacity || byteCount >= Self.mostBytes }
  var isEmpty: Bool { origins.isEmpty && issues.isEmpty }
  /// Whether writing the batch inserts rows, removes rows, or changes the table.
  var changesTable: Bool { !origins.isEmpty || !rejectedRecordNumbers.isEmpty || !widenings.isEmpty }

  func removeAll() {
    origins.removeAll(keepingCapacity: true)
    issues.removeAll(keepingCapacity: true)
    rejectedRecordNumbers.removeAll(keepingCapacity: true)
    conversions.removeAll(keepingCapacity: true)
    widenings.removeAll(keepingCapacity: true)
    byteCount = 0
    // The batch might have had a row longer than a whole batch.
    if byteCapacity > 2 * Self.mostBytes { makeRoom(for: Self.mostBytes) }
  }

  /// Copies bytes into the batch; returns their start.
  func append(_ source: UnsafeRawBufferPointer) -> Int {
    let start = byteCount
    if byteCount + source.count > byteCapacity {
      makeRoom(for: max(byteCount + source.count, byteCapacity * 2))
    }
    if let base = source.baseAddress { (bytes + start).copyMemory(from: base, byteCount: source.count) }
    byteCount += source.count
    return start
  }

  private func makeRoom(for capacity: Int) {
    byteCapacity = capacity
    let room = UnsafeMutableRawPointer.allocate(byteCount: byteCapacity, alignment: 1)
    room.copyMemory(from: bytes, byteCount: byteCount)
    bytes.deallocate()
    bytes = room
  }

  /// The place for the values of the row that is being encoded.
  var nextRow: UnsafeMutablePointer<EncodedValue> { values + origins.count * columnCount }

  /// Completes the row whose values are at ``nextRow``.
  func endRow(_ origin: Origin) { origins.append(origin) }

  /// Removes the bytes and the conversions of a row that was not completed.
  func dropRow(from start: Int) {
    byteCount = start
    while conversions.last?.row == count { conversions.removeLast() }
  }

  func record(of row: Int) -> [UInt8] {
    Array(recordBytes(of: row))
  }

  func recordBytes(of row: Int) -> UnsafeRawBufferPointer {
    let origin = origins[row]
    return UnsafeRawBufferPointer(start: bytes + origin.recordStart, count: origin.recordCount)
  }

  func text(of value: EncodedValue) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes + Int(value.payload), count: Int(value.length))
  }
}
