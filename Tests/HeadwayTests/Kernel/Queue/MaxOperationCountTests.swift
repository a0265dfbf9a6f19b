import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

@Suite("Pending limit", .hangLimit) struct PendingLimitTests {
  @Test("Q13: a queue never exceeds its pending limit, however fast operations are produced")
  func bounded() async throws {
    for (limit, producers) in [(1, 1), (7, 1), (7, 5), (100, 3)] {
      let queue = OperationQueue()
      queue.maxOperationCount = limit
      let (held, most, run) = (Counter(), EventRecorder<Int>(), Counter())
      try await withThrowingTaskGroup { group in
        for _ in 0..<producers {
          group.addTask {
            for _ in 0..<1_000 {
              try await queue.addOperationWhenBelowLimit {
                run.increment()
                most.record(held.increment())
                held.decrement()
              }
              #expect(queue.operationCount <= limit)
            }
          }
        }
        try await group.waitForAll()
      }
      try await queue.untilAllOperationsAreFinished()
      #expect(run.value == 1_000 * producers && most.events.max() ?? 0 <= limit)
    }
  }

  @Test("Q13: waiting callers get a place first come, first served")
  func inOrder() async throws {
    let queue = OperationQueue()
    queue.maxOperationCount = 1
    queue.maxConcurrentOperationCount = 1
    queue.isSuspended = true
    let order = EventRecorder<Int>()
    try await queue.addOperationWhenBelowLimit { order.record(0) }
    var tasks: [Task<Void, any Error>] = []
    for number in 1...20 {
      tasks.append(Task { try await queue.addOperationWhenBelowLimit { order.record(number) } })
      // They request a place one after the other.
      await until { queue.state.withLock { $0.producers.waitingCount } == number }
    }
    #expect(queue.operationCount == 1)
    // Other methods that add operations do not wait.
    queue.addOperation { order.record(-1) }
    queue.isSuspended = false
    for task in tasks { try await task.value }
    try await queue.untilAllOperationsAreFinished()
    #expect(order.events == [0, -1] + Array(1...20))
  }

  @Test("Q13: a task that is cancelled while it waits for a place adds nothing, and occupies no place")
  func cancelled() async throws {
    let queue = OperationQueue()
    queue.maxOperationCount = 2
    queue.isSuspended = true
    let run = EventRecorder<Int>()
    try await queue.addOperationWhenBelowLimit { run.record(0) }
    try await queue.addOperationWhenBelowLimit { run.record(1) }
    let tasks = (2..<30).map { number in Task { try await queue.addOperationWhenBelowLimit { run.record(number) } } }
    await until { queue.state.withLock { $0.producers.waitingCount } == 28 }
    for task in tasks.dropFirst(4) { task.cancel() }
    for task in tasks.dropFirst(4) { await #expect(throws: CancellationError.self) { try await task.value } }
    queue.isSuspended = false
    for task in tasks.prefix(4) { try await task.value }
    try await queue.untilAllOperationsAreFinished()
    #expect(Set(run.events) == Set(0..<6) && run.count == 6)
    // All places are free again, and a cancelled task adds nothing even if there is a free place.
    queue.isSuspended = true
    try await queue.addOperationWhenBelowLimit {}
    try await queue.addOperationWhenBelowLimit {}
    #expect(queue.operationCount == 2)
    queue.isSuspended = false
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await queue.addOperationWhenBelowLimit { run.record(-1) }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    try await queue.untilAllOperationsAreFinished()
    #expect(run.count == 6)
  }

  @Test("Q13: a place is free as soon as its operation has finished, even if another operation takes long")
  func besideLongOne() async throws {
    for round in 0..<200 {
      let queue = OperationQueue()
      queue.maxOperationCount = 8
      let (gate, last) = (Gate(), Gate())
      queue.isSuspended = true
      // A batch of seven operations that end immediately. Behind or among them is one that waits for an operation that
      // is added later.
      for number in 0..<8 {
        try await queue.addOperationWhenBelowLimit { if number == round % 8 { gate.wait() } }
      }
      queue.isSuspended = false
      for _ in 0..<20 { try await queue.addOperationWhenBelowLimit {} }
      try await queue.addOperationWhenBelowLimit { last.open() }
      await last.untilOpen()
      gate.open()
      try await queue.untilAllOperationsAreFinished()
    }
  }

  @Test("Q13: a raised limit admits waiting callers, and a lowered limit stops admission") func changed() async throws {
    let queue = OperationQueue()
    #expect(queue.maxOperationCount == .max)
    queue.maxOperationCount = 1
    queue.isSuspended = true
    let tasks = (0..<4).map { _ in Task { try await queue.addOperationWhenBelowLimit {} } }
    await until { queue.state.withLock { $0.producers.waitingCount } == 3 }
    queue.maxOperationCount = 3
    await until { queue.operationCount == 3 }
    queue.maxOperationCount = 2
    queue.isSuspended = false
    for task in tasks { try await task.value }
    try await queue.untilAllOperationsAreFinished()
  }
}
