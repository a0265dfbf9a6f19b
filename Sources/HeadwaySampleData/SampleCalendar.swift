/// The days when the services of a sample feed run: the timetable year from December 14, 2025, to December 12, 2026.
enum SampleCalendar {
  static let dayCount = 364
  static let firstDate = date(ofDay: 0)
  static let lastDate = date(ofDay: dayCount - 1)

  /// Public holidays, as days of the year: Christmas, New Year, Good Friday, Easter Monday, May Day, Ascension, Whit
  /// Monday, German Unity.
  static let holidays = [11, 12, 18, 110, 113, 138, 151, 162, 293]

  /// The lengths of the months from December 2025 to December 2026.
  private static let monthLengths = [31, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

  /// The date of a day, counted from 0 for December 14, 2025, as the number `YYYYMMDD`.
  static func date(ofDay day: Int) -> Int {
    var rest = day + 13
    var month = 0
    while rest >= monthLengths[month] {
      rest -= monthLengths[month]
      month += 1
    }
    let year = month == 0 ? 2025 : 2026
    let monthOfYear = month == 0 ? 12 : month
    return year * 10_000 + monthOfYear * 100 + rest + 1
  }

  /// The days when a service runs.
  enum Pattern: CaseIterable {
    case weekdays
    /// On single dates, like most services in the feed of Berlin.
    case singleDates
    case weekends
    case daily

    /// Monday to Sunday.
    var week: [Int] {
      switch self {
      case .weekdays: [1, 1, 1, 1, 1, 0, 0]
      case .singleDates: [0, 0, 0, 0, 0, 0, 0]
      case .weekends: [0, 0, 0, 0, 0, 1, 1]
      case .daily: [1, 1, 1, 1, 1, 1, 1]
      }
    }
  }

  /// The pattern of a service.
  ///
  /// Services are counted from 1.
  static func pattern(ofService service: Int) -> Pattern {
    Pattern.allCases[(service - 1) % Pattern.allCases.count]
  }
}
