import Dispatch
import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// Completion blocks of operations in batches: the batch's thread calls them, between two operations.
@Suite("Completion blocks in batches", .hangLimit) struct CompletionBatchTests {
  /// Adds operations with completion blocks to a suspended queue, and resumes it.
  private func run(
    in queue: OperationQueue, _ count: Int, work: @escaping @Sendable (Int) -> Void = { _ in },
    completion: @escaping @Sendable (Int) -> Void
  ) {
    queue.isSuspended = true
    for number in 0..<count {
      let operation = BlockOperation { work(number) }
      operation.completionBlock = { completion(number) }
      queue.addOperation(operation)
    }
    queue.isSuspended = false
  }

  @Test("O8: an operation can wait for an effect of the previous operation's completion block", arguments: [1, 2, -1])
  func permits(limit: Int) {
    let (queue, permits) = (OperationQueue(), DispatchSemaphore(value: 1))
    queue.maxConcurrentOperationCount = limit
    run(in: queue, 300, work: { _ in permits.wait() }, completion: { _ in permits.signal() })
    queue.waitUntilAllOperationsAreFinished()
    permits.wait()
    permits.signal()
  }

  @Test("O8, W4: a completion block can wait for its queue, and for later operations", arguments: [1, -1])
  func waits(limit: Int) {
    let (queue, calls) = (OperationQueue(), EventRecorder<Int>())
    queue.maxConcurrentOperationCount = limit
    let next = Mutex<[BlockOperation]>([])
    queue.isSuspended = true
    for number in 0..<100 {
      let operation = BlockOperation {}
      operation.completionBlock = { [unowned queue] in
        if number % 10 == 0 { queue.waitUntilAllOperationsAreFinished() }
        if number % 10 == 5 { next.withLock { $0[number + 1] }.waitUntilFinished() }
        calls.record(number)
      }
      next.withLock { $0.append(operation) }
      queue.addOperation(operation)
    }
    queue.isSuspended = false
    #expect(eventually { calls.count == 100 })
    #expect(calls.events.sorted() == Array(0..<100))
    queue.waitUntilAllOperationsAreFinished()
    next.withLock { $0 = [] }
  }

  @Test("W1, O8: a batch's thread calls each block once, outside the queue, between its operation and the next one")
  func betweenOperations() {
    let (queue, executor, order) = (OperationQueue(), VisitExecutor(), EventRecorder<String>())
    queue.executor = executor
    for number in 0..<2 {
      let operation = BlockOperation { order.record("\(number) runs") }
      operation.completionBlock = { [unowned operation, unowned queue] in
        let end = operation.isFinished ? "finished" : "executing"
        let context = OperationQueue.current == nil ? "outside" : "in the queue"
        order.record("\(number) is \(end), \(context), \(queue.operationCount) remain")
      }
      queue.addOperation(operation)
    }
    // The block of the last operation would be passed to another thread, because this one releases the operation.
    queue.addOperation { order.record("2 runs") }
    executor.runBatch(of: queue, isOfPool: true)
    #expect(
      order.events == [
        "0 runs", "0 is finished, outside, 2 remain", "1 runs", "1 is finished, outside, 1 remain", "2 runs",
      ])
    #expect(queue.dueCompletions.load(ordering: .acquiring) == 0)
  }

  @Test("O8, Q2: in a completion block there is no current queue, and its operation has left the queue") func inside() {
    let (queue, executor) = (OperationQueue(), EventRecorder<String>())
    run(in: queue, 50) { [unowned queue] number in
      if OperationQueue.current != nil { executor.record("\(number) has a queue") }
      if queue.operations.count > 49 - number, number == 0 { executor.record("0 is still there") }
      executor.record("called")
    }
    queue.waitUntilAllOperationsAreFinished()
    #expect(eventually { executor.count >= 50 })
    #expect(executor.events.allSatisfy { $0 == "called" })
  }

  @Test("O8, W2: no completion block delays a wait for the queue, or the next operation", arguments: [1, 2, -1])
  func blocked(limit: Int) {
    let (queue, gate, done) = (OperationQueue(), Gate(), EventRecorder<Int>())
    queue.maxConcurrentOperationCount = limit
    run(in: queue, 40, work: { done.record($0) }, completion: { if $0 % 13 == 0 { gate.wait() } })
    queue.waitUntilAllOperationsAreFinished()
    #expect(done.events.sorted() == Array(0..<40))
    gate.open()
  }

  @Test("D1: operations that become ready are not delayed by a completion block") func dependents() {
    let (queue, gate, started) = (OperationQueue(), Gate(), Gate())
    queue.isSuspended = true
    let first = BlockOperation {}
    first.completionBlock = { gate.wait() }
    let dependent = BlockOperation { started.open() }
    dependent.addDependency(first)
    queue.addOperations([first, dependent], waitUntilFinished: false)
    queue.isSuspended = false
    started.wait()
    gate.open()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("O8: each completion block is called once, and its operation is freed afterwards") func once() {
    let (queue, census) = (OperationQueue(), Crowd())
    let calls = Atomic<Int>(0)
    for _ in 0..<2_000 {
      let member = CountedMember(census)
      let operation = BlockOperation {}
      operation.completionBlock = {
        withExtendedLifetime(member) {}
        calls.add(1, ordering: .relaxed)
      }
      queue.addOperation(operation)
    }
    queue.waitUntilAllOperationsAreFinished()
    #expect(eventually { calls.load(ordering: .relaxed) == 2_000 })
    #expect(census.eventuallyEmpty())
  }

  @Test(
    "W1: the thread that ends an operation takes the lock if another thread might use the completion block",
    arguments: ["read", "replaced"])
  func announced(use: String) {
    let operation = BlockOperation {}
    operation.completionBlock = {}
    #expect(operation.state.current.rawValue & OperationWord.linked == 0 && operation.state.current.isLinked)
    if use == "read" { _ = operation.completionBlock } else { operation.completionBlock = {} }
    #expect(operation.state.current.rawValue & OperationWord.linked != 0)
    operation.state.reserveUnshared(isEnqueued: true)
    #expect(operation.state.announceLink().isEnqueued && operation.state.announceCompletionBlock().isLinked)
    #expect(operation.state.beginPlainly() && !operation.state.finishPlainly(withCompletionBlock: true))
    #expect(operation.state.finish() != nil)
  }
}
