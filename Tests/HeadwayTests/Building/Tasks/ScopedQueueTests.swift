import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

@Suite("How scopes end", .hangLimit) struct ScopedQueueTests {
  private struct Failure: Error {}

  /// Has its own code to run when it is cancelled.
  private final class WithStart: Operation, @unchecked Sendable {
    override func start() { super.start() }
  }

  private final class WithIsFinished: Operation, @unchecked Sendable {
    override var isFinished: Bool { super.isFinished }
  }

  enum Cause: CaseIterable { case error, cancellation, failure }
  enum Obstacle: CaseIterable { case suspension, limit }

  private static func holdUp(_ queue: OperationQueue, by obstacle: Obstacle) {
    switch obstacle {
    case .suspension: queue.isSuspended = true
    case .limit: queue.maxConcurrentOperationCount = 0
    }
  }

  @Test(
    "B3, C5: a scope that ends early returns, even if its queue is suspended and has cancellation code to run",
    arguments: Cause.allCases, Obstacle.allCases)
  func scope(cause: Cause, obstacle: Obstacle) async {
    let held = [WithStart(), WithIsFinished()]
    let task = Task {
      try await withOperationQueue { queue in
        if cause == .failure {
          let failing = queue.addTask { throw Failure() }
          try? await failing.untilFinished()
        }
        Self.holdUp(queue, by: obstacle)
        queue.addOperations(held, waitUntilFinished: false)
        if cause == .error { throw Failure() }
        if cause == .cancellation { withUnsafeCurrentTask { $0?.cancel() } }
      }
    }
    if cause == .cancellation {
      await #expect(throws: CancellationError.self) { try await task.value }
    } else {
      await #expect(throws: Failure.self) { try await task.value }
    }
    #expect(held.allSatisfy { $0.isFinished && $0.isCancelled })
  }

  @Test("B3, C5: suspending the queue of a scope after its end has no effect", arguments: Obstacle.allCases)
  func afterEnd(obstacle: Obstacle) async {
    let held = WithStart()
    await #expect(throws: CancellationError.self) {
      try await Task {
        try await withOperationQueue { queue in
          withUnsafeCurrentTask { $0?.cancel() }
          Self.holdUp(queue, by: obstacle)
          #expect(!queue.isSuspended && queue.maxConcurrentOperationCount != 0)
          queue.addOperation(held)
        }
      }.value
    }
    #expect(held.isFinished && held.isCancelled)
  }

  @Test(
    "B4, C5: a cancelled group finishes even if its queue is suspended, before and after its start",
    arguments: Obstacle.allCases, [true, false])
  func group(obstacle: Obstacle, isStarted: Bool) async throws {
    let held = WithStart()
    let group = GroupOperation(operations: [held])
    Self.holdUp(group.operationQueue, by: obstacle)
    let queue = OperationQueue()
    if isStarted {
      let gate = Gate()
      group.addOperation(BlockOperation { gate.wait() })
      group.operationQueue.maxConcurrentOperationCount = 1
      held.queuePriority = .veryLow
      queue.addOperation(group)
      await until { group.isExecuting }
      Self.holdUp(group.operationQueue, by: obstacle)
      group.cancel()
      Self.holdUp(group.operationQueue, by: obstacle)
      gate.open()
    } else {
      group.cancel()
      queue.addOperation(group)
    }
    try await group.untilFinished()
    #expect(held.isFinished && group.isCancelled)
  }

  @Test("Q11: a group that is freed without having started finishes its operations", arguments: Obstacle.allCases)
  func freedGroup(obstacle: Obstacle) async throws {
    let held = WithStart()
    do {
      let group = GroupOperation(operations: [held])
      Self.holdUp(group.operationQueue, by: obstacle)
    }
    try await held.untilFinished()
    #expect(held.isCancelled)
  }
}
