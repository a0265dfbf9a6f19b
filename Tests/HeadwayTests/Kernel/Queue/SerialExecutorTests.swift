import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

/// An actor that runs on its own queue.
private actor Journal {
  nonisolated let queue = OperationQueue(name: "journal", order: .fifo)
  private(set) var lines: [Int] = []
  private var isInside = false

  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  func append(_ line: Int) {
    #expect(!isInside && OperationQueue.current === queue)
    isInside = true
    yieldThread()
    lines.append(line)
    isInside = false
  }

  /// Leaves the actor in between.
  func appendTwice(_ line: Int) async {
    append(line)
    await Task.yield()
    append(line)
  }

  func block(_ gate: Gate) { gate.wait() }

  nonisolated func appendFromItsQueue(_ line: Int) { assumeIsolated { $0.append(line) } }

  func appendThroughOther(_ line: Int) { appendFromItsQueue(line) }
}

@Suite("Serial executor", .hangLimit) struct SerialExecutorTests {
  @Test("Q12: an actor runs on a queue in insertion order, interleaved with the queue's operations")
  func actor() async {
    let journal = Journal()
    let queue = journal.queue
    let crowd = Crowd()
    await withTaskGroup { group in
      for number in 0..<200 {
        group.addTask { await journal.appendTwice(number) }
        queue.addOperation {
          crowd.enter()
          yieldThread()
          crowd.leave()
        }
      }
    }
    #expect(await journal.lines.sorted() == (0..<200).flatMap { [$0, $0] })
    #expect(crowd.most == 1)
  }

  @Test("Q12: a suspended queue holds up its actor, and cancelling its operations loses no jobs") func held() async {
    let journal = Journal()
    journal.queue.isSuspended = true
    let task = Task { await journal.append(1) }
    await until { journal.queue.operationCount == 1 }
    journal.queue.cancelAllOperations()
    #expect(journal.queue.operationCount == 1)
    journal.queue.isSuspended = false
    await task.value
    #expect(await journal.lines == [1])
  }

  @Test("Q12, T2: calls that block in actors delay no other actor") func blocking() async {
    let journals = (0..<16).map { _ in Journal() }
    let gate = Gate()
    let tasks = journals.map { journal in Task { await journal.block(gate) } }
    for journal in journals { await until { journal.queue.operationCount == 1 } }
    let other = Journal()
    await other.append(1)
    gate.open()
    for task in tasks { await task.value }
  }

  @Test("Q12: inside its jobs, the actor is recognized as isolated") func isolation() async {
    let journal = Journal()
    await journal.appendThroughOther(1)
    #expect(await journal.lines == [1])
  }

  @Test("Q12: the actor is also recognized as isolated in the queue's classic operations, but in no others")
  func isolationInOperations() async throws {
    let journal = Journal()
    try await journal.queue.run(BlockOperation { journal.appendFromItsQueue(1) })
    #expect(await journal.lines == [1])
    #expect(ThreadContext.isRunningOperation(of: journal.queue) == false)
    // Several threads, or tasks, can be inside these at the same time.
    let isIsolated = EventRecorder<Bool>()
    let several = BlockOperation { isIsolated.record(ThreadContext.isRunningOperation(of: journal.queue)) }
    let meeting = Meeting(of: 2)
    for _ in 0..<2 {
      several.addExecutionBlock {
        meeting.attend()
        isIsolated.record(ThreadContext.isRunningOperation(of: journal.queue))
      }
    }
    try await journal.queue.run(several)
    #expect(isIsolated.events.count(where: { $0 }) <= 2 && isIsolated.events.contains(false))
    let task = journal.queue.addTask { ThreadContext.isRunningOperation(of: journal.queue) }
    #expect(try await task.value == false)
    // Nor after the end, because another might have begun.
    let ended = EventRecorder<Bool>()
    let operation = BlockOperation {}
    let token = operation.observe(\.isFinished) { _, _ in
      ended.record(ThreadContext.isRunningOperation(of: journal.queue))
    }
    try await journal.queue.run(operation)
    #expect(ended.events == [false])
    withExtendedLifetime(token) {}
  }

  @Test("Q15: a task's code between two suspensions is one operation, even if it calls other functions")
  func unbroken() async {
    @inline(never) @concurrent func other() async -> Int { 1 }
    let queue = OperationQueue(order: .fifo)
    let started = EventRecorder<Void>()
    let listening = queue.listen { if case .started = $0 { started.record(()) } }
    await Task(executorPreference: queue) { for _ in 0..<100 { _ = await other() } }.value
    #expect(started.count <= 3)
    withExtendedLifetime(listening) {}
  }

  @Test("Q12: a queue whose operations can overlap is not an executor of an actor") func misuse() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = OperationQueue(name: "pages", maxConcurrentOperationCount: 1).asUnownedSerialExecutor()
    }
    #expect(result.message.contains("queue “pages” can't be the executor of an actor"))
    #expect(result.message.contains("make it with order: .fifo"))
  }

  @Test("Q12, Q15: a task that prefers a queue, and an actor that runs on it, share the queue") func both() async {
    let journal = Journal()
    let queue = journal.queue
    let tasks = (0..<50).map { number in
      Task(executorPreference: queue) {
        #expect(OperationQueue.current === queue)
        await journal.append(number)
        #expect(OperationQueue.current === queue)
        await Task.yield()
        await journal.append(number)
      }
    }
    for task in tasks { await task.value }
    #expect(await journal.lines.sorted() == (0..<50).flatMap { [$0, $0] })
  }
}
