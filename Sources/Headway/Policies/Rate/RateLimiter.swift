/// Determines how many operations a ``RateLimit`` allows to start at a given time.
///
/// A state machine without a clock or locks. The queue's clock defines the times, in nanoseconds.
struct RateLimiter {
  let limit: RateLimit
  private var bucket: TokenBucket
  private var window: SlidingWindow

  init(_ limit: RateLimit) {
    self.limit = limit
    bucket = TokenBucket(limit)
    window = SlidingWindow(limit)
  }

  /// Returns how many operations may start now.
  mutating func available(at now: ClockTime) -> Int {
    switch limit.algorithm {
    case .tokenBucket: bucket.available(at: now)
    case .slidingWindow: window.available(at: now)
    }
  }

  /// Counts a start.
  mutating func noteStart(at now: ClockTime) {
    switch limit.algorithm {
    case .tokenBucket: bucket.noteStart(at: now)
    case .slidingWindow: window.noteStart(at: now)
    }
  }

  /// The time when the next operation may start: now, or later.
  mutating func nextStart(after now: ClockTime) -> ClockTime {
    switch limit.algorithm {
    case .tokenBucket: bucket.nextStart(after: now)
    case .slidingWindow: window.nextStart(after: now)
    }
  }

  /// Whether earlier starts no longer count.
  mutating func isUnused(at now: ClockTime) -> Bool {
    switch limit.algorithm {
    case .tokenBucket: bucket.isFull(at: now)
    case .slidingWindow: window.available(at: now) == limit.count
    }
  }

  /// A token bucket, stored as the time when it will be full.
  ///
  /// The rate does not drift. Fractions of a nanosecond are counted: 3 starts per second have intervals of 333,333,333
  /// and one third nanoseconds. A thread that wakes a little late delays no later start: the bucket fills from the time
  /// when it was full, unless that was more than ``lateness`` ago.
  private struct TokenBucket {
    /// How late a start can be without a loss, in nanoseconds.
    private static let lateness: Int64 = 1_000_000

    /// The period in nanoseconds; a start removes this many units from a bucket that gains `count` units per
    /// nanosecond.
    private let period: Int64
    private let count: Int64
    private let burst: Int64
    /// When the bucket is full: whole nanoseconds, and a fraction in units of 1 / `count`.
    private var fullTime = ClockTime.min
    private var fraction: Int64 = 0

    init(_ limit: RateLimit) {
      (period, count) = (max(1, limit.period.nanoseconds), Int64(limit.count))
      if case .tokenBucket(let burst) = limit.algorithm { self.burst = Int64(burst) } else { burst = 1 }
    }

    /// How far before the bucket is full an operation may start, in units of 1 / `count` nanoseconds.
    ///
    /// One start fills an interval; with a burst of one, the bucket must be full. Such products need more than 64 bits.
    private var tolerance: Int128 { Int128(burst - 1) * Int128(period) }

    func available(at now: ClockTime) -> Int {
      let missing = missingUnits(at: now)
      guard missing <= tolerance else { return 0 }
      return Int(min(Int128(burst), (tolerance - missing) / Int128(period) + 1))
    }

    func isFull(at now: ClockTime) -> Bool { missingUnits(at: now) == 0 }

    /// How far the bucket is from being full, in units of 1 / `count` nanoseconds.
    private func missingUnits(at now: ClockTime) -> Int128 {
      guard fullTime > now || (fullTime == now && fraction > 0) else { return 0 }
      return (Int128(fullTime) - Int128(now)) * Int128(count) + Int128(fraction)
    }

    mutating func noteStart(at now: ClockTime) {
      if missingUnits(at: now) == 0, fullTime < now.addedClamped(-Self.lateness) { (fullTime, fraction) = (now, 0) }
      fraction += period % count
      fullTime = fullTime.addedClamped(period / count + fraction / count)
      fraction %= count
    }

    func nextStart(after now: ClockTime) -> ClockTime {
      let early = missingUnits(at: now) - tolerance
      return early <= 0 ? now : now.addedClamped(Int64(clamping: (early + Int128(count) - 1) / Int128(count)))
    }
  }

  /// The times of the last starts.
  private struct SlidingWindow {
    private let period: Int64
    private let count: Int
    private var starts = FirstInFirstOut<ClockTime>()

    init(_ limit: RateLimit) { (period, count) = (max(1, limit.period.nanoseconds), limit.count) }

    mutating func available(at now: ClockTime) -> Int {
      forget(before: now)
      return count - starts.count
    }

    mutating func noteStart(at now: ClockTime) {
      forget(before: now)
      starts.append(now)
    }

    mutating func nextStart(after now: ClockTime) -> ClockTime {
      forget(before: now)
      return starts.count < count ? now : starts[starts.count - count].addedClamped(period)
    }

    private mutating func forget(before now: ClockTime) {
      // After a long pause, the list can contain as many starts as the limit allows, so all are removed together.
      if !starts.isEmpty, starts[starts.count - 1].addedClamped(period) <= now { return starts = FirstInFirstOut() }
      while !starts.isEmpty, starts[0].addedClamped(period) <= now { _ = starts.popFirst() }
    }
  }
}
