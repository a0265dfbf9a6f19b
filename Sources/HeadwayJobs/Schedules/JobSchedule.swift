public import FoundationEssentials
import Headway

/// When the jobs of a schedule are added: at times of a local clock, or at equal intervals.
///
/// ```swift
/// import FoundationEssentials
///
/// if let zone = TimeZone(identifier: "Europe/Berlin") {
///   try await jobs.schedule("nightly", .cron("0 3 * * *", in: zone), job: Resize(path: "new"))
/// }
/// try await jobs.schedule("often", .every(.seconds(30)), job: Resize(path: "new"))
/// ```
public struct JobSchedule: Hashable, Codable, Sendable, CustomStringConvertible {
  private enum Rule: Hashable, Codable {
    case cron(CronExpression, zone: String)
    case every(Duration)
  }

  private let rule: Rule

  private init(_ rule: Rule) { self.rule = rule }

  /// Creates a schedule with ticks at the times of a cron expression.
  ///
  /// - Parameters:
  ///   - expression: The text of the expression; see ``CronExpression``.
  ///   - zone: The time zone of the clock; UTC by default.
  /// - Returns: A schedule that follows the expression.
  /// - Throws: ``CronSyntaxError`` with the column of the error.
  public static func cron(
    _ expression: String, in zone: TimeZone = .gmt
  ) throws(CronSyntaxError) -> JobSchedule {
    cron(try CronExpression(expression), in: zone)
  }

  /// Creates a schedule with ticks at the times of a cron expression.
  ///
  /// - Precondition: The zone has a known identifier. The identifier is stored, and each process uses its own rules for
  ///   that zone.
  /// - Parameters:
  ///   - expression: The times of the ticks, on a clock in `zone`.
  ///   - zone: The time zone of the clock; UTC by default.
  /// - Returns: A schedule that follows the expression.
  public static func cron(_ expression: CronExpression, in zone: TimeZone = .gmt) -> JobSchedule {
    require(
      LocalClock.zone(named: zone.identifier) != nil,
      "The time zone \(zone.identifier) has no known identifier. Use a named time zone, such as Europe/Berlin."
    )
    return JobSchedule(.cron(expression, zone: zone.identifier))
  }

  /// Creates a schedule with ticks at equal intervals, with the first tick after the first interval.
  ///
  /// The intervals do not depend on when jobs run, so they don't drift.
  ///
  /// - Precondition: The interval is at least a second and at most 100 years.
  /// - Parameter interval: The time from one tick to the next.
  /// - Returns: A schedule with ticks at this interval.
  public static func every(_ interval: Duration) -> JobSchedule {
    require(
      interval >= .seconds(1) && interval <= .seconds(36_525 * 86_400),
      "The interval of a schedule is \(interval): use one second to 100 years.")
    return JobSchedule(.every(interval))
  }

  /// The cron expression and the time zone, or the interval.
  public var description: String {
    switch rule {
    case .cron(let expression, let zone): "\(expression) \(zone)"
    case .every(let interval): "every \(interval)"
    }
  }

  /// Returns the ticks.
  ///
  /// - Parameter anchor: When the first interval begins.
  /// - Returns: The ticks; nil if this process does not know the time zone.
  func ticks(from anchor: StoreTime) -> ScheduleTicks? {
    switch rule {
    case .cron(let expression, let name):
      LocalClock.zone(named: name).map { .cron(CronTicks(expression, LocalClock($0))) }
    case .every(let interval): .every(Int64(interval / .microseconds(1)), anchor)
    }
  }
}
