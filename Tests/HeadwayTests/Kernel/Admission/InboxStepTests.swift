import HeadwayTestKit
import Testing

@testable import Headway

/// Operations that are pushed to the inbox between two steps of a thread that has the queue's lock.
@Suite("Individual steps of the inbox", .hangLimit) struct InboxStepTests {
  private func isServed(_ queue: OperationQueue) -> Bool { queue.state.withLock { $0.servesInbox } }

  @Test("Q1: an operation that is pushed while the inbox stops being served is accepted")
  func lookedIntoOnceMore() {
    let queue = OperationQueue(limit: 1)
    let end = queue.occupy()
    #expect(isServed(queue))
    queue.update { state in
      // Finds that the inbox is served, so it takes no lock.
      queue.addOperation {}
      state.admission.isSuspended = true
    }
    let isEmpty = queue.inbox.isEmpty
    #expect(!isServed(queue) && isEmpty)
    queue.isSuspended = false
    end.open()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("Q6: a queue is not empty while an operation is in its inbox") func emptyButForInbox() {
    let queue = OperationQueue()
    let (woken, ran) = (Gate(), Gate())
    // A worker is on its way: the test's thread.
    queue.update { $0.admission.issueTicket(.normal) }
    queue.update { state in
      state.waiters.append(.handler { woken.open() })
      queue.addOperation { ran.open() }
    }
    #expect(!woken.isOpen)
    _ = queue.run(by: .pool(.normal), atMost: 1)
    queue.waitUntilAllOperationsAreFinished()
    #expect(ran.isOpen && woken.isOpen)
  }

  /// Has its own code for a cancellation, so a queue accepts it although it was cancelled.
  private final class OwnFinish: AsynchronousOperation, @unchecked Sendable {
    override var isFinished: Bool { super.isFinished }
  }

  @Test("C5, Q5: an operation that is cancelled before it is pushed to the inbox leaves without any other change")
  func cancelled() {
    let queue = OperationQueue(limit: 1)
    let end = queue.occupy()
    let operation = OwnFinish()
    operation.cancel()
    #expect(!operation.isFinished)
    queue.addOperation(operation)
    #expect(queue.state.withLock { _ in operation.admission.place } == .cancelledWithinLimit)
    end.open()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("P5: the dependencies of an operation that is added to an urgent queue are raised") func raised() {
    let (queue, urgent) = (OperationQueue(), OperationQueue())
    queue.qualityOfService = .background
    urgent.qualityOfService = .userInteractive
    queue.isSuspended = true
    let (dependency, dependent) = (BlockOperation {}, BlockOperation {})
    dependent.addDependency(dependency)
    queue.addOperation(dependency)
    urgent.addOperation(dependent)
    #expect(dependency.state.current.qualityLevel == QualityOfService.userInteractive.level)
    queue.isSuspended = false
    urgent.waitUntilAllOperationsAreFinished()
  }
}
