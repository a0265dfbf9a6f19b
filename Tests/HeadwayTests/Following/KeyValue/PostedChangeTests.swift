import Dispatch
import Headway
import HeadwayTestKit
import Synchronization
import Testing

@Suite("Posted changes", .hangLimit) struct PostedChangeTests {
  @Test("O3: an asynchronous operation that posts its changes by key path finishes when it posts isFinished")
  func keyPaths() async throws {
    try await expectAsynchronous(KeyPathOperation())
  }

  @Test("O3: an asynchronous operation can post its changes by name: isExecuting, isFinished")
  func strings() async throws {
    try await expectAsynchronous(StringOperation(keys: ("isExecuting", "isFinished")))
  }

  @Test("O3: an asynchronous operation can post its changes by name without the prefix “is”: executing, finished")
  func names() async throws {
    try await expectAsynchronous(StringOperation(keys: ("executing", "finished")))
  }

  @Test("O3: a final class can override the properties of an asynchronous operation") func finalClass() async throws {
    try await expectAsynchronous(FinalOperation())
  }

  /// Keeps its concurrency slot until it posts that it has finished.
  ///
  /// Occupies no thread.
  private func expectAsynchronous(_ operation: some PostingOperation) async throws {
    let executor = StepExecutor()
    let queue = OperationQueue(limit: 1)
    executor.control(queue)
    let next = BlockOperation {}
    let dependent = BlockOperation {}
    dependent.addDependency(operation)
    let executing = EventRecorder(observing: operation, at: \.isExecuting)
    let finished = EventRecorder(observing: operation, at: \.isFinished)
    queue.addOperations([operation, next, dependent], waitUntilFinished: false)
    #expect(executor.runSteps() == 1)
    #expect(operation.isExecuting && !operation.isFinished)
    #expect(!next.isFinished && queue.operationCount == 3)
    operation.complete()
    #expect(operation.isFinished && !operation.isExecuting)
    #expect(queue.operationCount == 2)
    #expect(executor.runSteps() == 2)
    #expect(next.isFinished && dependent.isFinished)
    #expect(executing.events == [false, true, false])
    // At the start, it posts that it has not finished.
    #expect(finished.events == [false, false, true])
    operation.complete()
    #expect(finished.events == [false, false, true])
    try await operation.untilFinished()
  }

  @Test("O3: start() is called manually on an operation that posts its changes") func byHand() {
    let operation = KeyPathOperation()
    let completed = Gate()
    operation.completionBlock = { completed.open() }
    operation.start()
    #expect(operation.isExecuting)
    operation.complete()
    operation.waitUntilFinished()
    completed.wait()
    #expect(operation.outcome.isSuccess)
  }

  @Test("O3: an operation that finishes before the queue starts it, as in an overridden cancel(), leaves the queue")
  func early() {
    let queue = OperationQueue(limit: 1)
    queue.isSuspended = true
    let operation = KeyPathOperation()
    queue.addOperation(operation)
    operation.complete()
    #expect(operation.isFinished)
    #expect(queue.operationCount == 0)
    queue.isSuspended = false
    queue.addOperations([BlockOperation {}], waitUntilFinished: true)
    #expect(operation.starts == 0)
  }

  @Test("O3: many operations finish from another thread concurrently, each once") func otherThreads() {
    let queue = OperationQueue(limit: 3)
    let completions = Atomic<Int>(0)
    let operations = (0..<500).map { _ in
      let operation = KeyPathOperation(onStart: { operation in
        DispatchQueue.global().async { operation.complete() }
      })
      operation.completionBlock = { completions.add(1, ordering: .relaxed) }
      return operation
    }
    queue.addOperations(operations, waitUntilFinished: true)
    #expect(operations.allSatisfy { $0.starts == 1 && $0.isFinished })
    #expect(eventually { completions.load(ordering: .relaxed) == 500 })
  }

  @Test("O3: isConcurrent can be overridden instead of isAsynchronous") func concurrent() {
    final class Old: Headway.Operation, @unchecked Sendable {
      override var isConcurrent: Bool { true }
    }
    #expect(Old().isConcurrent)
    #expect(!Old().isAsynchronous)
    #expect(AsynchronousOperation().isConcurrent)
  }

  // MARK: AsynchronousOperation

  @Test("O2, K2: an operation that finishes before its dependencies is ready, like every finished operation")
  func finishedEarly() {
    let (operation, dependency) = (AsynchronousOperation(), BlockOperation {})
    operation.addDependency(dependency)
    let readiness = EventRecorder(observing: operation, at: \.isReady)
    operation.finish()
    #expect(operation.isReady && operation.dependencies.isEmpty)
    #expect(readiness.events == [false, true])
    dependency.start()
    #expect(operation.isReady)
  }

  @Test("O3: AsynchronousOperation runs from main() to finish()") func asynchronousOperation() {
    final class Delayed: AsynchronousOperation, @unchecked Sendable {
      override func main() {}
    }
    let executor = StepExecutor()
    let queue = OperationQueue(limit: 1)
    executor.control(queue)
    let (first, second) = (Delayed(), Delayed())
    let executing = EventRecorder(observing: first, at: \.isExecuting)
    queue.addOperations([first, second], waitUntilFinished: false)
    executor.runSteps()
    #expect(first.isExecuting && first.isAsynchronous && !second.isExecuting)
    first.finish()
    first.finish()
    executor.runSteps()
    #expect(first.isFinished && second.isExecuting)
    second.finish(throwing: Mishap())
    #expect(second.error as? Mishap == Mishap())
    #expect(executing.events == [false, true, false])
    #expect(queue.operationCount == 0)
  }

  @Test("O3: an AsynchronousOperation whose main() throws has failed") func throwing() {
    final class Failing: AsynchronousOperation, @unchecked Sendable {
      override func main() throws { throw Mishap() }
    }
    let operation = Failing()
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(operation.error as? Mishap == Mishap())
  }

  @Test("O3: a cancelled AsynchronousOperation finishes without running main()") func cancelled() {
    final class Never: AsynchronousOperation, @unchecked Sendable {
      override func main() { Issue.record("main() ran") }
    }
    let operation = Never()
    let queue = OperationQueue()
    queue.isSuspended = true
    queue.addOperation(operation)
    operation.cancel()
    operation.waitUntilFinished()
    #expect(operation.isFinished && operation.isCancelled)
  }

  // MARK: Readiness

  @Test("O2: an override of isReady holds an operation back until it posts a change") func readiness() {
    let executor = StepExecutor()
    let queue = OperationQueue()
    executor.control(queue)
    let operation = HeldOperation()
    let ready = EventRecorder(observing: operation, at: \.isReady)
    queue.addOperation(operation)
    #expect(executor.runSteps() == 0)
    operation.allow(true)
    #expect(executor.runSteps() == 1)
    #expect(operation.isFinished)
    #expect(ready.events == [false, true])
  }

  @Test("O2: an operation whose readiness is withdrawn waits until it is ready again")
  func readinessComesAndGoes() {
    let executor = StepExecutor()
    let queue = OperationQueue()
    executor.control(queue)
    let operation = HeldOperation()
    let dependency = BlockOperation {}
    operation.addDependency(dependency)
    operation.allow(true)
    queue.addOperation(operation)
    #expect(executor.runSteps() == 0)
    queue.addOperation(dependency)
    #expect(executor.step())
    operation.allow(false)
    #expect(executor.runSteps() == 0)
    #expect(operation.diagnosis.contains("isReady"))
    operation.allow(true)
    #expect(executor.runSteps() == 1)
    #expect(operation.isFinished)
  }

  @Test("C2: a cancelled operation leaves the queue even if its isReady is false") func cancelledHeldBack() {
    let operation = HeldOperation()
    let queue = OperationQueue()
    queue.addOperation(operation)
    operation.cancel()
    operation.waitUntilFinished()
    #expect(operation.isFinished)
  }

  @Test("O5: start() evaluates an override of isReady, even if called manually") func startHeldBack() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      HeldOperation().start()
    }
    #expect(result.message.contains("is not ready"))
  }

  @Test("O2: no change of readiness is lost if many threads post changes concurrently") func readinessFromManyThreads()
  {
    for _ in 0..<50 {
      let queue = OperationQueue()
      let operation = HeldOperation()
      queue.addOperation(operation)
      onThreads(4) { number in operation.allow(number % 2 == 0) }
      operation.allow(true)
      operation.waitUntilFinished()
    }
  }
}

// MARK: - Operations that keep their own state, as programs define them

class PostingOperation: Headway.Operation, @unchecked Sendable {
  struct State {
    var isExecuting = false
    var isFinished = false
    var starts = 0
  }

  let own = Mutex(State())
  private let onStart: @Sendable (PostingOperation) -> Void

  init(onStart: @escaping @Sendable (PostingOperation) -> Void = { _ in }) { self.onStart = onStart }

  var starts: Int { own.withLock { $0.starts } }

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { own.withLock { $0.isExecuting } }
  override var isFinished: Bool { own.withLock { $0.isFinished } }

  override func start() {
    own.withLock { $0.starts += 1 }
    guard !isCancelled else { return complete() }
    set(executing: true, finished: false)
    onStart(self)
  }

  func complete() { set(executing: false, finished: true) }

  func set(executing: Bool, finished: Bool) {
    own.withLock { own in
      own.isExecuting = executing
      own.isFinished = finished
    }
  }
}

class KeyPathOperation: PostingOperation, @unchecked Sendable {
  override func set(executing: Bool, finished: Bool) {
    willChangeValue(for: \.isExecuting)
    willChangeValue(for: \.isFinished)
    super.set(executing: executing, finished: finished)
    didChangeValue(for: \.isExecuting)
    didChangeValue(for: \.isFinished)
  }
}

final class FinalOperation: KeyPathOperation, @unchecked Sendable {
  override var isExecuting: Bool { own.withLock { $0.isExecuting } }
  override var isFinished: Bool { own.withLock { $0.isFinished } }
}

final class StringOperation: PostingOperation, @unchecked Sendable {
  private let keys: (executing: String, finished: String)

  init(keys: (String, String)) {
    self.keys = keys
    super.init()
  }

  override func set(executing: Bool, finished: Bool) {
    willChangeValue(forKey: keys.executing)
    willChangeValue(forKey: keys.finished)
    super.set(executing: executing, finished: finished)
    didChangeValue(forKey: keys.executing)
    didChangeValue(forKey: keys.finished)
  }
}

/// Ready when the test allows it and its dependencies have finished.
final class HeldOperation: Headway.Operation, @unchecked Sendable {
  private let isAllowed = Atomic<Bool>(false)

  override var isReady: Bool { super.isReady && isAllowed.load(ordering: .acquiring) }

  func allow(_ isAllowed: Bool) {
    willChangeValue(for: \.isReady)
    self.isAllowed.store(isAllowed, ordering: .releasing)
    didChangeValue(for: \.isReady)
  }
}
