/// Rows on their way from the parser to the database: the rows of one transaction, with the bytes they need.
///
/// Reused for the whole import: one thread fills it, hands it over, and another writes it.
final class RowBatch: @unchecked Sendable {  // Handed from one owner to the next: never used by two at once.
  /// Where a row came from.
  struct Origin {
    var line: Int
    /// The number of the record in the file, counted from 1.
    var ordinal: Int
    /// The record as it is in the file, in `bytes`.
    var recordStart: Int
    var recordCount: Int
  }

  /// A batch with so many bytes of rows is full: a thousand rows of a thousand bytes.
  static let mostBytes = 1 << 20

  let columnCount: Int
  let capacity: Int
  /// `capacity` rows of `columnCount` values.
  let values: UnsafeMutablePointer<EncodedValue>
  private(set) var origins: [Origin] = []
  private(set) var bytes: UnsafeMutableRawPointer
  private var byteCapacity: Int
  private(set) var byteCount = 0
  /// What is wrong with rows up to here, in the order of their lines.
  var rejects: [RejectedRow] = []
  /// In a table without a key: the records that are no rows, whose places an earlier import may have filled.
  var rejectedOrdinals: [Int] = []
  /// The values of rows whose text the table does not keep.
  var conversions: [TextConversion] = []
  /// By column, the type that it must have before these rows are written.
  var widenings: [Int: ColumnType] = [:]
  /// The place in the file up to which this batch brings the import.
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
  var isEmpty: Bool { origins.isEmpty && rejects.isEmpty }
  /// Whether there is anything to write into the table, to delete there, or to change of it.
  var changesTable: Bool { !origins.isEmpty || !rejectedOrdinals.isEmpty || !widenings.isEmpty }

  func removeAll() {
    origins.removeAll(keepingCapacity: true)
    rejects.removeAll(keepingCapacity: true)
    rejectedOrdinals.removeAll(keepingCapacity: true)
    conversions.removeAll(keepingCapacity: true)
    widenings.removeAll(keepingCapacity: true)
    byteCount = 0
    // After a row that is longer than a whole batch.
    if byteCapacity > 2 * Self.mostBytes { makeRoom(for: Self.mostBytes) }
  }

  /// Copies bytes in; returns where they start.
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

  /// Where the values of the row now being encoded go.
  var nextRow: UnsafeMutablePointer<EncodedValue> { values + origins.count * columnCount }

  /// Completes the row whose values were put at ``nextRow``.
  func endRow(_ origin: Origin) { origins.append(origin) }

  /// Takes back the bytes and the conversions of a row that was not completed.
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
