import Dispatch
import Headway
import HeadwayTestKit
import Synchronization
import Testing

@Suite("Barrier", .hangLimit) struct BarrierTests {
  /// The queues whose barriers must keep their promises.
  enum Kind: String, CaseIterable {
    case unlimited, limited, serial, underlyingSerial, underlyingConcurrent, underlyingGlobal

    func makeQueue() -> OperationQueue {
      let queue = OperationQueue()
      switch self {
      case .unlimited: break
      case .limited: queue.maxConcurrentOperationCount = 3
      case .serial: queue.maxConcurrentOperationCount = 1
      case .underlyingSerial: queue.underlyingQueue = DispatchQueue(label: "serial")
      case .underlyingConcurrent: queue.underlyingQueue = DispatchQueue(label: "concurrent", attributes: .concurrent)
      case .underlyingGlobal: queue.underlyingQueue = .global()
      }
      return queue
    }
  }

  @Test(
    "Q8: a barrier starts when all operations before it have finished, and no later operation starts before it ends",
    arguments: Kind.allCases)
  func order(kind: Kind) {
    let queue = kind.makeQueue()
    let record = EventRecorder<Int>()
    let crowd = Crowd()
    for section in 0..<20 {
      for _ in 0..<10 {
        queue.addOperation {
          crowd.enter()
          yieldThread()
          record.record(2 * section)
          crowd.leave()
        }
      }
      queue.addBarrierBlock {
        #expect(crowd.now == 0)
        yieldThread()
        #expect(crowd.now == 0)
        record.record(2 * section + 1)
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    let expected = (0..<20).flatMap { section -> [Int] in
      Array(repeating: 2 * section, count: 10) + [2 * section + 1]
    }
    #expect(record.events == expected)
  }

  @Test(
    "Q8: a barrier waits for a running operation, and holds back later operations, no matter how urgent",
    arguments: Kind.allCases)
  func holdsBack(kind: Kind) {
    guard kind != .serial && kind != .underlyingSerial else { return }
    let queue = kind.makeQueue()
    let record = EventRecorder<String>()
    let end = queue.occupy()
    queue.addBarrierBlock { record.record("barrier") }
    let barrier = queue.operations[1]
    let urgent = BlockOperation { record.record("after") }
    urgent.queuePriority = .veryHigh
    queue.addOperation(urgent)
    // Other operations have threads to run on, so the two do not wait for threads.
    for _ in 0..<10 { kind.makeQueue().addOperations([BlockOperation {}], waitUntilFinished: true) }
    #expect(!barrier.isExecuting && !barrier.isFinished && !urgent.isExecuting && !urgent.isFinished)
    #expect(record.events.isEmpty)
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(record.events == ["barrier", "after"])
  }

  @Test("Q8: a barrier waits for earlier operations that are not ready") func waitsForPending() {
    let queue = OperationQueue()
    let record = EventRecorder<Int>()
    let dependency = BlockOperation {}
    let before = BlockOperation { record.record(1) }
    before.addDependency(dependency)
    queue.addOperation(before)
    queue.addBarrierBlock { record.record(2) }
    queue.addOperation { record.record(3) }
    #expect(queue.operationCount == 3)
    dependency.start()
    queue.waitUntilAllOperationsAreFinished()
    #expect(record.events == [1, 2, 3])
  }

  @Test("Q8: a barrier waits for its own dependencies, too") func dependencies() {
    let queue = OperationQueue()
    let end = queue.occupy()
    let running = queue.operations[0]
    let record = EventRecorder<Int>()
    queue.addBarrierBlock { record.record(2) }
    let barrier = queue.operations[1]
    let dependency = BlockOperation { record.record(1) }
    barrier.addDependency(dependency)
    queue.addOperation { record.record(3) }
    end.open()
    running.waitUntilFinished()
    OperationQueue().addOperations([BlockOperation {}], waitUntilFinished: true)
    #expect(!barrier.isReady && !barrier.isExecuting && queue.operationCount == 2)
    dependency.start()
    queue.waitUntilAllOperationsAreFinished()
    #expect(record.events == [1, 2, 3])
  }

  @Test("Q8: an operation that precedes a barrier and depends on a later operation waits until it is cancelled")
  func dependencyAcross() {
    let queue = OperationQueue()
    let record = EventRecorder<Int>()
    let (before, after) = (BlockOperation { record.record(1) }, BlockOperation { record.record(3) })
    before.addDependency(after)
    queue.addOperation(before)
    queue.addBarrierBlock { record.record(2) }
    queue.addOperation(after)
    before.cancel()
    queue.waitUntilAllOperationsAreFinished()
    #expect(record.events == [2, 3])
  }

  @Test("Q8: a barrier in an empty queue starts immediately, and holds back operations that are added while it runs")
  func emptyQueue() {
    let queue = OperationQueue()
    let (started, end) = (Gate(), Gate())
    let record = EventRecorder<Int>()
    queue.addBarrierBlock {
      started.open()
      end.wait()
      record.record(1)
    }
    started.wait()
    let after = BlockOperation { record.record(2) }
    queue.addOperation(after)
    OperationQueue().addOperations([BlockOperation {}], waitUntilFinished: true)
    #expect(after.isReady && !after.isExecuting)
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(record.events == [1, 2])
  }

  @Test("Q8: a barrier obeys suspension, even in an empty queue", arguments: Kind.allCases)
  func suspension(kind: Kind) {
    let queue = kind.makeQueue()
    queue.isSuspended = true
    let ran = EventRecorder<Int>()
    queue.addBarrierBlock { ran.record(1) }
    queue.addOperation { ran.record(2) }
    kind.makeQueue().addOperations([BlockOperation {}], waitUntilFinished: true)
    #expect(ran.events.isEmpty && queue.operationCount == 2)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(ran.events == [1, 2])
  }

  @Test("Q8: a barrier obeys a limit of 0") func limitZero() {
    let queue = OperationQueue(limit: 0)
    let ran = EventRecorder<Int>()
    queue.addBarrierBlock { ran.record(1) }
    OperationQueue().addOperations([BlockOperation {}], waitUntilFinished: true)
    #expect(ran.events.isEmpty)
    queue.maxConcurrentOperationCount = 1
    queue.waitUntilAllOperationsAreFinished()
    #expect(ran.events == [1])
  }

  @Test("Q8: a barrier runs on the underlying queue") func underlyingQueue() {
    let key = DispatchSpecificKey<Int>()
    let dispatchQueue = DispatchQueue(label: "underlying", attributes: .concurrent)
    dispatchQueue.setSpecific(key: key, value: 8)
    let queue = OperationQueue()
    queue.underlyingQueue = dispatchQueue
    let places = EventRecorder<Int?>()
    queue.addBarrierBlock { places.record(DispatchQueue.getSpecific(key: key)) }
    queue.waitUntilAllOperationsAreFinished()
    #expect(places.events == [8])
  }

  @Test("Q8: a barrier is counted and waited for like other operations, and its error is kept")
  func waiting() async throws {
    let queue = OperationQueue()
    let end = Gate()
    queue.addBarrierBlock {
      end.wait()
      throw Mishap()
    }
    let barrier = queue.operations[0]
    #expect(queue.operationCount == 1)
    let task = Task {
      try await queue.untilAllOperationsAreFinished()
      return barrier.isFinished
    }
    end.open()
    try await queue.untilAllOperationsAreFinished()
    #expect(barrier.error as? Mishap == Mishap())
    #expect(try await task.value)
  }

  @Test("Q8: a cancelled operation that is added after a waiting barrier leaves the queue immediately")
  func cancelledBehind() {
    let queue = OperationQueue()
    let end = queue.occupy()
    queue.addBarrierBlock {}
    let (before, after) = (BlockOperation {}, BlockOperation {})
    before.cancel()
    queue.addOperation(before)
    queue.addOperation(after)
    after.cancel()
    after.waitUntilFinished()
    #expect(before.isFinished && after.isFinished && queue.operationCount == 2)
    end.open()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("Q8: cancelled barriers hold nothing back, no matter which of several are cancelled", arguments: 0..<16)
  func cancelled(chosen: Int) {
    let queue = OperationQueue()
    let end = queue.occupy()
    let record = EventRecorder<Int>()
    var (barriers, followers): ([Headway.Operation], [Headway.Operation]) = ([], [])
    for number in 0..<4 {
      queue.addBarrierBlock { record.record(2 * number) }
      barriers.append(queue.operations[2 * number + 1])
      let follower = BlockOperation { record.record(2 * number + 1) }
      queue.addOperation(follower)
      followers.append(follower)
    }
    // The last first, so that segments also join from the back.
    for number in (0..<4).reversed() where chosen & (1 << number) != 0 {
      barriers[number].cancel()
      barriers[number].waitUntilFinished()
    }
    // While the first operation runs, a follower is free exactly if every barrier before it was cancelled.
    let free = (0..<4).prefix { chosen & (1 << $0) != 0 }
    for number in free { followers[number].waitUntilFinished() }
    #expect(followers.dropFirst(free.count).allSatisfy { !$0.isFinished && !$0.isExecuting })
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    let order = record.events
    for number in 0..<4 {
      guard let barrier = order.firstIndex(of: 2 * number) else {
        #expect(chosen & (1 << number) != 0, "barrier \(number) did not run")
        continue
      }
      #expect(chosen & (1 << number) == 0, "barrier \(number) ran although it was cancelled")
      #expect(order[..<barrier].count { $0 % 2 == 1 } == number)
    }
    #expect(Set(order).isSuperset(of: [1, 3, 5, 7]))
  }

  @Test("Q8: another barrier can cancel a barrier, and cancelAllOperations() cancels all barriers")
  func cancelledFromInside() {
    let queue = OperationQueue()
    let end = queue.occupy()
    let record = EventRecorder<Int>()
    queue.addBarrierBlock {
      record.record(1)
      queue.operations[1].cancel()
    }
    queue.addBarrierBlock { record.record(2) }
    queue.addBarrierBlock {
      record.record(3)
      queue.cancelAllOperations()
    }
    for _ in 0..<10 { queue.addBarrierBlock { record.record(4) } }
    queue.addOperation { record.record(5) }
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(record.events == [1, 3])
  }

  @Test("Q8: 100,000 barriers take linear time") func many() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let wrong = EventRecorder<Int>()
    let count = Atomic<Int>(0)
    for number in 0..<100_000 {
      queue.addBarrierBlock {
        let before = count.add(1, ordering: .relaxed).oldValue
        if before != number { wrong.record(number) }
      }
    }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(count.load(ordering: .relaxed) == 100_000)
    #expect(wrong.events.isEmpty)
  }
}
