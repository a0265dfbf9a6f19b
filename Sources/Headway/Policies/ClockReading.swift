/// Converts the moments of a clock to times that never go back.
///
/// If the clock goes back, the times continue from the last one. Several threads read the clock, and then note the
/// moment under a lock, in any order. A moment before one that was known before the thread read the clock shows that
/// the clock has gone back. If other threads have found this in the meantime, the moment may be from before that: then
/// the thread reads the clock again.
struct ClockReading<Instant: InstantProtocol> where Instant.Duration == Duration {
  /// The moment of the time 0.
  private var origin: Instant
  /// The latest moment since the clock has gone back.
  private var latest: Instant
  /// How often the clock has gone back, and its latest moment at a time.
  struct Version {
    fileprivate let count: Int
    fileprivate let latest: Instant
  }

  private var count = 0

  init(_ instant: Instant) { (origin, latest) = (instant, instant) }

  /// To be read before the clock.
  var version: Version { Version(count: count, latest: latest) }

  /// Notes a moment of the clock.
  ///
  /// - Parameters:
  ///   - instant: The moment.
  ///   - version: The version before the clock was read.
  /// - Returns: The time, and whether the clock has gone back; nil if the clock must be read again.
  mutating func note(_ instant: Instant, since version: Version) -> (time: PolicyTime, wentBack: Bool)? {
    guard version.count == count else { return nil }
    let wentBack = instant < version.latest
    if wentBack {
      // The time at the latest moment is that of this one.
      origin = instant.advanced(by: .zero - origin.duration(to: latest))
      (latest, count) = (instant, count + 1)
    } else if latest < instant {
      latest = instant
    }
    return (origin.duration(to: latest).wholeNanoseconds, wentBack)
  }

  /// The moment at which a time is reached.
  func instant(of time: PolicyTime) -> Instant { origin.advanced(by: .nanoseconds(time)) }
}
