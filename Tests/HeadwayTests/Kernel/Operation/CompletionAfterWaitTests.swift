import Dispatch
import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// Completion blocks and the threads that wait for their operations.
@Suite("Completion blocks and waits", .hangLimit) struct CompletionAfterWaitTests {
  /// Records, for each completion block that it gets, whether threads that wait for its operation could have woken.
  private final class NotingExecutor: WorkExecutor {
    let visits = VisitExecutor()
    let isStepwise = true
    let operation: Headway.Operation
    let wereSettled = EventRecorder<Bool>()

    init(_ operation: Headway.Operation) { self.operation = operation }

    func submit(_ work: any PoolWork, count: Int, on workerClass: WorkerClass) {
      if work is PoolBlock { wereSettled.record(operation.state.current.isSettled) }
      visits.submit(work, count: count, on: workerClass)
    }

    func summon(_ count: Int, for work: any HelpedWork, on workerClass: WorkerClass) {
      visits.summon(count, for: work, on: workerClass)
    }

    func withdraw(_ work: any HelpedWork, on workerClass: WorkerClass) -> Int {
      visits.withdraw(work, on: workerClass)
    }
  }

  @Test(
    "W1: a completion block is passed on before waiting threads wake",
    arguments: ["alone", "batch", "observed", "failed"])
  func handedOverFirst(kind: String) {
    let (queue, calls) = (OperationQueue(), EventRecorder<Int>())
    let operation = BlockOperation()
    operation.addExecutionBlock { if kind == "failed" { throw CancellationError() } }
    operation.completionBlock = { calls.record(1) }
    let executor = NotingExecutor(operation)
    queue.executor = executor
    let token = kind == "observed" ? operation.observe(\.isFinished) { _, _ in } : nil
    queue.addOperations([operation, BlockOperation {}], waitUntilFinished: false)
    if kind == "batch" { executor.visits.runBatch(of: queue) }
    executor.visits.runSteps()
    #expect(executor.wereSettled.events == [false] && calls.events == [1])
    withExtendedLifetime(token) {}
  }

  @Test("W1: a wait returns even if the completion block needs the waiting thread", arguments: [1, -1])
  func neverDependsOnIt(limit: Int) {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = limit
    let (returned, ran) = (Gate(), Gate())
    let operation = BlockOperation {}
    operation.completionBlock = {
      returned.wait()
      ran.open()
    }
    queue.addOperations([operation], waitUntilFinished: true)
    operation.waitUntilFinished()
    #expect(!ran.isOpen)
    returned.open()
    ran.wait()
  }

  @Test("W1: a wait with enough time returns after the completion block") func patience() {
    let (queue, inside, goOn, calls) = (OperationQueue(), Gate(), Gate(), EventRecorder<String>())
    let operation = BlockOperation {}
    operation.completionBlock = {
      inside.open()
      goOn.wait()
      calls.record("block")
    }
    queue.addOperation(operation)
    inside.wait()
    #expect(operation.isDue && operation.completionBlock == nil)
    let other = OperationQueue()
    other.addOperation { goOn.open() }
    // An hour, in nanoseconds.
    var patience = CompletionPatience(time: 3_600_000_000_000)
    patience.wait(for: operation)
    #expect(calls.events == ["block"])
    #expect(!operation.isDue)
  }

  @Test("W1: a completion block that replaces a running one is kept until the operation is added to a queue")
  func replaced() {
    let (inside, goOn, calls) = (Gate(), Gate(), EventRecorder<Int>())
    let operation = BlockOperation {}
    operation.completionBlock = {
      inside.open()
      goOn.wait()
      calls.record(1)
    }
    operation.cancel()
    inside.wait()
    let ran = Gate()
    operation.completionBlock = {
      calls.record(2)
      ran.open()
    }
    goOn.open()
    var patience = CompletionPatience(time: 3_600_000_000_000)
    patience.wait(for: operation)
    #expect(operation.completionBlock != nil)
    OperationQueue().addOperation(operation)
    ran.wait()
    #expect(calls.events.contains(2) && operation.completionBlock == nil)
  }
}

extension Headway.Operation {
  fileprivate var isDue: Bool {
    links.withLock { $0.details?.pointee.completionIsDue.load(ordering: .acquiring) } == true
  }
}
