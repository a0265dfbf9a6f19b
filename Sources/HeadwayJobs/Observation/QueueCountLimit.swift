/// How far the jobs of each queue are counted, so that reading the numbers of all queues takes a limited time.
///
/// A store counts up to a small number first. If that leaves enough of what it may count in total, it counts again, up
/// to the same number in each queue. Therefore, the numbers of small queues are exact, and a large queue is counted as
/// far as the number of large queues allows.
struct QueueCountLimit {
  /// The number that the jobs of a queue are counted to.
  private(set) var value: Int
  private let maximum: Int

  /// The first limit.
  private static let first = 100
  /// The jobs of this many queues can be counted to the maximum.
  private static let queueCount = 10

  /// Creates the first limit.
  ///
  /// - Parameter maximum: The highest limit; positive.
  init(upTo maximum: Int) {
    self.maximum = maximum
    value = min(maximum, Self.first)
  }

  /// Raises the limit, if larger numbers can be counted.
  ///
  /// - Parameter counts: The numbers that were counted, each up to the limit plus 1.
  /// - Returns: Whether the limit was raised, so that the jobs have to be counted again.
  mutating func raise(after counts: [Int]) -> Bool {
    let largeCount = counts.count { $0 > value }
    guard largeCount > 0, value < maximum else { return false }
    let (total, isTooLarge) = maximum.multipliedReportingOverflow(by: Self.queueCount)
    let rest = isTooLarge ? maximum : max(0, total - counts.reduce(0, +)) / largeCount
    let raised = rest < maximum - value ? value + rest : maximum
    // Counting again must be worth it.
    guard raised == maximum || raised >= 2 * value else { return false }
    value = raised
    return true
  }
}
