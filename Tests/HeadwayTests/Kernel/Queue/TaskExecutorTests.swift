import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

@Suite("Task executor", .hangLimit) struct TaskExecutorTests {
  @Test("Q15: the jobs of a task run in the queue, under its limit") func limit() async throws {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 2
    let crowd = Crowd()
    let tasks = (0..<100).map { _ in
      Task(executorPreference: queue) {
        for _ in 0..<10 {
          #expect(OperationQueue.current === queue)
          crowd.enter()
          yieldThread()
          crowd.leave()
          await Task.yield()
        }
      }
    }
    for task in tasks { await task.value }
    #expect(crowd.most <= 2)
    // Including children of the task.
    let sum = await Task(executorPreference: queue) {
      await withTaskGroup(of: Int.self) { group in
        for number in 0..<50 { group.addTask { OperationQueue.current === queue ? number : -1_000 } }
        return await group.reduce(0, +)
      }
    }.value
    #expect(sum == 1_225)
  }

  @Test("Q15: a suspended queue runs no jobs; cancelling its operations does not keep jobs from running")
  func held() async {
    let queue = OperationQueue()
    queue.isSuspended = true
    let begun = Gate()
    let task = Task(executorPreference: queue) { begun.open() }
    await until { queue.operationCount == 1 }
    #expect(!begun.isOpen)
    queue.cancelAllOperations()
    #expect(queue.operationCount == 1)
    queue.isSuspended = false
    await task.value
    #expect(begun.isOpen)
  }

  @Test("Q15: blocking calls in the jobs overlap, and jobs have their task's priority")
  func blocking() async throws {
    let queue = OperationQueue()
    let meeting = Meeting(of: 16)
    let tasks = (0..<16).map { _ in Task(executorPreference: queue) { meeting.attend() } }
    for task in tasks { await task.value }

    queue.isSuspended = true
    let task = Task(executorPreference: queue, priority: .background) {}
    await until { queue.operations.first?.qualityOfService == .background }
    queue.isSuspended = false
    await task.value
  }

  @Test("Q15: asynchronous code runs step by step in a test's queue") func stepwise() async {
    let queue = OperationQueue()
    let executor = StepExecutor()
    executor.control(queue)
    let order = EventRecorder<Int>()
    let task = Task(executorPreference: queue) {
      order.record(1)
      await Task.yield()
      order.record(2)
    }
    executor.step()
    #expect(order.events == [1])
    // `yield` uses Swift's own pool.
    await until { executor.runSteps() > 0 && order.count == 2 }
    #expect(order.events == [1, 2])
    executor.runSteps()
    await task.value
  }

  @Test("Q15, C1: jobs in a cancelled scoped queue, and in a cancelled group's queue, run nevertheless")
  func cancelledScopes()
    async throws
  {
    await #expect(throws: Mishap()) {
      try await withOperationQueue(maxConcurrentOperationCount: 1) { queue in
        let isIn = Gate()
        queue.addOperation {
          isIn.wait()
          throw Mishap()
        }
        let task = Task(executorPreference: queue) { 5 }
        await until { queue.operationCount == 2 }
        isIn.open()
        #expect(await task.value == 5)
      }
    }
    let group = GroupOperation(name: "group")
    let task = Task(executorPreference: group.operationQueue) { 5 }
    await until { group.operationQueue.operationCount == 1 }
    group.cancel()
    #expect(await task.value == 5)
  }

  @MainActor private var isOnMainActor: Bool { true }

  @Test("Q7: a block that is isolated to the main actor runs in the main queue; others are not affected")
  @MainActor
  func mainActor() async throws {
    let seen = EventRecorder<Bool>()
    OperationQueue.main.addOperation { @MainActor in seen.record(self.isOnMainActor) }
    let queue = OperationQueue()
    queue.addOperation { seen.record(OperationQueue.current === queue) }
    try await queue.untilAllOperationsAreFinished()
    try await OperationQueue.main.untilAllOperationsAreFinished()
    #expect(seen.events == [true, true])
  }

  @Test("Q7: adding a block of the main actor to a queue of other threads is a programming error")
  func mainActorElsewhere() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      OperationQueue(name: "pages", maxConcurrentOperationCount: 1).addOperation { @MainActor in }
    }
    #expect(result.message.contains("A block of the main actor was added to queue “pages”"))
    #expect(result.message.contains("use OperationQueue.main or addTask"))
  }

  private actor Shared {
    private var count = 0

    func increment(opening gate: Gate? = nil) -> Int {
      gate?.open()
      count += 1
      return count
    }
  }

  private actor OnQueue {
    private let queue = OperationQueue(order: .fifo)
    private var count = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    func increment(opening gate: Gate) -> Int {
      gate.open()
      count += 1
      return count
    }
  }

  @Test("Q15: an actor without its own executor waits in the suspended queue of a task that calls it")
  func actorHeldUp() async {
    let (queue, shared) = (OperationQueue(), Shared())
    let first = Task(executorPreference: queue) {
      queue.isSuspended = true
      return await shared.increment()
    }
    // The job of the actor waits in the queue, and the first job of the task has ended.
    await until { queue.isSuspended && queue.operations.map(\.isExecuting) == [false] }
    let other = Task.detached { await shared.increment() }
    queue.isSuspended = false
    #expect(await first.value == 1)
    #expect(await other.value == 2)
  }

  @Test("Q15: an actor with its own executor does not wait in the queue of a task that calls it")
  func actorWithExecutor() async {
    let (queue, actor, called) = (OperationQueue(), OnQueue(), Gate())
    let first = Task(executorPreference: queue) {
      queue.isSuspended = true
      return await actor.increment(opening: called)
    }
    await called.untilOpen()
    #expect(await actor.increment(opening: called) == 2)
    queue.isSuspended = false
    #expect(await first.value == 1)
  }

  @Test("Q15: an actor that a task calls on the global executor does not wait in the queue of the task")
  func actorOnGlobalExecutor() async {
    let (queue, shared, called) = (OperationQueue(), Shared(), Gate())
    let first = Task(executorPreference: queue) {
      queue.isSuspended = true
      return await withTaskExecutorPreference(globalConcurrentExecutor) { await shared.increment(opening: called) }
    }
    await called.untilOpen()
    #expect(await shared.increment() == 2)
    queue.isSuspended = false
    #expect(await first.value == 1)
  }
}
