import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// If blocks are cancelled while they wait, many of them end in one critical section of their queue.
@Suite("Cancelling all", .hangLimit) struct CancellingAllTests {
  /// An object that a block holds: it is counted, and reads the queue when it is released.
  private final class Held: Sendable {
    let (census, queue): (Crowd, OperationQueue)

    init(_ census: Crowd, _ queue: OperationQueue) {
      (self.census, self.queue) = (census, queue)
      census.enter()
    }

    deinit {
      // It would wait forever under the lock of the queue.
      _ = queue.operationCount
      census.leave()
    }
  }

  @Test("C5, C6, O8: waiting blocks leave a suspended queue immediately, and their captures are released")
  func waiting() {
    let (census, queue) = (Crowd(), OperationQueue())
    queue.isSuspended = true
    var kept: [BlockOperation] = []
    for number in 0..<300 {
      let held = Held(census, queue)
      let never: @Sendable () -> Void = {
        Issue.record("a cancelled block ran")
        withExtendedLifetime(held) {}
      }
      let operation = BlockOperation(block: never)
      if number % 3 == 0 { kept.append(operation) }
      queue.addOperation(operation)
    }
    queue.cancelAllOperations()
    queue.waitUntilAllOperationsAreFinished()
    #expect(kept.allSatisfy { $0.isFinished && $0.isCancelled && $0.outcome.isCancelled } && queue.operations.isEmpty)
    #expect(census.eventuallyEmpty())
  }

  @Test("C6, C7, D2, K1, O6, W1: if some of the blocks are observed, all notifications are sent") func heard() {
    let (queue, later, events) = (OperationQueue(), OperationQueue(), EventRecorder<String>())
    queue.isSuspended = true
    var tokens: [KeyValueObservation] = []
    let never: @Sendable () -> Void = { Issue.record("a cancelled block ran") }
    let blocks = (0..<200).map { _ in BlockOperation(block: never) }
    for (number, operation) in blocks.enumerated() {
      switch number {
      case 10: operation.onCancel { events.record("handler") }
      case 20: tokens.append(operation.observe(\.isFinished) { _, _ in events.record("observer") })
      case 30: operation.completionBlock = { events.record("completion") }
      case 40:
        let dependent = BlockOperation { events.record("dependent") }
        dependent.addDependency(operation)
        later.addOperation(dependent)
      case 50: operation.addDependency(blocks[60])
      default: break
      }
      if number % 7 == 0 { queue.addBarrierBlock(never) }
      queue.addOperation(operation)
    }
    let gate = Gate()
    onThreads(2) { thread in
      if thread == 0 {
        gate.open()
        blocks[100].waitUntilFinished()
      } else {
        gate.wait()
        queue.cancelAllOperations()
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    later.waitUntilAllOperationsAreFinished()
    #expect(blocks.allSatisfy { $0.isFinished && $0.isCancelled })
    #expect(eventually { events.events.sorted() == ["completion", "dependent", "handler", "observer"] })
  }

  @Test("C6: a handler may wait for a block that was cancelled before it") func handlerWaits() {
    let (queue, events) = (OperationQueue(), EventRecorder<String>())
    queue.isSuspended = true
    let (first, second) = (BlockOperation {}, BlockOperation {})
    second.onCancel {
      first.waitUntilFinished()
      events.record("waited")
    }
    queue.addOperation(first)
    queue.addOperation(second)
    queue.cancelAllOperations()
    queue.waitUntilAllOperationsAreFinished()
    #expect(events.events == ["waited"])
  }

  @Test("C6, Q10: the progress of a queue counts cancelled operations") func progress() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let progress = queue.progress
    for _ in 0..<100 { queue.addOperation {} }
    queue.cancelAllOperations()
    queue.waitUntilAllOperationsAreFinished()
    #expect(progress.isFinished || progress.completedUnitCount == progress.totalUnitCount)
  }

  @Test("C6, O1: operations that are cancelled by several threads while others add and run each end once") func race() {
    let rounds = environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 20
    for seed in 1...rounds {
      let (census, queue) = (Crowd(), OperationQueue())
      queue.maxConcurrentOperationCount = [-1, 1, 2][seed % 3]
      let runs = Atomic<Int>(0)
      let operations = Mutex<[BlockOperation]>([])
      onThreads(3) { thread in
        for number in 0..<200 {
          if thread == 2 {
            if number % 20 == 0 { queue.cancelAllOperations() }
            continue
          }
          let held = Held(census, queue)
          let operation = BlockOperation {
            runs.add(1, ordering: .relaxed)
            withExtendedLifetime(held) {}
          }
          operations.withLock { $0.append(operation) }
          queue.addOperation(operation)
        }
      }
      queue.waitUntilAllOperationsAreFinished()
      let all = operations.withLock { $0 }
      let uncancelled = all.count { !$0.isCancelled }
      #expect(all.allSatisfy { $0.isFinished } && queue.operationCount == 0, "seed \(seed)")
      #expect(runs.load(ordering: .relaxed) >= uncancelled, "seed \(seed)")
      #expect(census.eventuallyEmpty(), "seed \(seed)")
    }
  }
}
