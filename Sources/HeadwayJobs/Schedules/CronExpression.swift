/// Recurring times of a local clock, in cron notation.
///
/// ```swift
/// let workdays = try CronExpression("30 8 * * mon-fri")
/// ```
///
/// An expression has five fields: the minute (0–59), the hour (0–23), the day of the month (1–31), the month (1–12 or
/// `jan`–`dec`), and the weekday (0–7 or `sun`–`sat`; 0 and 7 are Sunday). Each field is a list of parts, separated by
/// commas. A part is `*` for all values, a value, or a range such as `8-17`. A `/` and a number *n* after `*` or a
/// range select every *n*th value: `*/15` is 0, 15, 30 and 45.
///
/// If both the day of the month and the weekday are restricted, a day matches if it meets either of them. For example,
/// `0 0 1 * mon` matches the first day of each month and each Monday. As in Vixie cron, a field that begins with `*` is
/// not restricted in this sense, so `0 0 */2 * mon` is each Monday whose day of the month is odd.
///
/// Instead of the fields, you can write `@hourly`, `@daily` or `@midnight`, `@weekly`, `@monthly`, `@yearly` or
/// `@annually`.
///
/// An expression that matches no date, such as `0 0 31 2 *`, is rejected.
///
/// ## When the clock changes
///
/// If the hour field allows all hours, there is a tick whenever the clock shows a matching time. For example, `*/15 * *
/// * *` is every quarter of an hour, even while an hour is repeated.
///
/// Otherwise, there is exactly one tick for each matching time, at the first moment when the clock shows that time or a
/// later one. Therefore, a time that the clock skips has its tick immediately after the change, and a time that the
/// clock repeats has its tick the first time. Several skipped times share one tick.
public struct CronExpression: Hashable, Sendable, CustomStringConvertible {
  /// The fields, separated by single spaces, or the macro.
  public let description: String
  let minutes: UInt64
  let hours: UInt64
  let days: UInt64
  let months: UInt64
  let weekdays: UInt64
  /// Whether a day matches if it meets only one of the two fields for days.
  let isEitherDayEnough: Bool

  /// Whether there is a tick whenever the clock shows a matching time.
  var followsClock: Bool { hours == CronField.hour.all }

  /// Parses an expression.
  ///
  /// - Parameter text: Five fields, separated by spaces or tabs, or a macro. Case is ignored.
  /// - Throws: ``CronSyntaxError`` with the column of the error.
  public init(_ text: String) throws(CronSyntaxError) {
    var parser = CronParser(text)
    let sets = try parser.parse()
    description = parser.normalized
    minutes = sets[0].bits
    hours = sets[1].bits
    days = sets[2].bits
    months = sets[3].bits
    weekdays = sets[4].bits
    isEitherDayEnough = !sets[2].beginsWithStar && !sets[4].beginsWithStar
  }
}

extension CronExpression: Codable {
  /// Decodes an expression from its text.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: `DecodingError` or ``CronSyntaxError``.
  public init(from decoder: any Decoder) throws { try self.init(decoder.singleValueContainer().decode(String.self)) }

  /// Encodes the text of the expression.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: `EncodingError`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

// MARK: Times of a local clock

extension CronExpression {
  /// Finds the next matching time of a local clock, in seconds since the beginning of 1970 on that clock.
  ///
  /// - Parameter seconds: The earliest time that can be returned.
  /// - Returns: The first matching time; nil if there is none in the following 40 years.
  func firstLocalTime(from seconds: Int) -> Int? {
    let minute = -((-seconds).quotientAndFloor(60).quotient)
    let (day, minuteOfDay) = minute.quotientAndFloor(24 * 60)
    var date = CivilDate(day: day)
    if contains(date), let minute = firstMinute(from: minuteOfDay) { return (day * 24 * 60 + minute) * 60 }
    date.advance()
    let lastYear = date.year + 40
    while date.year <= lastYear {
      if !months.contains(date.month) {
        date.advanceToNextMonth()
      } else if contains(date), let minute = firstMinute(from: 0) {
        return (date.day * 24 * 60 + minute) * 60
      } else {
        date.advance()
      }
    }
    return nil
  }

  private func contains(_ date: CivilDate) -> Bool {
    guard months.contains(date.month) else { return false }
    let (isDay, isWeekday) = (days.contains(date.dayOfMonth), weekdays.contains(date.weekday))
    return isEitherDayEnough ? isDay || isWeekday : isDay && isWeekday
  }

  /// Finds the first matching minute of a day.
  private func firstMinute(from minute: Int) -> Int? {
    let (hour, minuteOfHour) = minute.quotientAndFloor(60)
    if hours.contains(hour), let minute = minutes.first(from: minuteOfHour) { return hour * 60 + minute }
    guard let next = hours.first(from: hour + 1), let minute = minutes.first(from: 0) else { return nil }
    return next * 60 + minute
  }
}

/// A set of numbers from 0 to 63, as bits.
extension UInt64 {
  func contains(_ number: Int) -> Bool { self & (1 << UInt64(number)) != 0 }

  /// Finds the smallest number in the set that is not less than another one.
  func first(from number: Int) -> Int? {
    let rest = self >> UInt64(number)
    return rest == 0 ? nil : number + rest.trailingZeroBitCount
  }
}
