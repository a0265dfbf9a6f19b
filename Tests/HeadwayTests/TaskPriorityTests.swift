import HeadwayTestKit
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
    await begun.opened()
    let urgent = BlockOperation {}
    urgent.qualityOfService = .userInitiated
    urgent.addDependency(running)
    other.addOperation(urgent)
    await seen.opened()
    try await urgent.finished()
  }

  @Test("B3, P5: a task operation made in a task of a priority has the quality of service that belongs to it")
  func priorityOfCreator() async {
    for (priority, quality) in [
      (TaskPriority.background, QualityOfService.background), (.utility, .utility), (.medium, .default),
      (.high, .userInitiated),
    ] {
      let made = Task.detached(priority: priority) { TaskOperation {}.qualityOfService }
      // Awaiting its value could escalate it.
      let result = EventRecorder<QualityOfService>()
      Task.detached(priority: .background) { result.record(await made.value) }
      #expect(await becomesTrue { result.count == 1 })
      #expect(result.events == [quality])
    }
  }

  @Test("P5, W3: what a task waits for runs at no lower quality of service than its priority, escalated or not")
  func priorityOfWaiter() async throws {
    let queue = OperationQueue(name: "tidying up", qualityOfService: .background)
    queue.isSuspended = true
    let (first, second) = (queue.addTask { Task.currentPriority }, queue.addTask { Task.currentPriority })
    let third = queue.addTask { Task.currentPriority }
    let waiter = Task.detached(priority: .high) { try await first.value }
    let escalated = Task.detached(priority: .background) { try await second.value }
    #expect(await becomesTrue { first.effectiveQuality(in: .background) == .userInitiated })
    #expect(second.effectiveQuality(in: .background) == .background)
    escalated.escalatePriority(to: .high)
    #expect(await becomesTrue { second.effectiveQuality(in: .background) == .userInitiated })
    queue.isSuspended = false
    #expect(try await waiter.value == .high)
    #expect(try await escalated.value == .high)
    // It was made in a task of the medium priority, or of that of the tests.
    #expect(try await third.value <= Task.currentPriority)
  }
}
