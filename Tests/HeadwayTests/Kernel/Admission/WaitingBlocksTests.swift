import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// Blocks that get their operations only when they are about to run, or when something asks for them.
@Suite("Blocks without operations", .hangLimit) struct WaitingBlocksTests {
  private func suspendedQueue(_ quality: QualityOfService = .default) -> OperationQueue {
    let queue = OperationQueue(qualityOfService: quality)
    queue.isSuspended = true
    return queue
  }

  /// How many blocks of a queue have no operations.
  private func waitingCount(_ queue: OperationQueue) -> Int {
    queue.state.withLock { $0.admission.waitingBlocks.count }
  }

  @Test("P2, Q5: blocks and operations run in insertion order, after operations of a higher priority")
  func order() {
    let queue = suspendedQueue()
    queue.maxConcurrentOperationCount = 1
    let ran = EventRecorder<Int>()
    for number in 0..<200 {
      switch number % 10 {
      case 3:
        queue.addOperation(BlockOperation { ran.record(number) })
      case 7:
        let operation = BlockOperation { ran.record(number) }
        operation.queuePriority = number.isMultiple(of: 3) ? .high : .low
        queue.addOperation(operation)
      default:
        queue.addOperation { ran.record(number) }
      }
    }
    #expect(queue.operationCount == 200 && waitingCount(queue) > 100)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    let sevens = (0..<200).filter { $0 % 10 == 7 }
    let normal = (0..<200).filter { $0 % 10 != 7 }
    let (high, low) = (sevens.filter { $0.isMultiple(of: 3) }, sevens.filter { !$0.isMultiple(of: 3) })
    #expect(ran.events == high + normal + low)
  }

  @Test("Q5: the list of operations contains all blocks in insertion order, and each keeps its operation")
  func listed() {
    let queue = suspendedQueue()
    var added: [Headway.Operation?] = []
    for number in 0..<5_000 {
      if number.isMultiple(of: 97) {
        let operation = BlockOperation {}
        queue.addOperation(operation)
        added.append(operation)
      } else {
        queue.addOperation {}
        added.append(nil)
      }
    }
    #expect(waitingCount(queue) > 4_900)
    let listed = queue.operations
    #expect(listed.count == 5_000 && waitingCount(queue) == 0 && queue.operationCount == 5_000)
    #expect(zip(listed, added).allSatisfy { $1 == nil || $0 === $1 })
    #expect(Set(listed.map { ObjectIdentifier($0) }).count == 5_000)
    let isSame = queue.operations.elementsEqual(listed, by: ===)
    #expect(isSame)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(listed.allSatisfy { $0.isFinished && !$0.isCancelled })
  }

  @Test("Q5: a snapshot lists the first blocks, and creates operations only for them") func snapshot() {
    let queue = suspendedQueue()
    for _ in 0..<1_000 { queue.addOperation {} }
    let before = waitingCount(queue)
    #expect(queue.snapshot(maxOperationCount: 10).operations.count == 10)
    #expect(before - waitingCount(queue) <= 10)
    #expect(queue.snapshot().operations.count == 1_000 && waitingCount(queue) == 0)
    queue.cancelAllOperations()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("Q18: a snapshot of a queue that runs its blocks lists as many operations as it can") func busySnapshot() {
    let queue = suspendedQueue()
    for _ in 0..<100_000 { queue.addOperation {} }
    queue.isSuspended = false
    var snapshot = queue.snapshot(maxOperationCount: 100)
    while queue.operationCount >= 100 {
      #expect(snapshot.operations.count == 100)
      snapshot = queue.snapshot(maxOperationCount: 100)
    }
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("Q8: a barrier starts after the blocks that precede it, and before the blocks that follow it")
  func barrier() {
    let queue = suspendedQueue()
    let ran = EventRecorder<Int>()
    for _ in 0..<100 { queue.addOperation { ran.record(1) } }
    queue.addBarrierBlock { ran.record(2) }
    for _ in 0..<100 { queue.addOperation { ran.record(3) } }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(ran.events == Array(repeating: 1, count: 100) + [2] + Array(repeating: 3, count: 100))
  }

  @Test("C6, Q1: a cancelled block does not run, and the objects that it captured are freed") func cancelled() {
    let queue = suspendedQueue()
    let census = Crowd()
    for _ in 0..<300 {
      let member = CountedMember(census)
      queue.addOperation {
        Issue.record("a cancelled block ran")
        withExtendedLifetime(member) {}
      }
    }
    #expect(census.now == 300 && waitingCount(queue) > 200)
    queue.cancelAllOperations()
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.operationCount == 0)
    #expect(census.eventuallyEmpty())
  }

  @Test("Q1: the objects that a block captured are freed after it has run") func freed() {
    let queue = suspendedQueue()
    let census = Crowd()
    for _ in 0..<300 {
      let member = CountedMember(census)
      queue.addOperation { withExtendedLifetime(member) {} }
    }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(census.eventuallyEmpty())
  }

  @Test(
    "P5: blocks are raised for a caller that waits for the queue, but blocks that are added later are not",
    arguments: [0, 10])
  func raised(meanwhile count: Int) {
    let queue = suspendedQueue()
    for _ in 0..<100 { queue.addOperation {} }
    queue.update { state in
      state.admission.beginAwaiting(.normal)
      state.waiters.append(.handler {})
    }
    for _ in 0..<count { queue.addOperation {} }
    // The caller no longer waits.
    _ = queue.update { $0.waiters.removeAll() }
    for _ in 0..<10 { queue.addOperation {} }
    #expect(waitingCount(queue) > 80)
    let levels = queue.operations.map { $0.state.current.qualityLevel > 0 }
    #expect(levels == Array(repeating: true, count: 100 + count) + Array(repeating: false, count: 10))
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  /// Raises the operations of a queue for a caller that waits, then stops waiting.
  private func wait(for queue: OperationQueue, by workerClass: WorkerClass) {
    queue.update { state in
      state.admission.beginAwaiting(workerClass)
      state.waiters.append(.handler {})
    }
    _ = queue.update { $0.waiters.removeAll() }
  }

  @Test("P5: a block does not keep later callers from raising the operations before it") func raisedAgain() {
    let queue = suspendedQueue()
    wait(for: queue, by: .normal)
    let (dependency, dependent) = (BlockOperation {}, BlockOperation {})
    dependent.addDependency(dependency)
    queue.addOperation(dependent)
    queue.addOperation {}
    wait(for: queue, by: .utility)
    #expect(queue.operations.count == 2)
    wait(for: queue, by: .normal)
    #expect(dependent.state.current.qualityLevel == WorkerClass.normal.raisingLevel)
    queue.addOperation(dependency)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("P5: blocks are raised to the class of the callers that wait for them, not of earlier callers")
  func raisedLess() {
    let queue = suspendedQueue()
    wait(for: queue, by: .normal)
    queue.qualityOfService = .utility
    for _ in 0..<100 { queue.addOperation {} }
    wait(for: queue, by: .utility)
    #expect(waitingCount(queue) > 0)
    let ready = queue.update { state in
      state.admission.makeOperations()
      return (state.admission.first.ready.count(.normal), state.admission.first.ready.count(.utility))
    }
    #expect(ready == (0, 100))
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("P5: the blocks of a less urgent queue move to the workers of a caller that waits") func movedToClass() {
    let queue = suspendedQueue(.background)
    for _ in 0..<100 { queue.addOperation {} }
    #expect(waitingCount(queue) > 0)
    let ready = queue.update { state in
      state.admission.beginAwaiting(.normal)
      return (state.admission.first.ready.count(.normal), state.admission.first.ready.count(.background))
    }
    #expect(ready == (100, 0) && waitingCount(queue) == 0)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("K1, Q14: an observer and a listener are notified of the operations of all blocks") func observed() async {
    let queue = suspendedQueue()
    for _ in 0..<50 { queue.addOperation {} }
    let counts = EventRecorder<Int>()
    let token = queue.observe(\.operations, options: [.initial, .new]) { _, change in
      counts.record(change.newValue?.count ?? -1)
    }
    for _ in 0..<3 { queue.addOperation {} }
    #expect(counts.events == [50, 51, 52, 53] && waitingCount(queue) == 0)
    token.invalidate()
    var events = queue.events.makeAsyncIterator()
    queue.addOperation {}
    #expect(waitingCount(queue) == 0)
    queue.isSuspended = false
    var finished = 0
    while finished < 54, let event = await events.next() {
      if case .finished = event { finished += 1 }
    }
    #expect(finished == 54)
  }

  @Test("K1: an observer can be added while another thread adds blocks") func observedMeanwhile() {
    for _ in 0..<50 {
      let queue = OperationQueue()
      onThreads(2) { number in
        if number == 0 {
          for _ in 0..<100 { queue.addOperation {} }
        } else {
          queue.observe(\.qualityOfService) { _, _ in }.invalidate()
        }
      }
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("Q17: a closed queue runs the blocks that it holds, and rejects others") func closed() async {
    let queue = suspendedQueue()
    let (ran, failed) = (EventRecorder<Int>(), EventRecorder<Int>())
    queue.failureHandler = { _, error in failed.record(error is QueueClosedError ? 1 : 0) }
    for number in 0..<100 { queue.addOperation { ran.record(number) } }
    queue.close()
    queue.addOperation { Issue.record("a rejected block ran") }
    queue.isSuspended = false
    try? await queue.untilAllOperationsAreFinished()
    #expect(ran.count == 100 && failed.events == [1])
  }

  @Test("Q3: a limit that is set later applies to waiting blocks", arguments: [1, 3]) func limit(limit: Int) {
    let queue = suspendedQueue()
    let running = Atomic(0)
    let most = Atomic(0)
    let count = Atomic(0)
    for _ in 0..<100 {
      queue.addOperation {
        most.max(running.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
        count.add(1, ordering: .relaxed)
        running.subtract(1, ordering: .relaxed)
      }
    }
    queue.maxConcurrentOperationCount = limit
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(count.load(ordering: .relaxed) == 100 && most.load(ordering: .relaxed) <= limit)
  }
}
