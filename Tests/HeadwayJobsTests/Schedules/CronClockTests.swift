import FoundationEssentials
@_spi(JobStore) import HeadwayJobs
import Testing

/// Ticks where clocks change, at times from the IANA time zone database, in cases that other libraries got wrong.
@Suite struct CronClockTests {
  static let skipped: [ClockCase] = [
    // node-cron 563 and 518, rundeck 6879: 2:00 to 3:00 does not exist.
    ClockCase(
      "30 2 * * *", "America/New_York", after: "2026-03-07T12:00:00Z", "2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"),
    ClockCase(
      "0 2 * * 0-5", "America/New_York", after: "2022-03-13T06:50:00Z", "2022-03-13T07:00:00Z", "2022-03-14T06:00:00Z"),
    ClockCase(
      "0 3 * * *", "America/New_York", after: "2026-03-08T06:59:59Z", "2026-03-08T07:00:00Z", "2026-03-09T07:00:00Z"),
    // Several skipped times are one tick.
    ClockCase(
      "*/15 2,3 * * *", "Europe/Berlin", after: "2026-03-29T00:59:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:15:00Z"),
    ClockCase(
      "*/15 2 * * *", "Europe/Berlin", after: "2026-03-28T01:45:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"),
    // From the last second before the change (agent-os 2495).
    ClockCase("30 2 * * *", "America/New_York", after: "2026-03-08T06:59:59Z", "2026-03-08T07:00:00Z"),
    // Not earlier than the start (node-cron 517).
    ClockCase("0 * * * *", "America/New_York", after: "2026-03-08T06:30:00Z", "2026-03-08T07:00:00Z"),
    ClockCase("30 * * * *", "America/New_York", after: "2026-03-08T06:30:00Z", "2026-03-08T07:30:00Z"),
    ClockCase("*/5 * * * *", "America/New_York", after: "2026-03-08T06:55:00Z", "2026-03-08T07:00:00Z"),
    // A day without midnight (node-cron 118, cron-parser 25).
    ClockCase("0 0 19 10 *", "America/Sao_Paulo", after: "2014-10-18T12:00:00Z", "2014-10-19T03:00:00Z"),
    ClockCase(
      "0 0 * * *", "America/Sao_Paulo", after: "2014-10-18T12:00:00Z", "2014-10-19T03:00:00Z", "2014-10-20T02:00:00Z"),
    // A date once a year whose time is skipped (node-cron 919).
    ClockCase(
      "0 1 30 3 *", "Europe/Lisbon", after: "2025-01-01T00:00:00Z", "2025-03-30T01:00:00Z", "2026-03-30T00:00:00Z"),
    // Half an hour is skipped.
    ClockCase(
      "15 2 * * *", "Australia/Lord_Howe", after: "2026-10-03T12:00:00Z", "2026-10-03T15:30:00Z",
      "2026-10-04T15:15:00Z"),
    // A whole day is skipped: 30 December 2011.
    ClockCase(
      "0 12 * * *", "Pacific/Apia", after: "2011-12-29T12:00:00Z", "2011-12-29T22:00:00Z", "2011-12-30T10:00:00Z",
      "2011-12-30T22:00:00Z"),
    ClockCase(
      "0 12 * * fri", "Pacific/Apia", after: "2011-12-29T12:00:00Z", "2011-12-30T10:00:00Z", "2012-01-05T22:00:00Z"),
    // A quarter of an hour is skipped, and not because of daylight saving.
    ClockCase(
      "10 0 1 1 *", "Asia/Kathmandu", after: "1985-12-31T12:00:00Z", "1985-12-31T18:30:00Z", "1986-12-31T18:25:00Z"),
  ]

  static let repeated: [ClockCase] = [
    // node-cron 563, eliza 11099: 1:00 to 2:00 occurs twice.
    ClockCase(
      "30 1 * * *", "America/New_York", after: "2026-11-01T04:00:00Z", "2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"),
    ClockCase("30 1 * * *", "America/New_York", after: "2026-11-01T05:59:00Z", "2026-11-02T06:30:00Z"),
    ClockCase("30 1 * * *", "America/New_York", after: "2026-11-01T06:10:00Z", "2026-11-02T06:30:00Z"),
    ClockCase("0 2 * * *", "America/New_York", after: "2026-11-01T05:59:00Z", "2026-11-01T07:00:00Z"),
    ClockCase(
      "0,30 1,2 * * *", "America/New_York", after: "2026-11-01T04:59:00Z", "2026-11-01T05:00:00Z",
      "2026-11-01T05:30:00Z", "2026-11-01T07:00:00Z"),
    // No silent hour if the hour is a star (cron-plus 108, agent-os 2495).
    ClockCase(
      "*/30 * * * *", "America/New_York", after: "2026-11-01T05:29:00Z", "2026-11-01T05:30:00Z", "2026-11-01T06:00:00Z",
      "2026-11-01T06:30:00Z", "2026-11-01T07:00:00Z"),
    ClockCase(
      "0 0-23 * * *", "Europe/Berlin", after: "2026-10-24T23:59:00Z", "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z",
      "2026-10-25T02:00:00Z"),
    // The first minute of the repeated hour (cron-utils 112).
    ClockCase("* * * * *", "America/Sao_Paulo", after: "2016-02-21T02:00:00Z", "2016-02-21T02:01:00Z"),
    // The last hour of a day occurs twice, so that the day begins later.
    ClockCase("0 0 * * *", "America/Sao_Paulo", after: "2016-02-21T01:30:00Z", "2016-02-21T03:00:00Z"),
    ClockCase(
      "30 23 * * *", "America/Sao_Paulo", after: "2016-02-21T01:00:00Z", "2016-02-21T01:30:00Z",
      "2016-02-22T02:30:00Z"),
    // Half an hour occurs twice.
    ClockCase(
      "45 1 * * *", "Australia/Lord_Howe", after: "2026-04-04T14:00:00Z", "2026-04-04T14:45:00Z",
      "2026-04-05T15:15:00Z"),
    ClockCase(
      "*/15 * * * *", "Australia/Lord_Howe", after: "2026-04-04T14:44:00Z", "2026-04-04T14:45:00Z",
      "2026-04-04T15:00:00Z", "2026-04-04T15:15:00Z", "2026-04-04T15:30:00Z"),
  ]

  static let others: [ClockCase] = [
    // Days are not 24 hours long (cronie 218, croner 132).
    ClockCase("0 12 * * sun", "Europe/Berlin", after: "2022-03-24T11:00:00Z", "2022-03-27T10:00:00Z"),
    ClockCase("0 0 * * *", "America/Santiago", after: "2025-04-05T03:00:00Z", "2025-04-06T04:00:00Z"),
    // A clock of another zone does not matter (cronie 124).
    ClockCase("30 1 * * *", "UTC", after: "2022-10-30T00:59:00Z", "2022-10-30T01:30:00Z", "2022-10-31T01:30:00Z"),
    ClockCase("0 9 * * *", "Asia/Kathmandu", after: "2026-01-01T00:00:00Z", "2026-01-01T03:15:00Z"),
    // Twice a year, around a religious month.
    ClockCase(
      "30 2 * * *", "Africa/Casablanca", after: "2025-02-22T12:00:00Z", "2025-02-23T01:30:00Z", "2025-02-24T02:30:00Z"),
    // Eight years between two leap days.
    ClockCase("0 0 29 2 *", "UTC", after: "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z", "2108-02-29T00:00:00Z"),
    // Before 1970.
    ClockCase("59 23 31 12 *", "UTC", after: "1968-12-31T23:59:00Z", "1969-12-31T23:59:00Z", "1970-12-31T23:59:00Z"),
  ]

  @Test("J70: if the clock skips a time, its tick occurs at the next moment", arguments: CronClockTests.skipped)
  func skippedTimes(example: ClockCase) throws { try check(example) }

  @Test(
    "J70: if the clock repeats a time, it has one tick, unless the hour is a star", arguments: CronClockTests.repeated)
  func repeatedTimes(example: ClockCase) throws { try check(example) }

  @Test(
    "J70: ticks are right on longer and shorter days, in leap years, and in time zones",
    arguments: CronClockTests.others)
  func otherCases(example: ClockCase) throws { try check(example) }

  private func check(_ example: ClockCase) throws {
    let zone = try #require(TimeZone(identifier: example.zone))
    let found = try ticks(CronExpression(example.expression), example.ticks.count, after: example.start, in: zone)
    #expect(found.map { $0.formatted(.iso8601) } == example.ticks)
  }

  @Test("J70: a search ends for every date")
  func ends() throws {
    let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
    let expressions = try ["* * * * *", "0 0 29 2 *", "0 0 */31 2 mon"].map { try CronExpression($0) }
    let dates = [-1e300, -1e15, -1e11, -6e10, 0, 1e11, 2e11 - 1, 1e15, .infinity, -.infinity, .nan]
    for expression in expressions {
      for seconds in dates {
        let start = Date(timeIntervalSince1970: seconds)
        let next = expression.next(after: start, in: zone)
        if let next { #expect(next > start) }
        #expect((next != nil) == (abs(seconds) <= 1e11 && seconds >= -6e10), "\(expression) after \(seconds)")
      }
    }
  }

  @Test("J70: a tick is later than a date with a fraction")
  func fractions() throws {
    let minutes = try CronExpression("* * * * *")
    for (start, expected) in [(59.999, 60.0), (60, 120), (60.001, 120), (-0.5, 0), (-60.5, -60)] {
      let next = minutes.next(after: Date(timeIntervalSince1970: start), in: .gmt)
      #expect(next == Date(timeIntervalSince1970: expected))
    }
  }
}

/// An expression, and its ticks after a date.
struct ClockCase: CustomTestStringConvertible, Sendable {
  var expression: String
  var zone: String
  var start: String
  var ticks: [String]

  init(_ expression: String, _ zone: String, after start: String, _ ticks: String...) {
    (self.expression, self.zone, self.start, self.ticks) = (expression, zone, start, ticks)
  }

  var testDescription: String { "\(expression) \(zone) \(start)" }
}
