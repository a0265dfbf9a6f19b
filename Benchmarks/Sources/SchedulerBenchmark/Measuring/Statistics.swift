extension Sequence<Double> {
  var median: Double { quantile(0.5) }

  /// The value below which that part of them lies.
  func quantile(_ part: Double) -> Double {
    let sorted = self.sorted()
    precondition(!sorted.isEmpty, "Nothing was measured.")
    return sorted[Swift.min(sorted.count - 1, Int(Double(sorted.count) * part))]
  }
}
