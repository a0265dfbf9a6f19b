import HeadwayTestKit
import Testing

@testable import Headway

/// An operation has a progress once its `progress` is read.
@Suite("Progress of operations", .hangLimit) struct OperationProgressTests {
  private static func tracked(total: Int64, limit: Int = -1) -> OperationQueue {
    let queue = OperationQueue(limit: limit)
    queue.progress.totalUnitCount = total
    return queue
  }

  /// An operation that signals its beginning and continues until the second gate is open.
  private static func heldOperation() -> (BlockOperation, begun: Gate, go: Gate) {
    let (begun, go) = (Gate(), Gate())
    let operation = BlockOperation {
      begun.open()
      go.wait()
    }
    return (operation, begun, go)
  }

  @Test("Q10: an operation whose progress is never read has none, and counts as one unit") func unasked() {
    let queue = Self.tracked(total: 100)
    let operations = (0..<100).map { _ in BlockOperation {} }
    queue.addOperations(operations, waitUntilFinished: true)
    #expect(operations.allSatisfy { $0.existingProgress == nil })
    #expect(queue.progress.isFinished && queue.progress.fractionCompleted == 1)
  }

  @Test("Q10: a progress that is first read before its operation starts counts with its fraction", arguments: [1, -1])
  func before(limit: Int) {
    let queue = Self.tracked(total: 2, limit: limit)
    let (operation, begun, go) = Self.heldOperation()
    operation.progress.totalUnitCount = 4
    operation.progress.completedUnitCount = 2
    #expect(queue.progress.fractionCompleted == 0)
    queue.addOperation(operation)
    begun.wait()
    #expect(queue.progress.fractionCompleted == 0.25 && queue.progress.completedUnitCount == 0)
    go.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.progress.fractionCompleted == 0.5 && queue.progress.completedUnitCount == 1)
  }

  @Test("Q10: a progress that is first read while the operation runs counts with its fraction from then on")
  func during() {
    let queue = Self.tracked(total: 2)
    let (operation, begun, go) = Self.heldOperation()
    queue.addOperation(operation)
    begun.wait()
    operation.progress.totalUnitCount = 2
    operation.progress.completedUnitCount = 1
    #expect(queue.progress.fractionCompleted == 0.25)
    queue.progress.pause()
    #expect(operation.progress.isPaused)
    operation.progress.completedUnitCount = 2
    #expect(queue.progress.completedUnitCount == 1 && queue.progress.fractionCompleted == 0.5)
    go.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.progress.completedUnitCount == 1, "a unit is not counted twice")
  }

  @Test(
    "Q10: cancelling a queue's progress cancels running operations, with or without their own progress",
    arguments: [false, true])
  func cancelled(isAskedFor: Bool) {
    let queue = Self.tracked(total: 2)
    let (running, begun, go) = Self.heldOperation()
    if isAskedFor { running.progress.totalUnitCount = 1 }
    // Instead of the thread that cancels all.
    queue.progress.cancellationHandler = {}
    queue.addOperation(running)
    begun.wait()
    let waiting = BlockOperation {}
    waiting.addDependency(running)
    queue.addOperation(waiting)
    queue.progress.cancel()
    #expect(running.isCancelled && !waiting.isCancelled)
    go.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(!waiting.isCancelled)
  }

  @Test("Q10: cancelling a queue's progress cancels a progress that is created at that time")
  func askedForMeanwhile() {
    let queue = Self.tracked(total: 1)
    let (begun, go) = (Gate(), Gate())
    let running = BlockOperation {
      begun.open()
      go.wait()
    }
    queue.progress.cancellationHandler = { _ = running.progress }
    queue.addOperation(running)
    begun.wait()
    queue.progress.cancel()
    #expect(running.isCancelled && running.progress.isCancelled)
    go.open()
    queue.waitUntilAllOperationsAreFinished()
    queue.progress.cancellationHandler = nil
  }

  @Test(
    "Q10: an operation that starts while the queue's progress is paused is paused, too", arguments: [false, true])
  func paused(isAskedForBefore: Bool) {
    let queue = Self.tracked(total: 1)
    queue.progress.pause()
    let found = EventRecorder<Bool>()
    let operation = BlockOperation()
    operation.addExecutionBlock { [unowned operation] in found.record(operation.progress.isPaused) }
    if isAskedForBefore { operation.progress.totalUnitCount = 1 }
    queue.addOperations([operation], waitUntilFinished: true)
    #expect(found.events == [true])
  }

  @Test("Q10: a resume concurrent with a start reaches the starting operation, at any time") func resumed() {
    let queue = Self.tracked(total: 2_000)
    let resumer = OperationQueue()
    for _ in 0..<2_000 {
      let go = Gate()
      let operation = BlockOperation { go.wait() }
      _ = operation.progress
      queue.progress.pause()
      resumer.addOperation { queue.progress.resume() }
      queue.addOperation(operation)
      resumer.waitUntilAllOperationsAreFinished()
      #expect(eventually { !operation.progress.isPaused })
      go.open()
      operation.waitUntilFinished()
    }
  }

  @Test("Q10: a progress that is part of another progress is never part of a queue's progress") func foreign() {
    let queue = Self.tracked(total: 1)
    let whole = OperationProgress(totalUnitCount: 1)
    let operation = BlockOperation {}
    operation.progress.totalUnitCount = 10
    operation.progress.completedUnitCount = 9
    whole.addChild(operation.progress, withPendingUnitCount: 1)
    queue.addOperations([operation], waitUntilFinished: true)
    #expect(queue.progress.completedUnitCount == 1 && whole.fractionCompleted == 0.9)
  }

  @Test("Q10: a progress that is read late reflects that the queue's progress was paused or cancelled") func late() {
    let queue = Self.tracked(total: 2)
    let (operation, begun, go) = Self.heldOperation()
    queue.addOperation(operation)
    begun.wait()
    queue.progress.pause()
    queue.progress.cancel()
    #expect(operation.isCancelled && operation.progress.isCancelled && operation.progress.isPaused)
    go.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.progress.completedUnitCount == 1)
  }

  @Test("Q10: a progress that is first read after its operation has finished is not part of the queue's progress")
  func after() {
    let queue = Self.tracked(total: 2)
    let operation = BlockOperation {}
    queue.addOperations([operation], waitUntilFinished: true)
    operation.progress.totalUnitCount = 2
    operation.progress.completedUnitCount = 1
    #expect(queue.progress.fractionCompleted == 0.5 && queue.progress.completedUnitCount == 1)
  }

  @Test("Q10: an operation's progress that has another parent keeps its parent, and the operation counts as one unit")
  func partOfAnother() {
    let queue = Self.tracked(total: 1)
    let whole = OperationProgress(totalUnitCount: 10)
    let operation = BlockOperation {}
    whole.addChild(operation.progress, withPendingUnitCount: 5)
    queue.addOperations([operation], waitUntilFinished: true)
    #expect(queue.progress.isFinished && whole.fractionCompleted == 0)
    operation.progress.totalUnitCount = 1
    operation.progress.completedUnitCount = 1
    #expect(whole.completedUnitCount == 5 && queue.progress.completedUnitCount == 1)
  }

  @Test("Q10: each operation counts as one unit, however its progress is created and completed at its end")
  func concurrency() {
    for round in 0..<100 {
      let queue = Self.tracked(total: 40, limit: round % 3 == 0 ? 2 : -1)
      let operations = (0..<40).map { number in
        number % 4 == 0
          ? SelfAware { operation in
            operation.progress.totalUnitCount = 2
            operation.progress.completedUnitCount = Int64(round % 3)
          } : BlockOperation {}
      }
      let meeting = Meeting(of: 2)
      let asking = OperationQueue()
      asking.addOperation {
        meeting.attend()
        for operation in operations {
          let progress = operation.progress
          progress.totalUnitCount = 2
          progress.completeUnits(1)
        }
      }
      meeting.attend()
      queue.addOperations(operations, waitUntilFinished: true)
      queue.waitUntilAllOperationsAreFinished()
      asking.waitUntilAllOperationsAreFinished()
      #expect(queue.progress.completedUnitCount == 40 && queue.progress.fractionCompleted == 1)
    }
  }

  @Test(
    "Q10: observers of operations in batches are notified of each hundredth in order, and of the end",
    arguments: [2, -1])
  func observers(limit: Int) {
    let queue = Self.tracked(total: 5_000, limit: limit)
    let whole = OperationProgress(totalUnitCount: 2)
    whole.addChild(queue.progress, withPendingUnitCount: 1)
    let told = EventRecorder<Double>()
    let token = queue.progress.onChange { told.record($0.fractionCompleted) }
    for _ in 0..<5_000 { queue.addOperation {} }
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.progress.isFinished)
    #expect(eventually { whole.completedUnitCount == 1 && told.events.last == 1 })
    #expect(told.events == told.events.sorted() && told.count <= 100)
    token.invalidate()
  }

  @Test("Q10: an operation that starts paused, and its parts, are resumed with the queue's progress")
  func pausedFromTheStart() {
    let queue = OperationQueue()
    queue.progress.totalUnitCount = 1
    queue.progress.pause()
    let (paused, resumed) = (Gate(), Gate())
    let operation = AsynchronousOperation()
    operation.progress.totalUnitCount = 2
    let part = OperationProgress(totalUnitCount: 3, parent: operation.progress, pendingUnitCount: 1)
    part.resumingHandler = { resumed.open() }
    queue.addOperation(operation)
    #expect(eventually { operation.progress.isPaused && part.isPaused })
    operation.progress.resumingHandler = { paused.open() }
    queue.progress.resume()
    #expect(paused.isOpen && resumed.isOpen && !operation.progress.isPaused && !part.isPaused)
    operation.finish()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("Q10: adding a negative count decreases the progress; below 0, the progress is indeterminate") func countsDown()
  {
    let progress = OperationProgress(totalUnitCount: 10)
    progress.completeUnits(4)
    progress.completeUnits(-3)
    #expect(progress.completedUnitCount == 1 && progress.fractionCompleted == 0.1)
    progress.completeUnits(-4)
    #expect(progress.completedUnitCount == -3 && progress.fractionCompleted == 0 && progress.isIndeterminate)
    progress.completeUnits(5)
    #expect(progress.fractionCompleted == 0.2 && !progress.isIndeterminate)
  }

  @Test("Q10, Q15: jobs of tasks do not count as units") func jobs() async throws {
    let queue = OperationQueue()
    queue.progress.totalUnitCount = 1
    await Task(executorPreference: queue) { for _ in 0..<9 { await Task.yield() } }.value
    try await queue.untilAllOperationsAreFinished()
    #expect(queue.progress.completedUnitCount == 0)
  }
}
