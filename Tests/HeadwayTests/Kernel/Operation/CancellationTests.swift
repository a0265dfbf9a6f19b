import Headway
import HeadwayTestKit
import Synchronization
import Testing

@Suite("Cancellation", .hangLimit) struct CancellationTests {
  @Test("C1: cancelling sets a flag and does not stop the code") func flagOnly() {
    let (started, mayContinue) = (Gate(), Gate())
    let record = EventRecorder<Bool>()
    let operation = SelfAware { operation in
      started.open()
      mayContinue.wait()
      record.record(operation.isCancelled)
    }
    let queue = OperationQueue()
    queue.addOperation(operation)
    started.wait()
    operation.cancel()
    #expect(operation.isExecuting && !operation.isFinished)
    mayContinue.open()
    operation.waitUntilFinished()
    #expect(record.events == [true])
  }

  @Test("C2: cancelling an operation that waits for dependencies makes it ready immediately")
  func ignoresDependencies() {
    let queue = OperationQueue()
    let dependency = BlockOperation {}
    let operation = BlockOperation { Issue.record("a cancelled operation ran") }
    operation.addDependency(dependency)
    queue.addOperation(operation)
    #expect(!operation.isReady)
    operation.cancel()
    #expect(operation.isReady)
    operation.waitUntilFinished()
    #expect(!dependency.isFinished)
    dependency.start()
    #expect(dependency.isFinished)
  }

  @Test("C3: the queue calls start() of an operation that was cancelled before its start, and main() does not run")
  func queueCallsStart() {
    final class Watched: Headway.Operation, @unchecked Sendable {
      let calls = EventRecorder<String>()
      override func start() {
        calls.record("start")
        super.start()
      }
      override func main() { calls.record("main") }
    }
    let queue = OperationQueue()
    queue.isSuspended = true
    let operation = Watched()
    queue.addOperation(operation)
    operation.cancel()
    queue.isSuspended = false
    operation.waitUntilFinished()
    #expect(operation.calls.events == ["start"])
  }

  @Test("C4: cancelling an operation in no queue finishes it immediately; adding it afterwards does nothing")
  func inNoQueue() {
    let operation = BlockOperation { Issue.record("a cancelled operation ran") }
    let dependent = BlockOperation {}
    dependent.addDependency(operation)
    let queue = OperationQueue()
    queue.addOperation(dependent)
    operation.cancel()
    #expect(operation.isFinished)
    dependent.waitUntilFinished()
    queue.addOperation(operation)
    queue.addOperations([operation], waitUntilFinished: true)
    #expect(queue.operationCount == 0)
  }

  @Test(
    "C5: a cancelled operation leaves its queue even if the queue is suspended or full, or a barrier comes first",
    arguments: ["suspended", "saturated", "zero", "barrier"])
  func leavesHeldUpQueue(kind: String) {
    let queue = OperationQueue()
    let (started, end) = (Gate(), Gate())
    switch kind {
    case "suspended": queue.isSuspended = true
    case "zero": queue.maxConcurrentOperationCount = 0
    default:
      queue.maxConcurrentOperationCount = kind == "saturated" ? 1 : 4
      queue.addOperation {
        started.open()
        end.wait()
      }
      started.wait()
      if kind == "barrier" { queue.addBarrierBlock {} }
    }
    let operation = BlockOperation { Issue.record("a cancelled operation ran") }
    queue.addOperation(operation)
    operation.cancel()
    operation.waitUntilFinished()
    #expect(!queue.operations.contains(operation))
    end.open()
    if kind == "saturated" || kind == "barrier" { queue.waitUntilAllOperationsAreFinished() }
  }

  @Test("C5: a cancelled barrier also leaves the queue, and holds nothing back") func cancelledBarrier() {
    let queue = OperationQueue()
    let (started, end) = (Gate(), Gate())
    queue.addOperation {
      started.open()
      end.wait()
    }
    started.wait()
    queue.addBarrierBlock { Issue.record("a cancelled barrier ran") }
    let barrier = queue.operations[1]
    let after = BlockOperation {}
    queue.addOperation(after)
    barrier.cancel()
    barrier.waitUntilFinished()
    after.waitUntilFinished()
    #expect(queue.operationCount == 1)
    end.open()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("C6: cancelAllOperations() cancels the current operations, even if one of them calls it") func cancelAll() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    queue.isSuspended = true
    let ran = EventRecorder<Int>()
    let first = BlockOperation {
      ran.record(0)
      OperationQueue.current?.cancelAllOperations()
    }
    queue.addOperation(first)
    let others = (1...100).map { number in BlockOperation { ran.record(number) } }
    queue.addOperations(others, waitUntilFinished: false)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(ran.events == [0])
    #expect(first.isCancelled && others.allSatisfy { $0.isCancelled && $0.isFinished })
    queue.addOperations([BlockOperation { ran.record(101) }], waitUntilFinished: true)
    #expect(ran.events == [0, 101])
  }

  @Test("C6: cancelling twice, or after the operation has finished, changes nothing") func twice() {
    let operation = BlockOperation {}
    let completions = EventRecorder<Int>()
    let completed = Gate()
    operation.completionBlock = {
      completions.record(1)
      completed.open()
    }
    operation.start()
    completed.wait()
    operation.cancel()
    operation.cancel()
    #expect(operation.isFinished)
    #expect(completions.count == 1)
  }

  @Test("C6: cancelAllOperations() works on the main queue") func mainQueue() async throws {
    // This runs in its own process, because other tests use the main queue in the meantime, and their operations would
    // also be cancelled.
    await #expect(processExitsWith: .success) {
      let (started, end) = (Gate(), Gate())
      let first = BlockOperation {
        started.open()
        end.wait()
      }
      let second = BlockOperation { Issue.record("a cancelled operation ran") }
      OperationQueue.main.addOperations([first, second], waitUntilFinished: false)
      OperationQueue().addOperation {
        started.wait()
        OperationQueue.main.cancelAllOperations()
        end.open()
      }
      try await first.untilFinished()
      try await second.untilFinished()
      guard first.isCancelled, second.isCancelled, second.outcome.isCancelled else { fatalError("not cancelled") }
    }
  }

  @Test("D7: cancelling 200,000 operations that wait for each other takes linear time") func cancelMany() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operations = (0..<200_000).map { _ in BlockOperation { Issue.record("a cancelled operation ran") } }
    for (one, next) in zip(operations, operations.dropFirst()) { next.addDependency(one) }
    queue.addOperations(operations, waitUntilFinished: false)
    queue.cancelAllOperations()
    queue.waitUntilAllOperationsAreFinished()
    #expect(operations.allSatisfy { $0.isFinished && $0.isCancelled })
  }
}

/// An operation whose block gets the operation.
final class SelfAware: Headway.Operation, @unchecked Sendable {
  let block: @Sendable (SelfAware) throws -> Void

  init(_ block: @escaping @Sendable (SelfAware) throws -> Void) { self.block = block }

  override func main() throws { try block(self) }
}

extension ExitTest.Result? {
  /// The standard error output of the process that exited.
  var message: String { String(decoding: self?.standardErrorContent ?? [], as: UTF8.self) }
}
