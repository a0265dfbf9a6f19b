import FoundationEssentials
@_spi(JobStore) import HeadwayJobs
import Testing

/// A date in ISO 8601.
func date(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }

/// The first ticks after a date, by default the last second of 2025.
func ticks(
  _ expression: CronExpression, _ count: Int, after start: String = "2025-12-31T23:59:59Z", in zone: TimeZone = .gmt
) throws -> [Date] {
  var (ticks, last) = ([Date](), try date(start))
  for _ in 0..<count {
    last = try #require(expression.next(after: last, in: zone))
    ticks.append(last)
  }
  return ticks
}
