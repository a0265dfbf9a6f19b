#if Jobs
import ArgumentParser
import Foundation
import HeadwayJobs

/// The value of an option for a time: a date, or a duration before or after the current time.
enum JobTime: Hashable {
  case date(StoreTime)
  case fromNow(Duration)

  /// Reads the value of an option.
  ///
  /// - Parameter text: A date in ISO 8601 format, in UTC if it has no offset, or a duration with a sign.
  /// - Throws: `ValidationError` with the accepted forms.
  init(_ text: String) throws {
    if let time = Self.time(text) {
      self = .date(time)
    } else if let duration = Self.duration(text) {
      self = .fromNow(duration)
    } else {
      throw ValidationError(
        "use a date, such as 2026-07-29, 2026-07-29T08:30 (in UTC) or 2026-07-29T08:30:00+02:00, or a duration from "
          + "now, such as +10m, +1h30m or -7d.")
    }
  }

  /// Returns the time.
  ///
  /// - Parameter now: The time that durations are relative to.
  /// - Returns: The point in time, for a date or a duration.
  func time(at now: StoreTime) -> StoreTime {
    switch self {
    case .date(let time): time
    case .fromNow(let duration): now + duration
    }
  }

  private static func time(_ text: String) -> StoreTime? {
    let date = #/([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ](.+))?/#
    guard let match = text.wholeMatch(of: date) else { return nil }
    var parts = DateComponents(
      calendar: Calendar(identifier: .gregorian), timeZone: .gmt, year: Int(match.1), month: Int(match.2),
      day: Int(match.3))
    var rest = Duration.zero
    if let text = match.4 {
      let time = #/([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,6}))?)?(Z|[+-].+)?/#
      guard let match = text.wholeMatch(of: time), let offset = offset(match.5 ?? "Z") else { return nil }
      (parts.hour, parts.minute, parts.second) = (Int(match.1), Int(match.2), match.3.flatMap { Int($0) } ?? 0)
      let fraction = (match.4 ?? "").padding(toLength: 6, withPad: "0", startingAt: 0)
      rest = .microseconds(Int(fraction) ?? 0) - offset
    }
    // Without the check, 31 February would be a day in March.
    guard parts.isValidDate, let date = parts.date else { return nil }
    return StoreTime(date) + rest
  }

  /// Reads the offset of a time zone.
  private static func offset(_ text: Substring) -> Duration? {
    if text == "Z" { return .zero }
    guard let match = text.wholeMatch(of: #/([+-])([0-9]{2})(?::?([0-9]{2}))?/#), let hours = Int(match.2),
      let minutes = Int(match.3 ?? "0"), hours < 24, minutes < 60
    else { return nil }
    return .seconds((hours * 60 + minutes) * (match.1 == "-" ? -60 : 60))
  }

  /// Reads a duration that begins with its sign.
  static func duration(_ text: String) -> Duration? {
    let parts = #/([+-])(?:([0-9]{1,9})d)?(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9})s)?/#
    guard let match = text.wholeMatch(of: parts) else { return nil }
    let numbers = [match.2, match.3, match.4, match.5]
    guard numbers.contains(where: { $0 != nil }) else { return nil }
    let seconds = zip(numbers, [86_400, 3_600, 60, 1]).map { (Int($0 ?? "0") ?? 0) * $1 }.reduce(0, +)
    // A longer duration is a mistake, and the resulting date might have no text.
    guard seconds <= 1_000 * 365 * 86_400 else { return nil }
    return .seconds(match.1 == "-" ? -seconds : seconds)
  }
}
#endif
