import FoundationEssentials

extension Date {
  private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  /// The date and time in ISO 8601 format, in UTC, rounded to milliseconds.
  var text: String {
    // The style truncates to milliseconds, and sums of fractions can be slightly too small.
    let seconds = (timeIntervalSinceReferenceDate * 1_000).rounded() / 1_000
    return Date(timeIntervalSinceReferenceDate: seconds + 0.000_01).formatted(Self.style)
  }

  /// Whether the text can be read again: the date is in the years 1 to 318,857.
  var hasText: Bool { (-62_135_769_600...1e13).contains(timeIntervalSince1970) }

  /// Creates a date from text in ISO 8601 format, with or without fractions of a second; nil if the text is not a date.
  init?(text: String) {
    guard let date = try? Date(text, strategy: Self.style) else { return nil }
    self = date
  }
}
