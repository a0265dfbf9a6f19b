public import FoundationEssentials

extension CronExpression {
  /// Finds the next tick.
  ///
  /// - Parameters:
  ///   - date: The time to start from. The tick is later.
  ///   - zone: The time zone of the clock.
  /// - Returns: The tick; nil if `date` is thousands of years in the past or future.
  public func next(after date: Date, in zone: TimeZone) -> Date? {
    let seconds = date.timeIntervalSince1970.rounded(.down)
    guard let time = Int(exactly: seconds) else { return nil }
    var ticks = CronTicks(self, LocalClock(zone))
    return ticks.next(after: time).map { Date(timeIntervalSince1970: Double($0)) }
  }
}

/// The ticks of an expression in a time zone, in seconds since 1970.
struct CronTicks {
  private let expression: CronExpression
  private var clock: LocalClock
  /// A matching time and an earlier one, with no matching time in between.
  private var found: (after: Int, time: Int)?

  init(_ expression: CronExpression, _ clock: LocalClock) {
    self.expression = expression
    self.clock = clock
  }

  /// Finds the next tick.
  ///
  /// - Parameter time: The time to start from. The tick is later.
  /// - Returns: The tick; nil if `time` is thousands of years in the past or future.
  mutating func next(after time: Int) -> Int? {
    guard LocalClock.range.contains(time) else { return nil }
    return expression.followsClock ? nextShown(after: time) : nextReached(after: time)
  }

  /// Finds the next moment when the clock shows a matching time.
  private mutating func nextShown(after time: Int) -> Int? {
    var start = time + 1
    while LocalClock.range.contains(start) {
      let period = clock.period(from: start)
      guard let local = firstLocalTime(from: start + period.offset) else { return nil }
      if local - period.offset < period.end { return local - period.offset }
      start = period.end
    }
    return nil
  }

  /// Finds the next moment when the clock shows a matching time, or a later one, for the first time.
  private mutating func nextReached(after time: Int) -> Int? {
    guard let local = firstLocalTime(from: clock.latestShown(at: time) + 1) else { return nil }
    // Clocks differ from UTC by less than a day.
    var start = max(time + 1, local - 86_400)
    while LocalClock.range.contains(start) {
      let period = clock.period(from: start)
      // Before `start`, the clock has not shown that time.
      let tick = max(local - period.offset, start)
      if tick < period.end { return tick }
      start = period.end
    }
    return nil
  }

  private mutating func firstLocalTime(from seconds: Int) -> Int? {
    if let found, found.after <= seconds, seconds <= found.time { return found.time }
    guard let time = expression.firstLocalTime(from: seconds) else { return nil }
    found = (seconds, time)
    return time
  }
}
