import Headway
import HeadwayTestKit
import Testing

@Suite("Cancellation handlers", .hangLimit) struct CancellationHandlerTests {
  @Test("C7: a handler runs once, promptly, when the operation is cancelled while it executes") func executing() {
    let calls = EventRecorder<Int>()
    let operation = AsynchronousOperation()
    operation.onCancel { calls.record(1) }
    operation.onCancel { calls.record(2) }
    operation.start()
    #expect(calls.events.isEmpty)
    operation.cancel()
    #expect(calls.events == [1, 2])
    operation.cancel()
    #expect(calls.events == [1, 2])
    operation.finish()
    #expect(calls.events == [1, 2])
  }

  @Test("C7: a handler that is registered after the cancellation runs immediately") func late() {
    let calls = EventRecorder<Int>()
    let operation = AsynchronousOperation()
    operation.start()
    operation.cancel()
    operation.onCancel { calls.record(1) }
    #expect(calls.events == [1])
    operation.finish()
    operation.onCancel { calls.record(2) }
    #expect(calls.events == [1, 2])
  }

  @Test("C7: a handler can finish the operation, and can call anything") func finishing() {
    let operation = AsynchronousOperation()
    operation.onCancel { [unowned operation] in
      operation.cancel()
      operation.finish()
    }
    let queue = OperationQueue(limit: 1)
    let started = Gate()
    let token = operation.observe(\.isExecuting) { _, _ in started.open() }
    queue.addOperation(operation)
    started.wait()
    operation.cancel()
    operation.waitUntilFinished()
    #expect(operation.isFinished && operation.outcome.isCancelled)
    withExtendedLifetime(token) {}
  }

  @Test("C7: a handler of a waiting operation runs, and does not delay its end") func waiting() {
    let order = EventRecorder<String>()
    let operation = BlockOperation {}
    operation.onCancel { [unowned operation] in order.record("handler, finished \(operation.isFinished)") }
    operation.cancel()
    #expect(order.events == ["handler, finished true"])
    #expect(operation.isFinished)
  }

  @Test("C7: handlers that were not called are released when the operation finishes") func letGo() {
    weak var held: Crowd?
    let operation = BlockOperation {}
    do {
      let object = Crowd()
      held = object
      operation.onCancel { object.enter() }
    }
    #expect(held != nil)
    operation.start()
    #expect(held == nil)
    operation.cancel()
    let calls = EventRecorder<Int>()
    operation.onCancel { calls.record(1) }
    #expect(calls.events.isEmpty)
  }

  @Test("C7: a handler runs once if it is registered while another thread cancels") func race() {
    for _ in 0..<300 {
      let operation = AsynchronousOperation()
      operation.start()
      let calls = EventRecorder<Int>()
      onThreads(2) { number in
        if number == 0 { operation.cancel() } else { operation.onCancel { calls.record(1) } }
      }
      #expect(calls.events == [1])
      operation.finish()
    }
  }

  @Test("C6: cancelling an operation that has finished does not change its outcome") func afterTheEnd() {
    let operation = BlockOperation {}
    operation.start()
    operation.cancel()
    #expect(!operation.isCancelled)
    #expect(operation.outcome.isSuccess)
  }
}
