import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

/// Creates operations and queues for suites on raising.
protocol RaisingSuite {}

extension RaisingSuite {
  func operation(
    _ quality: QualityOfService = .default, _ body: @escaping @Sendable () -> Void = {}
  ) -> BlockOperation {
    let operation = BlockOperation(block: body)
    operation.qualityOfService = quality
    return operation
  }

  func isRaised(_ operation: Headway.Operation, in queue: QualityOfService = .default) -> Bool {
    operation.effectiveQuality(in: queue).workerClass == .normal
  }

  /// A queue that does not start anything yet.
  func suspendedQueue(
    limit: Int = OperationQueue.defaultMaxConcurrentOperationCount, order: QueueOrder = .priority,
    _ quality: QualityOfService = .default
  ) -> OperationQueue {
    let queue = OperationQueue(order: order, qualityOfService: quality)
    if order == .priority { queue.maxConcurrentOperationCount = limit }
    queue.isSuspended = true
    return queue
  }

  func operation(_ quality: QualityOfService, _ nice: EventRecorder<Int32>) -> BlockOperation {
    operation(quality) { nice.record(currentNiceValue()) }
  }

  var low: Int32 { min(19, processNiceValue() + 19) }
}
