import Dispatch

/// How fast a visit goes: how many operations to take at a time, and when others have their turn.
struct Pace {
  /// A batch is to be run in this time, in nanoseconds: so long, at most, does an operation that has become ready
  /// meanwhile wait for its place before others of its priority that were added later.
  private static let longestBatch: UInt64 = 200_000
  /// What takes less than this, in nanoseconds, is not worth sharing out: waking another thread takes as long.
  private static let shortBatch: UInt64 = 10_000
  /// Others have their turn after this time, in nanoseconds.
  private static let longestTurn: UInt64 = 1_000_000
  /// A batch that was begun before this time ago, in nanoseconds, is late, and what is left of it is for others.
  static let lateBatch: UInt64 = 1_000_000

  private let begin = DispatchTime.now().uptimeNanoseconds
  /// When the thread last ended something, in nanoseconds of uptime.
  private(set) var last: UInt64

  /// How many operations to take, at most.
  private(set) var allowance = 1
  /// How many to take even if that leaves none for others.
  private(set) var indivisible = 1

  init() { last = begin }

  /// The thread has run so many operations since this was last called.
  mutating func record(_ count: Int) {
    let now = DispatchTime.now().uptimeNanoseconds
    let each = max(1, (now - last) / UInt64(max(1, count)))
    last = now
    indivisible = Int(Self.shortBatch / each)
    allowance = max(1, min(Int(Self.longestBatch / each), allowance * 2, Batch.capacity))
  }

  var isTurnOver: Bool { last - begin > Self.longestTurn }
}
