import CSystemStatistics

/// The processors that this process can use.
enum Processors {
  static let count = Int(system_statistics_processors())
}
