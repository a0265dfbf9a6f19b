/// The end of a field, relative to the start of its record, and the form of the field.
///
/// A word of 32 bits is enough: a field starts one byte after the end of the previous field, and its content follows
/// from whether it is quoted. Two bits store the form, and 30 the position. For this reason, a record's maximum length
/// is below 1 GiB.
@usableFromInline
struct FieldEnd {
  @usableFromInline static let quoted: UInt32 = 1 << 31
  @usableFromInline static let rewritten: UInt32 = 1 << 30
  @usableFromInline static let positions: UInt32 = rewritten - 1

  @usableFromInline let word: UInt32

  /// Creates an end at a position, with flags for the form of the field.
  @inlinable
  @inline(__always)
  init(position: Int, flags: UInt32) {
    word = UInt32(truncatingIfNeeded: position) | flags
  }

  /// The offset of the delimiter or line ending after the field, from the start of the record.
  @inlinable
  @inline(__always)
  var position: Int {
    Int(word & Self.positions)
  }

  @inlinable
  @inline(__always)
  var isQuoted: Bool {
    word & Self.quoted != 0
  }

  /// Whether the content is not a contiguous part of the record, because quotes are doubled or escaped, or because
  /// spaces precede it.
  @inlinable
  @inline(__always)
  var isRewritten: Bool {
    word & Self.rewritten != 0
  }

  /// Whether the content is everything between the delimiters.
  @inlinable
  @inline(__always)
  var isPlain: Bool {
    word & (Self.quoted | Self.rewritten) == 0
  }
}

/// The ends of the current record's fields, in memory that is reused from record to record and only grows.
///
/// This is not an `Array`, because the scan writes to it in its inner loop, where a uniqueness check per field would be
/// measurable.
struct FieldTable: ~Copyable {
  private(set) var ends: UnsafeMutablePointer<FieldEnd>
  private(set) var capacity: Int

  init() {
    capacity = 64
    ends = .allocate(capacity: capacity)
  }

  deinit {
    ends.deallocate()
  }

  /// Doubles the capacity and keeps the first `count` ends.
  @inline(never)
  mutating func grow(keeping count: Int) {
    let larger = UnsafeMutablePointer<FieldEnd>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: ends, count: count)
    ends.deallocate()
    ends = larger
    capacity *= 2
  }
}
