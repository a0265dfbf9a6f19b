import Dispatch
import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

// The main queue is served while the tests await, so these tests are asynchronous and never block. (On Linux not by the
// process's first thread: it has ended by then, as in every program with an asynchronous `main`.) The queue is shared
// by all tests: what would disturb others runs in a process of its own.
@Suite("Main queue", .hangLimit) struct MainQueueTests {
  @Test("Q7: its operations run on the main thread, one at a time, with current set") func onMainThread() async throws {
    let (places, crowd) = (EventRecorder<Bool>(), Crowd())
    let operations = (0..<50).map { _ in
      BlockOperation {
        crowd.enter()
        yieldThread()
        dispatchPrecondition(condition: .onQueue(.main))
        places.record(OperationQueue.current === OperationQueue.main)
        crowd.leave()
      }
    }
    OperationQueue.main.addOperations(operations, waitUntilFinished: false)
    for operation in operations { try await operation.finished() }
    #expect(places.events == Array(repeating: true, count: 50))
    #expect(crowd.most == 1)
  }

  @Test("Q7: the limit of the main queue is 1 and stays so") func limit() {
    #expect(OperationQueue.main.maxConcurrentOperationCount == 1)
    OperationQueue.main.maxConcurrentOperationCount = 8
    #expect(OperationQueue.main.maxConcurrentOperationCount == 1)
    #expect(OperationQueue.main.underlyingQueue?.label == DispatchQueue.main.label)
    #expect(OperationQueue.main.name == "main queue")
  }

  @Test("Q7: current is main on the main thread outside of operations, and nil elsewhere") func current() async {
    await MainActor.run { #expect(OperationQueue.current === OperationQueue.main) }
    let elsewhere = await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: OperationQueue.current) }
    }
    #expect(elsewhere == nil)
    let inCompletionBlock = await withCheckedContinuation { continuation in
      let operation = BlockOperation {}
      operation.completionBlock = { continuation.resume(returning: OperationQueue.current) }
      OperationQueue().addOperation(operation)
    }
    #expect(inCompletionBlock == nil)
  }

  @Test("Q7: current is the queue that runs the operation, in each of its blocks, and in one started by hand there")
  func currentInside() {
    let queue = OperationQueue()
    let places = EventRecorder<Bool>()
    let meeting = Meeting(of: 3)
    let operation = BlockOperation {
      meeting.attend()
      places.record(OperationQueue.current === queue)
      BlockOperation { places.record(OperationQueue.current === queue) }.start()
      places.record(OperationQueue.current === queue)
    }
    for _ in 0..<2 {
      operation.addExecutionBlock {
        meeting.attend()
        places.record(OperationQueue.current === queue)
      }
    }
    queue.addOperations([operation], waitUntilFinished: true)
    #expect(places.events == Array(repeating: true, count: 5))
    BlockOperation { #expect(OperationQueue.current !== queue) }.start()
  }

  @Test("Q7: suspension, priority, dependencies and cancellation hold on the main queue") func rulesHold() async {
    await #expect(processExitsWith: .success) {
      let record = EventRecorder<Int>()
      let main = OperationQueue.main
      main.isSuspended = true
      let operations = (0..<4).map { number in BlockOperation { record.record(number) } }
      operations[3].queuePriority = .high
      operations[0].addDependency(operations[2])
      main.addOperations(operations, waitUntilFinished: false)
      operations[1].cancel()
      try await operations[1].finished()
      precondition(record.events.isEmpty && main.operationCount == 3)
      main.isSuspended = false
      try await main.finished()
      precondition(record.events == [3, 2, 0])
    }
  }

  @Test("Q8: a barrier on the main queue keeps its place, and obeys suspension and waiting") func barrier() async {
    await #expect(processExitsWith: .success) {
      let record = EventRecorder<Int>()
      let main = OperationQueue.main
      main.isSuspended = true
      let urgent = BlockOperation { record.record(3) }
      urgent.queuePriority = .veryHigh
      main.addOperation { record.record(1) }
      main.addBarrierBlock {
        dispatchPrecondition(condition: .onQueue(.main))
        precondition(OperationQueue.current === OperationQueue.main)
        record.record(2)
      }
      main.addOperation(urgent)
      main.addBarrierBlock { record.record(4) }
      precondition(main.operationCount == 4)
      main.isSuspended = false
      try await main.finished()
      precondition(record.events == [1, 2, 3, 4])
    }
  }

  @Test("Q10: cancelling the progress of the main queue cancels its operations") func progress() async {
    await #expect(processExitsWith: .success) {
      OperationQueue.main.isSuspended = true
      let operation = BlockOperation { preconditionFailure("a cancelled operation ran") }
      OperationQueue.main.addOperation(operation)
      OperationQueue.main.progress.cancel()
      try await operation.finished()
      precondition(operation.isCancelled)
    }
  }
}
