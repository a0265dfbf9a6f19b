import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

@Suite("Configuration of tasks", .hangLimit) struct TaskConfigurationTests {
  private struct Failure: Error {}

  @Test("B3: a task is added with its name, priority, quality of service and dependencies") func settings() async throws
  {
    let queue = OperationQueue()
    queue.isSuspended = true
    let first = queue.addTask { 1 }
    let second = queue.addTask(
      "second", .priority(.high), .qualityOfService(.utility), .dependingOn(first, requiring: .completion)
    ) { 2 }
    #expect(second.name == "second" && second.queuePriority == .high && second.qualityOfService == .utility)
    #expect(second.dependencies == [first])
    let third = queue.addTask(.priority(.veryLow), .dependingOn(first, second)) { 3 }
    #expect(third.name == nil && third.queuePriority == .veryLow && third.qualityOfService == .default)
    #expect(third.dependencies == [first, second])
    queue.isSuspended = false
    #expect(try await third.value == 3)
  }

  @Test("B3: later options take precedence, and dependencies and resources are added") func options()
    async throws
  {
    let queue = OperationQueue()
    queue.isSuspended = true
    let (first, second) = (queue.addTask {}, queue.addTask {})
    let bulk: [OperationOption] = [.priority(.low), .timeout(.seconds(5)), .exclusiveResources("a")]
    let task = TaskOperation(
      "save \(1)", .options(bulk), .dependingOn(first), .priority(.high),
      .dependingOn([second], requiring: .completion),
      .exclusiveResources("b"), .sharedResources("c"), .key("customer"), .delay(.seconds(1)), .totalTimeout(.seconds(9))
    ) {}
    #expect(task.name == "save 1" && task.queuePriority == .high && task.dependencies == [first, second])
    let policy = OperationPolicy(
      delay: .seconds(1), timeout: .seconds(5), totalTimeout: .seconds(9), exclusiveResources: ["a", "b"],
      sharedResources: ["c"], key: "customer")
    #expect(task.policy == policy)
    #expect(TaskOperation("a", .policy(policy), .name("b"), .policy(OperationPolicy())) {}.name == "b")
    queue.cancelAllOperations()
    queue.isSuspended = false
    try await queue.untilAllOperationsAreFinished()
  }

  @Test("B3: by default, a task has the quality of service that matches the priority of the current task")
  func quality() async throws {
    let queue = OperationQueue()
    // A higher priority than the test's, so waiting does not change it.
    try await Task(priority: .userInitiated) {
      #expect(queue.addTask {}.qualityOfService == .userInitiated)
      #expect(queue.addTask(.qualityOfService(.default)) {}.qualityOfService == .default)
      #expect(queue.addTask(.qualityOfService(.utility)) {}.qualityOfService == .utility)
      try await queue.untilAllOperationsAreFinished()
    }.value
  }

  @Test("B3, P2: the priority decides which of the ready tasks runs first") func order() async throws {
    let queue = OperationQueue(limit: 1)
    let order = EventRecorder<String>()
    queue.isSuspended = true
    for (name, priority) in [("low", QueuePriority.low), ("high", .high), ("normal", .normal)] {
      queue.addTask(.name(name), .priority(priority)) { order.record(name) }
    }
    queue.isSuspended = false
    try await queue.untilAllOperationsAreFinished()
    #expect(order.events == ["high", "normal", "low"])
  }

  @Test("B3, D2, D3: a task that requires only completion runs even if its dependency failed or was cancelled")
  func requirement() async throws {
    let queue = OperationQueue()
    let failed = queue.addTask { () async throws -> String in throw Failure() }
    let cancelled = TaskOperation { "never" }
    cancelled.cancel()
    for dependency in [failed, cancelled] {
      let fallback = queue.addTask(.dependingOn(dependency, requiring: .completion)) {
        (try? await dependency.value) ?? "fallback"
      }
      #expect(try await fallback.value == "fallback")
      let strict = queue.addTask(.dependingOn(dependency, requiring: .success)) { Issue.record("the task ran") }
      try await strict.untilFinished()
      #expect(strict.isCancelled && strict.error is DependencyError)
    }
    let list = queue.addTask(.dependingOn(failed, cancelled, requiring: .completion)) { 1 }
    #expect(try await list.value == 1)
  }

  // MARK: Limits of queued operations

  @Test("Q13: tasks are added when the queue is below its limit, with their settings") func belowLimit() async throws {
    let queue = OperationQueue()
    queue.maxOperationCount = 2
    queue.isSuspended = true
    let first = try await queue.addTaskWhenBelowLimit("first", .priority(.high)) { 1 }
    let second = try await queue.addTaskWhenBelowLimit(.dependingOn(first, requiring: .completion)) { 2 }
    let waiting = Task {
      try await queue.addTaskWhenBelowLimit("third", .qualityOfService(.utility), .dependingOn(first, second)) {
        try await first.value + second.value
      }
    }
    await until { queue.state.withLock { $0.producers.waitingCount } == 1 }
    #expect(queue.operationCount == 2)
    queue.isSuspended = false
    let third = try await waiting.value
    #expect(try await third.value == 3)
    #expect(first.name == "first" && first.queuePriority == .high)
    #expect(third.name == "third" && third.qualityOfService == .utility)
  }

  @Test("Q13: a queue never exceeds its limit of tasks, however fast they are produced") func bounded() async throws {
    let queue = OperationQueue()
    queue.maxOperationCount = 3
    let (held, most, sum) = (Counter(), EventRecorder<Int>(), Counter())
    for _ in 0..<1_000 {
      try await queue.addTaskWhenBelowLimit {
        most.record(held.increment())
        await Task.yield()
        sum.increment()
        held.decrement()
      }
      #expect(queue.operationCount <= 3)
    }
    try await queue.untilAllOperationsAreFinished()
    #expect(sum.value == 1_000 && most.events.max() ?? 0 <= 3)
  }

  @Test(
    "Q13, Q17: a cancelled producer adds nothing, and a waiting producer receives an error when its queue is closed"
  )
  func refused() async throws {
    let queue = OperationQueue()
    queue.maxOperationCount = 1
    queue.isSuspended = true
    queue.addOperation {}
    let cancelled = Task { try await queue.addTaskWhenBelowLimit { Issue.record("the task ran") } }
    let waiting = Task { try await queue.addTaskWhenBelowLimit { Issue.record("the task ran") } }
    await until { queue.state.withLock { $0.producers.waitingCount } == 2 }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    queue.close()
    await #expect(throws: QueueClosedError.self) { try await waiting.value }
    await #expect(throws: QueueClosedError.self) { try await queue.addTaskWhenBelowLimit { 1 } }
    queue.cancelAllOperations()
    try await queue.untilAllOperationsAreFinished()
  }
}
