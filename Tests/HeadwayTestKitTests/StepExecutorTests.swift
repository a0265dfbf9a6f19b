import Dispatch
import Headway
import HeadwayTestKit
import Testing

@Suite("StepExecutor", .hangLimit) struct StepExecutorTests {
  private func queue(_ executor: StepExecutor) -> OperationQueue {
    let queue = OperationQueue()
    executor.control(queue)
    return queue
  }

  @Test("A step runs one operation, on the calling thread, and nothing runs between steps") func oneByOne() {
    let executor = StepExecutor()
    let queue = queue(executor)
    let ran = EventRecorder<Int>()
    for number in 1...3 { queue.addOperation { ran.record(number) } }
    #expect(ran.events.isEmpty)
    #expect(executor.step())
    #expect(ran.events == [1])
    #expect(executor.runSteps() == 2)
    #expect(ran.events == [1, 2, 3])
    #expect(!executor.step())
    #expect(queue.operationCount == 0)
  }

  @Test("The queue's rules hold: dependencies, priorities, limits, suspension, barriers") func rules() {
    let executor = StepExecutor()
    let queue = queue(executor)
    let ran = EventRecorder<String>()
    let (low, high, last) = (
      BlockOperation { ran.record("low") }, BlockOperation { ran.record("high") }, BlockOperation { ran.record("last") }
    )
    low.queuePriority = .low
    high.queuePriority = .high
    last.queuePriority = .veryHigh
    last.addDependency(low)
    queue.isSuspended = true
    queue.addOperations([low, high, last], waitUntilFinished: false)
    queue.addBarrierBlock { ran.record("barrier") }
    queue.addOperation { ran.record("after") }
    #expect(executor.runSteps() == 0)
    queue.isSuspended = false
    #expect(executor.runSteps(upTo: 2) == 2)
    #expect(ran.events == ["high", "low"])
    executor.runSteps()
    #expect(ran.events == ["high", "low", "last", "barrier", "after"])
  }

  @Test("Completion blocks are separate steps") func completionBlocks() {
    let executor = StepExecutor()
    let queue = queue(executor)
    let ran = EventRecorder<String>()
    let operation = BlockOperation { ran.record("operation") }
    operation.completionBlock = { ran.record("completion") }
    queue.addOperation(operation)
    executor.step()
    #expect(ran.events == ["operation"])
    executor.step()
    #expect(ran.events == ["operation", "completion"])
  }

  @Test("With a seed, the order among queues varies between seeds and is the same for equal seeds") func seeds() {
    func order(seed: UInt64) -> [Int] {
      let executor = StepExecutor(seed: seed)
      let ran = EventRecorder<Int>()
      let queues = (0..<6).map { _ in queue(executor) }
      for (number, queue) in queues.enumerated() { queue.addOperation { ran.record(number) } }
      executor.runSteps()
      return ran.events
    }
    #expect(order(seed: 1) == order(seed: 1))
    #expect(Set((1...20).map { order(seed: $0) }).count > 10)
    #expect(order(seed: 3).sorted() == [0, 1, 2, 3, 4, 5])
  }

  @Test("A block operation with several blocks runs them all in its step") func severalBlocks() {
    let executor = StepExecutor()
    let queue = queue(executor)
    let ran = EventRecorder<Int>()
    let operation = BlockOperation { ran.record(1) }
    operation.addExecutionBlock { ran.record(2) }
    operation.addExecutionBlock { ran.record(3) }
    queue.addOperation(operation)
    #expect(executor.runSteps() == 1)
    #expect(ran.events == [1, 2, 3])
  }

  @Test("Controlling a queue that holds operations, or has an underlying queue, stops the process") func misuse()
    async
  {
    let holding = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = OperationQueue()
      queue.isSuspended = true
      queue.addOperation {}
      StepExecutor().control(queue)
    }
    #expect(holding.message.contains("was set while it held operations"))
    await #expect(processExitsWith: .failure) {
      let queue = OperationQueue()
      queue.underlyingQueue = DispatchQueue(label: "underlying")
      StepExecutor().control(queue)
    }
  }
}

extension ExitTest.Result? {
  /// The standard error output of the process that exited.
  var message: String { String(decoding: self?.standardErrorContent ?? [], as: UTF8.self) }
}
