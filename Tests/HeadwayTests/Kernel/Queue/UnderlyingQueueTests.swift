import Dispatch
import Headway
import HeadwayTestKit
import Testing

@Suite("Underlying queue", .hangLimit) struct UnderlyingQueueTests {
  @Test(
    "Q9: operations run on the underlying queue, concurrently or serially as its kind allows", arguments: [true, false])
  func runsThere(isConcurrent: Bool) {
    let key = DispatchSpecificKey<Int>()
    let dispatchQueue = DispatchQueue(label: "underlying", attributes: isConcurrent ? .concurrent : [])
    dispatchQueue.setSpecific(key: key, value: 9)
    let queue = OperationQueue()
    #expect(queue.underlyingQueue == nil)
    queue.underlyingQueue = dispatchQueue
    #expect(queue.underlyingQueue === dispatchQueue)
    let (places, crowd) = (EventRecorder<Int?>(), Crowd())
    let meeting = Meeting(of: isConcurrent ? 2 : 1)
    for number in 0..<100 {
      queue.addOperation {
        crowd.enter()
        if number < 2 { meeting.attend() }
        places.record(DispatchQueue.getSpecific(key: key))
        #expect(OperationQueue.current === queue)
        crowd.leave()
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    #expect(places.events == Array(repeating: 9, count: 100))
    #expect(isConcurrent ? crowd.most >= 2 : crowd.most == 1)
  }

  @Test("Q9: the queue's own limit, priorities, dependencies, and suspension apply there") func rulesHold() {
    let queue = OperationQueue(limit: 1)
    queue.underlyingQueue = .global()
    queue.isSuspended = true
    let record = EventRecorder<Int>()
    let operations = (0..<4).map { number in BlockOperation { record.record(number) } }
    operations[3].queuePriority = .high
    operations[0].addDependency(operations[2])
    queue.addOperations(operations, waitUntilFinished: false)
    operations[1].cancel()
    operations[1].waitUntilFinished()
    #expect(record.events.isEmpty)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(record.events == [3, 2, 0])
  }

  @Test("Q8: a barrier works with an underlying global dispatch queue") func globalBarrier() {
    let queue = OperationQueue()
    queue.underlyingQueue = .global()
    let order = EventRecorder<String>()
    let (inside, end) = (Gate(), Gate())
    for _ in 0..<4 { queue.addOperation { order.record("before") } }
    queue.addBarrierBlock {
      inside.open()
      end.wait()
      order.record("barrier")
    }
    for _ in 0..<4 { queue.addOperation { order.record("after") } }
    inside.wait()
    queue.addOperation { order.record("after") }
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(order.events == Array(repeating: "before", count: 4) + ["barrier"] + Array(repeating: "after", count: 5))
  }

  @Test("Q9: the underlying queue can be set again once the queue is empty, even to nil") func setAgain() {
    let key = DispatchSpecificKey<Int>()
    let queue = OperationQueue()
    let places = EventRecorder<Int?>()
    let dispatchQueues = (1...2).map { number in
      let dispatchQueue = DispatchQueue(label: "underlying \(number)")
      dispatchQueue.setSpecific(key: key, value: number)
      return dispatchQueue
    }
    for dispatchQueue in dispatchQueues + [nil] {
      queue.underlyingQueue = dispatchQueue
      queue.addOperation { places.record(DispatchQueue.getSpecific(key: key)) }
      queue.waitUntilAllOperationsAreFinished()
    }
    #expect(places.events == [1, 2, nil])
  }

  @Test(
    "Q9: a thread that was requested before the executor was changed runs no operations", arguments: [true, false])
  func staleTickets(isForDispatchQueue: Bool) {
    let key = DispatchSpecificKey<Int>()
    let dispatchQueues = (1...2).map { number in
      let dispatchQueue = DispatchQueue(label: "underlying \(number)")
      dispatchQueue.setSpecific(key: key, value: number)
      return dispatchQueue
    }
    let queue = OperationQueue()
    dispatchQueues[0].suspend()
    queue.underlyingQueue = dispatchQueues[0]
    // It ends before its start: the block on the dispatch queue that would start it has not run yet.
    let early = AsynchronousOperation()
    queue.addOperation(early)
    early.finish()
    queue.underlyingQueue = isForDispatchQueue ? dispatchQueues[1] : nil
    let places = EventRecorder<Int?>()
    let operation = BlockOperation { places.record(DispatchQueue.getSpecific(key: key)) }
    // This hangs if no other thread is requested.
    queue.addOperations([operation], waitUntilFinished: true)
    let (started, end) = (Gate(), Gate())
    queue.addOperation {
      places.record(DispatchQueue.getSpecific(key: key))
      started.open()
      end.wait()
    }
    started.wait()
    queue.addOperation { places.record(DispatchQueue.getSpecific(key: key)) }
    // Now the first dispatch queue has a turn, and there is work; but the work no longer belongs to it.
    dispatchQueues[0].resume()
    dispatchQueues[0].sync {}
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(places.events == Array(repeating: isForDispatchQueue ? 2 : nil, count: 3))
  }

  @Test("Q9: setting the underlying queue while the queue holds operations is a programming error")
  func notEmpty() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = OperationQueue()
      queue.name = "busy"
      queue.isSuspended = true
      queue.addOperation {}
      queue.underlyingQueue = .global()
    }
    #expect(result.message.contains("The underlying queue of queue “busy” was set while it held operations"))
  }

  @Test("Q9: the underlying queue can be the main dispatch queue") func mainDispatchQueue() async throws {
    let queue = OperationQueue()
    queue.underlyingQueue = .main
    queue.isSuspended = true
    let places = EventRecorder<Bool>()
    let operations = (0..<10).map { _ in
      BlockOperation {
        dispatchPrecondition(condition: .onQueue(.main))
        places.record(OperationQueue.current === queue)
      }
    }
    queue.addOperations(operations, waitUntilFinished: false)
    #expect(queue.operationCount == 10)
    queue.isSuspended = false
    try await queue.untilAllOperationsAreFinished()
    #expect(places.events == Array(repeating: true, count: 10))
  }

  @Test("K2, Q9: an observer of the queue can wait for an added operation, even on a dispatch queue")
  func observerWaits() {
    for round in 0..<300 {
      let queue = OperationQueue()
      queue.underlyingQueue = DispatchQueue(label: "test", attributes: round % 2 == 0 ? .concurrent : [])
      let (operation, last) = (BlockOperation {}, BlockOperation {})
      let token = queue.observe(\.operationCount, options: [.new]) { _, change in
        guard change.newValue == 2 else { return }
        operation.waitUntilFinished()
        last.waitUntilFinished()
      }
      queue.addOperation(operation)
      queue.addOperation(last)
      queue.waitUntilAllOperationsAreFinished()
      withExtendedLifetime(token) {}
    }
  }
}
