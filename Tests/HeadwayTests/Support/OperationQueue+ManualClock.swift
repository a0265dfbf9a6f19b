import HeadwayTestKit

@testable import Headway

extension OperationQueue {
  /// A queue whose policies are on a clock of the test.
  convenience init(on clock: ManualClock, limit: Int = OperationQueue.defaultMaxConcurrentOperationCount) {
    self.init(maxConcurrentOperationCount: limit)
    self.clock = clock
  }
}
