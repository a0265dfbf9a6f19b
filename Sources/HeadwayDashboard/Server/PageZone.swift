#if Dashboard
import Foundation
import HeadwayJobs
import Hummingbird

/// The time zone of the times in the pages of a browser.
///
/// A script of the pages stores a person's choice in a cookie. Without the cookie, times are in UTC.
struct PageZone: Sendable {
  /// The time zone of the page that the current task renders.
  @TaskLocal static var current = PageZone.utc

  static let utc = PageZone("UTC", .gmt)
  /// The name of the cookie, which contains nothing secret.
  private static let cookie = "jobs-time-zone"
  private static let maxNameLength = 64

  /// The identifier of the time zone, such as `Europe/Berlin`.
  let name: String
  private let zone: TimeZone

  private init(_ name: String, _ zone: TimeZone) { (self.name, self.zone) = (name, zone) }

  /// Finds a time zone; nil if there is none with this name.
  init?(named name: String?) {
    guard let name, name.utf8.count <= Self.maxNameLength, name.wholeMatch(of: /[A-Za-z0-9_+\/-]+/) != nil,
      let zone = TimeZone(identifier: name)
    else { return nil }
    self.init(name, zone)
  }

  /// Returns the time zone that a browser has chosen.
  init(_ request: Request) {
    self = PageZone(named: request.cookies[Self.cookie]?.value.removingPercentEncoding) ?? .utc
  }

  /// How much later the clocks of the zone are than UTC at a time.
  private func offset(at time: StoreTime) -> Duration { .seconds(zone.secondsFromGMT(for: time.date)) }

  /// Returns a date and time, for example `2026-11-30 14:03:12`.
  func text(_ time: StoreTime) -> String {
    let text = field(time)
    return text.isEmpty ? time.description : text.replacing("T", with: " ")
  }

  /// Returns a sentence whose times are in this zone instead of UTC.
  func localized(_ sentence: String) -> String {
    guard name != Self.utc.name else { return sentence }
    return sentence.replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\.[0-9]+)?Z/) { match in
      guard let date = try? Date(String(match.0.prefix(19)) + "Z", strategy: .iso8601) else { return String(match.0) }
      return "\(text(StoreTime(date))) (\(name))"
    }
  }

  // MARK: Fields of forms

  /// Returns a time in the format of a field; empty if its year does not have four digits.
  func field(_ time: StoreTime) -> String {
    let local = time + offset(at: time)
    let second = StoreTime(microseconds: local.microseconds - local.microseconds % 1_000_000)
    guard (0..<253_402_300_800_000_000).contains(second.microseconds) else { return "" }
    return String(second.description.prefix(19))
  }

  /// Returns the time in a field; nil if the text is not a time.
  ///
  /// - Parameter text: For example, `2026-11-30T14:03`, with or without seconds. A `Z` at the end indicates UTC.
  /// - Returns: The time; of two times with the same text, one of them.
  func time(_ text: String) -> StoreTime? {
    let format = /([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2})(:[0-9]{2})?(\.[0-9]+)?(Z)?/
    guard let match = text.wholeMatch(of: format),
      case let exact = "\(match.1)T\(match.2)\(match.3 ?? ":00")",
      // The strategy also reads the 30th of February.
      let date = try? Date("\(exact)Z", strategy: .iso8601),
      case let time = StoreTime(date), Self.utc.field(time) == exact
    else { return nil }
    guard match.5 == nil else { return time }
    // The offset is that of the local time, which is close to the one of UTC.
    let near = time + (.zero - offset(at: time))
    return time + (.zero - offset(at: near))
  }
}
#endif
