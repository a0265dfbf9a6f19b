import Dispatch
import Headway
import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@Suite("Queue", .hangLimit) struct QueueTests {
  @Test("Q1: each method that adds an operation runs it") func adding() {
    let queue = OperationQueue()
    let record = EventRecorder<Int>()
    queue.addOperation(BlockOperation { record.record(1) })
    queue.waitUntilAllOperationsAreFinished()
    queue.addOperation { record.record(2) }
    queue.waitUntilAllOperationsAreFinished()
    queue.addOperations([], waitUntilFinished: true)
    queue.addOperations([BlockOperation { record.record(3) }], waitUntilFinished: true)
    queue.addBarrierBlock { record.record(4) }
    queue.waitUntilAllOperationsAreFinished()
    #expect(record.events == [1, 2, 3, 4])
  }

  @Test("Q1: a queue owns its operations until they have finished, and no longer") func ownership() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let census = Crowd()
    do {
      let captured = Captured(census)
      queue.addOperation { _ = captured }
      queue.addBarrierBlock { _ = captured }
    }
    #expect(census.now == 1)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(census.eventuallyEmpty())
  }

  /// The ways to violate Q2, and the required message.
  enum Wrong: String, CaseIterable, Codable {
    case sameQueue, otherQueue, executing, finished, ranAndCancelled, twiceInBatch

    var reason: String {
      switch self {
      case .sameQueue, .otherQueue, .twiceInBatch: "it is in a queue already (or occurs twice in the list)"
      case .executing: "it is executing"
      case .finished, .ranAndCancelled: "it has finished: an operation runs once, make a new one"
      }
    }
  }

  @Test("Q2: adding a queued, executing, or finished operation stops the process", arguments: Wrong.allCases)
  func adding(wrong: Wrong) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [wrong] in
      let queue = OperationQueue()
      queue.name = "import"
      queue.isSuspended = true
      let operation = BlockOperation(name: "parse")
      switch wrong {
      case .sameQueue: queue.addOperation(operation)
      case .otherQueue:
        let other = OperationQueue()
        other.isSuspended = true
        other.addOperation(operation)
      case .executing: operation.addExecutionBlock { queue.addOperation(operation) }
      case .finished: break
      case .ranAndCancelled:
        let other = OperationQueue()
        other.addOperations([operation], waitUntilFinished: true)
        operation.cancel()
      case .twiceInBatch: queue.addOperations([operation, operation], waitUntilFinished: false)
      }
      if wrong == .executing || wrong == .finished { operation.start() }
      queue.addOperation(operation)
    }
    #expect(result.message.contains("“parse” ("))
    #expect(result.message.contains("was added to queue “import”, but \(wrong.reason)"))
  }

  @Test("Q2: all operations of a list are checked before any of them is added") func batch() async {
    /// If its state is read while the message is assembled, it returns the contents of the queue.
    final class Witness: Headway.Operation, @unchecked Sendable {
      let queue: OperationQueue
      init(_ queue: OperationQueue) { self.queue = queue }
      override var isFinished: Bool {
        printError("the queue holds \(queue.operationCount)")
        return super.isFinished
      }
    }
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = OperationQueue()
      queue.isSuspended = true
      let finished = Witness(queue)
      finished.start()
      queue.addOperations([BlockOperation {}, BlockOperation {}, finished], waitUntilFinished: false)
    }
    #expect(result.message.contains("the queue holds 0"))
    #expect(!result.message.contains("the queue holds 2"))
    #expect(result.message.contains("Witness (finished) was added to a queue without a name, but it has finished"))
  }

  @Test("Q3: by default the system decides, and operations overlap") func unlimited() {
    let queue = OperationQueue()
    #expect(queue.maxConcurrentOperationCount == -1)
    #expect(OperationQueue.defaultMaxConcurrentOperationCount == -1)
    let meeting = Meeting(of: 4)
    for _ in 0..<4 { queue.addOperation { meeting.attend() } }
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("Q3: as many operations run at the same time as the limit allows, and never more", arguments: [1, 2, 5])
  func limit(_ limit: Int) {
    let queue = OperationQueue(limit: limit)
    let crowd = Crowd()
    let meeting = Meeting(of: limit)
    for number in 0..<500 {
      queue.addOperation {
        crowd.enter()
        if number < limit { meeting.attend() }
        if number % 10 == 0 { yieldThread() }
        crowd.leave()
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    #expect(crowd.most == limit)
  }

  @Test("Q3: a limit of 1 is not first in, first out: readiness takes precedence") func notFirstInFirstOut() {
    let queue = OperationQueue(limit: 1)
    let record = EventRecorder<Int>()
    let (first, second) = (BlockOperation { record.record(1) }, BlockOperation { record.record(2) })
    first.addDependency(second)
    queue.addOperations([first, second], waitUntilFinished: true)
    #expect(record.events == [2, 1])
  }

  @Test("Q3: a limit of 0 runs nothing; raising it takes effect immediately") func zero() {
    let queue = OperationQueue(limit: 0)
    let meeting = Meeting(of: 3)
    let operations = (0..<3).map { _ in BlockOperation { meeting.attend() } }
    queue.addOperations(operations, waitUntilFinished: false)
    OperationQueue().addOperations([BlockOperation {}], waitUntilFinished: true)
    #expect(operations.allSatisfy { $0.isReady && !$0.isExecuting && !$0.isFinished })
    queue.maxConcurrentOperationCount = 3
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("Q3: raising the limit starts more operations immediately; lowering it lets running operations finish")
  func changedLimit() {
    let queue = OperationQueue(limit: 1)
    let crowd = Crowd()
    let (first, second) = (Meeting(of: 4), Meeting(of: 4))
    for _ in 0..<3 {
      queue.addOperation {
        crowd.enter()
        first.attend()
        second.attend()
        crowd.leave()
      }
    }
    queue.maxConcurrentOperationCount = 3
    first.attend()
    queue.maxConcurrentOperationCount = 1
    let after = Crowd()
    for _ in 0..<50 {
      queue.addOperation {
        #expect(crowd.now == 0, "the limit is 1, and three of the old ones were running")
        after.enter()
        yieldThread()
        after.leave()
      }
    }
    #expect(crowd.now == 3)
    second.attend()
    queue.waitUntilAllOperationsAreFinished()
    #expect(crowd.most == 3)
    #expect(after.most == 1)
  }

  @Test("Q3: a limit below -1 is a programming error") func belowDefault() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = OperationQueue()
      queue.name = "import"
      queue.maxConcurrentOperationCount = -2
    }
    #expect(result.message.contains("maxConcurrentOperationCount of queue “import” was set to -2"))
  }

  @Test("Q4: suspension stops starting, but not running operations, and adding continues") func suspension() {
    let queue = OperationQueue()
    let end = queue.occupy()
    queue.isSuspended = true
    #expect(queue.isSuspended)
    let running = queue.operations[0]
    let waiting = BlockOperation {}
    queue.addOperation(waiting)
    end.open()
    running.waitUntilFinished()
    OperationQueue().addOperations([BlockOperation {}], waitUntilFinished: true)
    #expect(waiting.isReady && !waiting.isExecuting && !waiting.isFinished)
    #expect(queue.operations == [waiting])
    queue.isSuspended = false
    waiting.waitUntilFinished()
  }

  @Test("Q4: an operation can suspend its own queue") func suspendedFromInside() {
    let queue = OperationQueue(limit: 1)
    let record = EventRecorder<Int>()
    let first = BlockOperation {
      record.record(1)
      queue.isSuspended = true
    }
    queue.addOperations([first, BlockOperation { record.record(2) }], waitUntilFinished: false)
    first.waitUntilFinished()
    #expect(queue.operationCount == 1)
    record.record(0)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(record.events == [1, 0, 2])
  }

  @Test("Q5: operations and operationCount contain unfinished operations, in insertion order") func snapshot() {
    let queue = OperationQueue(limit: 1)
    queue.isSuspended = true
    #expect(queue.operations.isEmpty && queue.operationCount == 0)
    let operations = (0..<100).map { _ in BlockOperation {} }
    for (position, operation) in operations.enumerated() where position % 7 == 0 { operation.queuePriority = .high }
    queue.addOperations(operations, waitUntilFinished: false)
    #expect(queue.operations == operations)
    #expect(queue.operationCount == 100)
    for position in [0, 50, 99] {
      operations[position].cancel()
      operations[position].waitUntilFinished()
    }
    #expect(queue.operations == operations.filter { !$0.isCancelled })
    #expect(queue.operationCount == 97)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.operations.isEmpty && queue.operationCount == 0)
  }

  @Test("Q5: a running operation is still in the queue") func runningIsHeld() {
    let queue = OperationQueue()
    let counts = EventRecorder<Int>()
    let operation = BlockOperation { counts.record(queue.operationCount) }
    queue.addOperations([operation], waitUntilFinished: true)
    #expect(counts.events == [1])
  }

  @Test("Q6: waiting for all operations blocks the thread, and operations added in the meantime prolong the wait")
  func waitForAll() {
    let queue = OperationQueue()
    queue.waitUntilAllOperationsAreFinished()
    let end = Gate()
    let late = EventRecorder<Int>()
    // The first adds the second while it runs, and so on.
    @Sendable func add(_ remaining: Int) {
      queue.addOperation {
        end.wait()
        late.record(remaining)
        if remaining > 0 { add(remaining - 1) }
      }
    }
    add(50)
    let waiter = OperationQueue()
    let returned = EventRecorder<Int>()
    waiter.addOperation {
      queue.waitUntilAllOperationsAreFinished()
      returned.record(late.count)
    }
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(late.count == 51)
    waiter.waitUntilAllOperationsAreFinished()
    #expect(returned.events == [51])
  }

  @Test("Q6: await queue.untilAllOperationsAreFinished() suspends until the queue is empty")
  func awaitAll() async throws {
    let queue = OperationQueue()
    try await queue.untilAllOperationsAreFinished()
    queue.isSuspended = true
    let done = EventRecorder<Int>()
    for number in 0..<10 { queue.addOperation { done.record(number) } }
    let task = Task {
      try await queue.untilAllOperationsAreFinished()
      return done.count
    }
    queue.isSuspended = false
    #expect(try await task.value == 10)
  }

  @Test("Q11: a suspended queue that is released keeps its operations until they are cancelled", arguments: [-1, 0])
  func letGoHeldUp(limit: Int) async throws {
    weak var freed: OperationQueue?
    let operations = [BlockOperation {}, BlockOperation {}]
    do {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = limit
      queue.isSuspended = limit != 0
      queue.addOperations(operations, waitUntilFinished: false)
      freed = queue
    }
    #expect(freed?.operations == operations)
    for operation in operations { operation.cancel() }
    for operation in operations { try await operation.untilFinished() }
    await until { freed == nil }
    #expect(operations.allSatisfy { $0.isCancelled })
  }

  @Test("Q11: a queue released by its user runs all its operations and is then freed") func letGo() {
    final class Watched: OperationQueue, @unchecked Sendable {
      let freed: Gate
      init(_ freed: Gate) { self.freed = freed }
      deinit { freed.open() }
    }
    let (freed, done, end) = (Gate(), EventRecorder<Int>(), Gate())
    do {
      let queue = Watched(freed)
      queue.maxConcurrentOperationCount = 2
      let first = BlockOperation { end.wait() }
      queue.addOperation(first)
      for number in 0..<100 {
        let operation = BlockOperation { done.record(number) }
        operation.addDependency(first)
        queue.addOperation(operation)
        if number == 50 { queue.addBarrierBlock { done.record(-1) } }
      }
    }
    end.open()
    freed.wait()
    #expect(done.count == 101)
    #expect(done.events.firstIndex(of: -1) == 51)
  }
}
