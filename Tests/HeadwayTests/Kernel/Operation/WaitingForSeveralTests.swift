import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

@Suite("Waiting for several operations", .hangLimit) struct WaitingForSeveralTests {
  private func waiterCount(_ operation: Headway.Operation) -> Int {
    operation.links.withLock { $0.details?.pointee.waiters.count ?? 0 }
  }

  /// Operations that have begun and wait to be finished.
  private func executing(_ count: Int) -> [AsynchronousOperation] {
    (0..<count).map { number in
      let operation = AsynchronousOperation()
      operation.name = "\(number)"
      operation.start()
      return operation
    }
  }

  @Test("W6: a task can wait until all operations of a list have finished, however they end") func all() async throws {
    try await Operation.untilAllFinished([Operation]())
    let (queue, other) = (OperationQueue(), OperationQueue())
    let operations = [
      queue.addTask { 1 }, queue.addTask { throw Mishap() }, other.addTask { 2 },
    ]
    let cancelled = BlockOperation {}
    cancelled.cancel()
    try await Operation.untilAllFinished(operations + [cancelled])
    #expect(operations.allSatisfy { $0.isFinished })

    let executing = executing(3)
    let isOver = Gate()
    let task = Task {
      try await Operation.untilAllFinished(executing)
      isOver.open()
    }
    for operation in executing {
      await until { executing.contains { waiterCount($0) > 0 } }
      #expect(!isOver.isOpen)
      operation.finish()
    }
    try await task.value
  }

  @Test("W6: a task can wait for the first operation that finishes, even if it fails") func first() async throws {
    #expect(try await Operation.untilFirstFinished([Operation]()) == nil)
    for number in 0..<3 {
      let operations = executing(3)
      let task = Task { try await Operation.untilFirstFinished(operations) }
      await until { operations.allSatisfy { waiterCount($0) == 1 } }
      operations[number].finish(throwing: Mishap())
      #expect(try await task.value === operations[number])
      // The wait for the other operations has ended.
      #expect(operations.allSatisfy { waiterCount($0) == 0 })
      // Of several that have finished, the first in the list is returned.
      operations[0].finish()
      #expect(try await Operation.untilFirstFinished(operations) === operations[0])
      for operation in operations { operation.finish() }
    }
  }

  @Test("W6: a task can wait for the first operation that succeeds, and receives an error if none succeeds")
  func succeeded() async throws {
    let operations = executing(4)
    let task = Task { try await Operation.untilFirstSucceeded(operations) }
    await until { operations.allSatisfy { waiterCount($0) == 1 } }
    operations[2].finish(throwing: Mishap())
    operations[0].cancel()
    operations[0].finish()
    await until { waiterCount(operations[0]) == 0 && waiterCount(operations[2]) == 0 }
    #expect(waiterCount(operations[1]) == 1 && waiterCount(operations[3]) == 1)
    operations[3].finish()
    #expect(try await task.value === operations[3])
    operations[1].finish()
    #expect(try await Operation.untilFirstSucceeded(operations) === operations[1])

    let failed = [operations[2], operations[0]]
    let error = await #expect(throws: NoSuccessError.self) { try await Operation.untilFirstSucceeded(failed) }
    #expect(error?.operations == failed)
    #expect(
      "\(error!)"
        == "none of the operations has succeeded: “2” (failed: Mishap(name: \"mishap\")), “0” (finished, cancelled)")
    await #expect(throws: NoSuccessError.self) { try await Operation.untilFirstSucceeded([Operation]()) }
  }

  @Test("W6: the first operation keeps its type, so its value can be read") func typed() async throws {
    let queue = OperationQueue()
    let slow = queue.addTask { () async throws -> Int in
      try await Task.sleep(for: .seconds(3_600))
      return 1
    }
    let fast = queue.addTask { 2 }
    #expect(try await Operation.untilFirstSucceeded([slow, fast]).value == 2)
    #expect(try await Operation.untilFirstFinished([slow, fast])?.value == 2)
    slow.cancel()
  }

  enum Kind: CaseIterable { case all, finished, succeeded }

  @Test("W6: cancelling the waiting task stops the wait, and the operations continue", arguments: Kind.allCases)
  func cancelled(kind: Kind) async throws {
    let operations = executing(3)
    let task = Task {
      switch kind {
      case .all: try await Operation.untilAllFinished(operations)
      case .finished: _ = try await Operation.untilFirstFinished(operations)
      case .succeeded: _ = try await Operation.untilFirstSucceeded(operations)
      }
    }
    await until { operations.contains { waiterCount($0) == 1 } }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(operations.allSatisfy { waiterCount($0) == 0 && $0.isExecuting && !$0.isCancelled })
    for operation in operations { operation.finish() }
  }

  @Test("W6, P5: all operations of the list are raised from the beginning", arguments: Kind.allCases)
  func raised(kind: Kind) async throws {
    let operations = executing(3)
    let task = Task(priority: .userInitiated) {
      switch kind {
      case .all: try await Operation.untilAllFinished(operations)
      case .finished: _ = try await Operation.untilFirstFinished(operations)
      case .succeeded: _ = try await Operation.untilFirstSucceeded(operations)
      }
    }
    let level = QualityOfService.userInitiated.level
    await until { operations.allSatisfy { $0.state.current.qualityLevel >= level } }
    for operation in operations { operation.finish() }
    try await task.value
  }
}
