import HeadwayTestKit
import Testing

@testable import Headway

/// A thread that closes the queue of a group, while others add.
@Suite("Individual steps of closing a group", .hangLimit) struct GroupQueueStepTests {
  private let queue = GroupQueue()
  private let closed = EventRecorder<Int>()

  private func close() {
    queue.close(submitting: { $0.runOnWorker(of: nil, atMost: .max) }) { [queue, closed] in
      closed.record(queue.operationCount)
    }
  }

  @Test("B4: a group's queue is not closed if an addition has begun since the queue was found empty")
  func addedMeanwhile() {
    let added = Gate()
    queue.executor = VisitExecutor()
    let operation = AsynchronousOperation()
    // Called by the thread that checks whether the queue is empty, after the check.
    let token = (queue as OperationQueue).observe(\.isSuspended) { queue, _ in
      guard !added.isOpen else { return }
      added.open()
      queue.addOperation(operation)
    }
    queue.state.withLock { $0.note(.isSuspended, true) }
    close()
    #expect(added.isOpen && closed.events == [])
    operation.finish()
    #expect(closed.events == [0])
    withExtendedLifetime(token) {}
  }

  @Test("B4: a thread that adds an operation closes the queue if another thread has left the closing to it")
  func postponed() {
    let isBegun = queue.beginAddition()
    #expect(isBegun)
    close()
    #expect(closed.events == [])
    queue.endAddition()
    #expect(closed.events == [0] && queue.isClosed)
  }
}
