/// The ticks of a time axis, at multiples of 1, 2, or 5 times a power of ten.
struct TimeAxis {
  /// The times of the ticks, in nanoseconds.
  let ticks: [Int64]
  private let step: Int64
  private let unit: TimeUnit

  /// Chooses ticks from zero until a time.
  ///
  /// - Parameters:
  ///   - extent: The last time, in nanoseconds.
  ///   - maximumCount: How many intervals there are at most.
  init(extent: Int64, maximumCount: Int) {
    let smallest = Double(max(extent, 1)) / Double(max(maximumCount, 1))
    var step: Int64 = 1
    var factors: [Int64] = [2, 5, 10]
    var power: Int64 = 1
    while Double(step) < smallest, power < 1_000_000_000_000_000_000 {
      step = power * factors.removeFirst()
      if factors.isEmpty { (power, factors) = (power * 10, [2, 5, 10]) }
    }
    self.step = step
    unit = TimeUnit.fitting(max(extent, step))
    // A single tick if even the longest step is too short for so many.
    ticks = Double(extent) / Double(step) > 1000 ? [0] : Array(stride(from: 0, through: extent, by: Int64.Stride(step)))
  }

  /// Returns the label of a tick.
  ///
  /// All labels use the unit that suits the end of the axis.
  func label(_ tick: Int64) -> String {
    "\(decimalText(Double(tick) / Double(unit.rawValue), places: 9)) \(unit.symbol)"
  }
}
