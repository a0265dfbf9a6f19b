import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

@Suite("Draining a queue", .hangLimit) struct DrainTests {
  private let clock = ManualClock()

  /// Begins to drain a queue and returns when the drain waits.
  private func beginDraining(_ queue: OperationQueue, within limit: Duration = .seconds(10)) async -> Task<
    DrainReport, Never
  > {
    let task = Task { [clock] in await queue.drain(within: limit, clock: clock) }
    await clock.waitForSleepers(count: 1)
    return task
  }

  @Test("Q17: a drain returns when all operations have finished, however they ended") func complete() async {
    let queue = OperationQueue(limit: 2)
    let end = queue.occupy()
    for number in 0..<10 { queue.addOperation { if number == 3 { throw Mishap() } } }
    let cancelled = BlockOperation {}
    queue.addOperation(cancelled)
    cancelled.cancel()
    let asynchronous = AsynchronousOperation()
    queue.addOperation(asynchronous)
    await until { queue.operationCount == 2 && asynchronous.isExecuting }
    let task = await beginDraining(queue)
    end.open()
    asynchronous.finish()
    let report = await task.value
    #expect(report == DrainReport(finishedCount: 2, cancelledCount: 0, runningOperationDescriptions: []))
    #expect(report.isComplete && report.description == "2 finished, 0 cancelled" && clock.sleeperCount == 0)
    #expect(queue.isClosed && queue.operationCount == 0)
  }

  @Test("Q17: when the time is up, a drain cancels and reports the rest") func overrun() async throws {
    let queue = OperationQueue(limit: 2)
    let end = Gate()
    let started = Gate()
    let stubborn = BlockOperation(name: "stubborn") {
      started.open()
      end.wait()
    }
    let quick = AsynchronousOperation()
    queue.addOperations([stubborn, quick], waitUntilFinished: false)
    let waiting = (0..<5).map { _ in BlockOperation { Issue.record("the operation ran") } }
    await started.untilOpen()
    await until { quick.isExecuting }
    let barrierRan = Gate()
    queue.addBarrierBlock { barrierRan.open() }
    queue.addOperations(waiting, waitUntilFinished: false)
    let task = await beginDraining(queue)
    quick.finish()
    clock.advance(by: .seconds(9))
    #expect(!stubborn.isCancelled && clock.sleeperCount == 1)
    clock.advance(by: .seconds(1))
    let report = await task.value
    #expect(
      report
        == DrainReport(
          finishedCount: 1, cancelledCount: 7, runningOperationDescriptions: ["“stubborn” (executing, cancelled)"])
    )
    #expect(
      "\(report)" == "1 finished, 7 cancelled, including 1 still running: “stubborn” (executing, cancelled)"
        && !report.isComplete)
    for operation in waiting { try await operation.untilFinished() }
    #expect(waiting.allSatisfy { $0.outcome.isCancelled } && !barrierRan.isOpen && !stubborn.isFinished)

    // A second call gives the operations time to react to the cancellation.
    let second = await beginDraining(queue)
    end.open()
    #expect(await second.value.isComplete)
    #expect(stubborn.isFinished)
  }

  @Test("Q17: an operation that reacts to its cancellation immediately is not reported as running")
  func reacting() async throws {
    let queue = OperationQueue()
    let operation = AsynchronousOperation()
    operation.onCancel { operation.finish() }
    queue.addOperation(operation)
    await until { operation.isExecuting }
    let task = await beginDraining(queue)
    clock.advance(by: .seconds(10))
    #expect(await task.value == DrainReport(finishedCount: 0, cancelledCount: 1, runningOperationDescriptions: []))
  }

  enum End: CaseIterable { case time, cancellation, limit }

  @Test("Q17: the operations of a suspended queue are cancelled at the end of the drain", arguments: End.allCases)
  func suspended(end: End) async throws {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operations = (0..<3).map { _ in BlockOperation { Issue.record("the operation ran") } }
    queue.addOperations(operations, waitUntilFinished: false)
    let report: DrainReport
    if end == .limit {
      report = await queue.drain(within: .seconds(-1), clock: clock)
    } else {
      let task = await beginDraining(queue)
      if end == .time { clock.advance(by: .seconds(10)) } else { task.cancel() }
      report = await task.value
    }
    #expect(report.finishedCount == 0 && report.cancelledCount == 3 && report.runningOperationDescriptions.isEmpty)
    for operation in operations { try await operation.untilFinished() }
    #expect(operations.allSatisfy { $0.outcome.isCancelled })
  }

  @Test("Q17: a drain waits until failures have been reported") func reports() async throws {
    let queue = OperationQueue()
    let (isReporting, hasReported) = (Gate(), Gate())
    queue.failureHandler = { _, _ in
      isReporting.open()
      hasReported.wait()
    }
    queue.addOperation { throw Mishap() }
    await isReporting.untilOpen()
    let task = await beginDraining(queue)
    #expect(queue.operationCount == 0 && clock.sleeperCount == 1)
    hasReported.open()
    #expect(await task.value == DrainReport(finishedCount: 0, cancelledCount: 0, runningOperationDescriptions: []))
  }

  @Test("Q17: several tasks can drain a queue at the same time") func several() async throws {
    let queue = OperationQueue()
    let operation = AsynchronousOperation()
    queue.addOperation(operation)
    await until { operation.isExecuting }
    let tasks = (1...3).map { number in
      Task { [clock] in await queue.drain(within: .seconds(number), clock: clock) }
    }
    await clock.waitForSleepers(count: 3)
    clock.advance(by: .seconds(1))
    await clock.waitForSleepers(count: 2)
    await until { operation.isCancelled }
    operation.finish()
    var counts: [Int] = []
    for task in tasks { counts.append(await task.value.cancelledCount) }
    #expect(counts == [1, 0, 0])
  }

  @Test("Q17: no operation runs after a complete drain has returned") func race() async throws {
    for _ in 0..<20 {
      let queue = OperationQueue()
      let (ran, rejected, begun) = (Counter(), Counter(), Gate())
      queue.failureHandler = { _, _ in rejected.increment() }
      let adders = OperationQueue(limit: 2)
      for _ in 0..<2 {
        adders.addOperation {
          begun.open()
          for _ in 0..<500 { queue.addOperation { ran.increment() } }
        }
      }
      await begun.untilOpen()
      let report = await queue.drain(within: .seconds(10), clock: clock)
      let count = ran.value
      try await adders.untilAllOperationsAreFinished()
      await until { ran.value + rejected.value >= 1_000 }
      #expect(report.isComplete && ran.value == count && rejected.value == 1_000 - count)
    }
  }
}
