import Dispatch

/// The pace of a visit: how many operations to take at a time, and when other queues have their turn.
struct Pace {
  /// The time that a batch should take, in nanoseconds.
  ///
  /// An operation that becomes ready during the batch waits at most this long before it runs ahead of operations of its
  /// priority that were added later.
  private static let longestBatch: UInt64 = 200_000
  /// Work that takes less than this, in nanoseconds, is not worth sharing: waking another thread takes that long.
  private static let shortBatch: UInt64 = 10_000
  /// Other work has its turn after this time, in nanoseconds.
  private static let longestTurn: UInt64 = 1_000_000
  /// A batch that began longer ago than this, in nanoseconds, is late: the rest of it is reclaimed for other threads.
  static let lateBatch: UInt64 = 1_000_000

  private let begin = DispatchTime.now().uptimeNanoseconds
  /// When the thread last finished operations, in nanoseconds of uptime.
  private(set) var last: UInt64

  /// How many operations to take at most.
  private(set) var allowance = 1
  /// How many to take even if none remain for other threads.
  private(set) var indivisible = 1

  init() { last = begin }

  /// Records that the thread has run `count` operations since the last call.
  mutating func record(_ count: Int) {
    let now = DispatchTime.now().uptimeNanoseconds
    let each = max(1, (now - last) / UInt64(max(1, count)))
    last = now
    indivisible = Int(Self.shortBatch / each)
    allowance = max(1, min(Int(Self.longestBatch / each), allowance * 2, Batch.capacity))
  }

  var isTurnOver: Bool { last - begin > Self.longestTurn }
}
