/// Where a field ends, relative to its record's start, and how it is written.
///
/// One word of 32 bits suffices: a field starts one byte behind the end of the field before it, and its content follows
/// from whether it is quoted. Two bits are for that, 30 for the position, which is why a record's maximum is below 1
/// GiB.
@usableFromInline
struct FieldEnd {
  @usableFromInline static let quoted: UInt32 = 1 << 31
  @usableFromInline static let rewritten: UInt32 = 1 << 30
  @usableFromInline static let positions: UInt32 = rewritten - 1

  @usableFromInline let word: UInt32

  /// An end at a position, with the flags of the field's form.
  @inlinable
  @inline(__always)
  init(position: Int, flags: UInt32) {
    word = UInt32(truncatingIfNeeded: position) | flags
  }

  /// The offset of the delimiter or line end behind the field from the record's start.
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

  /// Whether the content is not a stretch of the record: quotes are doubled or escaped, or spaces come before it.
  @inlinable
  @inline(__always)
  var isRewritten: Bool {
    word & Self.rewritten != 0
  }

  /// Whether the content is all that is between the delimiters.
  @inlinable
  @inline(__always)
  var isPlain: Bool {
    word & (Self.quoted | Self.rewritten) == 0
  }
}

/// The ends of the current record's fields: memory that is reused from record to record and only ever grows.
///
/// It is not an `Array`, because the scan writes to it in its inner loop, where a uniqueness check per field would
/// show.
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

  /// Doubles the capacity and keeps the first ends.
  @inline(never)
  mutating func grow(keeping count: Int) {
    let larger = UnsafeMutablePointer<FieldEnd>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: ends, count: count)
    ends.deallocate()
    ends = larger
    capacity *= 2
  }
}
