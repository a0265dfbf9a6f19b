import HeadwayTestKit
import Testing

@testable import Headway

@Suite("Cancelling subclasses", .hangLimit) struct OwnStateCancellationTests {
  // MARK: Cancelled in no queue

  @Test("C4: an operation that overrides isFinished only gets the flag, and finishes when start() is called")
  func flagAlone() {
    let operation = OwnEnd()
    let handled = EventRecorder<Int>()
    operation.onCancel { handled.record(1) }
    operation.cancel()
    #expect(operation.isCancelled && operation.calls.events == [] && handled.events == [1])
    #expect(operation.state.current.phase == .pending)
    operation.start()
    #expect(operation.calls.events == ["start"])
    operation.complete()
    #expect(operation.outcome.isCancelled && operation.state.current.isSettled)
  }

  @Test("C4: an operation that overrides isFinished also finishes when its queue starts it") func addedAfterwards() {
    let queue = OperationQueue()
    let operation = OwnEnd()
    operation.cancel()
    let completions = EventRecorder<Int>()
    let completed = Gate()
    operation.completionBlock = {
      completions.record(1)
      completed.open()
    }
    queue.addOperation(operation)
    #expect(eventually { operation.calls.events == ["start"] })
    operation.complete()
    completed.wait()
    queue.waitUntilAllOperationsAreFinished()
    #expect(completions.events == [1] && operation.outcome.isCancelled)
  }

  @Test("C4: other operations finish immediately, and none of their code runs") func nothingRuns() {
    final class Watched: Headway.Operation, @unchecked Sendable {
      let calls = EventRecorder<String>()
      override func start() {
        calls.record("start")
        super.start()
      }
      override func main() { calls.record("main") }
    }
    let operation = Watched()
    operation.cancel()
    #expect(operation.isFinished && operation.calls.events == [])
    operation.start()
    #expect(operation.calls.events == ["start"], "as a finished one, which start() leaves alone")
  }

  @Test("C4, W1: a completion block set after a cancellation in no queue runs once, when the operation is added")
  func belatedCompletionBlock() {
    let queue = OperationQueue()
    let operation = BlockOperation {}
    let completions = EventRecorder<Int>()
    operation.cancel()
    let completed = Gate()
    operation.completionBlock = {
      completions.record(1)
      completed.open()
    }
    #expect(operation.isFinished && operation.completionBlock != nil)
    queue.addOperation(operation)
    #expect(operation.completionBlock == nil)
    completed.wait()
    queue.addOperation(operation)
    #expect(completions.events == [1] && queue.operationCount == 0)
  }

  @Test("C4, W1: a completion block set after a cancellation also runs when the operation is started manually")
  func belatedByHand() {
    let operation = BlockOperation {}
    operation.cancel()
    let completed = Gate()
    operation.completionBlock = { completed.open() }
    operation.start()
    completed.wait()
    #expect(operation.completionBlock == nil)
  }

  // MARK: Cancelled in a queue

  @Test("C5: an operation with cancellation code starts within the limit, before others, and not while suspended")
  func withinLimit() {
    let (queue, executor) = (OperationQueue(limit: 1), VisitExecutor())
    queue.executor = executor
    queue.isSuspended = true
    let order = EventRecorder<String>()
    let (busy, urgent) = (OwnEnd(), BlockOperation { order.record("urgent") })
    urgent.queuePriority = .veryHigh
    queue.addOperation(busy)
    queue.isSuspended = false
    executor.runSteps()
    #expect(busy.calls.events == ["start", "main"])
    let operations = (0..<2).map { _ in OwnEnd() }
    for operation in operations { operation.addDependency(BlockOperation {}) }
    queue.addOperations([urgent] + operations, waitUntilFinished: false)
    for operation in operations { operation.cancel() }
    executor.runSteps()
    #expect(operations.allSatisfy { $0.calls.events == [] }, "the place is taken")
    #expect(operations[0].diagnosis.contains("was cancelled, waits for a concurrency slot in a queue without a name"))
    queue.isSuspended = true
    busy.complete()
    executor.runSteps()
    #expect(operations.allSatisfy { $0.calls.events == [] }, "the queue is suspended")
    queue.isSuspended = false
    executor.runSteps()
    #expect(operations.map(\.calls.events) == [["start"], []], "it has the place")
    operations[0].complete()
    executor.runSteps()
    #expect(operations.map(\.calls.events) == [["start"], ["start"]] && order.events == [])
    operations[1].complete()
    executor.runSteps()
    #expect(order.events == ["urgent"] && queue.operationCount == 0)
  }

  @Test("C5: an operation with the base class's start and isFinished leaves immediately, even a subclass")
  func leavesAtOnce() {
    final class Plain: Headway.Operation, @unchecked Sendable {
      override func main() { Issue.record("a cancelled operation ran") }
    }
    let queue = OperationQueue(limit: 0)
    queue.isSuspended = true
    let operation = Plain()
    queue.addOperation(operation)
    operation.cancel()
    operation.waitUntilFinished()
    #expect(queue.operationCount == 0)
  }

  @Test(
    "C5, Q8: an operation with cancellation code starts even behind a barrier, and the barrier does not wait for it")
  func behindBarrier() {
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let (held, operation) = (BlockOperation {}, OwnEnd())
    let missing = BlockOperation {}
    held.addDependency(missing)
    queue.addOperation(held)
    queue.addBarrierBlock {}
    queue.addOperation(operation)
    operation.cancel()
    executor.runSteps()
    #expect(operation.calls.events == ["start"] && queue.operationCount == 3)
    operation.complete()
    #expect(queue.operationCount == 2)
    missing.start()
    executor.runSteps()
    #expect(queue.operationCount == 0)
  }
}
