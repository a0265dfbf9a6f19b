#if Observability
import Headway

/// A type-erased clock.
struct MetricsClock: Sendable {
  /// The nanoseconds since the clock was created.
  let now: @Sendable () -> Int64
  /// Sleeps for a duration and returns false if the task is cancelled.
  let sleep: @Sendable (Duration) async -> Bool

  init<ClockType: Clock>(_ clock: ClockType) where ClockType.Duration == Duration {
    // The compiler specializes the first call.
    if let clock = clock as? ContinuousClock { self.init(reading: clock) } else { self.init(reading: clock) }
  }

  private init<ClockType: Clock>(reading clock: ClockType) where ClockType.Duration == Duration {
    let origin = clock.now
    now = { origin.duration(to: clock.now).nanoseconds }
    sleep = { (try? await clock.sleepAtMostCentury(for: $0)) != nil }
  }
}

extension Duration {
  /// The duration in nanoseconds, clamped to the range of `Int64`.
  fileprivate var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflowOfSum) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflow || overflowOfSum ? (seconds < 0 ? .min : .max) : sum
  }
}
#endif
