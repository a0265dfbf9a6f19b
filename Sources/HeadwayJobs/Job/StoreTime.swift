public import FoundationEssentials
import Headway

/// A time of a store's clock, in microseconds since 1970.
public struct StoreTime: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
  /// The number of microseconds since the beginning of 1970, in UTC.
  public let microseconds: Int64

  /// Creates a time.
  ///
  /// - Parameter microseconds: The number of microseconds since the beginning of 1970, in UTC.
  public init(microseconds: Int64) { self.microseconds = microseconds }

  /// Creates a time from a date.
  ///
  /// - Parameter date: The date to convert. Fractions of a microsecond are rounded, and the time is limited to the
  ///   range of possible times.
  /// - Precondition: The date is not NaN (not a number).
  public init(_ date: Date) {
    require(
      !date.timeIntervalSince1970.isNaN,
      "A date is not a number (NaN), so it is neither before nor after other times. Check the computation of the date.")
    let exact = (date.timeIntervalSince1970 * 1_000_000).rounded()
    microseconds = Int64(exactly: exact) ?? (exact < 0 ? .min : .max)
  }

  /// The time as a date.
  public var date: Date { Date(timeIntervalSince1970: Double(microseconds) / 1_000_000) }

  /// The time as a date in ISO 8601 format, in UTC, with milliseconds.
  public var description: String { date.text }

  /// Compares two times.
  ///
  /// - Parameters:
  ///   - left: The time on the left side of the operator.
  ///   - right: Another time.
  /// - Returns: Whether the first time is earlier than the second.
  public static func < (left: StoreTime, right: StoreTime) -> Bool { left.microseconds < right.microseconds }

  /// Adds a duration to a time.
  ///
  /// - Parameters:
  ///   - time: The time to add to.
  ///   - duration: The duration to add, which can be negative. Fractions of a microsecond are dropped.
  /// - Returns: The sum, limited to the range of possible times.
  public static func + (time: StoreTime, duration: Duration) -> StoreTime {
    let (seconds, attoseconds) = duration.components
    let scaled = seconds.multipliedReportingOverflow(by: 1_000_000)
    let added = scaled.partialValue.addingReportingOverflow(attoseconds / 1_000_000_000_000)
    let sum = time.microseconds.addingReportingOverflow(added.partialValue)
    guard !scaled.overflow, !added.overflow, !sum.overflow else {
      return StoreTime(microseconds: duration < .zero ? .min : .max)
    }
    return StoreTime(microseconds: sum.partialValue)
  }

  /// Subtracts one time from another.
  ///
  /// - Parameters:
  ///   - left: The time to subtract from.
  ///   - right: The time to subtract.
  /// - Returns: The duration from the right time to the left one.
  public static func - (left: StoreTime, right: StoreTime) -> Duration {
    .microseconds(left.microseconds.subtractingReportingOverflow(right.microseconds).partialValue)
  }
}

extension StoreTime {
  /// The time of the system's clock.
  ///
  /// - Returns: The current time of this machine.
  public static func now() -> StoreTime { StoreTime(Date()) }
}
