import Dispatch
import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

// The main queue is served while the tests await, so these tests are asynchronous and never block. (On Linux, the
// process's first thread does not serve it. That thread has ended by then, as in every program with an asynchronous
// `main`.) All tests share the queue: tests that would disturb others run in their own process.
@Suite("Main queue", .hangLimit) struct MainQueueTests {
  @Test("Q7: the main queue's operations run on the main thread, one at a time, with current set")
  func onMainThread() async throws {
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
    for operation in operations { try await operation.untilFinished() }
    #expect(places.events == Array(repeating: true, count: 50))
    #expect(crowd.most == 1)
  }

  @Test("Q7: the limit of the main queue is always 1") func limit() {
    #expect(OperationQueue.main.maxConcurrentOperationCount == 1)
    OperationQueue.main.maxConcurrentOperationCount = 8
    #expect(OperationQueue.main.maxConcurrentOperationCount == 1)
    #expect(OperationQueue.main.underlyingQueue?.label == DispatchQueue.main.label)
    #expect(OperationQueue.main.name == "main queue")
  }

  @Test("Q7: current is main on the main thread outside operations, and nil elsewhere") func current() async {
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

  @Test("Q7: current is the queue that runs the operation, in each of its blocks, and in an operation started there")
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

  @Test("Q7: the main queue's own properties do not change when they are set") func propertiesStay() {
    let main = OperationQueue.main
    main.isSuspended = true
    main.name = "other"
    main.qualityOfService = .background
    main.underlyingQueue = .global()
    #expect(!main.isSuspended && main.name == "main queue" && main.qualityOfService == .userInteractive)
    #expect(main.underlyingQueue?.label == DispatchQueue.main.label)
  }

  @Test("Q7: priorities, dependencies, and cancellation work on the main queue") func rulesHold() async {
    await #expect(processExitsWith: .success) {
      let record = EventRecorder<Int>()
      let main = OperationQueue.main
      let (busy, end) = (Gate(), Gate())
      main.addOperation {
        busy.open()
        end.wait()
      }
      await busy.untilOpen()
      let operations = (0..<4).map { number in BlockOperation { record.record(number) } }
      operations[3].queuePriority = .high
      operations[0].addDependency(operations[2])
      main.addOperations(operations, waitUntilFinished: false)
      operations[1].cancel()
      precondition(record.events.isEmpty)
      end.open()
      try await main.untilAllOperationsAreFinished()
      precondition(record.events == [3, 2, 0])
    }
  }

  @Test("Q8: a barrier on the main queue keeps its position, and can be waited for") func barrier() async {
    await #expect(processExitsWith: .success) {
      let record = EventRecorder<Int>()
      let main = OperationQueue.main
      let (busy, end) = (Gate(), Gate())
      main.addOperation {
        busy.open()
        end.wait()
      }
      await busy.untilOpen()
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
      precondition(main.operationCount == 5)
      end.open()
      try await main.untilAllOperationsAreFinished()
      precondition(record.events == [1, 2, 3, 4])
    }
  }

  @Test("Q10: cancelling the progress of the main queue cancels its operations") func progress() async {
    await #expect(processExitsWith: .success) {
      let (busy, end) = (Gate(), Gate())
      OperationQueue.main.addOperation {
        busy.open()
        end.wait()
      }
      await busy.untilOpen()
      let operation = BlockOperation { preconditionFailure("a cancelled operation ran") }
      OperationQueue.main.addOperation(operation)
      OperationQueue.main.progress.cancel()
      end.open()
      try await operation.untilFinished()
      precondition(operation.isCancelled)
    }
  }
}
