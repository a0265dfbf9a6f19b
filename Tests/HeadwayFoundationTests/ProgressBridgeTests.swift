import Headway
import HeadwayFoundation
import HeadwayTestKit
import Testing

@Suite("Bridge of progress", .hangLimit) struct ProgressBridgeTests {
  private let queue = DispatchQueue(label: "where the progress is used")

  /// Runs `body` on the queue behind all updates that were sent there.
  private func read<Value: Sendable>(_ body: @Sendable () -> Value) -> Value { queue.sync(execute: body) }

  @Test("Q10: a Foundation progress shows a Headway progress") func shows() {
    let source = OperationProgress(totalUnitCount: 0)
    let shown = Shown(source.makeFoundationProgress(updatedOn: queue))
    #expect(read { shown.progress.isIndeterminate })
    source.totalUnitCount = 4
    source.completedUnitCount = 1
    #expect(read { shown.progress.fractionCompleted } == 0.25)
    source.completedUnitCount = 4
    #expect(read { shown.progress.isFinished && shown.progress.completedUnitCount == 100 })
  }

  @Test("Q10: cancelling, pausing, or resuming one of two linked progress objects affects the other") func cancelling()
  {
    let source = OperationProgress(totalUnitCount: 4)
    let shown = Shown(source.makeFoundationProgress(updatedOn: queue))
    source.pause()
    #expect(read { shown.progress.isPaused })
    read { shown.progress.resume() }
    #expect(!source.isPaused)
    source.cancel()
    #expect(read { shown.progress.isCancelled })

    let other = OperationProgress(totalUnitCount: 4)
    let cancelled = EventRecorder<Int>()
    other.cancellationHandler = { cancelled.record(1) }
    let otherShown = Shown(other.makeFoundationProgress(updatedOn: queue))
    read { otherShown.progress.cancel() }
    #expect(other.isCancelled && cancelled.count == 1)
  }

  @Test("Q10: a queue's progress is part of a Foundation progress") func queueProgress() {
    let whole = Shown(Progress.discreteProgress(totalUnitCount: 10))
    let operations = OperationQueue()
    operations.progress.totalUnitCount = 5
    let queue = queue
    read { whole.progress.addChild(operations.progress, withPendingUnitCount: 10, updatedOn: queue) }
    operations.addOperations((0..<5).map { _ in BlockOperation {} }, waitUntilFinished: true)
    // Observers of a queue's progress are notified after the operation has left, so waiters can be earlier.
    while read({ !whole.progress.isFinished }) {}
    #expect(read { whole.progress.fractionCompleted } == 1)
  }

  @Test("Q10: a Foundation progress represents part of a Headway progress") func part() {
    let whole = OperationProgress(totalUnitCount: 10)
    let part = whole.makeFoundationChild(totalUnitCount: 8, pendingUnitCount: 5)
    part.completedUnitCount = 4
    #expect(whole.fractionCompleted == 0.25)
    part.completedUnitCount = 8
    #expect(whole.completedUnitCount == 5)
    let second = whole.makeFoundationChild(totalUnitCount: 1, pendingUnitCount: 5)
    whole.cancel()
    #expect(second.isCancelled)
  }

  /// A progress that the test uses on its queue only.
  private struct Shown: @unchecked Sendable {
    let progress: Progress

    init(_ progress: Progress) { self.progress = progress }
  }
}
