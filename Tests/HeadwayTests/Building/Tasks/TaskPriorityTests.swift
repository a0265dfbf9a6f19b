import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

@Suite("Task priority", .hangLimit) struct TaskPriorityTests {
  @Test("B3, P5: the task has at least the priority of the operation's quality of service")
  func priority() async throws {
    let queue = OperationQueue(name: "urgent", qualityOfService: .userInitiated)
    #expect(try await queue.addTask { Task.currentPriority }.value == .high)
    let (own, other) = (TaskOperation { Task.currentPriority }, OperationQueue())
    own.qualityOfService = .userInitiated
    other.addOperation(own)
    #expect(try await own.value == .high)

    // Raised while it runs.
    let (begun, seen) = (Gate(), Gate())
    let running = other.addTask {
      begun.open()
      while Task.currentPriority < .high { await Task.yield() }
      seen.open()
    }
    await begun.untilOpen()
    let urgent = BlockOperation {}
    urgent.qualityOfService = .userInitiated
    urgent.addDependency(running)
    other.addOperation(urgent)
    await seen.untilOpen()
    try await urgent.untilFinished()
  }

  @Test("B3, P5: a task operation created in a task has the quality of service of that task's priority")
  func priorityOfCreator() async {
    for (priority, quality) in [
      (TaskPriority.background, QualityOfService.background), (.utility, .utility), (.medium, .default),
      (.high, .userInitiated),
    ] {
      let made = Task.detached(priority: priority) { TaskOperation {}.qualityOfService }
      // Awaiting its value could escalate it.
      let result = EventRecorder<QualityOfService>()
      Task.detached(priority: .background) { result.record(await made.value) }
      await until { result.count == 1 }
      #expect(result.events == [quality])
    }
  }

  @Test("P5, W3: an operation that a task waits for runs at least at the task's priority, even an escalated priority")
  func priorityOfWaiter() async throws {
    let queue = OperationQueue(name: "tidying up", qualityOfService: .background)
    queue.isSuspended = true
    let (first, second) = (queue.addTask { Task.currentPriority }, queue.addTask { Task.currentPriority })
    let third = queue.addTask { Task.currentPriority }
    let waiter = Task.detached(priority: .high) { try await first.value }
    let escalated = Task.detached(priority: .background) { try await second.value }
    await until { first.effectiveQuality(in: .background) == .userInitiated }
    #expect(second.effectiveQuality(in: .background) == .background)
    escalated.escalatePriority(to: .high)
    await until { second.effectiveQuality(in: .background) == .userInitiated }
    queue.isSuspended = false
    #expect(try await waiter.value == .high)
    #expect(try await escalated.value == .high)
    // It was created in a task of the medium priority, or of the priority of the tests.
    #expect(try await third.value <= Task.currentPriority)
  }

  @Test("P5, W3: an escalation at any time while a wait begins reaches the operation")
  func escalatedAsTheWaitBegins() async throws {
    let queue = OperationQueue()
    queue.isSuspended = true
    var waits: [(operation: TaskOperation<TaskPriority>, task: Task<TaskPriority, any Error>)] = []
    for number in 0..<500 {
      let operation = queue.addTask { Task.currentPriority }
      let begins = Gate()
      let task = Task.detached(priority: .background) {
        begins.open()
        return try await operation.value
      }
      await begins.untilOpen()
      for _ in 0..<number % 50 { _ = begins.isOpen }
      task.escalatePriority(to: .high)
      waits.append((operation, task))
    }
    await until { waits.allSatisfy { $0.operation.effectiveQuality(in: .default) == .userInitiated } }
    queue.isSuspended = false
    for wait in waits { #expect(try await wait.task.value == .high) }
  }

  @Test("B3: a task operation created outside tasks has no quality of service of its own")
  func madeInNoTask() async throws {
    let made = EventRecorder<QualityOfService>()
    let operation = BlockOperation { made.record(TaskOperation {}.qualityOfService) }
    OperationQueue.main.addOperation(operation)
    try await operation.untilFinished()
    #expect(made.events == [.default])
  }

  /// Returns when it runs at a high priority.
  @Sendable private static func untilUrgent() async {
    while Task.currentPriority < .high { await Task.yield() }
  }

  /// Begins `body` in a task of background priority.
  ///
  /// Escalates the task when `condition` is true.
  private func escalate(
    when condition: @Sendable () -> Bool, _ body: @escaping @Sendable () async throws -> Void
  ) async throws {
    let task = Task.detached(priority: .background) { try await body() }
    await until { condition() }
    task.escalatePriority(to: .high)
    try await task.value
  }

  @Test("P5, B4: a group passes the priority of its waiter on to its operations, before and after it starts")
  func group() async throws {
    let (queue, begun) = (OperationQueue(), Counter())
    for isRunning in [true, false] {
      queue.isSuspended = !isRunning
      let low = OperationQueue(name: "low", qualityOfService: .background)
      low.isSuspended = true
      let dependency = BlockOperation {}
      low.addOperation(dependency)
      let group = GroupOperation { inner in
        inner.addTask {
          begun.increment()
          await Self.untilUrgent()
        }
        let dependent = BlockOperation {}
        dependent.addDependency(dependency)
        inner.addOperation(dependent)
      }
      queue.addOperation(group)
      try await escalate(when: { begun.value == 1 }) {
        Task { @Sendable in
          await until { dependency.effectiveQuality(in: .background) == .userInitiated }
          low.isSuspended = false
          queue.isSuspended = false
        }
        try await group.untilSucceeded()
      }
    }
  }

  @Test("P5: awaiting operations of many inputs, or of a scope, raises all of them")
  func manyOperations() async throws {
    let (queue, begun) = (OperationQueue(limit: 4), Counter())
    @Sendable func call() async {
      begun.increment()
      await Self.untilUrgent()
    }
    try await escalate(when: { begun.value == 4 }) { _ = try await queue.concurrentMap(0..<4) { _ in await call() } }
    try await escalate(when: { begun.value == 8 }) {
      try await queue.concurrentPerform(iterations: 4) { _ in await call() }
    }
    for isInOrder in [true, false] {
      let count = begun.value + 4
      try await escalate(when: { begun.value == count }) {
        for try await _ in queue.results(of: 0..<4, inOrder: isInOrder, { _ in await call() }) {}
      }
    }
    let count = begun.value + 4
    try await escalate(when: { begun.value == count }) {
      try await withOperationQueue { queue in
        for _ in 0..<4 { queue.addTask { await call() } }
      }
    }
  }

  #if os(Linux)
  // This runs in its own process, whose workers are all busy.
  @Test("P3, P5: a task continues on a thread of the class that its operation was raised to in the meantime")
  func partMovesToAnotherClass() async {
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue(name: "low", qualityOfService: .background)
      let (begun, goOn, spinning) = (Gate(), Gate(), Counter())
      // Not a gate: threads that check it could wait for its lock, and would count as blocked, and make room.
      let isOver = Atomic<Bool>(false)
      let operation = queue.addTask {
        begun.open()
        await goOn.untilOpen()
        return currentNiceValue()
      }
      await begun.untilOpen()
      for _ in 0..<ProcessorCount.usable {
        queue.addOperation {
          spinning.increment()
          while !isOver.load(ordering: .acquiring) {}
        }
      }
      while spinning.value < ProcessorCount.usable { await Task.yield() }
      goOn.open()
      let nice = try await Task.detached(priority: .high) { try await operation.value }.value
      isOver.store(true, ordering: .releasing)
      #expect(nice == processNiceValue())
      try await queue.untilAllOperationsAreFinished()
    }
  }
  #endif
}
