/// A day of the Gregorian calendar.
struct CivilDate: Hashable {
  /// The number of days since January 1, 1970.
  private(set) var day: Int
  private(set) var year: Int
  /// The number, from 1.
  private(set) var month: Int
  /// The number, from 1.
  private(set) var dayOfMonth: Int

  /// Creates a date.
  ///
  /// - Parameter day: The number of days since January 1, 1970.
  init(day: Int) {
    self.day = day
    // Days are counted from March 1 of a year that is divisible by 400, so that a leap day is the last day of its year.
    let (era, dayOfEra) = (day + 719_468).quotientAndFloor(146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    dayOfMonth = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// The weekday, from 0 for Sunday to 6 for Saturday.
  var weekday: Int { (day + 4).quotientAndFloor(7).remainder }

  private var daysOfMonth: Int {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    default: 31
    }
  }

  mutating func advance() {
    guard dayOfMonth < daysOfMonth else { return advanceToNextMonth() }
    day += 1
    dayOfMonth += 1
  }

  mutating func advanceToNextMonth() {
    day += daysOfMonth - dayOfMonth + 1
    dayOfMonth = 1
    (year, month) = month == 12 ? (year + 1, 1) : (year, month + 1)
  }
}

extension FixedWidthInteger where Self: SignedInteger {
  /// Divides, and rounds the quotient down.
  func quotientAndFloor(_ divisor: Self) -> (quotient: Self, remainder: Self) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
