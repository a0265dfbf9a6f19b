/// A time of a queue's clock, in nanoseconds since an arbitrary origin; about 292 years in either direction.
typealias ClockTime = Int64

extension Int64 {
  /// The sum, or the nearest value if it is out of range; such a time is never reached.
  func addedClamped(_ other: Int64) -> Int64 {
    let (sum, isOut) = addingReportingOverflow(other)
    return isOut ? (other > 0 ? .max : .min) : sum
  }

  /// The product, or the nearest value if it is out of range.
  func multipliedClamped(by other: Int64) -> Int64 {
    let (product, isOut) = multipliedReportingOverflow(by: other)
    return isOut ? ((self < 0) == (other < 0) ? .max : .min) : product
  }
}

extension Duration {
  /// The duration in nanoseconds, rounded up, so that nothing happens early; at most `Int64.max`.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let rest = attoseconds / 1_000_000_000 + (attoseconds % 1_000_000_000 > 0 ? 1 : 0)
    return seconds.multipliedClamped(by: 1_000_000_000).addedClamped(rest)
  }

  /// The duration in nanoseconds, rounded down.
  var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds.multipliedClamped(by: 1_000_000_000)
      .addedClamped(attoseconds / 1_000_000_000 - (attoseconds % 1_000_000_000 < 0 ? 1 : 0))
  }
}
