import Synchronization

/// An operation that its queue has claimed, on its way to a worker of the class that its quality of service asks for.
///
/// It may be sent several times, when its quality rises on the way; the first worker to come runs it.
final class HandOver: PoolWork {
  private let operation: Operation
  private let queue: OperationQueue
  private let isTaken = Atomic<Bool>(false)

  init(_ operation: Operation, of queue: OperationQueue) {
    self.operation = operation
    self.queue = queue
    operation.links.withLock { $0.madeDetails.handOver = self }
  }

  /// Sends a worker of the class that the operation asks for at this moment.
  func send() {
    WorkerPool.shared.submit(self, count: 1, on: operation.effectiveQuality(in: queue.qualityOfService).workerClass)
  }

  func runOnWorker(atMost count: Int) -> Bool {
    guard !isTaken.exchange(true, ordering: .acquiringAndReleasing) else { return false }
    queue.run(operation, comesBack: false)
    return true
  }
}

/// A worker that comes for a queue without having been given a permission.
final class QueueVisit: PoolWork {
  private let queue: OperationQueue

  init(_ queue: OperationQueue) { self.queue = queue }

  func runOnWorker(atMost count: Int) -> Bool { queue.runWithoutPermission(atMost: count) }
}
