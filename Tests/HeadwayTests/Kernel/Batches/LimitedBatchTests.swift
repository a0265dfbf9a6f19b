import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// Runs in queues with a limit, where the order of starting is exact.
@Suite("Batches in limited queues", .hangLimit) struct LimitedBatchTests {
  private let queue = OperationQueue(limit: 1)
  private let ran = EventRecorder<String>()

  private func operation(_ name: String, _ body: @escaping @Sendable () -> Void = {}) -> BlockOperation {
    BlockOperation(name: name) { [ran] in
      ran.record(name)
      body()
    }
  }

  /// Runs a hundred operations that do nothing, so that the thread takes many at a time, then `operations`.
  private func run(_ operations: [BlockOperation]) {
    queue.isSuspended = true
    for _ in 0..<100 { queue.addOperation {} }
    queue.addOperations(operations, waitUntilFinished: false)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test(
    "P2, Q3: with a limit of 1, an operation that becomes ready late starts before operations that were added later")
  func lateReadiness() {
    for _ in 0..<20 {
      ran.removeAll()
      let late = operation("late")
      let outside = BlockOperation {}
      late.addDependency(outside)
      let first = operation("first") { outside.start() }
      run([first, late] + (0..<5).map { operation("\($0)") })
      #expect(ran.events == ["first", "late"] + (0..<5).map { "\($0)" })
    }
  }

  @Test("P2, D1, Q3: with a limit of 1, a dependent also starts before operations that were added later")
  func dependent() {
    for _ in 0..<20 {
      ran.removeAll()
      let (first, second, dependent) = (operation("first"), operation("second"), operation("dependent"))
      dependent.addDependency(second)
      run([first, dependent, second] + (0..<5).map { operation("\($0)") })
      #expect(ran.events == ["first", "second", "dependent"] + (0..<5).map { "\($0)" })
    }
  }

  @Test(
    "P2, Q3: with a limit of 1, a more urgent operation starts next, and an operation of equal priority starts last")
  func urgent() {
    for _ in 0..<20 {
      ran.removeAll()
      let first = operation("first") { [queue] in
        queue.addOperation(operation("equal"))
        let urgent = operation("urgent")
        urgent.queuePriority = .high
        queue.addOperation(urgent)
      }
      run([first] + (0..<5).map { operation("\($0)") })
      #expect(ran.events == ["first", "urgent"] + (0..<5).map { "\($0)" } + ["equal"])
    }
  }

  @Test("P2, Q3: with a limit of 1, an added operation overtakes operations below normal priority") func lessUrgent() {
    for _ in 0..<20 {
      ran.removeAll()
      let others = (0..<5).map { operation("\($0)") }
      let first = operation("first") { [queue] in queue.addOperation(operation("usual")) }
      for operation in [first] + others { operation.queuePriority = .low }
      run([first] + others)
      #expect(ran.events == ["first", "usual"] + (0..<5).map { "\($0)" })
    }
  }

  @Test("Q3: exactly as many operations run as the limit allows", arguments: [1, 2, 3, 8]) func limits(
    limit: Int
  ) {
    queue.maxConcurrentOperationCount = limit
    let running = Crowd()
    for _ in 0..<2_000 {
      queue.addOperation {
        running.enter()
        running.leave()
      }
    }
    // These use all concurrency slots at the same time, or wait forever.
    let meeting = Meeting(of: limit)
    for _ in 0..<limit {
      queue.addOperation {
        running.enter()
        meeting.attend()
        running.leave()
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    #expect(running.most == limit)
  }

  @Test("Q3: an observed operation takes one slot, not two") func observed() {
    queue.maxConcurrentOperationCount = 2
    let isOpen = Gate()
    let first = BlockOperation { isOpen.wait() }
    let token = first.observe(\.isFinished) { _, _ in }
    run([first, BlockOperation { isOpen.open() }])
    #expect(first.isFinished)
    token.invalidate()
  }

  @Test("C5: while the limit is reached, an operation that was added just before leaves as soon as it is cancelled")
  func cancelled() {
    let isOpen = Gate()
    queue.addOperation { isOpen.wait() }
    for _ in 0..<200 {
      let operation = BlockOperation { Issue.record("a cancelled operation ran") }
      queue.addOperation(operation)
      operation.cancel()
      operation.waitUntilFinished()
    }
    #expect(queue.operationCount == 1)
    isOpen.open()
    queue.waitUntilAllOperationsAreFinished()
  }
}
