import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// Work that a worker of the pool holds while it runs user code.
///
/// In these tests, the user code waits for work that its worker might hold. If the worker holds that work, the test
/// hangs.
@Suite("Held work", .hangLimit) struct HeldWorkTests {
  // MARK: An operation that is claimed and has not begun

  @Test("K2, Q14: a listener can wait for the operation whose start it receives") func listener() {
    let queue = OperationQueue()
    let heard = EventRecorder<Bool>()
    let isOver = Gate()
    let token = queue.listen { event in
      guard case .started(let operation) = event else { return }
      operation.waitUntilFinished()
      heard.record(operation.isFinished)
      if heard.count == 3 { isOver.open() }
    }
    for _ in 0..<3 { queue.addOperation {} }
    isOver.wait()
    #expect(heard.events == [true, true, true])
    token.invalidate()
  }

  // The worker collects the end of the first operation and claims the second in one update. The observer, which is
  // notified of the first, waits for the second.
  @Test("K2: an observer of the count can wait for all operations of the queue") func observerOfCount() {
    let queue = OperationQueue(limit: 1)
    let end = queue.occupy()
    let counts = EventRecorder<Int>()
    let operations = (0..<3).map { _ in BlockOperation {} }
    queue.addOperations(operations, waitUntilFinished: false)
    let token = queue.observe(\.operationCount) { queue, _ in
      for operation in queue.operations { operation.waitUntilFinished() }
      counts.record(queue.operationCount)
    }
    end.open()
    for operation in operations { operation.waitUntilFinished() }
    queue.waitUntilAllOperationsAreFinished()
    #expect(eventually { counts.count > 0 })
    #expect(counts.events.allSatisfy { $0 == 0 })
    token.invalidate()
  }

  @Test("K2, Q10: an observer of a queue's progress can wait for an operation that is about to start") func progress() {
    let queue = OperationQueue()
    queue.progress.totalUnitCount = 1
    let calls = EventRecorder<Bool>()
    let token = queue.progress.onChange { _ in
      for operation in queue.operations { operation.waitUntilFinished() }
      calls.record(true)
    }
    let operation = BlockOperation {}
    // Like an operation that resumes: it has part of its unit from the beginning.
    operation.progress.totalUnitCount = 2
    operation.progress.completedUnitCount = 1
    queue.addOperations([operation], waitUntilFinished: true)
    #expect(eventually { calls.count > 0 })
    token.invalidate()
  }

  @Test("K2, Q10: an observer that is notified of another operation's unit can also wait for that operation")
  func progressOfMany() {
    for _ in 0..<100 {
      let queue = OperationQueue(limit: 2)
      queue.progress.totalUnitCount = 20
      let token = queue.progress.onChange { _ in
        for operation in queue.operations { operation.waitUntilFinished() }
      }
      queue.addOperations((0..<20).map { _ in BlockOperation {} }, waitUntilFinished: true)
      queue.waitUntilAllOperationsAreFinished()
      #expect(queue.progress.completedUnitCount == 20)
      token.invalidate()
    }
  }

  // MARK: A batch

  /// Calls a block when it is freed.
  private final class Owner: Sendable {
    private let block: @Sendable () -> Void

    init(_ block: @escaping @Sendable () -> Void) { self.block = block }

    deinit { block() }
  }

  @Test(
    "T2, Q3: a deinit can wait for the next operation of a batch, which other threads run",
    arguments: ["through the library", "otherwise"])
  func freedWithOperation(waits: String) {
    let queue = OperationQueue(limit: 1)
    queue.isSuspended = true
    let (hasRun, isFreed) = (Gate(), Gate())
    let next = BlockOperation { hasRun.open() }
    do {
      let owner = Owner {
        if waits == "otherwise" { hasRun.wait() } else { next.waitUntilFinished() }
        isFreed.open()
      }
      let first = BlockOperation {}
      first.progress.pausingHandler = { _ = owner }
      queue.addOperation(first)
    }
    queue.addOperation(next)
    queue.isSuspended = false
    isFreed.wait()
    queue.waitUntilAllOperationsAreFinished()
    #expect(next.isFinished)
  }

  @Test("B5, W4: the error of an operation of a batch is freed when its thread is no longer inside the operation")
  func freedError() {
    final class Failure: Error {
      let insides: EventRecorder<Int>

      init(_ insides: EventRecorder<Int>) { self.insides = insides }

      deinit { insides.record(ThreadContext.operations.count) }
    }
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let insides = EventRecorder<Int>()
    for _ in 0..<8 { queue.addOperation { throw Failure(insides) } }
    executor.runBatch(of: queue)
    executor.runSteps()
    #expect(insides.events == Array(repeating: 0, count: 8))
  }

  // A handler of failures is called in the middle of a batch, which stays as it is.
  @Test("B5, Q1: a failure handler can run another queue step by step, even if that has nothing to do")
  func stepInHandler() async throws {
    await #expect(processExitsWith: .success) {
      let (queue, inner, executor) = (OperationQueue(limit: 1), OperationQueue(), StepExecutor())
      executor.control(inner)
      let homes = EventRecorder<Bool>()
      queue.failureHandler = { [unowned queue] _, _ in
        inner.addOperation {}
        // The step was requested, but there is nothing to do.
        inner.isSuspended = true
        executor.runSteps()
        homes.record(Worker.current?.batch.home?.toOpaque() == Unmanaged.passUnretained(queue).toOpaque())
      }
      let ran = Atomic<Int>(0)
      for round in 1...50 {
        queue.addOperation {
          ran.add(1, ordering: .relaxed)
          throw Mishap()
        }
        queue.addOperation { ran.add(1, ordering: .relaxed) }
        try await queue.untilAllOperationsAreFinished()
        // The handler is called when the operation has left the queue.
        #expect(eventually { homes.count == round })
        inner.isSuspended = false
        executor.runSteps()
      }
      let count = ran.load(ordering: .relaxed)
      #expect(homes.events == Array(repeating: true, count: 50))
      #expect(count == 100 && queue.operationCount == 0 && inner.operationCount == 0)
    }
  }
}
