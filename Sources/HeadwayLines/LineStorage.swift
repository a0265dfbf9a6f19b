/// The bytes of one chunk, and the table of the lines in it.
///
/// A ``LineBatch`` refers to a storage.
///
/// `@unchecked Sendable`, because its reference count protects it: ``LineAssembler`` writes to a storage only after
/// `isKnownUniquelyReferenced` has returned that no batch refers to it. While a batch refers to it, no thread writes,
/// wherever that batch has been sent.
final class LineStorage: @unchecked Sendable {
  /// How far a scan may read after the bytes and write after the table: the size of one block.
  static let slack = NewlineMask.blockSize

  private(set) var bytes: UnsafeMutableRawPointer
  private(set) var capacity: Int

  /// The positions where lines start.
  ///
  /// Line `i` of the table extends from entry `i` to entry `i + 1`, including its line ending.
  ///
  /// 32 bits are enough, because no buffer is larger than the largest maximum line length, 1 GiB, plus a chunk.
  let starts: UnsafeMutablePointer<UInt32>

  /// The number of lines that the table has room for, not counting the slack.
  let lineCapacity: Int

  /// The path for errors in these lines.
  let path: String

  /// How invalid UTF-8 in these lines is treated.
  let invalidUTF8Policy: LineReader.Options.InvalidUTF8Policy

  init(capacity: Int, lineCapacity: Int, path: String, invalidUTF8Policy: LineReader.Options.InvalidUTF8Policy) {
    bytes = Platform.allocate(capacity + Self.slack)
    self.capacity = capacity
    starts = .allocate(capacity: lineCapacity + 1 + Self.slack)
    self.lineCapacity = lineCapacity
    self.path = path
    self.invalidUTF8Policy = invalidUTF8Policy
  }

  deinit {
    Platform.deallocate(bytes)
    starts.deallocate()
  }

  /// Grows the buffer for a longer line.
  ///
  /// The bytes keep their positions.
  func grow(to newCapacity: Int) {
    bytes = Platform.reallocate(bytes, newCapacity + Self.slack)
    capacity = newCapacity
  }

  /// Returns the bytes of a line of the table.
  ///
  /// - Parameters:
  ///   - start: The line's entry in the table.
  ///   - next: The entry after it.
  ///   - strips: Whether a CR before the line's last byte is part of the line ending.
  /// - Returns: The bytes, without the line ending.
  @inline(__always)
  func line(from start: UInt32, to next: UInt32, strippingCarriageReturn strips: Bool) -> UnsafeRawBufferPointer {
    let first = UnsafeRawPointer(bytes) + Int(start)
    // Each entry in the table is the position after a line ending that was found, so `next` is at least `start + 1`.
    var count = Int(next &- start) &- 1
    if strips, count > 0, first.load(fromByteOffset: count &- 1, as: UInt8.self) == LineScanner.carriageReturn {
      count &-= 1
    }
    return UnsafeRawBufferPointer(start: first, count: count)
  }
}
