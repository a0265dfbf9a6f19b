/// The ticks of a schedule.
enum ScheduleTicks {
  case cron(CronTicks)
  /// The interval in microseconds, and when the first one begins.
  case every(Int64, StoreTime)

  /// Finds the next tick.
  ///
  /// - Parameter time: The time to start from. The tick is later.
  /// - Returns: The tick; nil if `time` is thousands of years in the past or future.
  mutating func next(after time: StoreTime) -> StoreTime? {
    switch self {
    case .cron(var ticks):
      let next = ticks.next(after: Int(time.microseconds.quotientAndFloor(1_000_000).quotient))
      self = .cron(ticks)
      return next.map { StoreTime(microseconds: Int64($0) * 1_000_000) }
    case .every(let interval, let anchor):
      let elapsed = time.microseconds.subtractingReportingOverflow(anchor.microseconds)
      guard !elapsed.overflow else { return nil }
      let number = max(0, elapsed.partialValue.quotientAndFloor(interval).quotient)
      let offset = interval.multipliedReportingOverflow(by: number + 1)
      let next = anchor.microseconds.addingReportingOverflow(offset.partialValue)
      return offset.overflow || next.overflow ? nil : StoreTime(microseconds: next.partialValue)
    }
  }

  /// Finds the last ticks of a period.
  ///
  /// It searches increasingly long parts at the end of the period, so it is quick even if the period is long.
  ///
  /// - Parameters:
  ///   - count: The maximum number of ticks.
  ///   - start: The beginning of the period. All ticks are later.
  ///   - end: The end of the period, which can be a tick.
  /// - Returns: The ticks, earliest first.
  mutating func last(_ count: Int, after start: StoreTime, through end: StoreTime) -> [StoreTime] {
    var length = Duration.seconds(3_600)
    while true {
      let begin = max(start, end + (.zero - length))
      var ticks: [StoreTime] = []
      var time = begin
      while let next = next(after: time), next <= end {
        ticks.append(next)
        time = next
      }
      if ticks.count >= count || begin == start { return Array(ticks.suffix(count)) }
      length *= 4
    }
  }
}
