import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

/// The steps of the end of an operation, and the state that other threads see between them.
@Suite("Individual steps of an operation's end", .hangLimit) struct EndStepTests {
  // Does not run a queue's operations itself: the test ends them.
  private let executor = VisitExecutor()

  private func queue() -> OperationQueue {
    let queue = OperationQueue()
    queue.executor = executor
    return queue
  }

  /// Observes, when its queue requests a thread, the state that a thread arriving at that moment sees.
  private final class LookingExecutor: WorkExecutor {
    let look: @Sendable (any PoolWork) -> Void
    let isStepwise = true

    init(look: @escaping @Sendable (any PoolWork) -> Void) { self.look = look }

    func submit(_ work: any PoolWork, count: Int, on workerClass: WorkerClass) { look(work) }

    func summon(_ count: Int, for work: any HelpedWork, on workerClass: WorkerClass) {}

    func withdraw(_ work: any HelpedWork, on workerClass: WorkerClass) -> Int { 0 }
  }

  @Test("Q5, D1: an operation leaves its queue before its dependents are ready") func leavesFirst() {
    let (queue, waits) = (queue(), EventRecorder<Bool>())
    let (operation, dependent) = (AsynchronousOperation(), BlockOperation {})
    dependent.addDependency(operation)
    queue.addOperation(operation)
    executor.step()
    // Called as the operation leaves.
    queue.state.withLock { state in
      state.producers.limit = 1
      state.producers.append(.handler { waits.record(dependent.isReady) })
    }
    operation.finish()
    #expect(waits.events == [false] && dependent.isReady)
  }

  @Test("Q6, D1: a wait for an empty queue ends when the dependents of its last operation are released")
  func emptyLast() {
    let (queue, waits) = (queue(), EventRecorder<Bool>())
    let (operation, dependent) = (AsynchronousOperation(), BlockOperation {})
    dependent.addDependency(operation)
    queue.addOperation(operation)
    executor.step()
    queue.update { state in
      state.waiters.append(.handler { waits.record(dependent.isReady) })
    }
    operation.finish()
    #expect(waits.events == [true])
  }

  @Test("Q1, B5: the thread that finishes the last operation of a queue keeps the queue alive, if no other thread does")
  func keepsQueue() async {
    let (weak, calls) = (WeakReference<OperationQueue>(), EventRecorder<Bool>())
    let operation = AsynchronousOperation()
    do {
      let queue = OperationQueue()
      queue.executor = executor
      weak.object = queue
      queue.addOperation(operation)
      executor.step()
    }
    let token = operation.observe(\.isFinished) { _, _ in calls.record(weak.object != nil) }
    operation.finish()
    #expect(calls.events == [true])
    // A test that lists all queues of the process can keep this one for a moment.
    await until { weak.object == nil }
    withExtendedLifetime(token) {}
  }

  /// An operation that is announced to the inbox of a queue but is not in it yet.
  private func announce(_ operation: Headway.Operation, to queue: OperationQueue) -> OperationReference {
    #expect(operation.state.reserve() == nil)
    operation.queueLinks.home = .passUnretained(queue)
    let isAnnounced = operation.state.enqueue()
    #expect(isAnnounced)
    return .passRetained(operation)
  }

  private func leave(_ queue: OperationQueue, _ operation: Headway.Operation, from before: OperationWord) {
    var effects = Effects()
    _ = queue.operationFinished(operation, endedFrom: before, isLogged: false, closing: nil, leaving: &effects)
    effects.perform()
  }

  @Test("Q5, Q6: an operation of the inbox that has ended stays in its queue until the ending thread has removed it")
  func endsInInbox() throws {
    let (queue, operation) = (queue(), BlockOperation {})
    let reference = announce(operation, to: queue)
    _ = queue.inbox.push(.operation(reference))
    let word = operation.state.finish()
    let before = try #require(word)
    // Another thread lists it.
    #expect(queue.operationCount == 1)
    leave(queue, operation, from: before)
    #expect(queue.operationCount == 0)
  }

  @Test("Q5, Q6: an operation whose end reaches the queue before the inbox does is not accepted")
  func endsBeforeInbox() throws {
    let (queue, operation) = (queue(), BlockOperation {})
    let reference = announce(operation, to: queue)
    let word = operation.state.finish()
    let before = try #require(word)
    leave(queue, operation, from: before)
    _ = queue.inbox.push(.operation(reference))
    #expect(queue.operationCount == 0)
  }

  @Test("D3, C7: a thread that cancels a dependent of a failed operation counts as a thread that reports the failure")
  func cancelsDependent() {
    let isNotifying = EventRecorder<Bool>()
    let (failing, dependent) = (BlockOperation { throw Mishap() }, BlockOperation {})
    dependent.addDependency(failing, requiring: .success)
    // As a result, a wait for the dependency ends.
    dependent.onCancel { isNotifying.record(NotificationContext.isNotifying(failing)) }
    failing.start()
    #expect(isNotifying.events == [true])
  }

  @Test("W1: a thread that begins to wait when an operation has ended does not wait") func waitsLate() {
    let operation = BlockOperation {}
    operation.start()
    for goal in [WaitingGoal.settled, .notified, .reported] {
      let waits = operation.addWaiter(.handler {}, for: goal)
      #expect(!waits)
    }
  }

  @Test("O8, W1: objects that a completion block captured are released where the block ran")
  func completionBlock() {
    let (captured, wasFreed) = (WeakReference<Counter>(), EventRecorder<Bool>())
    let queue = OperationQueue()
    // The block runs on another thread before the thread that has passed it on continues.
    queue.executor = LookingExecutor { work in
      guard work is PoolBlock else { return }
      onThreads(1) { _ in
        work.runOnWorker(of: nil, atMost: 1)
        wasFreed.record(captured.object == nil)
      }
    }
    let operation = AsynchronousOperation()
    do {
      let counter = Counter()
      captured.object = counter
      operation.completionBlock = { counter.increment() }
    }
    queue.addOperation(operation)
    operation.finish()
    #expect(wasFreed.events == [true])
  }
}
