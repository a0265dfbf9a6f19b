import Headway
import HeadwayTestKit
import Testing

@Suite("Gate and EventRecorder", .hangLimit) struct GateTests {
  @Test("A gate holds threads and tasks until it is opened, and stays open") func gate() async throws {
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
      await gate.opened()
      passed.record("task")
    }
    #expect(!gate.isOpen && passed.events.isEmpty)
    gate.open()
    gate.open()
    try await queue.finished()
    await task.value
    await gate.opened()
    gate.wait()
    #expect(gate.isOpen)
    #expect(passed.events.sorted() == ["task", "thread", "thread"])
  }

  @Test("A recorder hears of a queue's events") func queueEvents() {
    let executor = StepExecutor()
    let queue = OperationQueue()
    executor.attach(queue)
    let recorder = EventRecorder(of: queue)
    let operation = BlockOperation {}
    queue.addOperation(operation)
    executor.run()
    #expect(recorder.events == [.added(operation), .ready(operation), .started(operation), .finished(operation)])
    #expect(recorder.count == 4)
    recorder.removeAll()
    #expect(recorder.events.isEmpty)
  }

  @Test("A recorder hears of the values of a property") func values() {
    let operation = BlockOperation {}
    let executing = EventRecorder(of: operation, \.isExecuting)
    operation.start()
    #expect(executing.events == [false, true, false])
    let queue = OperationQueue()
    let names = EventRecorder(of: queue, \.name)
    queue.name = "import"
    #expect(names.events == [nil, "import"])
  }
}
