#if HTTP
import Foundation
import HeadwayHTTP
import HeadwayTestSupport
import Testing

@Suite("HTTP: dates", .hangLimit) struct HTTPDateTests {
  /// The time of the example in RFC 9110, 5.6.7.
  private static let time = Date(timeIntervalSince1970: 784_111_777)
  /// A time in November 2026.
  private static let now = Date(timeIntervalSince1970: 1_795_867_200)

  @Test(
    "H7: a date is read in each of its formats",
    arguments: [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
      "Sun, 6 Nov 1994 08:49:37 UTC", "06 Nov 1994 08:49:37 +0000", "sun, 06-nov-1994 08:49:37 gmt",
      "Mon, 06 Nov 1994 08:49:37 GMT", "Sun Nov 06 08:49:37 1994", "Sun Nov 6 08:49:37 GMT 1994",
    ])
  func forms(text: String) { #expect(HTTPDate.parsed(text, now: Self.now) == Self.time) }

  @Test(
    "H7: a two-digit year is at most fifty years later",
    arguments: [("26", 2026), ("76", 2076), ("77", 1977), ("99", 1999), ("00", 2000), ("69", 2069)])
  func century(digits: String, year: Int) {
    let short = HTTPDate.parsed("Sunday, 01-Nov-\(digits) 00:00:00 GMT", now: Self.now)
    #expect(short != nil && short == HTTPDate.parsed("Sun, 01 Nov \(year) 00:00:00 GMT"))
  }

  @Test("H7: dates follow the Gregorian calendar")
  func calendar() throws {
    let format = ISO8601DateFormatter()
    for year in 1600...2400 {
      for (month, name) in [("01", "Jan"), ("02", "Feb"), ("03", "Mar"), ("12", "Dec")] {
        let date = try #require(format.date(from: "\(year)-\(month)-28T23:59:59Z"))
        #expect(HTTPDate.parsed("Sun, 28 \(name) \(year) 23:59:59 GMT") == date)
      }
    }
    let leap = try #require(HTTPDate.parsed("Tue, 29 Feb 2000 23:59:60 GMT"))
    #expect(leap == HTTPDate.parsed("Wed, 01 Mar 2000 00:00:00 GMT"))
  }

  @Test(
    "H7: other strings are not dates",
    arguments: [
      "", "0", "-1", "Sun", "Sun, 06 Nov 1994", "Sun, 31 Nov 1994 08:49:37 GMT", "Thu, 29 Feb 1900 00:00:00 GMT",
      "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
      "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:37 PST", "Sun, 06 Nov 1994 08:49:37 +0100",
      "Sun, 06 Nov 994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "1994-11-06T08:49:37Z",
      "Sun, 06 Nov 1994 +8:49:37 GMT", "Sun, 06 Nov 99999999999999999999 08:49:37 GMT", "GMT GMT GMT GMT GMT",
    ])
  func invalid(text: String) { #expect(HTTPDate.parsed(text) == nil) }
}
#endif
