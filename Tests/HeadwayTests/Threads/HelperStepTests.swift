import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// Threads that request helpers, while other threads assign the last number or raise the work.
@Suite("Individual steps of helpers", .hangLimit) struct HelperStepTests {
  private let executor = GatedExecutor()

  private func calls(
    _ count: Int, of workerClass: WorkerClass = .normal, atMost limit: Int = 4, _ body: @escaping @Sendable () -> Void
  ) -> ConcurrentIterations {
    ConcurrentIterations(count, in: nil, on: executor, of: workerClass, atMost: limit) { _ in body() }
  }

  @Test("Q16: a helper that makes way for other work requests no helpers when all numbers have been taken")
  func makesWay() {
    let executor = executor
    let calls = calls(2, atMost: 2) { Worker.current?.leavesSoon.store(true, ordering: .relaxed) }
    executor.summon(1, for: calls, on: .normal)
    let wasWaiting = EventRecorder<Bool>()
    // On a worker that other work needs after each call.
    let operation = BlockOperation {
      executor.step()
      wasWaiting.record(executor.waitingCount > 0)
      executor.step()
    }
    OperationQueue().addOperations([operation], waitUntilFinished: true)
    #expect(wasWaiting.events == [true] && executor.waitingCount == 0)
  }

  @Test("P5, Q16: a thread that raises work requests no helpers if all numbers are taken in the meantime")
  func raisedLate() {
    let calls = calls(2, of: .background) {}
    executor.beforeNextRequest { _ = calls.runOnWorker(of: nil, atMost: .max) }
    calls.raise(to: .normal)
    #expect(executor.waitingCount == 0)
  }

  @Test("P5, Q16: requests for helpers move to the new class if the work is raised during the request") func moved() {
    let executor = executor
    let counts = EventRecorder<[Int]>()
    let calls = calls(8, of: .background) {
      guard counts.count == 0 else { return }
      counts.record([executor.waitingCount(of: .background), executor.waitingCount(of: .normal)])
    }
    executor.beforeNextRequest { calls.raise(to: .normal) }
    _ = calls.runOnWorker(of: nil, atMost: .max)
    #expect(counts.events.first?[0] == 0 && counts.events.first?[1] != 0)
    #expect(executor.waitingCount == 0)
  }
}

/// How many workers can come, by the state that the lock of a pool protects.
@Suite("State of a pool", .hangLimit) struct PoolStateTests {
  @Test("T2: a worker can help out however many are at work, but only one at a time") func helpsOut() {
    var state = WorkerPool.State()
    state.workers = (0..<state.width + 2).map { _ in Worker(of: .shared) }
    #expect(state.room == -2)
    state.helpsOut = true
    #expect(state.room == 1)
    state.coming = 1
    #expect(state.room == -2)
  }

  @Test("T3: when a pool has enough threads, less urgent pools that were denied threads try again")
  func satisfied() async {
    // This runs in its own process, which has this limit.
    await #expect(processExitsWith: .success) {
      ThreadLimit.current = 0
      for workerClass in [WorkerClass.utility, .normal] {
        let isAllowed = ThreadLimit.takeThread(for: workerClass, isFirst: false)
        #expect(!isAllowed && ThreadLimit.isHungry(workerClass.bit))
      }
      ThreadLimit.current = 512
      WorkerPool.shared.changeAndSend { _ in }
      #expect(!ThreadLimit.isHungry(WorkerClass.normal.bit | WorkerClass.utility.bit))
    }
  }
}
