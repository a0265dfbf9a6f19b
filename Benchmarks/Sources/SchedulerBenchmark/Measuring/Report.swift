import Foundation

/// The result of one measurement.
///
/// It is printed as a line of JSON, which `script/bench` reads.
struct Report: Encodable {
  /// One figure per repetition, in the unit of the workload.
  var samples: [Double]
  /// Other figures, by name.
  var figures: [String: Double] = [:]
  /// Rows over time.
  ///
  /// The first number of each row is the time in seconds.
  var series: [[Double]] = []

  func printed() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}
