import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

@Suite("Cycles and stalls", .hangLimit) struct CycleTests {
  private let executor = StepExecutor()

  @Test("D6: firstDependencyCycle() returns the cycle, or nil") func cycle() {
    let operations = ["a", "b", "c"].map { BlockOperation(name: $0) }
    let outside = BlockOperation(name: "outside")
    #expect(operations[0].firstDependencyCycle() == nil)
    operations[0].addDependency(operations[1])
    operations[1].addDependency(operations[2])
    outside.addDependency(operations[0])
    #expect(outside.firstDependencyCycle() == nil)
    operations[2].addDependency(operations[0])
    #expect(operations[0].firstDependencyCycle() == operations)
    #expect(operations[1].firstDependencyCycle() == [operations[1], operations[2], operations[0]])
    #expect(outside.firstDependencyCycle() == operations)
    let queue = executor.queue("import")
    queue.addOperations(operations + [outside], waitUntilFinished: false)
    #expect(executor.runSteps() == 0)
    #expect(
      operations[1].diagnosis == """
        “b” never runs, since it is part of a cycle: “b”, which waits for “c”, which waits for “a”, which waits for “b”
        """)
    #expect(outside.diagnosis.hasPrefix("“outside” never runs, since it waits for a cycle: “a”"))
    operations[1].cancel()
    #expect(operations[0].firstDependencyCycle() == nil)
    executor.runSteps()
    #expect(queue.operationCount == 0)
    #expect(operations[0].outcome.isSuccess && outside.outcome.isSuccess)
  }

  @Test("D6, B4: a group that depends on an operation inside itself is a cycle") func cycleThroughGroup() {
    let inner = BlockOperation(name: "inner")
    let nested = GroupOperation(name: "nested", operations: [inner])
    let group = GroupOperation(name: "group", operations: [nested])
    #expect(inner.firstDependencyCycle() == nil && group.firstDependencyCycle() == nil)
    group.addDependency(inner)
    let queue = executor.queue("import")
    queue.addOperation(group)
    executor.runSteps()
    #expect(group.firstDependencyCycle() == [group, inner, nested])
    #expect(inner.firstDependencyCycle() == [inner, nested, group])
    #expect(group.diagnosis.hasPrefix("“group” never runs, since it is part of a cycle"))
    inner.cancel()
    // Threads of the pool finish the operations of a group that has not started.
    let hasEnded = eventually {
      executor.runSteps()
      return queue.operationCount == 0
    }
    #expect(hasEnded && group.outcome.isSuccess)
  }

  @Test("D6: a cycle through a barrier is found") func cycleThroughBarrier() {
    let queue = executor.queue("import")
    let (before, after) = (BlockOperation(name: "before"), BlockOperation(name: "after"))
    before.addDependency(after)
    queue.addOperation(before)
    queue.addBarrierBlock {}
    queue.addOperation(after)
    #expect(executor.runSteps() == 0)
    #expect(Set(before.firstDependencyCycle() ?? []) == Set(queue.operations))
    after.cancel()
    executor.runSteps()
    #expect(queue.operationCount == 0)
  }

  @Test("D6: an operation that the thread of its batch is about to start does not count as waiting for its own slot")
  func aboutToStart() throws {
    let queue = OperationQueue(limit: 1)
    let executor = VisitExecutor()
    queue.executor = executor
    let operations = [BlockOperation {}, BlockOperation {}]
    queue.addOperations(operations, waitUntilFinished: false)
    let batch = Batch()
    queue.update { state in
      batch.reset(for: queue, executor, state.admission.placement, .normal)
      _ = state.admission.fill(batch, atMost: 2, indivisible: 2, at: 0) { $0.fitsBatch }
    }
    // Takes the thread's steps, up to the last one before the operation executes.
    let first = try #require(batch.next())
    batch.noteCurrent(first)
    #expect(operations.allSatisfy { $0.firstDependencyCycle() == nil })
    batch.withdrawCurrent()
    #expect(queue.update(collectingBatches: true) { $0.admission.claimTaken(operations[0], of: batch) })
    queue.run(operations[0])
    batch.release()
    executor.runSteps()
    #expect(queue.operationCount == 0)
  }

  @Test("D6: dependencies that are reversed between two reads are not a cycle") func turnedRound() {
    final class Turning: Headway.Operation, @unchecked Sendable {
      let afterLook = Mutex<(@Sendable (Turning) -> Void)?>(nil)

      override var dependencies: [Headway.Operation] {
        let dependencies = super.dependencies
        afterLook.withLock { $0.take() }?(self)
        return dependencies
      }
    }
    let (first, second) = (Turning(), BlockOperation {})
    first.addDependency(second)
    first.afterLook.withLock {
      $0 = { first in
        first.removeDependency(second)
        second.addDependency(first)
      }
    }
    #expect(first.firstDependencyCycle() == nil)
    first.addDependency(second)
    #expect(first.firstDependencyCycle()?.count == 2)
    first.removeDependency(second)
  }

  @Test("D6: dependencies that are reversed and restored with each read are not a cycle") func turnedRoundAndBack() {
    final class Turning: Headway.Operation, @unchecked Sendable {
      let partner = Mutex<Turning?>(nil)
      let looks = Atomic<Int>(0)

      override var dependencies: [Headway.Operation] {
        let dependencies = super.dependencies
        looks.add(1, ordering: .relaxed)
        if let partner = partner.withLock({ $0 }) {
          removeDependency(partner)
          partner.addDependency(self)
        }
        return dependencies
      }
    }
    let operations = [Turning(), Turning()]
    operations[0].partner.withLock { $0 = operations[1] }
    operations[1].partner.withLock { $0 = operations[0] }
    operations[0].addDependency(operations[1])
    #expect(operations[0].firstDependencyCycle() == nil)
    #expect(operations.map { $0.looks.load(ordering: .relaxed) } == [2, 2])
    for operation in operations { operation.partner.withLock { $0 = nil } }
  }

  @Test("D6: the search handles chains of 100,000 operations in linear time") func longChain() {
    let operations = (0..<100_000).map { _ in BlockOperation {} }
    for (one, next) in zip(operations, operations.dropFirst()) { next.addDependency(one) }
    #expect(operations.last!.firstDependencyCycle() == nil)
    operations[0].addDependency(operations.last!)
    #expect(operations[500].firstDependencyCycle()?.count == 100_000)
    operations[0].removeDependency(operations.last!)
  }

  @Test("D6: a queue whose operations can never run reports a stall") func stalled() async throws {
    let queue = OperationQueue()
    let operations = ["a", "b"].map { BlockOperation(name: $0) }
    operations[0].addDependency(operations[1])
    operations[1].addDependency(operations[0])
    var events = queue.events.makeAsyncIterator()
    queue.addOperations([BlockOperation(name: "other")] + operations, waitUntilFinished: false)
    while let event = await events.next() {
      guard case .stalled(let cycle) = event else { continue }
      #expect(Set(cycle) == Set(operations))
      break
    }
    // Reported once; and when the operation continues, everything works.
    operations[0].cancel()
    try await queue.untilAllOperationsAreFinished()
    var rest: [OperationQueueEvent] = []
    while let event = await events.next() {
      rest.append(event)
      if case .finished(operations[1]) = event { break }
    }
    #expect(!rest.contains { if case .stalled = $0 { true } else { false } })
  }

  @Test("D6: a search for a stall that finds the queue working leaves the search to the thread that makes it idle")
  func looksAgain() async {
    let queue = OperationQueue()
    let events = queue.events
    let working = AsynchronousOperation()
    let (first, second) = (BlockOperation {}, BlockOperation {})
    first.addDependency(second)
    second.addDependency(first)
    queue.addOperations([first, second, working], waitUntilFinished: false)
    await until { working.isExecuting }
    queue.state.withLock { $0.followers.observation.isLookingForStall = true }
    #expect(!queue.reportStall())
    working.finish()
    for await event in events { if case .stalled = event { break } }
    first.cancel()
  }

  @Test("D6: a cycle across two queues stalls both") func stalledAcrossQueues() async {
    let queues = [OperationQueue(), OperationQueue()]
    let operations = ["a", "b"].map { BlockOperation(name: $0) }
    operations[0].addDependency(operations[1])
    operations[1].addDependency(operations[0])
    var first = queues[0].events.makeAsyncIterator()
    var second = queues[1].events.makeAsyncIterator()
    queues[0].addOperation(operations[0])
    queues[1].addOperation(operations[1])
    func stall(_ events: inout OperationQueueEvents.Iterator) async -> Set<Headway.Operation> {
      while let event = await events.next() {
        if case .stalled(let cycle) = event { return Set(cycle) }
      }
      return []
    }
    #expect(await stall(&first) == Set(operations))
    #expect(await stall(&second) == Set(operations))
    operations[0].cancel()
    for queue in queues { try? await queue.untilAllOperationsAreFinished() }
  }
}
