import HeadwayTestKit
import Testing

@testable import Headway

/// Operations that are pushed to the inbox between two steps of a thread that closes the queue.
@Suite("Individual steps of closing a queue", .hangLimit) struct ClosingStepTests {
  @Test("Q17: an operation that is in the inbox when the queue is closed is accepted") func pushedBefore() {
    let queue = OperationQueue(limit: 1)
    let end = queue.occupy()
    let ran = Gate()
    queue.addOperation { ran.open() }
    let isInInbox = !queue.inbox.isEmpty
    #expect(isInInbox)
    queue.close()
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(ran.isOpen)
  }

  @Test("Q17: an operation that is pushed while the queue is being closed is accepted") func pushedDuring() {
    let queue = OperationQueue(limit: 1)
    let end = queue.occupy()
    let ran = Gate()
    queue.update { state in
      // The first step of closing. The thread that adds finds that the inbox is served, so it takes no lock.
      state.isClosed = true
      queue.addOperation { ran.open() }
    }
    queue.close()
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(ran.isOpen)
  }

  // thread that adds                 thread that closes
  // ----------------                 ------------------
  // the inbox is served
  // enqueue()
  //                                  isClosed, the inbox is no longer served, rejectsInbox
  //                                  the queue is empty: the drain returns
  // push(_:)
  // update: rejected
  @Test("Q17: an operation that is pushed after the queue was closed is rejected", arguments: [false, true])
  func pushedAfter(isEnded: Bool) async throws {
    let queue = OperationQueue()
    let reports = EventRecorder<ObjectIdentifier>()
    queue.failureHandler = { operation, _ in reports.record(ObjectIdentifier(operation)) }
    let operation = BlockOperation { Issue.record("the operation ran") }
    let isReserved = operation.state.reserve() == nil
    operation.queueLinks.home = .passUnretained(queue)
    let isEnqueued = operation.state.enqueue()
    #expect(isReserved && isEnqueued)
    let report = await queue.drain(within: .seconds(1), clock: ManualClock())
    #expect(report == DrainReport(finishedCount: 0, cancelledCount: 0, runningOperationDescriptions: []))
    _ = queue.inbox.push(.operation(.passRetained(operation)))
    if isEnded { operation.cancel() }
    queue.update { _ in }
    try await operation.untilFinished()
    #expect(operation.isCancelled && (isEnded || operation.failure is QueueClosedError))
    try await queue.untilAllOperationsAreFinished()
    #expect(queue.operationCount == 0 && reports.count == (isEnded ? 0 : 1))
  }

  @Test("Q17, Q15: a job of a task that is pushed after the queue was closed is accepted") func job() async {
    let queue = OperationQueue(limit: 1)
    let end = queue.occupy()
    let task = queue.update { state in
      (state.isClosed, state.rejectsInbox) = (true, true)
      // The thread that adds finds that the inbox is served, so it takes no lock.
      return Task(executorPreference: queue) { 1 }
    }
    end.open()
    #expect(await task.value == 1)
  }
}
