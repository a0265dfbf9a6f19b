import Headway
import HeadwayTestKit
import Testing

@Suite("StepExecutor", .timeLimit(.minutes(5))) struct StepExecutorTests {
  @Test("A step runs one operation, on the calling thread, and nothing runs between steps") func oneByOne() {
    let executor = StepExecutor()
    let queue = OperationQueue()
    executor.attach(queue)
    let ran = EventRecorder<Int>()
    for number in 1...3 { queue.addOperation { ran.record(number) } }
    #expect(ran.events.isEmpty)
    #expect(executor.step())
    #expect(ran.events == [1])
    #expect(executor.run() == 2)
    #expect(ran.events == [1, 2, 3])
    #expect(!executor.step())
    #expect(queue.operationCount == 0)
  }
}
