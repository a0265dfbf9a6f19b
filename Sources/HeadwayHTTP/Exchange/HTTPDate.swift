#if HTTP
package import Foundation

/// Times in header fields (RFC 9110, 5.6.7).
package enum HTTPDate {
  private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
  private static let weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
  private static let secondsPerDay = 86_400
  private static let fiftyYears = 50 * 365.2425 * 86_400

  /// Parses a time in one of the formats that every recipient must accept.
  ///
  /// - `Sun, 06 Nov 1994 08:49:37 GMT`
  /// - `Sunday, 06-Nov-94 08:49:37 GMT` (RFC 850)
  /// - `Sun Nov  6 08:49:37 1994` (`asctime`)
  ///
  /// A wrong weekday is ignored. `UTC` and `+0000` mean the same as `GMT`.
  ///
  /// - Parameters:
  ///   - text: The text of a header field.
  ///   - now: The time that two-digit years are relative to. A two-digit year is at most fifty years later.
  /// - Returns: The time; nil if the text is not a time in one of these formats.
  package static func parsed(_ text: String, now: Date = Date()) -> Date? {
    var parts = text.lowercased().split { " ,-\t".contains($0) }
    if let first = parts.first, weekdays.contains(String(first.prefix(3))) { parts.removeFirst() }
    if let zone = parts.lastIndex(where: { ["gmt", "utc", "+0000"].contains($0) }), zone > 2 { parts.remove(at: zone) }
    guard parts.count == 4 else { return nil }
    // Only `asctime` begins with the month.
    let isAsctime = months.contains(String(parts[0]))
    let (dayText, monthText) = isAsctime ? (parts[1], parts[0]) : (parts[0], parts[1])
    let (yearText, clock) = isAsctime ? (parts[3], parts[2]) : (parts[2], parts[3])
    guard let seconds = secondsOfDay(clock), let day = Int(digits: dayText), dayText.count <= 2,
      let month = months.firstIndex(of: String(monthText)), let year = Int(digits: yearText)
    else { return nil }
    func time(in year: Int) -> Date? {
      guard (1...length(ofMonth: month, in: year)).contains(day) else { return nil }
      return Date(timeIntervalSince1970: Double(days(before: month, in: year) + day - 1) * 86_400 + Double(seconds))
    }
    switch yearText.count {
    case 4: return time(in: year)
    case 2:
      let century = (Int(now.timeIntervalSince1970) / secondsPerDay * 400 / 146_097 + 1970) / 100 * 100
      guard let time = time(in: century + year), time.timeIntervalSince(now) <= fiftyYears else {
        return time(in: century + year - 100)
      }
      return time
    default: return nil
    }
  }

  private static func secondsOfDay(_ text: Substring) -> Int? {
    let numbers = text.split(separator: ":", omittingEmptySubsequences: false)
    guard numbers.count == 3, numbers.allSatisfy({ $0.count == 2 }), let hour = Int(digits: numbers[0]),
      let minute = Int(digits: numbers[1]), let second = Int(digits: numbers[2]),
      // A leap second has the number 60.
      hour < 24, minute < 60, second <= 60
    else { return nil }
    return (hour * 60 + minute) * 60 + second
  }

  private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  /// The number of days in a month; months are numbered from 0.
  private static func length(ofMonth month: Int, in year: Int) -> Int {
    month == 1 ? (isLeap(year) ? 29 : 28) : [3, 5, 8, 10].contains(month) ? 30 : 31
  }

  /// The number of days from the beginning of 1970 to the beginning of a month, in the Gregorian calendar.
  private static func days(before month: Int, in year: Int) -> Int {
    let years = year - 1
    let days = years * 365 + years / 4 - years / 100 + years / 400 - 719_162
    return (0..<month).reduce(days) { $0 + length(ofMonth: $1, in: year) }
  }
}

extension Int {
  /// Creates a number from ASCII digits without a sign; nil for any other text and for numbers that are too large.
  init?(digits text: some StringProtocol) {
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int(text) else {
      return nil
    }
    self = number
  }
}
#endif
