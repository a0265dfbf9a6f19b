/// Converts the instants of a clock to times that never go back.
///
/// If the clock goes back, the times continue from the last time that was read. Several threads read the clock, and
/// then note the instant under a lock, in any order. The clock has gone back if the instant is earlier than an instant
/// that was known before the thread read the clock. If other threads have detected this in the meantime, the instant
/// might be from before the change, so the thread reads the clock again.
struct ClockReading<Instant: InstantProtocol> where Instant.Duration == Duration {
  /// The instant at time 0.
  private var origin: Instant
  /// The latest instant since the clock last went back.
  private var latest: Instant
  /// How often the clock has gone back, and its latest instant at some time.
  struct Version {
    fileprivate let count: Int
    fileprivate let latest: Instant
  }

  private var count = 0

  init(_ instant: Instant) { (origin, latest) = (instant, instant) }

  /// Read this before the clock.
  var version: Version { Version(count: count, latest: latest) }

  /// Notes an instant of the clock.
  ///
  /// - Parameters:
  ///   - instant: The instant that the clock returned.
  ///   - version: The version before the clock was read.
  /// - Returns: The time, and whether the clock has gone back; nil if the clock must be read again.
  mutating func note(_ instant: Instant, since version: Version) -> (time: ClockTime, wentBack: Bool)? {
    guard version.count == count else { return nil }
    let wentBack = instant < version.latest
    if wentBack {
      // The latest instant and this instant have the same time.
      origin = instant.advanced(by: .zero - origin.duration(to: latest))
      (latest, count) = (instant, count + 1)
    } else if latest < instant {
      latest = instant
    }
    return (origin.duration(to: latest).wholeNanoseconds, wentBack)
  }

  /// The instant when a time is reached.
  func instant(of time: ClockTime) -> Instant { origin.advanced(by: .nanoseconds(time)) }
}
