import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

@Suite("Inbox", .hangLimit) struct InboxTests {
  @Test("Q1: the inbox returns operations in the order in which they were pushed, and owns them until then")
  func order() {
    let inbox = Inbox()
    let census = Crowd()
    var taken: [String] = []
    for round in 0..<3 {
      var isEmpty = inbox.isEmpty
      #expect(isEmpty)
      for number in 0..<10 {
        let operation = CountedOperation(census)
        operation.name = "\(round) \(number)"
        let hasRoom = inbox.push(.operation(.passRetained(operation)))
        #expect(hasRoom)
      }
      isEmpty = inbox.isEmpty
      #expect(!isEmpty && census.now == 10)
      inbox.takeAll { taken.append($0.takeOperation()?.name ?? "") }
      #expect(census.now == 0)
    }
    #expect(taken == (0..<3).flatMap { round in (0..<10).map { "\(round) \($0)" } })
  }

  @Test("Q1: the inbox reports that it is full, and accepts more operations anyway") func room() {
    let inbox = Inbox()
    var hasRoom: [Bool] = []
    for _ in 0..<1_200 { hasRoom.append(inbox.push(.operation(.passRetained(BlockOperation {})))) }
    #expect(hasRoom.firstIndex(of: false) == 254 && !hasRoom[254...].contains(true))
    var count = 0
    inbox.takeAll { if $0.takeOperation() != nil { count += 1 } }
    #expect(count == 1_200)
  }

  @Test("Q5: an added operation is counted immediately, and is listed in insertion order") func counted() {
    let queue = OperationQueue()
    let isOpen = Gate()
    var added: [Headway.Operation] = []
    for number in 1...200 {
      // The workers are blocked, or on their way: some of these operations are added through the inbox, and some are
      // not.
      let operation = BlockOperation { isOpen.wait() }
      queue.addOperation(operation)
      added.append(operation)
      if number.isMultiple(of: 10) { #expect(queue.operationCount == number) }
    }
    #expect(queue.operations == added)
    isOpen.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.operationCount == 0 && added.allSatisfy { $0.isFinished })
  }

  @Test("Q1: an operation runs no matter when it is added", arguments: [1, 4]) func noneIsLost(threads: Int) {
    let queue = OperationQueue()
    onThreads(threads) { _ in
      for number in 0..<2_000 {
        let isDone = Gate()
        queue.addOperation { isDone.open() }
        // So that the next operation arrives when workers look for more, linger, leave or have ended.
        if number.isMultiple(of: 3) { yieldThread() }
        isDone.wait()
      }
    }
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("C5, C6: operations that were added just before are cancelled, too") func cancelled() {
    for _ in 0..<200 {
      let queue = OperationQueue()
      let counter = Atomic<Int>(0)
      let operations = (0..<20).map { _ in BlockOperation { counter.add(1, ordering: .relaxed) } }
      for operation in operations { queue.addOperation(operation) }
      queue.cancelAllOperations()
      queue.waitUntilAllOperationsAreFinished()
      // Operations that had not finished were cancelled: a block that ran had begun before, or its operation was not
      // cancelled.
      let cancelled = operations.count { $0.isCancelled }
      #expect(operations.allSatisfy { $0.isFinished })
      #expect(counter.load(ordering: .relaxed) + cancelled >= operations.count)
    }
  }

  @Test("Q8: operations that are added before a barrier run before it, even through the inbox") func barrier() {
    for _ in 0..<200 {
      let queue = OperationQueue()
      let before = Atomic<Int>(0)
      let seen = Atomic<Int>(-1)
      for _ in 0..<50 { queue.addOperation { before.add(1, ordering: .relaxed) } }
      queue.addBarrierBlock { seen.store(before.load(ordering: .relaxed), ordering: .relaxed) }
      for _ in 0..<50 { queue.addOperation { before.add(1, ordering: .relaxed) } }
      queue.waitUntilAllOperationsAreFinished()
      #expect(seen.load(ordering: .relaxed) == 50)
    }
  }

  @Test("K1: an observer that is added while operations are being added sees every count from then on")
  func observed() {
    for round in 0..<100 {
      let queue = OperationQueue()
      let counts = EventRecorder<Int>()
      let isOpen = Gate()
      let adders = 2
      onThreads(adders + 1) { number in
        guard number == adders else {
          for _ in 0..<50 { queue.addOperation { isOpen.wait() } }
          return
        }
        let token = queue.observe(\.operationCount, options: [.initial, .new]) { _, change in
          counts.record(change.newValue!)
        }
        while queue.operationCount < adders * 50 { yieldThread() }
        isOpen.open()
        queue.waitUntilAllOperationsAreFinished()
        withExtendedLifetime(token) {}
      }
      let jumps = zip(counts.events, counts.events.dropFirst()).map { $1 - $0 }
      #expect(jumps.allSatisfy { abs($0) == 1 }, "round \(round): \(counts.events)")
      #expect(counts.events.contains(adders * 50))
    }
  }
}

extension Addition {
  /// The operation, which the caller then owns; nil for a block.
  fileprivate func takeOperation() -> Headway.Operation? {
    if case .operation(let operation) = self { operation.takeRetainedValue() } else { nil }
  }
}
