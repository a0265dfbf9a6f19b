import Headway
import HeadwayTestKit
import Testing

@Suite("Gate and EventRecorder", .hangLimit) struct GateTests {
  @Test("A gate holds threads and tasks until it is opened; then it stays open") func gate() async throws {
    let gate = Gate()
    let passed = EventRecorder<String>()
    let queue = OperationQueue()
    for _ in 0..<2 {
      queue.addOperation {
        gate.wait()
        passed.record("thread")
      }
    }
    let task = Task {
      await gate.untilOpen()
      passed.record("task")
    }
    #expect(!gate.isOpen && passed.events.isEmpty)
    gate.open()
    gate.open()
    try await queue.untilAllOperationsAreFinished()
    await task.value
    await gate.untilOpen()
    #expect(gate.isOpen)
    #expect(passed.events.sorted() == ["task", "thread", "thread"])
  }

  @Test("A recorder records a queue's events") func queueEvents() {
    let executor = StepExecutor()
    let queue = OperationQueue()
    executor.control(queue)
    let recorder = EventRecorder(observing: queue)
    let operation = BlockOperation {}
    queue.addOperation(operation)
    executor.runSteps()
    #expect(recorder.events == [.added(operation), .ready(operation), .started(operation), .finished(operation)])
    #expect(recorder.count == 4)
    recorder.removeAll()
    #expect(recorder.events.isEmpty)
  }

  @Test("A recorder records the values of a property") func values() {
    let operation = BlockOperation {}
    let executing = EventRecorder(observing: operation, at: \.isExecuting)
    operation.start()
    #expect(executing.events == [false, true, false])
    let queue = OperationQueue()
    let names = EventRecorder(observing: queue, at: \.name)
    queue.name = "import"
    #expect(names.events == [nil, "import"])
  }
}
