import CSystemStatistics

/// The processors that this process may use.
enum Processors {
  static let count = Int(system_statistics_processors())
}
