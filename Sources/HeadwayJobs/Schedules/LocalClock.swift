import FoundationEssentials
// For the rules of time zones. FoundationEssentials alone supports only zones with a fixed offset.
import FoundationInternationalization

/// The local clock of a time zone, in whole seconds.
///
/// It caches the last period without a change, because ticks are often close to each other.
struct LocalClock {
  /// A period without a change of the clock.
  struct Period {
    /// The first second, since 1970 in UTC.
    let start: Int
    /// The second after the last one.
    let end: Int
    /// The difference between the time that the clock shows and UTC.
    let offset: Int
  }

  /// The range of times that is supported.
  static let range = -60_000_000_000...200_000_000_000

  private let zone: TimeZone
  private var last: Period?

  init(_ zone: TimeZone) { self.zone = zone }

  /// Returns the time zone with the given name, or nil if this process doesn't know its rules.
  static func zone(named name: String) -> TimeZone? { TimeZone(identifier: name) }

  /// Returns the rest of the period that contains a time.
  mutating func period(from time: Int) -> Period {
    if let last, last.start <= time, time < last.end { return last }
    let date = Date(timeIntervalSince1970: Double(time))
    var end = Self.range.upperBound
    if let next = zone.nextDaylightSavingTimeTransition(after: date) {
      end = min(end, Int(next.timeIntervalSince1970.rounded(.up)))
    }
    let period = Period(start: time, end: max(end, time + 1), offset: zone.secondsFromGMT(for: date))
    last = period
    return period
  }

  /// Returns the latest time that the clock has shown up to a moment.
  ///
  /// While the clock repeats a time, this is later than the time that the clock shows. No clock was ever set back by
  /// more than a day.
  mutating func latestShown(at time: Int) -> Int {
    let beginning = time - 2 * 86_400
    var period = period(from: beginning)
    var shown = Int.min
    while period.end <= time {
      shown = max(shown, period.end - 1 + period.offset)
      period = self.period(from: period.end)
    }
    return max(shown, time + period.offset)
  }
}
