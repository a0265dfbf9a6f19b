import Foundation

/// What one measuring found.
///
/// It is printed as a line of JSON, which `script/bench` reads.
struct Report: Encodable {
  /// One figure a repetition, in the unit of the workload.
  var samples: [Double]
  /// Other figures, by name.
  var figures: [String: Double] = [:]
  /// Rows over time, the seconds first.
  var series: [[Double]] = []

  func printed() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}
