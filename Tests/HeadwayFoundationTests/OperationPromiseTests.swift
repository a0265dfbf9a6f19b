import HeadwayFoundation
import HeadwayTestKit
import Testing

/// The promises of the documentation of `NSOperation` and `NSBlockOperation`, each once.
@Suite("Promises of the documentation: operations", .hangLimit) struct OperationPromiseTests {
  @Test("O2: before an operation is added, it is ready, and in no other state") func initialState() {
    let operation = Operation()
    #expect(operation.isReady)
    #expect(!operation.isExecuting && !operation.isFinished && !operation.isCancelled && !operation.isAsynchronous)
    #expect(operation.dependencies.isEmpty && operation.completionBlock == nil && operation.name == nil)
    #expect(operation.queuePriority == .normal && operation.qualityOfService == .default)
    #expect(operation.threadPriority == 0.5)
  }

  @Test("O4: main() does nothing by default, and an operation that does not override it finishes") func emptyMain() {
    let operation = Operation()
    operation.start()
    #expect(operation.isFinished)
  }

  @Test("O4: start() finishes a cancelled operation without calling main()") func cancelledStart() {
    let operation = BlockOperation { Issue.record("a cancelled operation ran") }
    operation.cancel()
    operation.start()
    #expect(operation.isFinished && operation.isCancelled)
  }

  @Test("O1: an operation runs once; calling start() on a finished operation does nothing") func once() {
    let ran = EventRecorder<Int>()
    let operation = BlockOperation { ran.record(1) }
    operation.start()
    operation.start()
    #expect(ran.events == [1])
  }

  @Test("O3: an asynchronous operation can return from start(), and keeps its place until it posts its end")
  func asynchronousInQueue() {
    let queue = OperationQueue(limit: 1)
    let (first, second) = (FlaggedOperation(), FlaggedOperation())
    queue.addOperations([first, second], waitUntilFinished: false)
    first.started.wait()
    letOthersRun()
    #expect(first.isExecuting && !second.started.isOpen)
    first.complete()
    second.started.wait()
    second.complete()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("O3: if a subclass ends itself before super.start() calls main(), main() does not run") func endedBeforeMain() {
    final class Ending: Operation, @unchecked Sendable {
      private let lock = NSLock()
      private var isDone = false
      override var isFinished: Bool { lock.withLock { isDone } }
      override func start() {
        cancel()
        willChangeValue(forKey: "isFinished")
        lock.withLock { isDone = true }
        didChangeValue(forKey: "isFinished")
      }
      override func main() { Issue.record("an operation that has ended ran") }
    }
    let operation = Ending()
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(operation.isFinished && operation.isCancelled)
  }

  @Test("C1: cancelling sets the flag immediately, stops nothing, and changes nothing after the end")
  func cancelling() {
    let queue = OperationQueue()
    let (started, end) = (Gate(), Gate())
    let operation = BlockOperation {
      started.open()
      end.wait()
    }
    queue.addOperation(operation)
    started.wait()
    operation.cancel()
    #expect(operation.isCancelled && operation.isExecuting)
    end.open()
    operation.waitUntilFinished()
    let finished = BlockOperation {}
    finished.start()
    finished.cancel()
    #expect(!finished.isCancelled)
  }

  @Test("C2: a cancelled operation in a queue ignores its dependencies, and is ready") func cancelledIsReady() {
    let never = Operation()
    let operation = BlockOperation { Issue.record("a cancelled operation ran") }
    operation.addDependency(never)
    let queue = OperationQueue()
    queue.addOperation(operation)
    #expect(!operation.isReady)
    operation.cancel()
    #expect(operation.isReady)
    operation.waitUntilFinished()
    #expect(!never.isFinished)
  }

  @Test("D1: dependencies change isReady, are listed, and stay listed when they have finished") func dependencies() {
    let (first, second, operation) = (Operation(), Operation(), Operation())
    operation.addDependency(first)
    operation.addDependency(second)
    #expect(!operation.isReady)
    first.start()
    #expect(!operation.isReady)
    #expect(operation.dependencies == [first, second])
    second.start()
    #expect(operation.isReady)
    #expect(operation.dependencies == [first, second])
    operation.removeDependency(first)
    #expect(operation.dependencies == [second])
  }

  @Test("D4: removing the last dependency that has not finished makes the operation ready") func dependencyRemoved() {
    let (dependency, operation) = (Operation(), Operation())
    operation.addDependency(dependency)
    operation.removeDependency(dependency)
    #expect(operation.isReady && operation.dependencies.isEmpty)
  }

  @Test("D2: a dependency is fulfilled when it has finished, whether or not it was cancelled")
  func cancelledDependency() {
    let (dependency, operation) = (BlockOperation {}, BlockOperation {})
    operation.addDependency(dependency)
    let queue = OperationQueue()
    queue.addOperation(operation)
    queue.addOperation(dependency)
    dependency.cancel()
    queue.waitUntilAllOperationsAreFinished()
    #expect(operation.isFinished && !operation.isCancelled)
  }

  @Test("D5: a dependency added to an operation that runs or has finished has no effect") func lateDependency() async {
    await #expect(processExitsWith: .success) {
      let (started, end, operation) = (Gate(), Gate(), BlockOperation())
      operation.addExecutionBlock {
        started.open()
        end.wait()
      }
      let queue = OperationQueue()
      queue.addOperation(operation)
      await started.untilOpen()
      operation.addDependency(Operation())
      #expect(operation.isExecuting)
      end.open()
      try await operation.untilFinished()
      operation.addDependency(Operation())
      #expect(operation.isFinished)
    }
  }

  @Test("P1: a priority that is not a constant is rounded to the nearest constant toward normal") func priorities() {
    let operation = Operation()
    for priority: Operation.QueuePriority in [.veryLow, .low, .normal, .high, .veryHigh] {
      operation.queuePriority = priority
      #expect(operation.queuePriority == priority)
    }
    #expect(Operation.QueuePriority(roundingTowardNormal: -10) == .veryLow)
    #expect(Operation.QueuePriority(roundingTowardNormal: 10) == .veryHigh)
    #expect(Operation.QueuePriority(roundingTowardNormal: -7) == .low)
  }

  @Test("W1: after isFinished has become true, the completion block runs once and is set to nil, even if cancelled")
  func completionBlock() {
    for isCancelled in [false, true] {
      let (completed, seen) = (Gate(), EventRecorder<[Bool]>())
      let operation = BlockOperation {}
      operation.completionBlock = { [unowned operation] in
        seen.record([operation.isFinished, operation.isCancelled, operation.completionBlock == nil])
        completed.open()
      }
      let queue = OperationQueue()
      queue.isSuspended = true
      queue.addOperation(operation)
      if isCancelled { operation.cancel() }
      queue.isSuspended = false
      completed.wait()
      letOthersRun()
      #expect(seen.events == [[true, isCancelled, true]])
    }
  }

  @Test("W2: several threads wait for one operation, and all of them wake") func manyWait() {
    let queue = OperationQueue()
    let (end, waiting) = (Gate(), OperationQueue())
    let operation = BlockOperation { end.wait() }
    queue.addOperation(operation)
    let returned = EventRecorder<Bool>()
    for _ in 0..<4 {
      waiting.addOperation {
        operation.waitUntilFinished()
        returned.record(operation.isFinished)
      }
    }
    letOthersRun()
    #expect(returned.events.isEmpty)
    end.open()
    waiting.waitUntilAllOperationsAreFinished()
    #expect(returned.events == [true, true, true, true])
  }

  @Test("B1: the blocks of an operation run concurrently, and the operation finishes when the last block has returned")
  func blocksConcurrent() {
    let (first, second) = (Gate(), Gate())
    let operation = BlockOperation {
      first.open()
      second.wait()
    }
    operation.addExecutionBlock {
      first.wait()
      second.open()
    }
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(operation.isFinished)
  }

  @Test("B1: a block added after a cancellation is ignored") func blockAfterCancellation() async {
    await #expect(processExitsWith: .success) {
      let operation = BlockOperation { Issue.record("a block of a cancelled operation ran") }
      operation.cancel()
      operation.addExecutionBlock { Issue.record("an added block ran") }
      OperationQueue().addOperations([operation], waitUntilFinished: true)
      #expect(operation.isFinished)
    }
  }

  @Test("K1: the properties that the documentation lists are observed by key path") func observed() {
    let (operation, dependency) = (BlockOperation {}, Operation())
    let changed = EventRecorder<String>()
    let tokens: [NSKeyValueObservation] = [
      operation.observe(\.isReady) { _, _ in changed.record("isReady") },
      operation.observe(\.isExecuting) { _, _ in changed.record("isExecuting") },
      operation.observe(\.isFinished) { _, _ in changed.record("isFinished") },
      operation.observe(\.isCancelled) { _, _ in changed.record("isCancelled") },
      operation.observe(\.dependencies) { _, _ in changed.record("dependencies") },
      operation.observe(\.queuePriority) { _, _ in changed.record("queuePriority") },
      operation.observe(\.completionBlock) { _, _ in changed.record("completionBlock") },
    ]
    operation.queuePriority = .high
    operation.completionBlock = {}
    operation.addDependency(dependency)
    dependency.start()
    operation.start()
    let all = ["completionBlock", "dependencies", "isExecuting", "isFinished", "isReady", "queuePriority"]
    #expect(Set(changed.events).isSuperset(of: all))
    let cancelled = Operation()
    let token = cancelled.observe(\.isCancelled) { _, _ in changed.record("isCancelled") }
    cancelled.cancel()
    #expect(changed.events.last == "isCancelled")
    for token in tokens + [token] { token.invalidate() }
  }

  @Test("D8: several threads use an operation without their own locks") func threads() {
    let operation = Operation()
    DispatchQueue.concurrentPerform(iterations: 100) { number in
      let dependency = Operation()
      operation.addDependency(dependency)
      operation.queuePriority = number % 2 == 0 ? .high : .low
      operation.name = "\(number)"
      if number % 3 == 0 { operation.removeDependency(dependency) } else { dependency.start() }
    }
    #expect(operation.isReady)
    #expect(operation.dependencies.count == 66)
  }
}
