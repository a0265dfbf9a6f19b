import Headway
import HeadwayTestKit
import Testing

@Suite("EventRecorder", .hangLimit) struct EventRecorderTests {
  @Test("A wait returns when the requested number of events is recorded, or immediately if they already are")
  func waiting() {
    for _ in 0..<100 {
      let (queue, operation) = (OperationQueue(), BlockOperation {})
      let recorder = EventRecorder(observing: queue)
      queue.addOperation(operation)
      recorder.waitForEvents(count: 4)
      #expect(recorder.events == [.added(operation), .ready(operation), .started(operation), .finished(operation)])
      recorder.waitForEvents(count: 4)
      recorder.waitForEvents(count: 0)
    }
  }

  @Test("Threads that wait for different counts each continue when their own count is reached") func severalWaiters() {
    let (recorder, gone) = (EventRecorder<Int>(), EventRecorder<Int>())
    let waiters = OperationQueue()
    for count in 1...3 {
      waiters.addOperation {
        recorder.waitForEvents(count: count)
        gone.record(count)
      }
    }
    for count in 1...3 {
      recorder.record(count)
      gone.waitForEvents(count: count)
      #expect(gone.events == Array(1...count))
    }
    waiters.waitUntilAllOperationsAreFinished()
  }
}
