/// A unit of time.
enum TimeUnit: Int64, CaseIterable {
  case nanoseconds = 1
  case microseconds = 1000
  case milliseconds = 1_000_000
  case seconds = 1_000_000_000

  var symbol: String {
    switch self {
    case .nanoseconds: "ns"
    case .microseconds: "µs"
    case .milliseconds: "ms"
    case .seconds: "s"
    }
  }

  /// The largest unit that is not longer than a time.
  static func fitting(_ nanoseconds: Int64) -> TimeUnit {
    allCases.last { $0.rawValue <= nanoseconds } ?? .nanoseconds
  }
}

/// Writes a time with its unit, with at least two significant digits: `4.1 s`, `12.5 ms`, `980 ns`.
///
/// - Parameter nanoseconds: The time, in nanoseconds.
/// - Returns: The time with a unit.
func timeText(_ nanoseconds: Int64) -> String {
  let unit = TimeUnit.fitting(nanoseconds)
  let value = Double(nanoseconds) / Double(unit.rawValue)
  let places = unit == .nanoseconds || value >= 100 ? 0 : value >= 10 ? 1 : 2
  return "\(decimalText(value, places: places)) \(unit.symbol)"
}

/// Writes a duration like a time in nanoseconds.
func timeText(_ duration: Duration) -> String { timeText(duration.nanoseconds) }

/// Writes a number with at most `places` decimals, without zeros at the end.
///
/// - Parameters:
///   - value: The number to format.
///   - places: The number of decimals.
/// - Returns: The number in decimal notation.
func decimalText(_ value: Double, places: Int = 2) -> String {
  let scale = powersOfTen[places]
  let scaled = (value.magnitude * scale).rounded()
  guard scaled < 1e15 else { return "\(value)" }
  let (whole, fraction) = Int64(scaled).quotientAndRemainder(dividingBy: Int64(scale))
  let sign = value < 0 && scaled > 0 ? "-" : ""
  guard fraction > 0 else { return "\(sign)\(whole)" }
  var digits = String(fraction)
  digits = String(repeating: "0", count: places - digits.count) + digits
  while digits.last == "0" { digits.removeLast() }
  return "\(sign)\(whole).\(digits)"
}

private let powersOfTen: [Double] = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
