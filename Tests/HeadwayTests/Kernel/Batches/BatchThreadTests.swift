import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// Runs on the pool's threads.
@Suite("Batches on threads", .hangLimit) struct BatchThreadTests {
  /// Adds operations that do nothing, so that threads take many at a time.
  private func warmUp(_ queue: OperationQueue) {
    for _ in 0..<300 { queue.addOperation {} }
  }

  @Test("W2, Q5: after a wait for an operation of a batch, the operation is no longer in the queue") func exact() {
    let queue = OperationQueue()
    for round in 0..<200 {
      let operations = (0..<100).map { _ in BlockOperation {} }
      // Among these operations, some are observed at their start and take another path.
      let tokens = operations.indices.filter { ($0 + round) % 7 == 0 }.map {
        operations[$0].observe(\.isFinished) { _, _ in }
      }
      queue.addOperations(operations, waitUntilFinished: false)
      for (number, operation) in operations.enumerated() where round % 3 == 0 || number % 3 == 0 {
        operation.waitUntilFinished()
        let (held, count) = (queue.operations, queue.operationCount)
        if held.contains(where: { $0 === operation }) || count > held.count || !operation.isFinished {
          Issue.record(
            "round \(round): operation \(number) is held, or \(count) are counted and \(held.count) are held")
          return
        }
      }
      queue.waitUntilAllOperationsAreFinished()
      #expect(queue.operationCount == 0)
      tokens.forEach { $0.invalidate() }
    }
  }

  @Test("K2: observers that are added and removed are notified of each change of the count by one") func observed() {
    let queue = OperationQueue()
    for round in 0..<100 {
      queue.isSuspended = true
      warmUp(queue)
      queue.isSuspended = false
      let counts = EventRecorder<Int>()
      let token = queue.observe(\.operationCount, options: [.initial, .new]) { _, change in
        counts.record(change.newValue!)
      }
      queue.waitUntilAllOperationsAreFinished()
      // Another thread might be notifying the observer, and can also notify it of the last change.
      #expect(eventually { counts.count == 0 || counts.events.last == 0 }, "round \(round)")
      let values = counts.events
      let first = values.first ?? 0
      if values != Array((0...first).reversed()), !values.isEmpty { Issue.record("round \(round): \(values)") }
      token.invalidate()
    }
  }

  @Test("Q10: a total that is set while threads take batches counts the operations that start later") func progress() {
    for _ in 0..<50 {
      let queue = OperationQueue()
      queue.isSuspended = true
      warmUp(queue)
      queue.isSuspended = false
      queue.progress.totalUnitCount = 1_000
      let later = (0..<100).map { _ in BlockOperation {} }
      queue.addOperations(later, waitUntilFinished: false)
      queue.waitUntilAllOperationsAreFinished()
      #expect((100...400).contains(queue.progress.completedUnitCount))
    }
  }

  @Test("Q6, Q11: a wait for all operations returns when they have run; a released queue runs them and is freed")
  func all() {
    let census = Crowd()
    for round in 0..<300 {
      let number = Atomic<Int>(0)
      let queue = CountedQueue(census)
      for _ in 0..<200 { queue.addOperation { number.add(1, ordering: .relaxed) } }
      if round % 2 == 0 { continue }
      queue.waitUntilAllOperationsAreFinished()
      let count = number.load(ordering: .relaxed)
      #expect(count == 200)
    }
    #expect(census.eventuallyEmpty())
  }

  @Test("Q8: barriers between batches run alone") func barriers() {
    let queue = OperationQueue()
    let crowd = Crowd()
    let complaints = EventRecorder<Int>()
    for section in 0..<200 {
      for _ in 0..<section % 67 {
        queue.addOperation {
          crowd.enter()
          crowd.leave()
        }
      }
      queue.addBarrierBlock { if crowd.now != 0 { complaints.record(section) } }
    }
    queue.waitUntilAllOperationsAreFinished()
    #expect(complaints.events == [])
  }

  @Test("Q7, W4: an operation of a batch runs inside only itself after the previous operation has been freed")
  func inside() {
    let queue = OperationQueue()
    let executor = VisitExecutor()
    queue.executor = executor
    let insides = EventRecorder<Int>()
    let observed = BlockOperation { insides.record(ThreadContext.operations.count) }
    let token = observed.observe(\.isFinished) { _, _ in }
    for _ in 0..<8 { queue.addOperation {} }
    queue.addOperation(observed)
    warmUp(queue)
    executor.runBatch(of: queue)
    executor.runSteps()
    #expect(insides.events == [1] && ThreadContext.operations.isEmpty)
    token.invalidate()
  }

  @Test("Q1: an operation of a batch can run another queue step by step without disturbing either queue")
  func nested() async throws {
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue()
      let ran = Atomic<Int>(0)
      for _ in 0..<20 {
        queue.isSuspended = true
        for _ in 0..<200 { queue.addOperation { ran.add(1, ordering: .relaxed) } }
        queue.addOperation {
          let (inner, executor) = (OperationQueue(), VisitExecutor())
          inner.executor = executor
          for _ in 0..<200 { inner.addOperation { ran.add(1, ordering: .relaxed) } }
          executor.runSteps()
        }
        for _ in 0..<200 { queue.addOperation { ran.add(1, ordering: .relaxed) } }
        queue.isSuspended = false
        try await queue.untilAllOperationsAreFinished()
      }
      let count = ran.load(ordering: .relaxed)
      #expect(count == 20 * 600)
    }
  }
}

private final class CountedQueue: OperationQueue, @unchecked Sendable {
  private let census: Crowd

  init(_ census: Crowd) {
    self.census = census
    super.init()
    census.enter()
  }

  deinit { census.leave() }
}
