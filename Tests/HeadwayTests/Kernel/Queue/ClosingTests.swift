import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

@Suite("Closing a queue", .hangLimit) struct ClosingTests {
  private final class OwnStart: Headway.Operation, @unchecked Sendable {
    let hasStarted = Gate()

    override func start() {
      hasStarted.open()
      super.start()
    }
    override func main() { Issue.record("the operation ran") }
  }

  private final class OwnState: Headway.Operation, @unchecked Sendable {
    private let hasFinished = Mutex(false)

    override var isFinished: Bool { hasFinished.withLock { $0 } }
    override func start() {
      willChangeValue(for: \.isFinished)
      hasFinished.withLock { $0 = true }
      didChangeValue(for: \.isFinished)
    }
  }

  private final class Asynchronous: AsynchronousOperation, @unchecked Sendable {
    override func main() { Issue.record("the operation ran") }
  }

  enum Setting: CaseIterable { case usual, suspended, limitOfZero, full, background, executor }

  private func queue(_ setting: Setting, _ executor: StepExecutor) -> OperationQueue {
    let queue = OperationQueue(name: "uploads")
    switch setting {
    case .usual: break
    case .suspended: queue.isSuspended = true
    case .limitOfZero: queue.maxConcurrentOperationCount = 0
    case .full:
      queue.maxConcurrentOperationCount = 1
      queue.addOperation(AsynchronousOperation())
    case .background: queue.qualityOfService = .background
    case .executor: executor.control(queue)
    }
    return queue
  }

  @Test(
    "Q17: an operation that is added to a closed queue finishes as cancelled, with an error, and is reported once",
    arguments: Setting.allCases)
  func rejected(setting: Setting) async throws {
    let executor = StepExecutor()
    let queue = queue(setting, executor)
    let reports = EventRecorder<ObjectIdentifier>()
    queue.failureHandler = { operation, error in
      #expect(error is QueueClosedError && operation.isFinished)
      reports.record(ObjectIdentifier(operation))
    }
    queue.close()
    #expect(queue.isClosed)

    let task = TaskOperation { Issue.record("the operation ran") }
    let group = GroupOperation(operations: [BlockOperation { Issue.record("the operation ran") }])
    let (start, state) = (OwnStart(), OwnState())
    let operations = [
      BlockOperation { Issue.record("the operation ran") }, task, group, Asynchronous(), start, state,
      BlockOperation { Issue.record("the operation ran") }, BlockOperation { Issue.record("the operation ran") },
    ]
    let (completions, handlers, dependents) = (Counter(), Counter(), OperationQueue())
    let later = operations.map { operation in
      operation.completionBlock = { completions.increment() }
      operation.onCancel { handlers.increment() }
      let dependent = BlockOperation {}
      dependent.addDependency(operation)
      dependents.addOperation(dependent)
      return dependent
    }
    for operation in operations.prefix(6) { queue.addOperation(operation) }
    queue.addOperations(Array(operations.suffix(2)), waitUntilFinished: false)
    // A stepwise executor also runs the reports.
    await until {
      executor.runSteps()
      return completions.value == operations.count && reports.count >= operations.count
        && (operations + later).allSatisfy { $0.isFinished }
    }
    #expect(handlers.value == operations.count && start.hasStarted.isOpen)
    for operation in operations {
      #expect(operation.isCancelled && operation.isFinished)
      let error = operation.failure as? QueueClosedError
      #expect(error?.queueName == "uploads")
    }
    #expect(later.allSatisfy { $0.outcome.isSuccess })
    #expect(Set(reports.events) == Set(operations.map { ObjectIdentifier($0) }) && reports.count == operations.count)
    #expect(queue.operationCount == (setting == .full ? 1 : 0))
    await #expect(throws: QueueClosedError.self) { try await task.value }
    queue.cancelAllOperations()
    (queue.operations.first as? AsynchronousOperation)?.finish()
  }

  @Test("Q17: blocks and barriers that are added to a closed queue are reported, and do not run") func blocks() {
    let queue = OperationQueue()
    let reports = EventRecorder<String>()
    queue.failureHandler = { _, error in reports.record("\(error)") }
    queue.close()
    queue.addOperation { Issue.record("the block ran") }
    queue.addBarrierBlock { Issue.record("the barrier ran") }
    queue.addOperations([BlockOperation { Issue.record("the block ran") }], waitUntilFinished: true)
    queue.waitUntilAllOperationsAreFinished()
    reports.waitForEvents(count: 3)
    #expect(
      reports.events == Array(repeating: "a queue without a name is closed and no longer accepts operations", count: 3))
  }

  @Test("Q17: the operations that a queue holds when it is closed run") func accepted() async throws {
    let queue = OperationQueue()
    queue.isSuspended = true
    let ran = Counter()
    for _ in 0..<100 { queue.addOperation { ran.increment() } }
    queue.addBarrierBlock { ran.increment() }
    queue.close()
    queue.close()
    queue.isSuspended = false
    try await queue.untilAllOperationsAreFinished()
    #expect(ran.value == 101)
  }

  @Test("Q17: an operation in a closed queue can't add operations to the queue, but a group in the queue can grow")
  func addedFromInside() async {
    let queue = OperationQueue()
    let (isClosed, next) = (Gate(), BlockOperation { Issue.record("the operation ran") })
    let grown = Counter()
    let group = GroupOperation { inner in
      inner.addOperation {
        isClosed.wait()
        queue.addOperation(next)
        OperationQueue.current?.addOperation { grown.increment() }
      }
    }
    queue.addOperation(group)
    queue.close()
    isClosed.open()
    await #expect(throws: Never.self) { try await group.untilSucceeded() }
    #expect(grown.value == 1 && next.failure is QueueClosedError)
  }

  @Test("Q17: an operation that requires a rejected operation to succeed fails") func dependent() async throws {
    let queue = OperationQueue()
    let (rejected, dependent) = (BlockOperation(name: "step"), BlockOperation(name: "next"))
    dependent.addDependency(rejected, requiring: .success)
    OperationQueue().addOperation(dependent)
    queue.close()
    queue.addOperation(rejected)
    try await dependent.untilFinished()
    let error = dependent.failure as? DependencyError
    #expect(error?.failedDependency === rejected && error?.underlyingError is QueueClosedError)
  }

  @Test("Q17: methods that add an operation throw the error if they can throw") func throwing() async throws {
    let queue = OperationQueue()
    queue.close()
    #expect(try await queue.concurrentMap([Int]()) { $0 } == [])
    await #expect(throws: QueueClosedError.self) { try await queue.concurrentMap([1]) { $0 } }
    await #expect(throws: QueueClosedError.self) { try await queue.concurrentPerform(iterations: 2) { _ in } }
    await #expect(throws: QueueClosedError.self) { for try await _ in queue.results(of: [1], { $0 }) {} }
    await #expect(throws: QueueClosedError.self) { try await queue.run(BlockOperation {}) }
    await #expect(throws: QueueClosedError.self) { try await queue.run(TaskOperation { 1 }) }
    await #expect(throws: QueueClosedError.self) { try await queue.addTask { 1 }.value }
    for limit in [Int.max, 1] {
      queue.maxOperationCount = limit
      let operation = BlockOperation {}
      await #expect(throws: QueueClosedError.self) { try await queue.addOperationWhenBelowLimit(operation) }
      await #expect(throws: QueueClosedError.self) { try await queue.addOperationWhenBelowLimit {} }
      #expect(operation.failure is QueueClosedError)
    }
  }

  @Test("Q17, Q13: a task that waits for a place is woken when the queue is closed") func producers() async throws {
    let queue = OperationQueue()
    queue.maxOperationCount = 1
    queue.isSuspended = true
    queue.addOperation {}
    let operations = (0..<10).map { _ in BlockOperation { Issue.record("the operation ran") } }
    let tasks = operations.map { operation in Task { try await queue.addOperationWhenBelowLimit(operation) } }
    await until { queue.state.withLock { $0.producers.waitingCount } == tasks.count }
    queue.close()
    for task in tasks { await #expect(throws: QueueClosedError.self) { try await task.value } }
    #expect(operations.allSatisfy { $0.failure is QueueClosedError })
    queue.isSuspended = false
    try await queue.untilAllOperationsAreFinished()
  }

  @Test("Q17: an operation that was cancelled before it is added to a closed queue is ignored") func cancelled() {
    let queue = OperationQueue()
    queue.failureHandler = { _, _ in Issue.record("a cancelled operation is reported") }
    queue.close()
    let operation = BlockOperation {}
    operation.cancel()
    queue.addOperation(operation)
    #expect(operation.outcome.isCancelled && operation.error == nil)
  }

  @Test("Q17, Q15: a closed queue executes the jobs of tasks and actors") func jobs() async {
    let queue = OperationQueue(order: .fifo)
    let (isInside, isClosed) = (Gate(), Gate())
    let task = Task(executorPreference: queue) {
      isInside.open()
      await isClosed.untilOpen()
      return 1
    }
    await isInside.untilOpen()
    queue.close()
    isClosed.open()
    #expect(await task.value == 1)
    #expect(await Task(executorPreference: queue) { 2 }.value == 2)
    #expect(await queue.drain(within: .zero, clock: ManualClock()).isComplete)
  }

  @Test("Q17, Q14: descriptions and diagnoses mention that a queue is closed") func descriptions() {
    let queue = OperationQueue(name: "import")
    queue.isSuspended = true
    let (waiting, late) = (BlockOperation(name: "parse"), BlockOperation(name: "save"))
    queue.addOperation(waiting)
    queue.close()
    queue.addOperation(late)
    #expect(queue.description == "queue “import” (1 operation, suspended, closed)")
    #expect(waiting.diagnosis == "“parse” is suspended in queue “import”; the queue is closed")
    #expect(late.diagnosis == "“save” was cancelled: queue “import” is closed and no longer accepts operations")
    #expect(late.description == "“save” (cancelled: queue “import” is closed and no longer accepts operations)")
    queue.cancelAllOperations()
  }

  @Test("Q17: each operation that threads add while the queue is closed either runs or is rejected, never both")
  func race() async throws {
    for _ in 0..<20 {
      let queue = OperationQueue()
      let (ran, rejected) = (Counter(), Counter())
      queue.failureHandler = { _, error in if error is QueueClosedError { rejected.increment() } }
      let (meeting, threads, count) = (Meeting(of: 4), 3, 500)
      onThreads(threads + 1) { number in
        meeting.attend()
        if number == threads {
          yieldThread()
          queue.close()
        } else {
          for _ in 0..<count { queue.addOperation { ran.increment() } }
        }
      }
      try await queue.untilAllOperationsAreFinished()
      await until { ran.value + rejected.value >= threads * count }
      #expect(ran.value + rejected.value == threads * count)
    }
  }

  @Test("Q17: closing the main queue is a programming error") func main() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      OperationQueue.main.close()
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("main queue was closed"))
  }

  @Test("Q17: an operation that is rejected because the queue is closed has its error when the addition returns")
  func errorOnReturn() {
    for _ in 0..<200 {
      let queue = OperationQueue()
      queue.failureHandler = { _, _ in }
      let operations = (0..<40).map { _ in BlockOperation {} }
      let rejected = Mutex<[Bool]>([])
      onThreads(2) { thread in
        guard thread == 0 else { return queue.close() }
        for operation in operations {
          queue.addOperation(operation)
          rejected.withLock { $0.append(operation.error is QueueClosedError) }
        }
      }
      for operation in operations { operation.waitUntilFinished() }
      #expect(operations.map { $0.error is QueueClosedError } == rejected.withLock { $0 })
    }
  }
}
