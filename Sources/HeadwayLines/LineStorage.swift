/// The bytes of one chunk and the table of the lines found in it: what a ``LineBatch`` refers to.
///
/// `@unchecked Sendable`, protected by its reference count: ``LineAssembler`` writes to a storage only after
/// `isKnownUniquelyReferenced` has told that no batch refers to it. While a batch does, wherever that batch has been
/// sent, nobody writes.
final class LineStorage: @unchecked Sendable {
  /// How far behind the bytes a scan may look, and behind the table write: what it finds in one block.
  static let slack = NewlineMask.blockSize

  private(set) var bytes: UnsafeMutableRawPointer
  private(set) var capacity: Int

  /// Where lines start.
  ///
  /// Line `i` of the table reaches from entry `i` to entry `i + 1`, its line end included.
  ///
  /// 32 bits are enough, since no buffer is larger than the largest maximum line length, 1 GiB, and a chunk.
  let starts: UnsafeMutablePointer<UInt32>

  /// How many lines the table has room for, not counting the slack.
  let lineCapacity: Int

  /// For the errors of lines in here.
  let path: String

  /// What to do about such errors.
  let invalidUTF8: LineReader.Options.InvalidUTF8

  init(capacity: Int, lineCapacity: Int, path: String, invalidUTF8: LineReader.Options.InvalidUTF8) {
    bytes = Platform.allocate(capacity + Self.slack)
    self.capacity = capacity
    starts = .allocate(capacity: lineCapacity + 1 + Self.slack)
    self.lineCapacity = lineCapacity
    self.path = path
    self.invalidUTF8 = invalidUTF8
  }

  deinit {
    Platform.deallocate(bytes)
    starts.deallocate()
  }

  /// Makes room for a longer line.
  ///
  /// The bytes keep their positions.
  func grow(to newCapacity: Int) {
    bytes = Platform.reallocate(bytes, newCapacity + Self.slack)
    capacity = newCapacity
  }

  /// The bytes of a line of the table.
  ///
  /// - Parameters:
  ///   - start: The line's entry in the table.
  ///   - next: The entry after it.
  ///   - strips: Whether a CR before the line's last byte is part of the line end.
  /// - Returns: The bytes, without the line end.
  @inline(__always)
  func line(from start: UInt32, to next: UInt32, strippingCarriageReturn strips: Bool) -> UnsafeRawBufferPointer {
    let first = UnsafeRawPointer(bytes) + Int(start)
    // The table holds only what was found by looking, so `next` is at least `start + 1`.
    var count = Int(next &- start) &- 1
    if strips, count > 0, first.load(fromByteOffset: count &- 1, as: UInt8.self) == LineScanner.carriageReturn {
      count &-= 1
    }
    return UnsafeRawBufferPointer(start: first, count: count)
  }
}
