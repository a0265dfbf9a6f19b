import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

@Suite("Diagnosis", .hangLimit) struct DiagnosisTests {
  // MARK: Descriptions

  @Test("O7: a description names the operation and its state") func descriptions() {
    let operation = BlockOperation(name: "parse")
    let dependency = BlockOperation(name: "fetch")
    #expect(operation.description == "‘parse’ (ready)")
    operation.addDependency(dependency)
    #expect(operation.description == "‘parse’ (pending)")
    operation.queuePriority = .high
    operation.qualityOfService = .utility
    operation.progress.totalUnitCount = 4
    operation.progress.completedUnitCount = 1
    let queue = OperationQueue()
    queue.name = "import"
    queue.addOperation(operation)
    #expect(
      operation.debugDescription == """
        BlockOperation ‘parse’ (pending); in queue ‘import’; priority high; quality of service utility; 25 % done; \
        waits for ‘fetch’
        """)
    operation.cancel()
    operation.waitUntilFinished()
    #expect(operation.description == "‘parse’ (finished, cancelled)")
    #expect(BlockOperation {}.description == "BlockOperation (ready)")
  }

  @Test("O7: a subclass may override what describes it") func overriddenDescription() {
    final class Named: Headway.Operation, @unchecked Sendable {
      override var description: String { "named" }
    }
    #expect("\(Named())" == "named")
  }

  // MARK: Diagnosis

  private let executor = StepExecutor()

  private func queue(_ name: String) -> OperationQueue {
    let queue = OperationQueue()
    queue.name = name
    executor.attach(queue)
    return queue
  }

  @Test("Q14: diagnose says why an operation is not running") func reasons() {
    let (parse, save) = (BlockOperation(name: "parse"), BlockOperation(name: "save"))
    let (importing, saving) = (queue("import"), queue("save"))
    save.addDependency(parse)
    saving.addOperation(save)
    #expect(saving.diagnose(save) == "‘save’ waits for ‘parse’, which is in no queue and has not been started")
    importing.isSuspended = true
    importing.addOperation(parse)
    #expect(saving.diagnose(save) == "‘save’ waits for ‘parse’, which is suspended in queue ‘import’")
    #expect(
      saving.diagnose(parse)
        == "‘parse’ is suspended in queue ‘import’ (it is in queue ‘import’, not in queue ‘save’)")
    importing.maxConcurrentOperationCount = 0
    importing.isSuspended = false
    #expect(
      importing.diagnose(parse) == "‘parse’ is held in queue ‘import’, whose maxConcurrentOperationCount is 0")
    importing.maxConcurrentOperationCount = -1
    #expect(importing.diagnose(parse).hasPrefix("‘parse’ is ready in queue ‘import’ and waits for"))
    executor.step()
    #expect(importing.diagnose(parse) == "‘parse’ has finished")
    save.cancel()
    #expect(saving.diagnose(save) == "‘save’ was cancelled and is about to leave")
    executor.run()
    #expect(saving.diagnose(save) == "‘save’ was cancelled and has finished")
  }

  @Test("Q14: diagnose follows a chain to what it waits for in the end") func chain() {
    let operations = ["a", "b", "c", "d"].map { BlockOperation(name: $0) }
    for (one, next) in zip(operations, operations.dropFirst()) { next.addDependency(one) }
    let queue = queue("import")
    queue.isSuspended = true
    queue.addOperations(operations, waitUntilFinished: false)
    #expect(
      queue.diagnose(operations[3])
        == "‘d’ waits for ‘c’, which waits (through 1 other) for ‘a’, which is suspended in queue ‘import’")
  }

  @Test("Q14: diagnose tells of limits, barriers and operations that execute") func places() {
    let queue = queue("import")
    queue.maxConcurrentOperationCount = 1
    let running = AsynchronousOperation()
    running.name = "running"
    let waiting = BlockOperation(name: "waiting")
    queue.addOperations([running, waiting], waitUntilFinished: false)
    queue.addBarrierBlock {}
    let last = BlockOperation(name: "last")
    queue.addOperation(last)
    executor.run()
    #expect(queue.diagnose(running) == "‘running’ is executing")
    #expect(queue.diagnose(waiting) == "‘waiting’ waits for a place in queue ‘import’, which runs 1 of at most 1")
    #expect(queue.diagnose(last) == "‘last’ waits behind a barrier in queue ‘import’")
    let barrier = queue.operations[2]
    #expect(
      queue.diagnose(barrier)
        == "BlockOperation is a barrier in queue ‘import’ and waits for what was added before it, 2 in number")
    running.finish()
    executor.run()
    #expect(queue.operationCount == 0)
  }

  // MARK: Cycles and stalls

  @Test("D6: dependencyCycle() returns the circle, or nil") func cycle() {
    let operations = ["a", "b", "c"].map { BlockOperation(name: $0) }
    let outside = BlockOperation(name: "outside")
    #expect(operations[0].dependencyCycle() == nil)
    operations[0].addDependency(operations[1])
    operations[1].addDependency(operations[2])
    outside.addDependency(operations[0])
    #expect(outside.dependencyCycle() == nil)
    operations[2].addDependency(operations[0])
    #expect(operations[0].dependencyCycle() == operations)
    #expect(operations[1].dependencyCycle() == [operations[1], operations[2], operations[0]])
    #expect(outside.dependencyCycle() == operations)
    let queue = queue("import")
    queue.addOperations(operations + [outside], waitUntilFinished: false)
    #expect(executor.run() == 0)
    #expect(
      queue.diagnose(operations[1]) == """
        ‘b’ never runs, since it is part of a cycle: ‘b’, which waits for ‘c’, which waits for ‘a’, which waits for ‘b’
        """)
    #expect(queue.diagnose(outside).hasPrefix("‘outside’ never runs, since it waits for a cycle: ‘a’"))
    operations[1].cancel()
    #expect(operations[0].dependencyCycle() == nil)
    executor.run()
    #expect(queue.operationCount == 0)
    #expect(operations[0].outcome.isSuccess && outside.outcome.isSuccess)
  }

  @Test("D6: a circle through a barrier is found") func cycleThroughBarrier() {
    let queue = queue("import")
    let (before, after) = (BlockOperation(name: "before"), BlockOperation(name: "after"))
    before.addDependency(after)
    queue.addOperation(before)
    queue.addBarrierBlock {}
    queue.addOperation(after)
    #expect(executor.run() == 0)
    #expect(Set(before.dependencyCycle() ?? []) == Set(queue.operations))
    after.cancel()
    executor.run()
    #expect(queue.operationCount == 0)
  }

  @Test("D6: one that its batch's thread is about to start does not wait for its own place") func aboutToStart() throws
  {
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
    // As the thread does, up to the last step before the operation executes.
    let first = try #require(batch.next())
    batch.noteCurrent(first)
    #expect(operations.allSatisfy { $0.dependencyCycle() == nil })
    batch.withdrawCurrent()
    #expect(queue.update(collectingBatches: true) { $0.admission.claimTaken(operations[0], of: batch) })
    queue.run(operations[0])
    batch.release()
    executor.run()
    #expect(queue.operationCount == 0)
  }

  @Test("D6: dependencies turned round between two looks are no circle") func turnedRound() {
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
    #expect(first.dependencyCycle() == nil)
    first.addDependency(second)
    #expect(first.dependencyCycle()?.count == 2)
    first.removeDependency(second)
  }

  @Test("D6: dependencies turned round and back with each look are no circle") func turnedRoundAndBack() {
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
    #expect(operations[0].dependencyCycle() == nil)
    #expect(operations.map { $0.looks.load(ordering: .relaxed) } == [2, 2])
    for operation in operations { operation.partner.withLock { $0 = nil } }
  }

  @Test("D6: the search copes with chains of 100,000 and does linear work") func longChain() {
    let operations = (0..<100_000).map { _ in BlockOperation {} }
    for (one, next) in zip(operations, operations.dropFirst()) { next.addDependency(one) }
    #expect(operations.last!.dependencyCycle() == nil)
    operations[0].addDependency(operations.last!)
    #expect(operations[500].dependencyCycle()?.count == 100_000)
    operations[0].removeDependency(operations.last!)
  }

  @Test("D6: a queue that can never run what it holds says so") func stalled() async throws {
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
    // Told once; and when it goes on, all is well.
    operations[0].cancel()
    try await queue.finished()
    var rest: [OperationQueueEvent] = []
    while let event = await events.next() {
      rest.append(event)
      if case .finished(operations[1]) = event { break }
    }
    #expect(!rest.contains { if case .stalled = $0 { true } else { false } })
  }

  @Test("D6: a look for a stall that finds the queue at work leaves it to the thread that makes it idle")
  func looksAgain() async {
    let queue = OperationQueue()
    let events = queue.events
    let working = AsynchronousOperation()
    let (first, second) = (BlockOperation {}, BlockOperation {})
    first.addDependency(second)
    second.addDependency(first)
    queue.addOperations([first, second, working], waitUntilFinished: false)
    #expect(await becomesTrue { working.isExecuting })
    queue.state.withLock { $0.observation.isLookingForStall = true }
    #expect(!queue.reportStall())
    working.finish()
    for await event in events { if case .stalled = event { break } }
    first.cancel()
  }

  @Test("D6: a circle across two queues stalls both") func stalledAcrossQueues() async {
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
    for queue in queues { try? await queue.finished() }
  }

  @Test("Q14: events tell what happens, in order") func events() {
    let queue = queue("import")
    let recorder = EventRecorder(of: queue)
    let (first, second) = (BlockOperation(name: "first"), BlockOperation(name: "second"))
    second.addDependency(first)
    queue.addOperations([first, second], waitUntilFinished: false)
    executor.run()
    #expect(
      recorder.events.map { "\($0)" } == [
        "added ‘first’", "ready ‘first’", "added ‘second’", "started ‘first’", "ready ‘second’", "finished ‘first’",
        "started ‘second’", "finished ‘second’",
      ])
  }

  // MARK: Deadlocks

  /// Adds operations, the waits of which form a cycle; returns what the queue's event says of that, and has the cycle
  /// resolved by cancelling the operation that is waited for.
  private func cycle(
    in queue: OperationQueue, cancelling operation: Headway.Operation, adding add: () -> Void
  ) -> String {
    let (reported, gate) = (EventRecorder<String>(), Gate())
    let token = queue.listen { event in
      guard case .waitsInCycle = event else { return }
      reported.record("\(event)")
      gate.open()
    }
    add()
    gate.wait()
    #expect(queue.diagnose(operation).contains("cycle"))
    operation.cancel()
    queue.waitUntilAllOperationsAreFinished()
    token.invalidate()
    return reported.events.first ?? ""
  }

  @Test("W4: waiting for an operation that depends on the caller is reported, and goes on") func waitOnDependent() {
    let queue = OperationQueue()
    let dependents = ["b", "c"].map { BlockOperation(name: $0) }
    let caller = BlockOperation(name: "a") { dependents[1].waitUntilFinished() }
    dependents[0].addDependency(caller)
    dependents[1].addDependency(dependents[0])
    let event = cycle(in: queue, cancelling: dependents[1]) {
      queue.addOperations(dependents + [caller], waitUntilFinished: false)
    }
    #expect(event == "waits in a cycle: ‘a’ waits for ‘c’ waits for ‘b’ waits for ‘a’")
    #expect(caller.outcome.isSuccess)
  }

  @Test("W4: two operations that wait for each other") func waitOnEachOther() {
    let queue = OperationQueue()
    let (first, second) = (BlockOperation(name: "first"), BlockOperation(name: "second"))
    let meeting = Meeting(of: 2)
    let one = BlockOperation(name: "one") {
      meeting.attend()
      second.waitUntilFinished()
    }
    let other = BlockOperation(name: "other") {
      meeting.attend()
      first.waitUntilFinished()
    }
    first.addDependency(one)
    second.addDependency(other)
    let event = cycle(in: queue, cancelling: first) {
      queue.addOperations([one, other, first, second], waitUntilFinished: false)
    }
    #expect(["‘one’", "‘other’", "‘first’", "‘second’"].allSatisfy { event.contains($0) })
  }

  @Test("W4: waiting in a queue all of whose places are taken for what is behind the callers", arguments: [1, 2])
  func waitInFullQueue(limit: Int) {
    let queue = OperationQueue(limit: limit)
    let behind = BlockOperation(name: "behind")
    let callers = (0..<limit).map { BlockOperation(name: "caller \($0)") { behind.waitUntilFinished() } }
    let event = cycle(in: queue, cancelling: behind) {
      queue.addOperations(callers + [behind], waitUntilFinished: false)
    }
    #expect(event.contains("‘behind’ waits for ‘caller"))
  }

  @Test("W4: waiting for all operations of a queue, one of which depends on the caller") func waitOnQueue() {
    let (queue, other) = (OperationQueue(), OperationQueue())
    let dependent = BlockOperation(name: "dependent")
    let caller = BlockOperation(name: "caller") { other.waitUntilAllOperationsAreFinished() }
    dependent.addDependency(caller)
    let event = cycle(in: other, cancelling: dependent) {
      other.addOperation(dependent)
      queue.addOperation(caller)
    }
    #expect(event.contains("‘dependent’ waits for ‘caller’"))
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("W4: an asynchronous operation that has finished itself may wait for its own queue") func waitAfterFinish() {
    final class Early: AsynchronousOperation, @unchecked Sendable {
      override func main() {
        finish()
        OperationQueue.current?.waitUntilAllOperationsAreFinished()
        waitUntilFinished()
      }
    }
    let queue = OperationQueue(limit: 1)
    queue.addOperations([Early(), Early()], waitUntilFinished: true)
    queue.waitUntilAllOperationsAreFinished()
  }

  #if os(Linux)
    @Test("W4: the main queue waited for on the main thread is reported") func waitForMainQueue() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        await Task { @MainActor in
          let token = OperationQueue.main.listen { if case .waitsInCycle = $0 { exit(1) } }
          OperationQueue.main.addOperations([BlockOperation(name: "blocked")], waitUntilFinished: true)
          token.invalidate()
        }.value
      }
      #expect(result.message.contains("The main thread waits for ‘blocked’"))
    }
  #endif

  @Test("W4: a long wait that is no cycle goes on") func longWait() {
    // The graph is read when the wait has become long, which asks for the dependencies: that is the sign to go on.
    final class Asked: Headway.Operation, @unchecked Sendable {
      let gate = Gate()
      override var dependencies: [Headway.Operation] {
        gate.open()
        return super.dependencies
      }
    }
    let queue = OperationQueue()
    let (asked, slow) = (Asked(), AsynchronousOperation())
    asked.addDependency(slow)
    let caller = BlockOperation { asked.waitUntilFinished() }
    queue.addOperations([slow, asked, caller], waitUntilFinished: false)
    asked.gate.wait()
    slow.finish()
    queue.waitUntilAllOperationsAreFinished()
    #expect(caller.outcome.isSuccess)
  }
}
