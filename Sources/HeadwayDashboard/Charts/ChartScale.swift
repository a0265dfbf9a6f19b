#if Dashboard
import Foundation
import HeadwayJobs

/// The vertical axis of a chart, with evenly spaced labels.
///
/// Labels are text in the page, because text in a drawing as wide as the page would be stretched.
struct ChartScale: Equatable {
  /// The labels, from the top to the bottom.
  let labels: [String]
  /// The values at the bottom and at the top; for durations, their logarithms.
  private let bottom: Double
  private let top: Double

  /// The height of the drawings, in pixels.
  static let height = 120

  private init(_ labels: [String], from bottom: Double, to top: Double) {
    (self.labels, self.bottom, self.top) = (labels, bottom, top)
  }

  private func y(_ value: Double) -> Int {
    let part = min(max((value - bottom) / (top - bottom), 0), 1)
    return Int((Double(Self.height) * (1 - part)).rounded())
  }

  // MARK: Numbers

  /// Creates an axis for numbers from zero to the greatest one.
  init(numbersUpTo greatest: Int) {
    var unit = 1
    while unit <= greatest / 10 { unit *= 10 }
    // An even number that is not smaller and has few digits other than zero.
    let top = [2, 4, 6, 8, 10].map { $0 * unit }.first { $0 >= greatest } ?? (10 * unit)
    self.init([top, top / 2, 0].map(Readable.number), from: 0, to: Double(top))
  }

  /// Returns the vertical position of a number, from the top.
  func y(_ number: Int) -> Int { y(Double(number)) }

  // MARK: Durations

  /// The names of the powers of ten of milliseconds.
  private static let decades = [
    "1 ms", "10 ms", "0.1 s", "1 s", "10 s", "100 s", "17 min", "2.8 h", "28 h", "12 d", "116 d",
  ]

  /// Creates a logarithmic axis for durations: each label is ten times the one below.
  init(for durations: [Duration]) {
    let exponents = durations.map(Self.exponent)
    let first = min(max(0, Int((exponents.min() ?? 0).rounded(.down))), Self.decades.count - 2)
    let last = min(max(first + 1, Int((exponents.max() ?? 0).rounded(.up))), Self.decades.count - 1)
    self.init(Self.decades[first...last].reversed(), from: Double(first), to: Double(last))
  }

  /// Returns the vertical position of a duration, from the top.
  func y(_ duration: Duration) -> Int { y(Self.exponent(duration)) }

  /// The decimal logarithm of a duration in milliseconds.
  private static func exponent(_ duration: Duration) -> Double { log10(max(duration / .milliseconds(1), 0.001)) }

  // MARK: Views

  /// The values of the lines at the labels.
  var grid: [View] {
    labels.indices.map { ["y": Self.height * $0 / (labels.count - 1)] }
  }
}

/// The labels at the right end of the lines or bands of a chart.
struct ChartEnds {
  private static let lineHeight = 15

  /// Returns the values of labels that don't overlap.
  ///
  /// - Parameter ends: The labels, with the positions of the values that they name.
  /// - Returns: The values of the labels, from the top.
  static func views(_ ends: [(y: Int, text: String, style: String)]) -> [View] {
    let sorted = ends.sorted { ($0.y, $0.text) < ($1.y, $1.text) }
    var places: [Int] = []
    for end in sorted { places.append(max(end.y + 4, (places.last ?? 0) + lineHeight)) }
    // Labels that are too low move up, and push the ones above them.
    var lowest = ChartScale.height - 2
    for index in places.indices.reversed() {
      places[index] = min(places[index], lowest)
      lowest = places[index] - lineHeight
    }
    return zip(sorted, places).map { end, y in ["y": y, "text": end.text, "style": end.style] }
  }
}
#endif
