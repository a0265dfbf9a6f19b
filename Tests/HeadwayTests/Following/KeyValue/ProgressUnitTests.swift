import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

@Suite("Units of operations", .hangLimit) struct ProgressUnitTests {
  @Test("Q10: an operation completes as many units as it represents") func units() {
    let queue = OperationQueue()
    let operations = [1, 5, 0, 4].map { count in
      let operation = BlockOperation {}
      #expect(operation.progressUnitCount == 1)
      operation.progressUnitCount = Int64(count)
      #expect(operation.progressUnitCount == count)
      return operation
    }
    queue.progress.totalUnitCount = operations.reduce(0) { $0 + $1.progressUnitCount }
    var counts: [Int64] = []
    for operation in operations {
      queue.addOperations([operation], waitUntilFinished: true)
      counts.append(queue.progress.completedUnitCount)
    }
    #expect(counts == [1, 6, 6, 10] && queue.progress.isFinished)
  }

  @Test("Q10: units of failed and cancelled operations are completed, too") func ends() {
    let queue = OperationQueue()
    queue.progress.totalUnitCount = 10
    queue.isSuspended = true
    let (failed, cancelled) = (BlockOperation { throw Mishap() }, BlockOperation {})
    (failed.progressUnitCount, cancelled.progressUnitCount) = (3, 7)
    queue.addOperations([failed, cancelled], waitUntilFinished: false)
    cancelled.cancel()
    cancelled.waitUntilFinished()
    #expect(queue.progress.completedUnitCount == 7)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.progress.completedUnitCount == 10)
  }

  @Test("Q10: while an operation runs, its own progress counts as a fraction of its units", arguments: [false, true])
  func fraction(isCreatedEarly: Bool) async throws {
    let queue = OperationQueue()
    queue.progress.totalUnitCount = 10
    let operation = AsynchronousOperation()
    operation.progressUnitCount = 8
    if isCreatedEarly { operation.progress.totalUnitCount = 4 }
    queue.addOperation(operation)
    await until { operation.isExecuting }
    operation.progress.totalUnitCount = 4
    operation.progress.completedUnitCount = 1
    #expect(queue.progress.fractionCompleted == 0.2)
    operation.progress.completedUnitCount = 4
    #expect(queue.progress.completedUnitCount == 8)
    operation.finish()
    try await queue.untilAllOperationsAreFinished()
    #expect(queue.progress.completedUnitCount == 8 && queue.progress.fractionCompleted == 0.8)
  }

  @Test("Q10: after an operation was added, its units do not change") func late() {
    let queue = OperationQueue()
    queue.progress.totalUnitCount = 4
    queue.isSuspended = true
    let operation = BlockOperation {}
    operation.progressUnitCount = 4
    queue.addOperation(operation)
    operation.progressUnitCount = 2
    #expect(operation.progressUnitCount == 4)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.progress.isFinished)
  }

  @Test("Q10, B4: the progress of a group adds up the units of its operations") func group() async throws {
    let (large, ignored) = (BlockOperation {}, BlockOperation {})
    (large.progressUnitCount, ignored.progressUnitCount) = (9, 5)
    ignored.cancel()
    let group = GroupOperation(operations: [large, BlockOperation {}, ignored])
    #expect(group.progress.totalUnitCount == 10)
    group.progressUnitCount = 3
    let queue = OperationQueue()
    queue.progress.totalUnitCount = 6
    queue.addOperation(group)
    try await group.untilSucceeded()
    #expect(group.progress.completedUnitCount == 10 && group.progress.isFinished)
    #expect(queue.progress.completedUnitCount == 3)
  }

  @Test("Q10: a negative number of units is a programming error") func negative() async {
    await #expect(processExitsWith: .failure) { BlockOperation {}.progressUnitCount = -1 }
  }
}
