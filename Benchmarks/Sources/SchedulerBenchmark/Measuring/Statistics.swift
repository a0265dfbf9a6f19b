extension Sequence<Double> {
  var median: Double { quantile(0.5) }

  /// Returns the value below which the given fraction of the elements lies.
  func quantile(_ part: Double) -> Double {
    let sorted = self.sorted()
    precondition(!sorted.isEmpty, "Nothing was measured.")
    return sorted[Swift.min(sorted.count - 1, Int(Double(sorted.count) * part))]
  }
}
