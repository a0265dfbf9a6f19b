import HeadwayTestKit
import Testing

@testable import Headway

/// The steps of a batch's thread, interleaved with the steps of a thread that has the queue's lock.
@Suite("Individual steps of batches", .hangLimit) struct BatchStepTests {
  private let queue = OperationQueue()
  private let executor = VisitExecutor()

  init() { queue.executor = executor }

  private func place(of operation: Headway.Operation) -> AdmissionRecord.Place {
    queue.state.withLock { _ in operation.admission.place }
  }

  private func addTwo() -> (BlockOperation, BlockOperation) {
    let (first, second) = (BlockOperation {}, BlockOperation {})
    queue.addOperations([first, second], waitUntilFinished: false)
    return (first, second)
  }

  @Test("T2: other threads can't take the first operation of a batch") func first() {
    let (first, second) = addTwo()
    let thread = SteppedBatch(of: queue, atMost: 2)
    queue.update { $0.admission.reclaimBatches() }
    #expect([place(of: first), place(of: second)] == [.taken, .ready])
    thread.begin(first)
    thread.end(first)
    #expect(thread.batch.next() == nil)
    thread.close()
    #expect(queue.operations == [second])
  }

  @Test("T2, O8: while a batch's thread has an object to release, other threads can take all operations")
  func firstOfKeeper() {
    let (first, second) = addTwo()
    let thread = SteppedBatch(of: queue, atMost: 2, keeping: BlockOperation {})
    queue.update { $0.admission.reclaimBatches() }
    #expect([place(of: first), place(of: second)] == [.ready, .ready])
    #expect(thread.batch.next() == nil)
    thread.close()
    #expect(queue.operations == [first, second])
  }

  @Test("D1, O2: a thread does not continue with an operation that another thread has taken") func offered() throws {
    let (first, taken) = (BlockOperation {}, BlockOperation {})
    queue.addOperation(taken)
    let other = SteppedBatch(of: queue, atMost: 1)
    queue.addOperation(first)
    let thread = SteppedBatch(of: queue, atMost: 1)
    taken.addDependency(first)
    thread.begin(first)
    let continues = thread.end(first, continues: true)
    try #require(!continues)
    thread.close()
    other.begin(taken)
    other.end(taken)
    other.close()
    #expect(queue.operationCount == 0)
  }

  @Test("Q5, O8: while a thread lists the operations of a batch, the batch's thread releases them only under the lock")
  func pinned() {
    let (first, second) = addTwo()
    let thread = SteppedBatch(of: queue, atMost: 2)
    thread.begin(first)
    let wasPinned = EventRecorder<Bool>()
    queue.update { _ in
      thread.batch.forEachUnfinished { _ in
        if wasPinned.count == 0 { thread.batch.publishTaken() }
        wasPinned.record(thread.batch.hasToTakeLock)
      }
    }
    #expect(wasPinned.events == [true, true])
    #expect(!thread.batch.hasToTakeLock)
    _ = first.state.finish()
    OperationReference(first).release()
    thread.begin(second)
    thread.end(second)
    thread.close()
    #expect(queue.operationCount == 0)
  }

  @Test("Q3, T2: a thread that leaves its batch to run user code detects that the rest was reclaimed")
  func looksAsItLeaves() {
    let (first, second) = addTwo()
    let thread = SteppedBatch(of: queue, atMost: 2)
    thread.begin(first)
    thread.end(first)
    queue.update { $0.admission.reclaimBatches() }
    let hasNext = thread.batch.leave()
    #expect(!hasNext)
    thread.close()
    #expect(queue.operations == [second])
  }

  @Test("Q3, T2: a batch is ended on behalf of its thread before newly ready operations are collected")
  func endedFirst() {
    let (first, second) = addTwo()
    let thread = SteppedBatch(of: queue, atMost: 2)
    thread.begin(first)
    thread.end(first)
    let hasNext = thread.batch.leave()
    #expect(hasNext)
    let comesBack = queue.update { state in
      state.admission.reclaimBatches()
      state.admission.noteNewlyReady()
      // From here on, no thread collects operations that this one publishes.
      return thread.batch.returnFromUserCode()
    }
    #expect(!comesBack && thread.batch.isEnded)
    queue.update(collectingBatches: true) { _ in }
    thread.close()
    #expect(queue.operations == [second])
  }

  @Test("Q5, O8: a batch's thread publishes its results, and then checks whether the batch is pinned")
  func looksAfterPublishing() {
    let counts = EventRecorder<Int>()
    // While it runs, another thread makes the batch keep the operations that end from then on.
    queue.addOperation { [queue] in queue.state.withLock { $0.admission.batches.forEach { $0.watch() } } }
    queue.addOperation { [queue] in counts.record(queue.state.withLock { $0.admission.count }) }
    executor.runBatch(of: queue)
    executor.runSteps()
    // The end of the first was collected before the thread began the second.
    #expect(counts.events == [1] && queue.operationCount == 0)
  }

  @Test("K2, Q6: the batch is closed when the observers of its last operation are notified") func closedAtLast() {
    let hadBatches = EventRecorder<Bool>()
    let (first, last) = addTwo()
    let token = last.observe(\.isFinished) { [queue] _, _ in
      hadBatches.record(queue.state.withLock { $0.admission.hasBatches })
    }
    executor.runBatch(of: queue)
    #expect(hadBatches.events == [false] && first.isFinished && queue.operationCount == 0)
    withExtendedLifetime(token) {}
  }

  /// Calls a function when it is freed.
  private final class Freed: Headway.Operation, @unchecked Sendable {
    private let freed: @Sendable () -> Void

    init(freed: @escaping @Sendable () -> Void) { self.freed = freed }

    deinit { freed() }
  }

  @Test("Q5, D1: a thread runs no user code between an operation and the operation that it continues with")
  func continued() {
    let (operation, dependent, isExecuting) = (BlockOperation {}, BlockOperation {}, EventRecorder<Bool>())
    do {
      // Another thread collects at that moment and closes the batch if its thread is outside.
      let first = Freed { [queue] in
        isExecuting.record(dependent.isExecuting)
        queue.update(collectingBatches: true) { _ in }
      }
      first.start()
      operation.addDependency(first)
    }
    dependent.addDependency(operation)
    queue.addOperations([operation, dependent], waitUntilFinished: false)
    executor.runBatch(of: queue)
    executor.runSteps()
    #expect(isExecuting.events == [false] && dependent.isFinished && queue.operationCount == 0)
  }

  @Test("W5, Q3: a thread that waits while it releases work holds no concurrency slot") func waitsAsItReleases() {
    let hadBatches = EventRecorder<Bool>()
    queue.maxConcurrentOperationCount = 1
    add(
      holding: Held { [queue] in
        ThreadContext.threadBlocks()
        hadBatches.record(queue.state.withLock { $0.admission.hasBatches })
      })
    queue.addOperation {}
    executor.runBatch(of: queue)
    executor.runSteps()
    #expect(hadBatches.events == [false] && queue.operationCount == 0)
  }

  /// Calls a function when it is freed.
  private final class Held: Sendable {
    private let freed: @Sendable () -> Void

    init(freed: @escaping @Sendable () -> Void) { self.freed = freed }

    deinit { freed() }
  }

  private func add(holding held: Held) { queue.addOperation { withExtendedLifetime(held) {} } }

  @Test("O2, Q5: an operation that another thread has ended is counted once, even if a batch's thread is inside it")
  func endedElsewhere() throws {
    let (first, ended, last) = (BlockOperation {}, AsynchronousOperation(), BlockOperation {})
    queue.addOperations([first, ended, last], waitUntilFinished: false)
    let thread = SteppedBatch(of: queue, atMost: 3)
    thread.begin(first)
    thread.end(first)
    let reference = try #require(thread.batch.next())
    thread.batch.noteCurrent(reference)
    // The thread has not begun it yet.
    ended.finish()
    #expect(ended.isFinished)
    #expect(queue.operationCount == 1 && queue.operations == [last])
    let begins = ended.state.beginPlainly()
    #expect(!begins)
    thread.batch.withdrawCurrent()
    #expect(!queue.update(collectingBatches: true) { $0.admission.claimTaken(ended, of: thread.batch) })
    thread.batch.release()
    #expect(queue.operations == [last])
  }
}
