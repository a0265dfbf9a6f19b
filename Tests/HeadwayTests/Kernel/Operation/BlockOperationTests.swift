import Headway
import HeadwayTestKit
import Synchronization
import Testing

@Suite("Block operation", .hangLimit) struct BlockOperationTests {
  @Test(
    "B1: the blocks run concurrently, and the operation finishes when all blocks have returned",
    arguments: ["queue", "by hand"])
  func concurrent(kind: String) {
    let meeting = Meeting(of: 6)
    let done = EventRecorder<Int>()
    let operation = BlockOperation()
    for number in 0..<6 {
      operation.addExecutionBlock {
        meeting.attend()
        done.record(number)
      }
    }
    #expect(operation.executionBlocks.count == 6)
    if kind == "by hand" {
      operation.start()
    } else {
      OperationQueue(limit: 1).addOperations([operation], waitUntilFinished: true)
    }
    #expect(done.events.sorted() == Array(0..<6))
    #expect(operation.isFinished && operation.executionBlocks.isEmpty)
  }

  @Test("B1: a block operation without blocks, or with one block, finishes like any other operation") func fewBlocks() {
    let none = BlockOperation()
    none.start()
    #expect(none.isFinished)
    let ran = EventRecorder<Int>()
    let one = BlockOperation()
    one.addExecutionBlock { ran.record(1) }
    #expect(one.executionBlocks.count == 1)
    one.start()
    #expect(ran.events == [1])
  }

  @Test("B1: all blocks run once, even if there are more blocks than threads in the pool") func manyBlocks() {
    let count = Atomic<Int>(0)
    let operation = BlockOperation()
    for _ in 0..<1_000 { operation.addExecutionBlock { count.add(1, ordering: .relaxed) } }
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(count.load(ordering: .relaxed) == 1_000)
  }

  @Test("B1: cancelling skips blocks that have not begun, and the operation ends after the blocks that have begun")
  func cancelling() {
    let ran = Atomic<Int>(0)
    let operation = BlockOperation()
    // No matter which blocks begin, the first of them cancels. Therefore, no further blocks begin.
    let cancelled = Gate()
    for _ in 0..<1_000 {
      operation.addExecutionBlock { [unowned operation] in
        if ran.add(1, ordering: .relaxed).oldValue == 0 {
          operation.cancel()
          cancelled.open()
        }
        cancelled.wait()
      }
    }
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect((1...500).contains(ran.load(ordering: .relaxed)))
    #expect(operation.isCancelled && operation.isFinished)
  }

  @Test("B1: adding a block to an executing or finished operation is a programming error", arguments: [true, false])
  func addingLate(isRunning: Bool) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [isRunning] in
      let operation = BlockOperation(name: "parse")
      if isRunning { operation.addExecutionBlock { operation.addExecutionBlock {} } }
      operation.start()
      operation.addExecutionBlock {}
    }
    let state = isRunning ? "executing" : "finished"
    #expect(
      result.message.contains("addExecutionBlock(_:) on “parse” (\(state)): add blocks before the operation starts."))
  }

  @Test("B1: a block that is added while the queue starts the operation also runs") func addingWhileStarting() {
    final class Growing: BlockOperation, @unchecked Sendable {
      let ran = EventRecorder<Int>()

      override func start() {
        addExecutionBlock { [ran] in ran.record(1) }
        super.start()
      }
    }
    let operation = Growing()
    operation.addExecutionBlock { [ran = operation.ran] in ran.record(0) }
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(operation.ran.events.sorted() == [0, 1])
  }

  // Between the start and the moment when the blocks are taken; if it were accepted, it would not run.
  @Test("B1: adding a block as soon as the operation executes is a programming error") func addingAtTheStart() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let operation = BlockOperation(name: "parse")
      let token = operation.observe(\.isExecuting) { operation, _ in
        if operation.isExecuting { operation.addExecutionBlock {} }
      }
      operation.start()
      token.invalidate()
    }
    #expect(
      result.message.contains("addExecutionBlock(_:) on “parse” (executing): add blocks before the operation starts."))
  }

  @Test("O8: an operation that was cancelled before it ran releases its blocks", arguments: [true, false])
  func letsGoWhenCancelled(isInQueue: Bool) {
    let census = Crowd()
    let queue = OperationQueue()
    queue.isSuspended = true
    let operation = BlockOperation()
    do {
      let captured = Captured(census)
      for _ in 0..<3 { operation.addExecutionBlock { _ = captured } }
    }
    if isInQueue { queue.addOperation(operation) }
    #expect(census.now == 1)
    operation.cancel()
    operation.waitUntilFinished()
    #expect(census.eventuallyEmpty())
    #expect(operation.executionBlocks.isEmpty)
  }

  @Test("B5: an error that a block throws is kept, even if several blocks throw errors") func thrownError() {
    let operation = BlockOperation { throw Mishap(name: "one") }
    #expect(operation.error == nil && operation.outcome == nil)
    operation.start()
    #expect(operation.error as? Mishap == Mishap(name: "one"))

    let others = EventRecorder<Int>()
    let several = BlockOperation { others.record(1) }
    several.addExecutionBlock { throw Mishap(name: "two") }
    several.addExecutionBlock { others.record(3) }
    OperationQueue().addOperations([several], waitUntilFinished: true)
    #expect(several.error as? Mishap == Mishap(name: "two"))
    #expect(others.events.sorted() == [1, 3], "the other blocks continue")
  }

  @Test("B5: recordError(_:) keeps the first error, and ignores errors after the operation has finished")
  func recordError() {
    let operation = SelfAware { operation in
      operation.recordError(Mishap(name: "first"))
      #expect(!operation.isFinished)
      throw Mishap(name: "second")
    }
    operation.start()
    #expect(operation.error as? Mishap == Mishap(name: "first"))
    let finished = BlockOperation {}
    finished.start()
    finished.recordError(Mishap())
    #expect(finished.error == nil)
  }

  @Test("B5: the outcome is success, failure, or cancelled; a cancelled operation stays cancelled if it throws")
  func outcomes() {
    func outcome(of operation: Headway.Operation) -> String {
      switch operation.outcome {
      case .success: "success"
      case .failure(let error): "failure \((error as? Mishap)?.name ?? "?")"
      case .cancelled: "cancelled"
      case nil: "none"
      }
    }
    let success = BlockOperation {}
    #expect(outcome(of: success) == "none")
    let failure = BlockOperation { throw Mishap() }
    let cancelled = SelfAware { $0.cancel() }
    let both = SelfAware { operation in
      operation.cancel()
      throw Mishap()
    }
    for operation in [success, failure, cancelled, both] { operation.start() }
    let never = BlockOperation {}
    never.cancel()
    #expect(
      [success, failure, cancelled, both, never].map { outcome(of: $0) }
        == ["success", "failure mishap", "cancelled", "cancelled", "cancelled"])
    #expect(both.error is Mishap)
  }

  @Test("B1: a block added after a cancellation is ignored") func blockAfterCancellation() {
    let operation = BlockOperation {}
    operation.cancel()
    operation.addExecutionBlock { Issue.record("a cancelled operation ran") }
    #expect(operation.isFinished && operation.executionBlocks.isEmpty)
  }
}
