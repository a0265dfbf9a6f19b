import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// Operations that a thread has taken together, to run one after the other.
///
/// Everything runs on the test's own thread. It is the worker and does the work of other threads from inside
/// operations.
@Suite("Runs", .hangLimit) struct BatchTests {
  private let queue = OperationQueue()
  private let executor = VisitExecutor()
  private let ran = EventRecorder<String>()

  init() { queue.executor = executor }

  private func operation(_ name: String, _ body: @escaping @Sendable () -> Void = {}) -> BlockOperation {
    BlockOperation(name: name) { [ran] in
      ran.record(name)
      body()
    }
  }

  /// How many operations that do nothing follow: more than a batch holds.
  private static let quickCount = 2 * Batch.capacity

  /// Gives the queue `first`, which is the first operation of a batch, and `others`, which are taken while `first`
  /// runs.
  private func fill(_ first: BlockOperation, and others: [BlockOperation]) {
    queue.addOperations([first] + others, waitUntilFinished: false)
    for _ in 0..<Self.quickCount { queue.addOperation {} }
  }

  private func run() {
    executor.runBatch(of: queue)
    executor.runSteps()
  }

  @Test("Q4: suspension stops operations that were taken but not started") func suspended() {
    let others = (0..<8).map { operation("\($0)") }
    let first = operation("first") { [queue] in queue.isSuspended = true }
    fill(first, and: others)
    run()
    #expect(ran.events == ["first"])
    queue.isSuspended = false
    run()
    #expect(ran.events == ["first"] + (0..<8).map { "\($0)" })
    #expect(queue.operationCount == 0)
  }

  @Test("P2: a more urgent operation overtakes operations that were taken but not started") func overtaking() {
    let others = (0..<4).map { operation("\($0)") }
    let urgent = operation("urgent")
    urgent.queuePriority = .high
    fill(operation("first") { [queue] in queue.addOperation(urgent) }, and: others)
    run()
    #expect(ran.events == ["first", "urgent", "0", "1", "2", "3"])
  }

  @Test("P2: a waiting operation that becomes more urgent overtakes operations that were taken but not started")
  func raisedWaiting() {
    let others = (0..<4).map { operation("\($0)") }
    let late = operation("late")
    fill(operation("first") { late.queuePriority = .high }, and: others)
    queue.addOperation(late)
    run()
    #expect(ran.events == ["first", "late", "0", "1", "2", "3"])
  }

  @Test("P2: a more urgent dependent of an operation in the batch overtakes operations that were taken but not started")
  func urgentDependent() {
    let others = (0..<4).map { operation("\($0)") }
    let urgent = operation("urgent")
    urgent.queuePriority = .high
    let first = operation("first")
    urgent.addDependency(first)
    fill(first, and: others)
    queue.addOperation(urgent)
    run()
    #expect(Set(ran.events) == ["first", "urgent", "0", "1", "2", "3"] && ran.count == 6)
  }

  @Test("P2: the priority of a taken operation can be raised and lowered") func priorityOfTaken() {
    let others = (0..<4).map { operation("\($0)") }
    let first = operation("first") {
      others[2].queuePriority = .high
      others[0].queuePriority = .low
    }
    fill(first, and: others)
    run()
    #expect(ran.events == ["first", "2", "1", "3", "0"])
  }

  @Test("C3: a taken operation that is cancelled leaves without running") func cancelled() {
    let others = (0..<4).map { operation("\($0)") }
    fill(operation("first") { others[1].cancel() }, and: others)
    run()
    #expect(ran.events == ["first", "0", "2", "3"])
    #expect(others[1].isFinished && queue.operationCount == 0)
  }

  @Test("C6: cancelling all operations from an operation of a batch leaves none behind") func allCancelled() {
    let others = (0..<4).map { operation("\($0)") }
    fill(operation("first") { [queue] in queue.cancelAllOperations() }, and: others)
    run()
    #expect(ran.events == ["first"] && queue.operationCount == 0)
    #expect(others.allSatisfy { $0.isFinished })
  }

  @Test("D1: a taken operation that gets a dependency waits for it") func dependency() {
    let others = (0..<4).map { operation("\($0)") }
    fill(operation("first") { others[0].addDependency(others[3]) }, and: others)
    run()
    #expect(ran.events == ["first", "1", "2", "3", "0"])
  }

  @Test("Q3: a new limit stops taken operations; a limit of 0 stops all of them") func limit() {
    let others = (0..<4).map { operation("\($0)") }
    fill(operation("first") { [queue] in queue.maxConcurrentOperationCount = 0 }, and: others)
    run()
    #expect(ran.events == ["first"])
    queue.maxConcurrentOperationCount = 1
    run()
    #expect(ran.events == ["first", "0", "1", "2", "3"])
  }

  @Test("Q5: while a batch runs, the queue contains the operations that have not finished") func exact() {
    let others = (0..<8).map { operation("\($0)") }
    let wrong = Mutex(0)
    let all = (0..<8).map { number in
      BlockOperation { [queue] in
        let operations = queue.operations
        let isExact =
          operations.count == queue.operationCount && operations.allSatisfy { !$0.isFinished }
          && others.allSatisfy { operation in operations.contains { $0 === operation } }
        if !isExact { wrong.withLock { $0 += 1 } }
      }
    }
    fill(all[0], and: Array(all.dropFirst()) + others)
    run()
    #expect(wrong.withLock { $0 } == 0)
  }

  @Test("K2: an observer that is added while a batch runs is notified of each change of the count") func observed() {
    let counts = Mutex<(values: [Int], token: KeyValueObservation?)>(([], nil))
    let others = (0..<8).map { operation("\($0)") }
    let first = operation("first") { [queue] in
      let token = queue.observe(\.operationCount, options: [.initial, .new]) { _, change in
        counts.withLock { $0.values.append(change.newValue ?? -1) }
      }
      counts.withLock { $0.token = token }
    }
    fill(first, and: others)
    run()
    let values = counts.withLock { $0.values }
    #expect(values.first == Self.quickCount + 9)
    #expect(values == Array((0...(values.first ?? 0)).reversed()))
    counts.withLock { $0 }.token?.invalidate()
  }

  @Test("Q10: a total that is set while a batch runs counts each operation that starts later") func progress() {
    let others = (0..<8).map { operation("\($0)") }
    let first = operation("first") { [queue] in queue.progress.totalUnitCount = 1_000 }
    fill(first, and: others)
    run()
    let later = Int64(Self.quickCount + 8)
    // The operation during which it is set might count or not.
    #expect([later, later + 1].contains(queue.progress.completedUnitCount))
  }

  @Test("Q8: a barrier waits for taken operations, and later operations wait for the barrier") func barrier() {
    let others = (0..<4).map { operation("\($0)") }
    let late = operation("late")
    let first = operation("first") { [queue, ran] in
      queue.addBarrierBlock { ran.record("barrier") }
      late.queuePriority = .veryHigh
      queue.addOperation(late)
    }
    fill(first, and: others)
    run()
    #expect(ran.events == ["first", "0", "1", "2", "3", "barrier", "late"])
  }

  @Test("Q8, P2: operations that follow a cancelled barrier overtake less urgent operations") func cancelledBarrier() {
    let others = (0..<4).map { operation("\($0)") }
    let late = operation("late")
    late.queuePriority = .high
    let first = operation("first") { [queue, executor] in
      queue.addBarrierBlock {}
      let barrier = queue.operations.last
      queue.addOperation(late)
      barrier?.cancel()
      executor.step()  // With that, the barrier leaves; and another thread takes the most urgent operation.
    }
    fill(first, and: others)
    run()
    #expect(ran.events == ["first", "late", "0", "1", "2", "3"])
  }
}
