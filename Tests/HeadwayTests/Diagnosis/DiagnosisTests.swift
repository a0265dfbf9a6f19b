import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

@Suite("Diagnosis", .hangLimit) struct DiagnosisTests {
  // MARK: Descriptions

  @Test("O7: a description names the operation and its state") func descriptions() {
    let operation = BlockOperation(name: "parse")
    let dependency = BlockOperation(name: "fetch")
    #expect(operation.description == "“parse” (ready)")
    operation.addDependency(dependency)
    #expect(operation.description == "“parse” (pending)")
    operation.queuePriority = .high
    operation.qualityOfService = .utility
    operation.progress.totalUnitCount = 4
    operation.progress.completedUnitCount = 1
    let queue = OperationQueue()
    queue.name = "import"
    queue.addOperation(operation)
    #expect(
      operation.debugDescription == """
        BlockOperation “parse” (pending); in queue “import”; priority high; quality of service utility; 25% done; \
        waits for “fetch”
        """)
    operation.cancel()
    operation.waitUntilFinished()
    #expect(operation.description == "“parse” (finished, cancelled)")
    #expect(BlockOperation {}.description == "BlockOperation (ready)")
  }

  @Test("O7: a subclass can override its description") func overriddenDescription() {
    final class Named: Headway.Operation, @unchecked Sendable {
      override var description: String { "named" }
    }
    #expect("\(Named())" == "named")
  }

  // MARK: Diagnosis

  private let executor = StepExecutor()

  @Test("Q14: the diagnosis explains why an operation is not running") func reasons() {
    let (parse, save) = (BlockOperation(name: "parse"), BlockOperation(name: "save"))
    let (importing, saving) = (executor.queue("import"), executor.queue("save"))
    save.addDependency(parse)
    saving.addOperation(save)
    #expect(save.diagnosis == "“save” waits for “parse”, which is in no queue and has not been started")
    importing.isSuspended = true
    importing.addOperation(parse)
    #expect(save.diagnosis == "“save” waits for “parse”, which is suspended in queue “import”")
    #expect(parse.diagnosis == "“parse” is suspended in queue “import”")
    importing.maxConcurrentOperationCount = 0
    importing.isSuspended = false
    #expect(parse.diagnosis == "“parse” is held in queue “import”, whose maxConcurrentOperationCount is 0")
    importing.maxConcurrentOperationCount = -1
    #expect(parse.diagnosis.hasPrefix("“parse” is ready in queue “import” and waits for"))
    executor.step()
    #expect(parse.diagnosis == "“parse” has finished")
    save.cancel()
    #expect(save.diagnosis == "“save” was cancelled and is about to leave")
    executor.runSteps()
    #expect(save.diagnosis == "“save” was cancelled and has finished")
  }

  @Test("Q14: the diagnosis follows a chain to its last operation") func chain() {
    let operations = ["a", "b", "c", "d"].map { BlockOperation(name: $0) }
    for (one, next) in zip(operations, operations.dropFirst()) { next.addDependency(one) }
    let queue = executor.queue("import")
    queue.isSuspended = true
    queue.addOperations(operations, waitUntilFinished: false)
    #expect(
      operations[3].diagnosis
        == "“d” waits for “c”, which waits (through 1 other operation) for “a”, which is suspended in queue “import”")
  }

  @Test("Q14: the diagnosis describes limits, barriers, and operations that execute") func places() {
    let queue = executor.queue("import")
    queue.maxConcurrentOperationCount = 1
    let running = AsynchronousOperation()
    running.name = "running"
    let waiting = BlockOperation(name: "waiting")
    queue.addOperations([running, waiting], waitUntilFinished: false)
    queue.addBarrierBlock {}
    let last = BlockOperation(name: "last")
    queue.addOperation(last)
    executor.runSteps()
    #expect(running.diagnosis == "“running” is executing: its finish() has not been called")
    #expect(waiting.diagnosis == "“waiting” waits for a concurrency slot in queue “import”, which runs 1 of at most 1")
    #expect(last.diagnosis == "“last” waits behind a barrier in queue “import”")
    let barrier = queue.operations[2]
    #expect(
      barrier.diagnosis
        == "BlockOperation is a barrier in queue “import” and waits for operations added before it: 2")
    running.finish()
    executor.runSteps()
    #expect(queue.operationCount == 0)
  }

  @Test("Q14: the diagnosis names the missing step of an asynchronous operation") func ends() {
    final class Unposted: Headway.Operation, @unchecked Sendable {
      override var isFinished: Bool { false }
    }
    final class UnpostedStart: Headway.Operation, @unchecked Sendable {
      override var isFinished: Bool { false }
      override func start() {}
    }
    let queue = executor.queue("import")
    let (unposted, start) = (Unposted(), UnpostedStart())
    queue.addOperations([unposted, start], waitUntilFinished: false)
    executor.runSteps()
    #expect(unposted.diagnosis == "Unposted is executing: it has not posted that its isFinished is true")
    #expect(start.diagnosis == "UnpostedStart has been started and has not posted that its isFinished is true")
  }

  @Test("Q14: events report what happens, in order") func events() {
    let queue = executor.queue("import")
    let recorder = EventRecorder(observing: queue)
    let (first, second) = (BlockOperation(name: "first"), BlockOperation(name: "second"))
    second.addDependency(first)
    queue.addOperations([first, second], waitUntilFinished: false)
    executor.runSteps()
    #expect(
      recorder.events.map { "\($0)" } == [
        "added “first”", "ready “first”", "added “second”", "started “first”", "finished “first”", "ready “second”",
        "started “second”", "finished “second”",
      ])
  }
}
